/** Bits of information per character (Shannon). */
export function entropyOf(value: string): number {
  const counts = new Map<string, number>();
  for (const each of value) counts.set(each, (counts.get(each) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values())
    bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}

const words =
  /example|sample|placeholder|dummy|fake|change.?me|your|redacted|replace|insert|notreal|not-a-real|foobar|lorem|deadbeef|qwerty|asdf|abc123|mytoken|mysecret/i;
const sequences = /0123456|1234567|2345678|9876543|8765432|abcdefg|a1b2c3|1a2b3c/i;
const repeated = /(.)\1{5}|(.{2})\2{3}|(.{3,8})\3{2}/;
// In Base64 a row of "A" is a row of zero bytes.
const zeros = /A{5,24}/g;

/**
 * Whether a value is a placeholder or an example of documentation: it contains a word that says so,
 * counts up, or repeats itself.
 */
export function isMadeUp(value: string): boolean {
  return words.test(value) || sequences.test(value) || repeated.test(value.replace(zeros, "A"));
}

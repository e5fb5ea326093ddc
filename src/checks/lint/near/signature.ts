import { hashWords, mix, type OnWord } from "./words.ts";

/** Words of a shingle. */
const shingleWords = 5;
/** Values of a signature. */
export const signatureSize = 120;
// A shorter text is equal to another one by chance, or by its form.
const fewestWords = 45;
// Of scripts without spaces, about.
const charactersPerWord = 3;

const base = 0x01000193;
let dropped = 1;
for (let power = 0; power < shingleWords; power++) dropped = Math.imul(dropped, base);

// Stays for a bin without a shingle until densify() fills it.
const emptyBin = 0xffffffff;

/**
 * Fills each empty bin with the value of another one (densified one-permutation hashing, Shrivastava
 * 2017), so that short texts can be compared as well: both texts take the same other bin.
 */
function densify(bins: Uint32Array): void {
  const filled = bins.slice();
  for (let bin = 0; bin < bins.length; bin++) {
    let from = bin;
    for (let attempt = 1; filled[from] === emptyBin; attempt++) {
      from = mix(Math.imul(bin + 1, 0x9e3779b1) + Math.imul(attempt, 0x7f4a7c15)) % bins.length;
    }
    bins[bin] = filled[from] ?? 0;
  }
}

/**
 * The MinHash signature of a text: signatureSize values of 16 bits. Two texts share about as many of
 * them as they share of their sequences of five words (of five characters in Chinese, Japanese and
 * other scripts without spaces). Undefined for a short text. Linear in the length of the text.
 */
export function signatureOf(texts: Iterable<string>): Uint16Array | undefined {
  const bins = new Uint32Array(signatureSize).fill(emptyBin);
  const last = new Int32Array(shingleWords);
  let words = 0;
  // A polynomial of the last words: each word multiplies the ones before it.
  let shingle = 0;
  let size = 0;
  const onWord: OnWord = (hash, isCharacter) => {
    size += isCharacter ? 1 / charactersPerWord : 1;
    const slot = words % shingleWords;
    shingle = (Math.imul(shingle, base) + hash - Math.imul(last[slot] ?? 0, dropped)) | 0;
    last[slot] = hash;
    if (++words < shingleWords) return;
    // 31 bits: never equal to emptyBin.
    const value = mix(shingle) >>> 1;
    const bin = value % signatureSize;
    if (value < (bins[bin] ?? 0)) bins[bin] = value;
  };
  for (const text of texts) hashWords(text, onWord);
  if (size < fewestWords) return undefined;
  densify(bins);
  // Minima have few different bits, so 16 of their own bits would be equal by chance.
  return Uint16Array.from(bins, (value) => mix(value) & 0xffff);
}

/** A signature as text, for other threads. */
export const encodeSignature = (signature: Uint16Array): string =>
  Buffer.from(signature.buffer, signature.byteOffset, signature.byteLength).toString("base64");

/** Writes a signature of encodeSignature() to its place among others. */
export function decodeSignature(text: string, to: Uint16Array, index: number): void {
  const bytes = 2 * signatureSize;
  Buffer.from(to.buffer, to.byteOffset + index * bytes, bytes).write(text, "base64");
}

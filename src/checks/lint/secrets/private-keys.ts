import type { Secret } from "./secret.ts";

const mark = "PRIVATE KEY";
const puttyMark = "PuTTY-User-Key-File-";
// "-----BEGIN " in Base64, as in the configuration of kubectl.
const encodedMark = "LS0tLS1CRUdJTi";
/** A text without one of these contains no private key. */
export const privateKeyMarks: readonly string[] = [mark, puttyMark, encodedMark];
// Characters allowed between the lines of a block: line ends (also as escapes or after a
// backslash), indentation, and the prefixes of lines in comments, quotes and strings of programs.
// Each character fits one branch only: two readings of `\n` would multiply with each header line.
const between = String.raw`(?:\\[nr]|\\(?![nr])|[\s"'>#*+,|]|<br ?/?>){1,40}`;
const header = String.raw`-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}`;
// PEM of all kinds (RFC 7468, RFC 1421), OpenSSH, PGP (RFC 9580), SSH2 (RFC 4716). Header lines may
// be first: "Proc-Type: 4,ENCRYPTED". A text with only a BEGIN line contains no key.
// The value of the last header may look like the begin of a key that was cut out.
const cut = String.raw`(?:[0-9A-F]{16}){1,2}${between}-{4}`;
const block = new RegExp(
  // The line ends of a pasted key may be lost.
  String.raw`(${header})(?:${between}(?:[A-Za-z][A-Za-z0-9-]{0,30}: [^\n\\]{0,200}${between}){0,8}(?!${cut})[A-Za-z0-9+/=]{16}|[A-Za-z0-9+/=]{40})`,
  "g",
);

// https://the.earth.li/~sgtatham/putty/latest/htmldoc/AppendixC.html
const putty = /(Private-Lines: \d{1,3})(?:\\[nr]|[\s>#*|]|<br ?\/?>){1,20}[A-Za-z0-9+/=]{16}/g;
const encoded = new RegExp(String.raw`${encodedMark}[A-Za-z0-9+/]{40,}`, "g");

function* blocks(text: string): Generator<Secret> {
  for (const { 1: line = "", index } of text.matchAll(block)) {
    yield { rule: "secret-private-key", kind: line, start: index, end: index + line.length };
  }
}

/** Private keys. The kind is the first line; the span covers it, or a key in Base64. */
export function* privateKeys(text: string): Generator<Secret> {
  if (text.includes(mark)) yield* blocks(text);
  if (text.includes(puttyMark)) {
    for (const { 1: line = "", index: start } of text.matchAll(putty)) {
      yield { rule: "secret-private-key", kind: "PuTTY", start, end: start + line.length };
    }
  }
  if (!text.includes(encodedMark)) return;
  for (const { 0: value, index: start } of text.matchAll(encoded)) {
    const [first] = blocks(Buffer.from(value.slice(0, 400), "base64").toString("latin1"));
    if (first) yield { ...first, start, end: start + value.length };
  }
}

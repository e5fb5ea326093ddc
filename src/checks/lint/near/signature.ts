import { hashWords, mix, type OnWords } from "./words.ts";

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

// Reused: a folder has many short texts.
const bins = new Uint32Array(signatureSize);

/**
 * The value of each bin; an empty one has that of another one (densified one-permutation hashing,
 * Shrivastava 2017), so that short texts can be compared as well: both texts take the same other bin.
 */
function densify(): Uint16Array {
  const signature = new Uint16Array(signatureSize);
  for (let bin = 0; bin < signatureSize; bin++) {
    let from = bin;
    for (let attempt = 1; bins[from] === emptyBin; attempt++) {
      from = mix(Math.imul(bin + 1, 0x9e3779b1) + Math.imul(attempt, 0x7f4a7c15)) % signatureSize;
    }
    // Minima have few different bits, so 16 of their own bits would be equal by chance.
    signature[bin] = mix(bins[from] ?? 0) & 0xffff;
  }
  return signature;
}

/**
 * The MinHash signature of a text: signatureSize values of 16 bits. Two texts share about as many of
 * them as they share of their sequences of five words (of five characters in Chinese, Japanese and
 * other scripts without spaces). Undefined for a short text. Linear in the length of the text.
 */
export function signatureOf(texts: Iterable<string>): Uint16Array | undefined {
  bins.fill(emptyBin);
  const last = new Int32Array(shingleWords);
  let words = 0;
  // A polynomial of the last words: each word multiplies the ones before it.
  let shingle = 0;
  let size = 0;
  const addWords: OnWords = (hashes, count, characters) => {
    size += count - characters + characters / charactersPerWord;
    for (let at = 0; at < count; at++) {
      const hash = hashes[at] ?? 0;
      const slot = words % shingleWords;
      shingle = (Math.imul(shingle, base) + hash - Math.imul(last[slot] ?? 0, dropped)) | 0;
      last[slot] = hash;
      if (++words < shingleWords) continue;
      // 31 bits: never equal to emptyBin.
      const value = mix(shingle) >>> 1;
      const bin = value % signatureSize;
      if (value < (bins[bin] ?? 0)) bins[bin] = value;
    }
  };
  for (const text of texts) hashWords(text, addWords);
  return size < fewestWords ? undefined : densify();
}

/** A signature as text, for other threads. */
export const encodeSignature = (signature: Uint16Array): string =>
  Buffer.from(signature.buffer, signature.byteOffset, signature.byteLength).toString("base64");

/** Writes a signature of encodeSignature() to its place among others. */
export function decodeSignature(text: string, to: Uint16Array, index: number): void {
  const bytes = 2 * signatureSize;
  Buffer.from(to.buffer, to.byteOffset + index * bytes, bytes).write(text, "base64");
}

// Words as hashes. A loop over character codes: a pattern that finds the words of 40,000 pages takes
// longer than everything else that lint does with them.

const letterOrDigit = /[\p{L}\p{N}\p{M}]/u;
/** Scripts that put no spaces between words: each character counts as a word. */
export const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

const [separator, part, whole] = [0, 1, 2];
/** What each UTF-16 unit is to words; 3 is not known yet. */
const kinds = new Uint8Array(65_536).fill(3);
/** Its lower case, as far as that is one unit: a copy of the text in lower case takes as long as the loop. */
const lowerCase = new Uint16Array(65_536);

function kindOf(code: number): number {
  let kind = kinds[code] ?? separator;
  if (kind === 3) {
    const char = String.fromCharCode(code);
    // Half of a pair: rare letters and emoji alike.
    const isPart = letterOrDigit.test(char) || (code >= 0xd800 && code <= 0xdfff);
    kind = unspaced.test(char) ? whole : isPart ? part : separator;
    kinds[code] = kind;
    lowerCase[code] = char.toLowerCase().charCodeAt(0);
  }
  return kind;
}

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;

// A piece of the text, and the hashes of its words. Arrays of numbers: a loop over a string and a call
// for each word take twice as long.
const units = new Uint16Array(32_768);
const unitBytes = Buffer.from(units.buffer);
const hashes = new Int32Array(units.length + 1);

/**
 * Receives `count` hashes (32 bits, signed) of words, valid during the call. `characters` of them are
 * characters of scripts without spaces.
 */
type OnWords = (hashes: Int32Array, count: number, characters: number) => void;

/** Calls `onWords` with the words of each piece of a text, in order, whatever their case. */
export function hashWords(text: string, onWords: OnWords): void {
  let hash = offsetBasis;
  let isOpen = false;
  for (let start = 0; start < text.length; start += units.length) {
    const end = Math.min(text.length, start + units.length);
    unitBytes.write(start === 0 && end === text.length ? text : text.slice(start, end), "utf16le");
    let count = 0;
    let characters = 0;
    for (let at = 0; at < end - start; at++) {
      const code = units[at] ?? 0;
      const kind = kindOf(code);
      if (kind === part) {
        hash = Math.imul(hash ^ (lowerCase[code] ?? code), prime);
        isOpen = true;
        continue;
      }
      if (isOpen) hashes[count++] = hash;
      if (kind === whole) {
        hashes[count++] = Math.imul(offsetBasis ^ code, prime);
        characters++;
      }
      hash = offsetBasis;
      isOpen = false;
    }
    if (isOpen && end === text.length) hashes[count++] = hash;
    onWords(hashes, count, characters);
  }
}

/** Spreads all bits of a hash (the finaliser of MurmurHash3). */
export function mix(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

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

// 20 bands of 6 values: two texts that share 80 % of their shingles share a band in 99.8 % of all
// cases, two that share 50 % in 27 %.
const bandValues = 6;
const bands = signatureSize / bandValues;
// A text is compared with so many others in each band: texts that have a band in common and nothing
// else must not take quadratic time.
const mostLeaders = 8;

interface Similar {
  /** Index of the signature. */
  index: number;
  /** Index of the first signature that it resembles. */
  first: number;
  /** Estimated share of common shingles, from 0 to 1. */
  similarity: number;
}

function similarityOf(signatures: Uint16Array, one: number, other: number): number {
  let same = 0;
  for (let at = 0; at < signatureSize; at++) {
    if (signatures[one * signatureSize + at] === signatures[other * signatureSize + at]) same++;
  }
  return same / signatureSize;
}

/** A hash (signed, 32 bits) of the values of a band. */
function bandKey(signatures: Uint16Array, index: number, band: number): number {
  let hash = band;
  const from = index * signatureSize + band * bandValues;
  for (let at = from; at < from + bandValues; at++) {
    hash = mix(Math.imul(hash, 31) + (signatures[at] ?? 0));
  }
  return hash | 0;
}

/** The first texts of groups, by the values of their bands. */
interface Leaders {
  /** Those that share a band with a text: the last ones of each band. */
  near(index: number): ReadonlySet<number>;
  add(index: number): void;
}

/**
 * Hash tables in arrays of numbers, one for each band: maps would take several times the memory.
 * Texts with different values of a band seldom meet in a bucket, and comparing them does no harm.
 */
function createLeaders(signatures: Uint16Array, count: number): Leaders {
  const buckets = 2 ** Math.ceil(Math.log2(2 * count + 1));
  // For each band and bucket: the last leader; -1 for none.
  const lastIn = new Int32Array(bands * buckets).fill(-1);
  // For each leader and band: the one before it in the bucket.
  const before = new Int32Array(bands * count);
  const bucketOf = (index: number, band: number): number =>
    band * buckets + (bandKey(signatures, index, band) & (buckets - 1));
  return {
    near(index) {
      const found = new Set<number>();
      for (let band = 0; band < bands; band++) {
        let leader = lastIn[bucketOf(index, band)] ?? -1;
        for (let left = mostLeaders; leader !== -1 && left > 0; left--) {
          found.add(leader);
          leader = before[leader * bands + band] ?? -1;
        }
      }
      return found;
    },
    add(index) {
      for (let band = 0; band < bands; band++) {
        const bucket = bucketOf(index, band);
        before[index * bands + band] = lastIn[bucket] ?? -1;
        lastIn[bucket] = index;
      }
    },
  };
}

/**
 * Pairs each signature, one after the other in an array, with the first one that is at least `threshold` similar to it and has no pair
 * itself: a group of similar texts yields one pair less than it has members. `onCompare` is called
 * for each comparison. Time is linear in the number of signatures.
 */
export function* findSimilar(
  signatures: Uint16Array,
  threshold: number,
  onCompare: () => void = () => {},
): Generator<Similar> {
  const count = signatures.length / signatureSize;
  const leaders = createLeaders(signatures, count);
  for (let index = 0; index < count; index++) {
    let found: Similar | undefined;
    for (const first of leaders.near(index)) {
      onCompare();
      const similarity = similarityOf(signatures, index, first);
      if (similarity >= threshold && !(found && found.first < first)) {
        found = { index, first, similarity };
      }
    }
    if (found) yield found;
    else leaders.add(index);
  }
}

/** Scripts that put no spaces between words: each character counts as a word. */
const unspacedScripts =
  "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}]";
export const unspaced = new RegExp(unspacedScripts, "u");
// Beyond the first plane, rare letters and emoji are words alike.
const word = new RegExp(
  `${unspacedScripts}|[[\\p{L}\\p{N}\\p{M}\\u{10000}-\\u{10ffff}]--${unspacedScripts}]+`,
  "gv",
);

/** FNV-1a over UTF-16 units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash;
}

/** The words of a text, whatever their case, in order. */
export function* wordsOf(text: string): Generator<string> {
  for (const [found] of text.matchAll(word)) yield found.toLowerCase();
}

/** Spreads all bits of a hash (the finaliser of MurmurHash3). */
function mix(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Words of a shingle. */
const shingleWords = 5;
/** Values of a signature. */
const signatureSize = 120;
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
 * The value of each bin; an empty one has that of another one (densified one-permutation hashing,
 * Shrivastava 2017), so that short texts can be compared as well: both texts take the same other bin.
 */
function densify(bins: Uint32Array): string {
  let signature = "";
  for (let bin = 0; bin < signatureSize; bin++) {
    let from = bin;
    for (let attempt = 1; bins[from] === emptyBin; attempt++) {
      from = mix(Math.imul(bin + 1, 0x9e3779b1) + Math.imul(attempt, 0x7f4a7c15)) % signatureSize;
    }
    // Minima have few different bits, so 16 of their own bits would be equal by chance.
    signature += String.fromCharCode(mix(bins[from] ?? 0) & 0xffff);
  }
  return signature;
}

/**
 * The MinHash signature of a text: signatureSize values of 16 bits, as the units of a string. Two texts share about as many of
 * them as they share of their sequences of five words (of five characters in Chinese, Japanese and
 * other scripts without spaces). Undefined for a short text. Linear in the length of the text.
 */
export function signatureOf(texts: Iterable<string>): string | undefined {
  const bins = new Uint32Array(signatureSize).fill(emptyBin);
  const last = new Int32Array(shingleWords);
  let words = 0;
  let characters = 0;
  // A polynomial of the last words: each word multiplies the ones before it.
  let shingle = 0;
  for (const text of texts) {
    for (const each of wordsOf(text)) {
      if (unspaced.test(each)) characters++;
      const hash = hashOf(each);
      const slot = words % shingleWords;
      shingle = (Math.imul(shingle, base) + hash - Math.imul(last[slot] ?? 0, dropped)) | 0;
      last[slot] = hash;
      if (++words < shingleWords) continue;
      // 31 bits: never equal to emptyBin.
      const value = mix(shingle) >>> 1;
      const bin = value % signatureSize;
      if (value < (bins[bin] ?? 0)) bins[bin] = value;
    }
  }
  const size = words - characters + characters / charactersPerWord;
  return size < fewestWords ? undefined : densify(bins);
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

export function similarityOf(one: string, other: string): number {
  let same = 0;
  for (let at = 0; at < signatureSize; at++) {
    if (one.charCodeAt(at) === other.charCodeAt(at)) same++;
  }
  return same / signatureSize;
}

/** A hash of the values of a band. */
function bandKey(signature: string, band: number): number {
  let hash = band;
  for (let at = band * bandValues; at < (band + 1) * bandValues; at++) {
    hash = mix(Math.imul(hash, 31) + signature.charCodeAt(at));
  }
  return hash;
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
function createLeaders(signatures: readonly string[]): Leaders {
  const buckets = 2 ** Math.ceil(Math.log2(2 * signatures.length + 1));
  // For each band and bucket: the last leader; -1 for none.
  const lastIn = new Int32Array(bands * buckets).fill(-1);
  // For each leader and band: the one before it in the bucket.
  const before = new Int32Array(bands * signatures.length);
  const bucketOf = (index: number, band: number): number =>
    band * buckets + (bandKey(signatures[index]!, band) & (buckets - 1));
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
 * Pairs each signature with the first one that is at least `threshold` similar to it and has no pair
 * itself: a group of similar texts yields one pair less than it has members. `onCompare` is called
 * for each comparison. Time is linear in the number of signatures.
 */
export function* findSimilar(
  signatures: readonly string[],
  threshold: number,
  onCompare: () => void = () => {},
): Generator<Similar> {
  const leaders = createLeaders(signatures);
  for (const [index, signature] of signatures.entries()) {
    let found: Similar | undefined;
    for (const first of leaders.near(index)) {
      onCompare();
      const similarity = similarityOf(signature, signatures[first]!);
      if (similarity >= threshold && !(found && found.first < first)) {
        found = { index, first, similarity };
      }
    }
    if (found) yield found;
    else leaders.add(index);
  }
}

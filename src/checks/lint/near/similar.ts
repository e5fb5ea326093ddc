import { signatureSize } from "./signature.ts";
import { mix } from "./words.ts";

// 20 bands of 6 values: two texts that share 80 % of their shingles share a band in 99.8 % of all
// cases, two that share 50 % in 27 %.
const bandValues = 6;
const bands = signatureSize / bandValues;
// A text is compared with so many others in each band: texts that have a band in common and nothing
// else must not take quadratic time.
const mostLeaders = 8;

export interface Similar {
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

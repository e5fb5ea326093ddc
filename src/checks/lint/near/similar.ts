import { decodeSignature, signatureSize } from "./signature.ts";
import { mix } from "./words.ts";

// 20 bands of 6 values: two texts that share 80 % of their shingles share a band in 99.8 % of all
// cases, two that share 50 % in 27 %.
const bandValues = 6;
const bands = signatureSize / bandValues;
// Further texts of a band that resemble none of these are not compared: else equal bands of many
// different texts would take quadratic time.
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

/** A number for the values of a band, as a key: 32 bits of them and the number of the band. */
function bandKey(signatures: Uint16Array, index: number, band: number): number {
  let hash = 0;
  const from = index * signatureSize + band * bandValues;
  for (let at = from; at < from + bandValues; at++)
    hash = mix(Math.imul(hash, 31) + (signatures[at] ?? 0));
  return band * 0x1_0000_0000 + hash;
}

/**
 * Pairs each signature with the first one that is at least `threshold` similar to it, if that one has
 * no pair itself: a group of similar texts yields one pair less than it has members. `onCompare` is
 * called for each comparison. Time is linear in the number of signatures.
 */
export function* findSimilar(
  encoded: readonly string[],
  threshold: number,
  onCompare: () => void = () => {},
): Generator<Similar> {
  const signatures = new Uint16Array(encoded.length * signatureSize);
  const leaders = new Map<number, number[]>();
  for (const [index, text] of encoded.entries()) {
    const start = index * signatureSize;
    decodeSignature(text, signatures.subarray(start, start + signatureSize));
    const keys = Array.from({ length: bands }, (_, band) => bandKey(signatures, index, band));
    const candidates = new Set<number>();
    for (const key of keys) for (const leader of leaders.get(key) ?? []) candidates.add(leader);
    let found: Similar | undefined;
    for (const first of candidates) {
      onCompare();
      const similarity = similarityOf(signatures, index, first);
      if (similarity < threshold) continue;
      if (!found || first < found.first) found = { index, first, similarity };
    }
    if (found) yield found;
    else addLeader(leaders, keys, index);
  }
}

function addLeader(leaders: Map<number, number[]>, keys: readonly number[], index: number): void {
  for (const key of keys) {
    const known = leaders.get(key);
    if (!known) leaders.set(key, [index]);
    else if (known.length < mostLeaders) known.push(index);
  }
}

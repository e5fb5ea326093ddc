import { mix } from "../near/words.ts";

/** Numbers from 0 by a hash of 32 bits. */
export interface NumbersByHash {
  add(hash: number, value: number): void;
  /** The numbers that were added under a hash. */
  of(hash: number): Generator<number>;
}

const none = -1;

/**
 * A hash table in arrays of numbers: a map takes several times the memory, even more with its keys.
 * Different keys can have the same hash: the caller compares what the numbers stand for.
 */
export function createNumbersByHash(): NumbersByHash {
  let size = 1024;
  let count = 0;
  let hashes = new Int32Array(size);
  let values = new Float64Array(size).fill(none);

  const put = (hash: number, value: number): void => {
    let slot = hash & (size - 1);
    while (values[slot] !== none) slot = (slot + 1) & (size - 1);
    hashes[slot] = hash;
    values[slot] = value;
  };
  const grow = (): void => {
    const [oldHashes, oldValues] = [hashes, values];
    size *= 2;
    hashes = new Int32Array(size);
    values = new Float64Array(size).fill(none);
    for (const [slot, value] of oldValues.entries()) {
      if (value !== none) put(oldHashes[slot] ?? 0, value);
    }
  };
  return {
    add(hash, value) {
      // A third of the places stays empty, so that a search ends soon.
      if (3 * ++count > 2 * size) grow();
      put(hash, value);
    },
    *of(hash) {
      const wanted = hash | 0;
      for (let slot = wanted & (size - 1); values[slot] !== none; slot = (slot + 1) & (size - 1)) {
        if (hashes[slot] === wanted) yield values[slot] ?? none;
      }
    },
  };
}

/** A hash of a text, for NumbersByHash. */
export function hashText(text: string): number {
  // FNV-1a over UTF-16 units, then its bits mixed.
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return mix(hash) | 0;
}

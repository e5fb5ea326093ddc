import { hash } from "node:crypto";

/** One of `count` equal parts of all documents; `index` from 1. */
export interface Shard {
  index: number;
  count: number;
}

/**
 * Whether a document belongs to a shard. Uses only the SHA-256 of the id, so that every
 * machine and every version divides documents in the same way.
 */
export function isInShard(id: string, { index, count }: Shard): boolean {
  const number = Number.parseInt(hash("sha256", id, "hex").slice(0, 12), 16);
  return number % count === index - 1;
}

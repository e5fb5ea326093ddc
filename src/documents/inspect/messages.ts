import type { Looked, LookItem } from "./inspection.ts";

/**
 * Between threads, files and results go as JSON, and the bodies of documents change hands: a
 * structured clone of so many small objects takes several times as long.
 */
export interface ResultMessage {
  /** JSON of the results, without bodies. */
  text: string;
  /** For each result three numbers: the index of its block, offset and length of its body there. */
  places: Int32Array;
  /** Several bodies share a block. */
  blocks: ArrayBuffer[];
}

export function packItems(items: readonly LookItem[]): string {
  return JSON.stringify(items);
}

export function unpackItems(text: string): LookItem[] {
  return JSON.parse(text) as LookItem[];
}

const noBody = new Uint8Array(0);
const noBlock = -1;

/** The message for results. Takes the bodies out of `results`. */
export function packResults(results: readonly Looked[]): ResultMessage {
  const blocks: ArrayBuffer[] = [];
  const places = new Int32Array(3 * results.length).fill(noBlock);
  for (const [index, each] of results.entries()) {
    if (each.kind !== "document") continue;
    const { buffer, byteOffset, length } = each.body;
    // Bodies are written one after the other: only the last block can be the same.
    if (blocks.at(-1) !== buffer) blocks.push(buffer as ArrayBuffer);
    const at = 3 * index;
    places[at] = blocks.length - 1;
    places[at + 1] = byteOffset;
    places[at + 2] = length;
    each.body = noBody;
  }
  return { text: JSON.stringify(results), places, blocks };
}

export function unpackResults({ text, places, blocks }: ResultMessage): Looked[] {
  const results = JSON.parse(text) as Looked[];
  for (const [index, each] of results.entries()) {
    const at = 3 * index;
    const block = blocks[places[at] ?? noBlock];
    if (each.kind !== "document" || !block) continue;
    each.body = new Uint8Array(block, places[at + 1], places[at + 2]);
  }
  return results;
}

import type { Looked, LookItem } from "./inspection.ts";
import { same } from "./recorded.ts";

/**
 * Between threads, files and results go as text, and the bodies of documents change hands: a
 * structured clone of so many small objects takes several times as long.
 */
export interface ResultMessage {
  /** JSON of the results, without bodies; null for an unchanged file. */
  text: string;
  /** For each result three numbers: the index of its block, offset and length of its body there. */
  places: Int32Array;
  /** Several bodies share a block. */
  blocks: ArrayBuffer[];
}

// Neither a path nor a stamp contains it.
const separator = "\0";

type StampedItem = LookItem & { stamp: string };

/** Whether a file is compared by its stamp alone, like most files. */
function isStamped(item: LookItem): item is StampedItem {
  const { stamp, absolutePath, content, parts, facts } = item;
  return stamp !== undefined && (absolutePath ?? content ?? parts ?? facts) === undefined;
}

/** Packs files that are compared by their stamps without the cost of JSON, others as JSON. */
export function packItems(items: readonly LookItem[]): string {
  if (!items.every(isStamped)) return JSON.stringify(items);
  let text = "";
  for (const { path, stamp } of items) text += separator + path + separator + stamp;
  return text;
}

export function unpackItems(text: string): LookItem[] {
  if (text.startsWith("[")) return JSON.parse(text) as LookItem[];
  const fields = text.split(separator);
  const items: LookItem[] = [];
  for (let at = 1; at < fields.length; at += 2) {
    const [path = "", stamp] = [fields[at], fields[at + 1]];
    items.push({ path, absolutePath: undefined, stamp, content: undefined });
  }
  return items;
}

const peekMark = "?";

/** Packs the paths of files whose first bytes tell whether they have their path's id. */
export const packPaths = (paths: readonly string[]): string => peekMark + paths.join(separator);

/** The paths in a message of packPaths(); undefined for one of packItems(). */
export function unpackPaths(text: string): string[] | undefined {
  return text.startsWith(peekMark) ? text.slice(peekMark.length).split(separator) : undefined;
}

const noBody = new Uint8Array(0);
const noBlock = -1;

/** The message for results. Takes the bodies out of `results`. */
export function packResults(results: readonly Looked[]): ResultMessage {
  const blocks: ArrayBuffer[] = [];
  const places = new Int32Array(3 * results.length).fill(noBlock);
  const packed = results.map((each, index) => {
    if (each.kind === "same") return null;
    if (each.kind !== "document") return each;
    const { buffer, byteOffset, length } = each.body;
    each.body = noBody;
    // Documents of lint share one empty body, and a block can be handed over only once.
    if (length === 0) return each;
    // Bodies are written one after the other: only the last block can be the same.
    if (blocks.at(-1) !== buffer) blocks.push(buffer as ArrayBuffer);
    const at = 3 * index;
    places[at] = blocks.length - 1;
    places[at + 1] = byteOffset;
    places[at + 2] = length;
    return each;
  });
  return { text: JSON.stringify(packed), places, blocks };
}

export function unpackResults({ text, places, blocks }: ResultMessage): Looked[] {
  const packed = JSON.parse(text) as (Looked | null)[];
  return packed.map((each, index) => {
    if (!each) return same;
    if (each.kind !== "document") return each;
    const at = 3 * index;
    const block = blocks[places[at] ?? noBlock];
    each.body = block ? new Uint8Array(block, places[at + 1], places[at + 2]) : noBody;
    return each;
  });
}

import type { Looked, LookItem, ReadyDocument } from "./inspection.ts";
import { same } from "./recorded.ts";

/**
 * Between threads, files and results go as text, and the bodies of documents change hands: a
 * structured clone of so many small objects takes several times as long.
 */
export interface ResultMessage {
  /** JSON of the results: null for an unchanged file, a row of values for a document. */
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

/** What a document has besides its body: the names of its members take as long as their values. */
const toRow = (each: ReadyDocument) =>
  [
    each.path,
    each.part,
    each.line,
    each.id,
    each.ccPairId,
    each.ownPair,
    each.fingerprint.whole,
    each.fingerprint.fields,
    each.updatedAt,
    each.stamp,
    each.content,
    each.parts,
    each.warnings,
    each.images,
    each.uploads,
    each.notices,
    each.report,
  ] as const;

type Written = ReturnType<typeof toRow>;
/** JSON has null for undefined. */
type Row = {
  [At in keyof Written]: Written[At] | (undefined extends Written[At] ? null : never);
};

function fromRow(row: Row, body: Uint8Array): ReadyDocument {
  const [
    path,
    part,
    line,
    id,
    ccPairId,
    ownPair,
    whole,
    fields,
    updatedAt,
    stamp,
    content,
    parts,
    warnings,
    images,
    uploads,
    notices,
    report,
  ] = row;
  return {
    kind: "document",
    path,
    part,
    line: line ?? undefined,
    id,
    ccPairId: ccPairId ?? undefined,
    ownPair: ownPair ?? undefined,
    body,
    fingerprint: { whole, fields },
    updatedAt: updatedAt ?? undefined,
    stamp,
    content,
    parts: parts ?? undefined,
    warnings,
    images,
    uploads: uploads ?? undefined,
    notices: notices ?? undefined,
    report: report ?? undefined,
  };
}

const noBody = new Uint8Array(0);
const noBlock = -1;

/** The message for results. */
export function packResults(results: readonly Looked[]): ResultMessage {
  const blocks: ArrayBuffer[] = [];
  const places = new Int32Array(3 * results.length).fill(noBlock);
  const packed = results.map((each, index) => {
    if (each.kind === "same") return null;
    if (each.kind !== "document") return each;
    const { buffer, byteOffset, length } = each.body;
    // Documents of lint share one empty body, and a block can be handed over only once.
    if (length === 0) return toRow(each);
    // Bodies are written one after the other: only the last block can be the same.
    if (blocks.at(-1) !== buffer) blocks.push(buffer as ArrayBuffer);
    const at = 3 * index;
    places[at] = blocks.length - 1;
    places[at + 1] = byteOffset;
    places[at + 2] = length;
    return toRow(each);
  });
  return { text: JSON.stringify(packed), places, blocks };
}

export function unpackResults({ text, places, blocks }: ResultMessage): Looked[] {
  const packed = JSON.parse(text) as (Row | Exclude<Looked, ReadyDocument> | null)[];
  return packed.map((each, index) => {
    if (!each) return same;
    if ("kind" in each) return each;
    const at = 3 * index;
    const block = blocks[places[at] ?? noBlock];
    return fromRow(each, block ? new Uint8Array(block, places[at + 1], places[at + 2]) : noBody);
  });
}

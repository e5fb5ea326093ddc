import type { Looked, LookItem, ReadyDocument } from "./inspection.ts";
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

type Rest = Partial<ReadyDocument>;

/** A document without its body as a list of values: its names would take half of the time. */
type PackedDocument = readonly [
  path: string,
  part: number,
  id: string,
  ccPairId: number | undefined,
  ownPair: number | undefined,
  whole: string,
  fields: string,
  updatedAt: string | undefined,
  stamp: string,
  content: string,
  images: number,
  /** What most documents lack. */
  rest: Rest | undefined,
];

function restOf({
  line,
  parts,
  warnings,
  uploads,
  notices,
  report,
}: ReadyDocument): Rest | undefined {
  const isEmpty = (line ?? parts ?? uploads ?? notices ?? report) === undefined;
  return isEmpty && warnings.length === 0
    ? undefined
    : { line, parts, warnings, uploads, notices, report };
}

function packDocument(each: ReadyDocument): PackedDocument {
  return [
    each.path,
    each.part,
    each.id,
    each.ccPairId,
    each.ownPair,
    each.fingerprint.whole,
    each.fingerprint.fields,
    each.updatedAt,
    each.stamp,
    each.content,
    each.images,
    restOf(each),
  ];
}

// JSON has null in a list where there was undefined.
const orUndefined = <Value>(value: Value): NonNullable<Value> | undefined => value ?? undefined;

function unpackDocument(packed: PackedDocument, body: Uint8Array): ReadyDocument {
  const [
    path,
    part,
    id,
    ccPairId,
    ownPair,
    whole,
    fields,
    updatedAt,
    stamp,
    content,
    images,
    rest,
  ] = packed;
  return {
    kind: "document",
    path,
    part,
    id,
    ccPairId: orUndefined(ccPairId),
    ownPair: orUndefined(ownPair),
    body,
    fingerprint: { whole, fields },
    updatedAt: orUndefined(updatedAt),
    stamp,
    content,
    warnings: [],
    images,
    ...rest,
  };
}

/** The message for results. The bodies among them go to the receiver. */
export function packResults(results: readonly Looked[]): ResultMessage {
  const blocks: ArrayBuffer[] = [];
  const places = new Int32Array(3 * results.length).fill(noBlock);
  const packed = results.map((each, index) => {
    if (each.kind === "same") return null;
    if (each.kind !== "document") return each;
    const { buffer, byteOffset, length } = each.body;
    // Documents of lint share one empty body, and a block can be handed over only once.
    if (length > 0) {
      // Bodies are written one after the other: only the last block can be the same.
      if (blocks.at(-1) !== buffer) blocks.push(buffer as ArrayBuffer);
      places.set([blocks.length - 1, byteOffset, length], 3 * index);
    }
    return packDocument(each);
  });
  return { text: JSON.stringify(packed), places, blocks };
}

type Packed = PackedDocument | Exclude<Looked, ReadyDocument> | null;
const isDocument = (each: Packed): each is PackedDocument => Array.isArray(each);

export function unpackResults({ text, places, blocks }: ResultMessage): Looked[] {
  const packed = JSON.parse(text) as Packed[];
  return packed.map((each, index) => {
    if (!each) return same;
    if (!isDocument(each)) return each;
    const at = 3 * index;
    const block = blocks[places[at] ?? noBlock];
    const body = block ? new Uint8Array(block, places[at + 1], places[at + 2]) : noBody;
    return unpackDocument(each, body);
  });
}

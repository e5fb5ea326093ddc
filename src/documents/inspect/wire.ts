import type { Looked, LookItem, ReadyDocument } from "./inspection.ts";

/** The message that a thread posts for one task. */
export interface Answer {
  /** JSON of the results; "" when every file is as recorded. */
  heads: string;
  /** The buffers with the bodies; transferred, not copied. */
  blocks: ArrayBuffer[];
}

type Line = [path: string, absolutePath: string | undefined, ...rest: unknown[]];

// Packed into one text: a structured clone of so many small objects costs several times as much.
// Most items are a path alone, or a path with a stamp and maybe a hash. A path below the root has
// no empty segment. A stamp contains no slash or bar, and does not begin with "[" as JSON does.
const itemEnd = "//";
const pathStart = "/";
const contentStart = "|";

function isPlain({ absolutePath, stamp, content, facts }: LookItem): boolean {
  if (absolutePath !== undefined || facts !== undefined) return false;
  return content === undefined || (stamp !== undefined && !content.includes(pathStart));
}

/** Packs items for a thread. */
export function packItems(items: readonly LookItem[]): string {
  if (items.length > 0 && items.every(isPlain)) {
    return items
      .map(({ path, stamp = "", content }) =>
        content === undefined
          ? stamp + pathStart + path
          : stamp + contentStart + content + pathStart + path,
      )
      .join(itemEnd);
  }
  return JSON.stringify(
    items.map(({ path, absolutePath, ...rest }): Line => {
      return [path, absolutePath, rest.stamp, rest.content, rest.facts];
    }),
  );
}

export function unpackItems(text: string): LookItem[] {
  if (!text.startsWith("[")) {
    return text.split(itemEnd).map((line) => {
      const end = line.indexOf(pathStart);
      const path = line.slice(end + 1);
      const recorded = line.slice(0, end);
      const at = recorded.indexOf(contentStart);
      // A stamp is never empty.
      const stampAlone = recorded === "" ? undefined : recorded;
      if (at === -1)
        return { path, absolutePath: undefined, stamp: stampAlone, content: undefined };
      const [stamp, content] = [recorded.slice(0, at), recorded.slice(at + 1)];
      return { path, absolutePath: undefined, stamp, content };
    });
  }
  return (JSON.parse(text) as Line[]).map(([path, absolutePath, stamp, content, facts]) => {
    // JSON writes an undefined array item as null.
    const recorded = { stamp: stamp ?? undefined, content: content ?? undefined };
    const item = { path, absolutePath: absolutePath ?? undefined };
    return { ...item, ...recorded, ...(facts ? { facts } : {}) } as LookItem;
  });
}

function isAsRecorded(looked: Looked): boolean {
  return looked.kind === "same";
}

/** Members that only few documents have. */
type Rare = Pick<ReadyDocument, "ownPair" | "warnings" | "images" | "uploads" | "notices">;

// Members by position: names would be written and read again for each document.
type DocumentLine = [
  /** Index of the block with the body. */
  block: number,
  from: number,
  bytes: number,
  /** 0 if it equals the path. */
  id: string | 0,
  whole: string,
  fields: string,
  content: string,
  stamp: string,
  /** JSON writes undefined as null. */
  ccPairId: number | null | undefined,
  updatedAt: string | null | undefined,
  /** 0 if the document has none of these. */
  rare: Rare | 0,
];

function packDocument(document: ReadyDocument, block: number): DocumentLine {
  const { body, path, id, fingerprint, content, stamp, ccPairId, updatedAt } = document;
  const { ownPair, warnings, images, uploads, notices } = document;
  const { whole, fields } = fingerprint;
  const isRare = ownPair !== undefined || warnings.length > 0 || images > 0 || uploads || notices;
  return [
    block,
    body.byteOffset,
    body.length,
    id === path ? 0 : id,
    whole,
    fields,
    content,
    stamp,
    ccPairId,
    updatedAt,
    isRare ? { ownPair, warnings, images, uploads, notices } : 0,
  ];
}

const nothingRare: Rare = {
  ownPair: undefined,
  warnings: [],
  images: 0,
  uploads: undefined,
  notices: undefined,
};

function unpackDocument(
  line: DocumentLine,
  path: string,
  blocks: readonly ArrayBuffer[],
): ReadyDocument {
  const [block, from, bytes, id, whole, fields, content, stamp, ccPairId, updatedAt, more] = line;
  const rare = more === 0 ? nothingRare : more;
  return {
    kind: "document",
    path,
    // Only files with one document go to a thread.
    part: 0,
    id: id === 0 ? path : id,
    ccPairId: ccPairId ?? undefined,
    ownPair: rare.ownPair,
    body: Buffer.from(blocks[block] ?? new ArrayBuffer(0), from, bytes),
    fingerprint: { whole, fields },
    updatedAt: updatedAt ?? undefined,
    stamp,
    content,
    warnings: rare.warnings,
    images: rare.images,
    uploads: rare.uploads,
    notices: rare.notices,
  };
}

/**
 * Packs results into one text and collects the buffers with their bodies. Transfer the buffers
 * instead of copying them; this thread can no longer read the bodies then.
 */
export function packAnswer(results: readonly Looked[]): Answer {
  const blocks: ArrayBuffer[] = [];
  if (results.every(isAsRecorded)) return { heads: "", blocks };
  const heads = results.map((each) => {
    if (each.kind !== "document") return each;
    const block = each.body.buffer as ArrayBuffer;
    // The blocks contain the bodies in the order of their creation.
    if (blocks.at(-1) !== block) blocks.push(block);
    return packDocument(each, blocks.length - 1);
  });
  return { heads: JSON.stringify(heads), blocks };
}

const same: Looked = { kind: "same" };

/** Unpacks the results of `items`. */
export function unpackAnswer({ heads, blocks }: Answer, items: readonly LookItem[]): Looked[] {
  if (heads === "") return items.map(() => same);
  const lines = JSON.parse(heads) as (DocumentLine | Exclude<Looked, ReadyDocument>)[];
  return lines.map((line, index) =>
    Array.isArray(line) ? unpackDocument(line, items[index]?.path ?? "", blocks) : line,
  );
}

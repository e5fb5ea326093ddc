import type { Looked, LookItem, ReadyDocument } from "./inspection.ts";

/** What a thread answers. */
export interface Answer {
  /** JSON of the results; "" when every file is as recorded. */
  heads: string;
  /** What the bodies lie in; changes hands. */
  blocks: ArrayBuffer[];
}

type Line = [path: string, absolutePath: string | undefined, ...rest: unknown[]];

// As one text: a structured clone of so many small objects costs several times as much.
// Most items are a path alone, or with a stamp and maybe a hash. No path below the root holds
// an empty step, no stamp a slash or bar. JSON begins with "[", which no stamp does.
const itemEnd = "//";
const pathStart = "/";
const contentStart = "|";

function isPlain({ absolutePath, stamp, content, facts }: LookItem): boolean {
  if (absolutePath !== undefined || facts !== undefined) return false;
  return content === undefined || (stamp !== undefined && !content.includes(pathStart));
}

/** Items as they go to a thread. */
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
      const known = line.slice(0, end);
      const at = known.indexOf(contentStart);
      // No stamp is empty.
      const stampAlone = known === "" ? undefined : known;
      if (at === -1)
        return { path, absolutePath: undefined, stamp: stampAlone, content: undefined };
      const [stamp, content] = [known.slice(0, at), known.slice(at + 1)];
      return { path, absolutePath: undefined, stamp, content };
    });
  }
  return (JSON.parse(text) as Line[]).map(([path, absolutePath, stamp, content, facts]) => {
    // JSON has null where the array held nothing.
    const known = { stamp: stamp ?? undefined, content: content ?? undefined };
    const item = { path, absolutePath: absolutePath ?? undefined };
    return { ...item, ...known, ...(facts ? { facts } : {}) } as LookItem;
  });
}

function isAsRecorded(looked: Looked): boolean {
  return looked.kind === "same";
}

/** What few documents have. */
type Rare = Pick<ReadyDocument, "ownPair" | "warnings" | "images" | "uploads" | "notices">;

// By position: names would be written and read again for each document.
type DocumentLine = [
  /** Where the body lies. */
  block: number,
  from: number,
  bytes: number,
  /** 0 when it is the path. */
  id: string | 0,
  whole: string,
  fields: string,
  content: string,
  stamp: string,
  /** Nothing is null in JSON. */
  ccPairId: number | null | undefined,
  updatedAt: string | null | undefined,
  /** 0 when there is nothing of it. */
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
    // A file that is looked at holds one document.
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
 * The results as one text, and the memory that their bodies lie in: it is to be
 * handed over, not copied, and the bodies are lost for this thread.
 */
export function packAnswer(results: readonly Looked[]): Answer {
  const blocks: ArrayBuffer[] = [];
  if (results.every(isAsRecorded)) return { heads: "", blocks };
  const heads = results.map((each) => {
    if (each.kind !== "document") return each;
    const block = each.body.buffer as ArrayBuffer;
    // Bodies lie in the order in which they were made.
    if (blocks.at(-1) !== block) blocks.push(block);
    return packDocument(each, blocks.length - 1);
  });
  return { heads: JSON.stringify(heads), blocks };
}

const same: Looked = { kind: "same" };

/** The results of the items that were handed over. */
export function unpackAnswer({ heads, blocks }: Answer, items: readonly LookItem[]): Looked[] {
  if (heads === "") return items.map(() => same);
  const lines = JSON.parse(heads) as (DocumentLine | Exclude<Looked, ReadyDocument>)[];
  return lines.map((line, index) =>
    Array.isArray(line) ? unpackDocument(line, items[index]?.path ?? "", blocks) : line,
  );
}

import type { Looked, LookItem, ReadyDocument } from "./inspection.ts";

/** What a thread answers. */
export interface Answer {
  /** JSON of the results, each body as its length; "" when every file is as recorded. */
  heads: string;
  /** The bodies, one after the other. */
  bodies: Uint8Array;
}

type Line = [path: string, absolutePath: string | undefined, ...rest: unknown[]];

// As one text: a structured clone of so many small objects costs several times as much.
// Most items are a stamp and a path. No path below the root holds an empty step, no
// stamp a slash: two marks are enough. JSON begins with "[", which no stamp does.
const itemEnd = "//";
const pathStart = "/";

function isPlain({ absolutePath, stamp, content, facts }: LookItem): boolean {
  return (
    absolutePath === undefined &&
    stamp !== undefined &&
    content === undefined &&
    facts === undefined
  );
}

/** Items as they go to a thread. */
export function packItems(items: readonly LookItem[]): string {
  if (items.length > 0 && items.every(isPlain)) {
    return items.map(({ path, stamp }) => stamp + pathStart + path).join(itemEnd);
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
      return { path, absolutePath: undefined, stamp: line.slice(0, end), content: undefined };
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
  return looked.kind === "same" && looked.stamp === undefined;
}

/** What few documents have. */
type Rare = Pick<ReadyDocument, "ownPair" | "warnings" | "images" | "uploads">;

// By position: names would be written and read again for each document.
type DocumentLine = [
  bodyBytes: number,
  /** 0 when it is the path. */
  id: string | 0,
  whole: string,
  fields: string,
  content: string,
  stamp: string,
  /** Nothing is null in JSON. */
  ccPairId: number | null | undefined,
  updatedAt: string | null | undefined,
  rare?: Rare,
];

function packDocument(document: ReadyDocument): DocumentLine {
  const { path, id, fingerprint, content, stamp, ccPairId, updatedAt } = document;
  const { ownPair, warnings, images, uploads } = document;
  const name = id === path ? 0 : id;
  const { whole, fields } = fingerprint;
  const { length } = document.body;
  const line: DocumentLine = [length, name, whole, fields, content, stamp, ccPairId, updatedAt];
  const isRare = ownPair !== undefined || warnings.length > 0 || images > 0 || uploads;
  if (isRare) line.push({ ownPair, warnings, images, uploads });
  return line;
}

const nothingRare: Rare = { ownPair: undefined, warnings: [], images: 0, uploads: undefined };

function unpackDocument(line: DocumentLine, path: string, body: Buffer): ReadyDocument {
  const [, id, whole, fields, content, stamp, ccPairId, updatedAt, rare = nothingRare] = line;
  return {
    kind: "document",
    path,
    // A file that is looked at holds one document.
    part: 0,
    id: id === 0 ? path : id,
    ccPairId: ccPairId ?? undefined,
    ownPair: rare.ownPair,
    body,
    fingerprint: { whole, fields },
    updatedAt: updatedAt ?? undefined,
    stamp,
    content,
    warnings: rare.warnings,
    images: rare.images,
    uploads: rare.uploads,
  };
}

/** All bodies in one buffer that changes hands, and the rest as one text. */
export function packAnswer(results: readonly Looked[]): Answer {
  if (results.every(isAsRecorded)) return { heads: "", bodies: new Uint8Array(0) };
  let size = 0;
  for (const each of results) if (each.kind === "document") size += each.body.length;
  const bodies = new Uint8Array(size);
  let at = 0;
  const heads = results.map((each) => {
    if (each.kind !== "document") return each;
    bodies.set(each.body, at);
    at += each.body.length;
    return packDocument(each);
  });
  return { heads: JSON.stringify(heads), bodies };
}

const same: Looked = { kind: "same", stamp: undefined };

/** The results of the items that were handed over. */
export function unpackAnswer({ heads, bodies }: Answer, items: readonly LookItem[]): Looked[] {
  if (heads === "") return items.map(() => same);
  let at = bodies.byteOffset;
  const lines = JSON.parse(heads) as (DocumentLine | Exclude<Looked, ReadyDocument>)[];
  return lines.map((line, index) => {
    if (!Array.isArray(line)) return line;
    const body = Buffer.from(bodies.buffer, at, line[0]);
    at += line[0];
    return unpackDocument(line, items[index]?.path ?? "", body);
  });
}

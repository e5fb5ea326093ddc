import { sep } from "node:path";
import type { Looked, LookItem } from "./inspection.ts";

/** What a thread answers. */
export interface Answer {
  /** JSON of the results, each body as its length; "" when every file is as recorded. */
  heads: string;
  /** The bodies, one after the other. */
  bodies: Uint8Array;
}

type Line = [path: string, absolutePath: string, ...rest: unknown[]];

// As one text: a structured clone of so many small objects costs several times as much.

/** Items as they go to a thread; `root` is the project root, which most paths lie below. */
export function packItems(items: readonly LookItem[], root: string): string {
  const prefix = root.endsWith(sep) ? root : root + sep;
  const lines = items.map(({ path, absolutePath, stamp, content, facts }): Line => {
    const isUsual = absolutePath === prefix + path;
    return [path, isUsual ? "" : absolutePath, stamp, content, facts];
  });
  return JSON.stringify(lines);
}

export function unpackItems(text: string, root: string): LookItem[] {
  const prefix = root.endsWith(sep) ? root : root + sep;
  return (JSON.parse(text) as Line[]).map(([path, absolutePath, stamp, content, facts]) => {
    // JSON has null where the array held nothing.
    const known = { stamp: stamp ?? undefined, content: content ?? undefined };
    const item = { path, absolutePath: absolutePath === "" ? prefix + path : absolutePath };
    return { ...item, ...known, ...(facts ? { facts } : {}) } as LookItem;
  });
}

function isAsRecorded(looked: Looked): boolean {
  return looked.kind === "same" && looked.stamp === undefined;
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
    return { ...each, body: each.body.length };
  });
  return { heads: JSON.stringify(heads), bodies };
}

const same: Looked = { kind: "same", stamp: undefined };

/** The results of `count` items. */
export function unpackAnswer({ heads, bodies }: Answer, count: number): Looked[] {
  if (heads === "") return Array.from({ length: count }, () => same);
  let at = 0;
  return (JSON.parse(heads) as (Looked & { body?: unknown })[]).map((each) => {
    if (each.kind !== "document") return each;
    const length = Number(each.body);
    each.body = Buffer.from(bodies.buffer, bodies.byteOffset + at, length);
    at += length;
    return each;
  });
}

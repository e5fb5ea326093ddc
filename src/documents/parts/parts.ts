import { hash } from "node:crypto";
import { statSync } from "node:fs";
import { absoluteOf, stampOf, trustedStamp } from "../files/source-file.ts";

/** The stamp of a part, see createParts(), at a root-relative path; "" for none. Follows links. */
function stampAt(root: string, path: string): string {
  try {
    const stats = statSync(absoluteOf(root, path), { bigint: true, throwIfNoEntry: false });
    return stats ? stampOf(stats) : "";
  } catch {
    // Not readable, or a link in a loop.
    return "";
  }
}

const anywhere = "**/";

/** The part of a document that is a file of a name, whichever folder it may be added to. */
export const partAnywhere = (target: string): string => anywhere + target;

/** A name of a file for comparison: a note is found whatever its capital letters and normal form. */
export const comparableName = (path: string): string =>
  path
    .slice(path.lastIndexOf("/") + 1)
    .normalize("NFC")
    .toLowerCase();

/** The name of partAnywhere(), as comparableName() makes it; undefined for the path of one file. */
export function nameAnywhere(part: string): string | undefined {
  return part.startsWith(anywhere) ? comparableName(part) : undefined;
}

const digestOf = (stamps: readonly string[]): string =>
  hash("sha256", stamps.join("\n"), "hex").slice(0, 32);

// The scan of the state separates rows by "//", which no text with this escape contains.
const toText = (list: readonly string[]): string =>
  JSON.stringify(list).replaceAll("/", String.raw`\/`);

/** The parts of a document as the state records them: a digest of their stamps, and their paths. */
export function partsText(stamps: ReadonlyMap<string, string>): string {
  return toText([digestOf([...stamps.values()]), ...stamps.keys()]);
}

/** Parts from another machine: their stamps are unknown here. */
export function partsOfPaths(paths: readonly string[]): string {
  return toText(["", ...paths]);
}

function listIn(text: string): [digest: string, ...paths: string[]] {
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list)) return list.map(String) as [string, ...string[]];
  } catch {
    // Damaged, or from another program.
  }
  return [""];
}

/** The paths of recorded parts. */
export function pathsInParts(text: string): string[] {
  return listIn(text).slice(1);
}

// Pages link to the same pages. Bounded: cleared when full.
const mostKnown = 50_000;

/**
 * Returns a function that checks whether the parts of a document have their recorded stamps. It
 * reads the stamp of each part once: create it for each run. A part that changes meanwhile is found
 * by the next run.
 */
export function createPartCheck(root: string): (text: string) => boolean {
  const known = new Map<string, string>();
  const stampOnce = (path: string): string => {
    let stamp = known.get(path);
    if (stamp === undefined) {
      if (known.size >= mostKnown) known.clear();
      known.set(path, (stamp = stampAt(root, path)));
    }
    return stamp;
  };
  return (text) => {
    const [digest, ...paths] = listIn(text);
    return digest !== "" && digestOf(paths.map(stampOnce)) === digest;
  };
}

/**
 * The files, besides its own, that a document is made of: included files, images, files that it
 * links to. Also those that were looked for in vain: when one appears, the document changes.
 */
export interface Parts {
  /** Records a root-relative path. Call it before the file is read, so that no change is missed. */
  note(path: string): void;
  /** Records a path with the stamp that it had before it was read; undefined if not trusted. */
  add(path: string, stamp: string | undefined): void;
  /** As the state records them; undefined without parts. */
  text(): string | undefined;
  /** Whether every later change of a part changes text(). */
  isTrusted(): boolean;
}

/** A document with more parts is read on each run, and with each `--since`. */
export const mostParts = 1000;

/** The stamp of a part now: "" for a missing file, undefined if it cannot be trusted. */
function stampNow(root: string, path: string): string | undefined {
  const stamp = stampAt(root, path);
  if (stamp === "") return stamp;
  return trustedStamp(stamp, Date.now()) || undefined;
}

/** Creates the empty list of parts of one document. `root` is absolute and real. */
export function createParts(root: string): Parts {
  const stamps = new Map<string, string>();
  let isTrusted = true;
  const add: Parts["add"] = (path, stamp) => {
    if (stamp === undefined) isTrusted = false;
    if (stamps.has(path)) return;
    if (stamps.size >= mostParts) isTrusted = false;
    if (stamps.size < mostParts) stamps.set(path, stamp ?? "");
  };
  return {
    note(path) {
      if (stamps.has(path)) return;
      add(path, stamps.size < mostParts ? stampNow(root, path) : undefined);
    },
    add,
    text: () => (stamps.size === 0 ? undefined : partsText(stamps)),
    isTrusted: () => isTrusted,
  };
}

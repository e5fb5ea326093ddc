import { hash } from "node:crypto";
import { statSync } from "node:fs";
import { absoluteOf } from "../files/absolute.ts";
import { stampOf } from "../files/stamp.ts";

/** The stamp of a part, see createParts(), at a root-relative path; "" for none. Follows links. */
export function stampAt(root: string, path: string): string {
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

import { readdirSync, lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { normalise, absoluteOf } from "./source-file.ts";
import { codeOf } from "../../errors.ts";
import { relativeTo } from "./root.ts";

const alike = (name: string): string => normalise(name).replaceAll(" ", "_");

/** The names in a folder by their alike form; none for a folder that cannot be listed. */
function namesIn(folder: string): Map<string, string[]> {
  const names = new Map<string, string[]>();
  try {
    for (const name of readdirSync(folder)) {
      names.set(alike(name), [...(names.get(alike(name)) ?? []), name]);
    }
  } catch {
    // No folder: nothing has a path below it.
  }
  return names;
}

/**
 * Returns a function that checks whether a file or folder has a root-relative path, where a space
 * and an underscore are the same, and NFC and NFD too: a stored id does not tell them apart.
 * Each folder is listed at most once, so use the function for one command only.
 */
export function createHasAlike(root: string): (path: string) => boolean {
  const listed = new Map<string, Map<string, string[]>>();
  const namesAlike = (folder: string, name: string): string[] => {
    let names = listed.get(folder);
    if (!names) listed.set(folder, (names = namesIn(folder)));
    return names.get(alike(name)) ?? [];
  };
  const has = (folder: string, segments: readonly string[]): boolean => {
    const [name = "", ...below] = segments;
    return namesAlike(folder, name).some(
      (each) => below.length === 0 || has(join(folder, each), below),
    );
  };
  return (path) => has(root, path.split("/"));
}

/** A name with each byte outside printable ASCII written like `\xe9`. */
export function escapeBytes(bytes: Buffer): string {
  return bytes
    .toString("latin1")
    .replace(/[^ -~]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** The bytes of a path whose names escapeBytes() may have written. */
function unescapeBytes(path: string): Buffer {
  // Every second piece is a byte.
  const pieces = path.split(/\\x([0-9a-f]{2})/);
  return Buffer.concat(
    pieces.map((piece, at) => Buffer.from(piece, at % 2 === 0 ? "utf8" : "hex")),
  );
}

const isThere = (path: string | Buffer): boolean =>
  lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** Why a file that has such a name cannot be read. */
export const undecodable = "the name is not valid UTF-8: rename it";

/** Whether the path exists only as escapeBytes() wrote it: no name that Node can write leads there. */
export function isRawName(absolutePath: string): boolean {
  if (!absolutePath.includes("\\x")) return false;
  try {
    return !isThere(absolutePath) && isThere(unescapeBytes(absolutePath));
  } catch {
    return false;
  }
}

/** Whether the path exists, also as escapeBytes() wrote it. Also true if it cannot be checked: it may exist. */
export function exists(absolutePath: string): boolean {
  try {
    return isThere(absolutePath) || isRawName(absolutePath);
  } catch (error) {
    const code = codeOf(error);
    return code !== "ENOENT" && code !== "ENOTDIR";
  }
}

/** Root-relative path with all links resolved; undefined if missing or outside the root. */
export function realPathIn(root: string, absolutePath: string): string | undefined {
  try {
    const path = relativeTo(root, realpathSync.native(absolutePath));
    return path === undefined ? undefined : normalise(path);
  } catch {
    return undefined;
  }
}

/** The names in a folder that are not NFC, by their NFC form. */
function nonNfcNames(folder: string): Map<string, string> {
  try {
    const names = readdirSync(folder).map((name) => [normalise(name), name] as const);
    return new Map(names.filter(([normalised, name]) => normalised !== name));
  } catch {
    return new Map();
  }
}

/**
 * Returns a function that finds the absolute path of a root-relative path. Our paths are NFC, but
 * names on disk can differ: macOS often uses NFD. A path that exists in no form is returned as
 * written. Each folder is listed at most once, so use the function for one command only.
 */
export function createRealPlaces(root: string): (path: string) => string {
  const listed = new Map<string, Map<string, string>>();
  const nonNfcNameOf = (folder: string, name: string): string | undefined => {
    let names = listed.get(folder);
    if (!names) listed.set(folder, (names = nonNfcNames(folder)));
    return names.get(name);
  };
  return (path) => {
    const asWritten = absoluteOf(root, path);
    if (exists(asWritten)) return asWritten;
    let folder = root;
    for (const segment of path.split("/")) {
      const next = absoluteOf(folder, segment);
      const name = exists(next) ? segment : nonNfcNameOf(folder, segment);
      if (name === undefined) return asWritten;
      folder = absoluteOf(folder, name);
    }
    return folder;
  };
}

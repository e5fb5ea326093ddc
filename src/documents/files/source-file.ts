import { sep } from "node:path";
import type { Commit } from "../../git/last-commits.ts";
import type { CodeOwner } from "../../git/code-owners.ts";
import { type BigIntStats, lstatSync } from "node:fs";
import { codeOf, fileProblem } from "../../errors.ts";

/** The absolute path of a root-relative one. */
export function absoluteOf(root: string, path: string): string {
  return root.endsWith(sep) ? root + path : root + sep + path;
}

/**
 * Facts about a file from outside the file; only those that the settings need. Plain data: it is
 * sent with the file to the thread that reads it.
 */
export interface FileFacts {
  /** The commit that last changed it. */
  commit?: Commit | undefined;
  /** Owners that CODEOWNERS names. */
  owners?: readonly CodeOwner[] | undefined;
}

/** For `explain`: `git commit abc1234`. */
export function commitOrigin({ id }: Commit): string {
  return `git commit ${id.slice(0, 7)}`;
}

/** One local file that may become a document. */
export interface SourceFile {
  /** Relative to the project root, "/", NFC. */
  path: string;
  /** Where the bytes are. */
  absolutePath: string;
  sizeBytes: number;
  /** `size:mtimeNs:ctimeNs:inode`: the same stamp means the same content, as in git's index. */
  stamp: string;
  mtimeMs: number;
  facts?: FileFacts | undefined;
}

/** A path that results in no document: skipped for a reason, or unreadable. */
export type LeftOut =
  | { kind: "skipped"; path: string; reason: string }
  | { kind: "failed"; path: string; reason: string };

/** One result of the search. */
export type Found = { kind: "file"; file: SourceFile } | LeftOut;

/** A result by name only, without a stat call. */
export type Listed = ListedFile | LeftOut;

export interface ListedFile {
  kind: "file";
  path: string;
  /** Where the bytes are; undefined if that is simply `path` below the project root. */
  absolutePath: string | undefined;
  /** Paths of the symbolic links on the way, the last one first; undefined without links. */
  links?: readonly string[];
}

/** The stamp of a SourceFile: the same on listing and on reading. */
export function stampOf(stats: BigIntStats): string {
  return `${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}:${stats.ino}`;
}

/** The size in bytes, from a stamp. */
export function sizeIn(stamp: string): number {
  return Number.parseInt(stamp, 10) || 0;
}

/**
 * File times have the resolution of the system's clock tick: 4 or 10 ms, on Windows 15.6. A second
 * write within one tick does not change the times.
 */
export const tickMs = 17;

/**
 * The stamp if every later change of the content also changes the stamp, else "". A file that
 * changed within the clock tick of its reading (`readAtMs`) could change again with the same
 * times. Like git, this function does not trust such a stamp. File systems with whole-second
 * times need a whole second.
 */
export function trustedStamp(stamp: string, readAtMs: number): string {
  const changedAt = stamp.indexOf(":", stamp.indexOf(":") + 1) + 1;
  const changedNs = stamp.slice(changedAt, stamp.indexOf(":", changedAt));
  const resolutionMs = changedNs.endsWith("000000000") ? 2000 : tickMs;
  return Number(changedNs.slice(0, -6)) + resolutionMs > readAtMs ? "" : stamp;
}

const notAscii = /[^ -~]/;

/** Returns NFC, so that the same name has the same id on macOS (NFD) and Linux. */
export function normalise(name: string): string {
  return notAscii.test(name) ? name.normalize("NFC") : name;
}

/** Creates a SourceFile from stats. */
export function sourceFile(path: string, absolutePath: string, stats: BigIntStats): SourceFile {
  return {
    path,
    absolutePath,
    sizeBytes: Number(stats.size),
    stamp: stampOf(stats),
    mtimeMs: Number(stats.mtimeMs),
  };
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xe000;

/**
 * Compares in code-point order, the order of UTF-8 bytes and of SQLite. JavaScript compares code
 * units, where surrogate pairs sort before U+E000 to U+FFFF.
 */
export function comparePaths(a: string, b: string): number {
  if (a === b) return 0;
  for (let at = 0; at < a.length && at < b.length; at++) {
    const [one, other] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (one === other) continue;
    if (isSurrogate(one) !== isSurrogate(other) && one >= 0xd800 && other >= 0xd800) {
      return isSurrogate(one) ? 1 : -1;
    }
    return one - other;
  }
  return a.length - b.length;
}

/** Reads the stats of a listed file. Returns the reason if it is no readable regular file. */
export function statFile(path: string, absolute: string): Found {
  try {
    const stats = lstatSync(absolute, { bigint: true });
    if (!stats.isFile()) return { kind: "skipped", path, reason: "not a regular file any more" };
    return { kind: "file", file: sourceFile(path, absolute, stats) };
  } catch (error) {
    const code = codeOf(error);
    const isGone = code === "ENOENT";
    const reason = isGone
      ? "it vanished during the search"
      : `cannot be read: ${fileProblem(code)}`;
    return { kind: "failed", path, reason };
  }
}

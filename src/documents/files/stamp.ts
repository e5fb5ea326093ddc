import type { SourceFile } from "./source-file.ts";
import type { BigIntStats } from "node:fs";

/** The stamp of a SourceFile: the same on listing and on reading. */
export function stampOf(stats: BigIntStats): string {
  return `${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}:${stats.ino}`;
}

/** The size in bytes, from a stamp. */
export function sizeIn(stamp: string): number {
  return Number.parseInt(stamp, 10) || 0;
}

/**
 * The stamp if every later change of the content also changes the stamp, else "". A file that
 * changed within the clock tick of its reading (`readAtMs`) could change again with the same
 * times. Like git, this function does not trust such a stamp. File systems with whole-second
 * times need a whole second.
 */
export function trustedStamp(stamp: string, readAtMs: number): string {
  const changedAt = stamp.indexOf(":", stamp.indexOf(":") + 1) + 1;
  const changedNs = stamp.slice(changedAt, stamp.indexOf(":", changedAt));
  const tickMs = changedNs.endsWith("000000000") ? 2000 : 20;
  return Number(changedNs.slice(0, -6)) + tickMs > readAtMs ? "" : stamp;
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

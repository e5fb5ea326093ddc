import type { BigIntStats } from "node:fs";
import type { SourceFile } from "./find.ts";

/** The stamp of a SourceFile: the same on listing and on reading. */
export function stampOf(stats: BigIntStats): string {
  return `${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}:${stats.ino}`;
}

const notAscii = /[^ -~]/;

/** NFC: the same name from macOS (NFD) and Linux gives the same id. */
export function normalise(name: string): string {
  return notAscii.test(name) ? name.normalize("NFC") : name;
}

/** The record of a file from its stats. */
export function sourceFile(path: string, absolutePath: string, stats: BigIntStats): SourceFile {
  return {
    path,
    absolutePath,
    sizeBytes: Number(stats.size),
    stamp: stampOf(stats),
    mtimeMs: Number(stats.mtimeNs / 1_000_000n),
  };
}

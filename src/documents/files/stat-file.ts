import type { Found } from "./source-file.ts";
import { lstatSync } from "node:fs";
import { codeOf, fileProblem } from "../../errors.ts";
import { sourceFile } from "./stamp.ts";

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

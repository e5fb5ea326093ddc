import { realpathSync, statSync, type Stats } from "node:fs";
import { resolve } from "node:path";
import { CliError } from "../errors.ts";

/**
 * Stats of a path that the user names. Undefined if there is nothing, or if it cannot be looked up:
 * whoever reads or writes the file reports that. Without entry, Node throws below a file (20.20).
 */
export function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** The real path; the path itself where it has none, as a pipe of `<(…)`. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Identity of a file, whatever path or link leads to it. Undefined if it cannot be looked up. */
function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    // The reader of the file reports the failure.
    return undefined;
  }
}

/** Throws CliError `usage` if two of the names lead to one file. `-` is stdin, no file. */
export function refuseRepeatedFile(cwd: string, names: readonly string[], hint: string): void {
  const seen = new Map<string, string>();
  for (const name of names) {
    const identity = name === "-" ? undefined : identityOf(resolve(cwd, name));
    if (identity === undefined) continue;
    const previous = seen.get(identity);
    if (previous !== undefined) {
      throw new CliError("usage", `${previous} and ${name} are the same file`, { hints: [hint] });
    }
    seen.set(identity, name);
  }
}

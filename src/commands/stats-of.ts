import { statSync, type Stats } from "node:fs";

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

import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isInert } from "../../../output/terminal/neutralise.ts";

/** Most entries of a folder that are compared: completion is of little use in a larger folder. */
const maxEntries = 5000;

/**
 * Completes a typed path with the entries of its folder; folders end with a slash.
 * `resolvePath` makes a typed path absolute. Names with control characters are left out:
 * they cannot be typed.
 */
export async function completePath(
  typed: string,
  resolvePath: (path: string) => string,
): Promise<string[]> {
  const slash = Math.max(typed.lastIndexOf("/"), typed.lastIndexOf("\\"));
  // A backslash is a separator only on Windows; elsewhere it is part of a name.
  const at = join("a", "b").includes("\\") ? slash : typed.lastIndexOf("/");
  const begin = typed.slice(0, at + 1);
  const name = typed.slice(at + 1);
  const folder = at < 0 ? resolvePath(".") : dirname(join(resolvePath(begin), "x"));
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .slice(0, maxEntries)
    .filter((entry) => entry.name.startsWith(name) && isInert(entry.name))
    .filter((entry) => name.startsWith(".") || !entry.name.startsWith("."))
    .map((entry) => `${begin}${entry.name}${entry.isDirectory() ? "/" : ""}`)
    .toSorted();
}

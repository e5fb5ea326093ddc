import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isInert } from "../../../output/terminal/neutralise.ts";

/** Entries of a folder that are looked at: a larger one is not for completing. */
const mostEntries = 5000;

/**
 * What a path that is being typed may become: entries of its folder, folders
 * with a slash behind them. `resolvePath` makes a typed path absolute. Names
 * that would not come out of the keyboard as they are, are left out.
 */
export async function completePath(
  typed: string,
  resolvePath: (path: string) => string,
): Promise<string[]> {
  const slash = Math.max(typed.lastIndexOf("/"), typed.lastIndexOf("\\"));
  // A backslash is a separator on Windows alone; elsewhere a part of names.
  const at = join("a", "b").includes("\\") ? slash : typed.lastIndexOf("/");
  const begin = typed.slice(0, at + 1);
  const name = typed.slice(at + 1);
  const folder = at < 0 ? resolvePath(".") : dirname(join(resolvePath(begin), "x"));
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .slice(0, mostEntries)
    .filter((entry) => entry.name.startsWith(name) && isInert(entry.name))
    .filter((entry) => name.startsWith(".") || !entry.name.startsWith("."))
    .map((entry) => `${begin}${entry.name}${entry.isDirectory() ? "/" : ""}`)
    .toSorted();
}

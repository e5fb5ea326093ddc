import { readdirSync } from "node:fs";
import { join } from "node:path";
import { normalise } from "./stamp.ts";

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

import { lstatSync, readdirSync } from "node:fs";
import { absoluteOf } from "./recorded.ts";
import { normalise } from "./stamp.ts";

function isThere(absolutePath: string): boolean {
  try {
    return lstatSync(absolutePath, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** The names in a folder that are not NFC, by what they are in NFC. */
function otherNames(folder: string): Map<string, string> {
  try {
    const names = readdirSync(folder).map((name) => [normalise(name), name] as const);
    return new Map(names.filter(([normalised, name]) => normalised !== name));
  } catch {
    return new Map();
  }
}

/**
 * Gives the function that tells where a root-relative path leads. Paths are NFC, but names on the
 * disk need not be: those of macOS often are NFD. Where nothing is there in any form, it is the
 * path as it is written. Keeps what it saw in the last folder: for one command, in order of paths.
 */
export function createRealPlaces(root: string): (path: string) => string {
  let last = { folder: "", names: new Map<string, string>() };
  const otherNameOf = (folder: string, name: string): string | undefined => {
    if (last.folder !== folder) last = { folder, names: otherNames(folder) };
    return last.names.get(name);
  };
  return (path) => {
    const asWritten = absoluteOf(root, path);
    if (isThere(asWritten)) return asWritten;
    let place = root;
    for (const step of path.split("/")) {
      const next = absoluteOf(place, step);
      place = isThere(next) ? next : absoluteOf(place, otherNameOf(place, step) ?? step);
    }
    return place;
  };
}

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

function namedAlike(folder: string, name: string): string | undefined {
  try {
    return readdirSync(folder).find((each) => normalise(each) === name);
  } catch {
    return undefined;
  }
}

/**
 * Where a root-relative path leads. Paths are NFC, but names on the disk need not be: those of
 * macOS often are NFD. Where nothing is there in any form, the path as it is written.
 */
export function realPlaceOf(root: string, path: string): string {
  const asWritten = absoluteOf(root, path);
  if (isThere(asWritten)) return asWritten;
  let place = root;
  for (const step of path.split("/")) {
    const next = absoluteOf(place, step);
    place = isThere(next) ? next : absoluteOf(place, namedAlike(place, step) ?? step);
  }
  return place;
}

import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { codeOf } from "../../errors.ts";
import { absoluteOf } from "../inspect/recorded.ts";
import { relativeTo } from "./root.ts";
import { normalise } from "../inspect/stamp.ts";

/** Whether something of this name is there. What cannot be looked at may be there: true. */
export function exists(absolutePath: string): boolean {
  try {
    return lstatSync(absolutePath, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    const code = codeOf(error);
    return code !== "ENOENT" && code !== "ENOTDIR";
  }
}

/** The root-relative path of a file with all links resolved; undefined where nothing is there, or outside the root. */
export function realPathIn(root: string, absolutePath: string): string | undefined {
  try {
    const path = relativeTo(root, realpathSync.native(absolutePath));
    return path === undefined ? undefined : normalise(path);
  } catch {
    return undefined;
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
 * path as it is written. Lists a folder at most once: for one command.
 */
export function createRealPlaces(root: string): (path: string) => string {
  const listed = new Map<string, Map<string, string>>();
  const otherNameOf = (folder: string, name: string): string | undefined => {
    let names = listed.get(folder);
    if (!names) listed.set(folder, (names = otherNames(folder)));
    return names.get(name);
  };
  return (path) => {
    const asWritten = absoluteOf(root, path);
    if (exists(asWritten)) return asWritten;
    let place = root;
    for (const step of path.split("/")) {
      const next = absoluteOf(place, step);
      const name = exists(next) ? step : otherNameOf(place, step);
      if (name === undefined) return asWritten;
      place = absoluteOf(place, name);
    }
    return place;
  };
}

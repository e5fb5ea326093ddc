import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "./errors.ts";

/**
 * Creates a folder and its missing parents with `mode` (as in mkdir(2), before the umask).
 * Not with Node's recursive mkdir: it loops forever (20.20) where the system reports an existing
 * folder as missing, for example below /proc. Throws the system's error; ENOTDIR where a part of the path is no folder.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder), mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    if (statSync(folder).isDirectory()) return;
    throw Object.assign(new Error(`${folder} is not a folder`), { code: "ENOTDIR" });
  }
}

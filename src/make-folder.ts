import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "./errors.ts";

/**
 * Makes a folder, and those above it that are missing, with `mode` (as in mkdir(2), before the
 * umask). One by one: where the system says of a folder that exists that it does not, as below
 * /proc, Node's own recursive mkdir tries for ever (20.20). Throws the system's error.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder), mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (codeOf(error) !== "EEXIST" || !statSync(folder).isDirectory()) throw error;
  }
}

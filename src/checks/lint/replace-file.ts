import { randomBytes } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * Replaces an existing file atomically: writes a temporary file of the same mode beside it, flushes
 * it and renames it over the old one. Asks `isUnchanged` just before the rename; if the answer is no,
 * the old file stays and the result is false. `path` has no links. Throws the system's error.
 */
export function replaceFile(
  path: string,
  text: string,
  mode: number,
  isUnchanged: () => boolean,
): boolean {
  // Hidden: an upload that runs meanwhile does not take it for a document. Cut: names have a
  // longest length.
  const name = `.${basename(path).slice(0, 50)}.${randomBytes(6).toString("hex")}.tmp`;
  const temporary = join(dirname(path), name);
  const file = openSync(temporary, "wx", 0o600);
  let isReplaced = false;
  try {
    try {
      writeFileSync(file, text);
      fchmodSync(file, mode);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    isReplaced = isUnchanged();
    if (isReplaced) renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  if (!isReplaced) rmSync(temporary, { force: true });
  return isReplaced;
}

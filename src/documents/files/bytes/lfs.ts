import { CliError } from "../../../errors.ts";

/** The specification asks for less than 1024 bytes. */
export const mostPointerBytes = 1023;

// github.com/git-lfs/git-lfs/blob/main/docs/spec.md: `version` first, then extensions, oid
// and size in this order. "hawser" is the name from before the first release.
// An editor or git on Windows may have changed the line ends and removed or added the last one.
const form =
  /^version https:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/v1\r?\n(?:ext-\d-[\w.-]+ \S+\r?\n)*oid sha256:[0-9a-f]{64}\r?\nsize \d+\s*$/;
const firstLetter = 0x76;

/** The problem and the hint for a file that is a pointer. */
export const pointerProblem = "a Git LFS pointer, not the file itself";
export const pointerHint = "fetch the files with `git lfs pull`, then run the command again";

/** Whether a whole file is a Git LFS pointer, the placeholder of a file that was not fetched. */
export function isPointer(bytes: Buffer): boolean {
  // Almost every file returns here.
  if (bytes[0] !== firstLetter || bytes.length > mostPointerBytes) return false;
  return form.test(bytes.toString("latin1"));
}

/** Throws CliError `usage` for the bytes of a file that are a Git LFS pointer. */
export function refusePointer(bytes: Buffer, path: string): void {
  if (!isPointer(bytes)) return;
  throw new CliError("usage", `${path}: ${pointerProblem}`, { hints: [pointerHint] });
}

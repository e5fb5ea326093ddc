import { hash, type Hash } from "node:crypto";
import { constants, readSync } from "node:fs";
import { CliError } from "../../../errors.ts";

// O_NONBLOCK: opening a FIFO without a writer would hang; O_NOFOLLOW: the file
// may have become a link since it was listed. Windows has neither.
export const openFlags =
  constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Hash of a file's bytes, as in its record. */
export function contentHash(bytes: Uint8Array): string {
  return hash("sha256", bytes, "base64url").slice(0, 22);
}

/** The same, from the SHA-256 of bytes that were read piece by piece. */
export function hashText(sha256: Hash): string {
  return sha256.digest("base64url").slice(0, 22);
}

const smallBytes = 64 * 1024;
let shared = Buffer.allocUnsafeSlow(smallBytes);

function bufferFor(size: number): Buffer {
  if (size <= shared.length) return shared;
  // Large files are rare. Their separate buffer is freed after use.
  if (size > 1024 * 1024) return Buffer.allocUnsafeSlow(size);
  return (shared = Buffer.allocUnsafeSlow(1024 * 1024));
}

/**
 * Reads the first 64 KiB of a file: fewer bytes are the whole file. Position, errors and validity as
 * in readAll().
 */
export function readSmall(descriptor: number): Buffer {
  return shared.subarray(0, readSync(descriptor, shared, 0, smallBytes, 0));
}

/**
 * Reads the first bytes of a file: one more than `expected`, to detect growth. Reads at a position,
 * which removes nothing from a FIFO. Valid until the next call: the buffer is reused. Throws the
 * system's error.
 */
export function readAll(descriptor: number, expected: number): Buffer {
  const buffer = bufferFor(expected + 1);
  let length = 0;
  let count: number;
  // No further read to detect the end: a stamp taken afterwards contains the size.
  do {
    count = readSync(descriptor, buffer, length, expected + 1 - length, length);
    length += count;
  } while (count > 0 && length < expected);
  return buffer.subarray(0, length);
}

const defaultMaxFileBytes = 64 * 1024 * 1024;

interface SizeSettings {
  /** From a profile. */
  maxFileBytes?: number | undefined;
  /** From the command line; these override the profile. */
  flags?: { maxFileBytes?: number | undefined } | undefined;
}

/** Maximum size of a file in bytes. */
export function maxFileBytesOf({ flags, maxFileBytes }: SizeSettings): number {
  return flags?.maxFileBytes ?? maxFileBytes ?? defaultMaxFileBytes;
}

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
  // An editor may have added a byte order mark.
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  // Almost every file returns here.
  if (bytes[start] !== firstLetter || bytes.length > mostPointerBytes) return false;
  return form.test(bytes.toString("latin1", start));
}

/** Throws CliError `usage` for the bytes of a file that are a Git LFS pointer. */
export function refusePointer(bytes: Buffer, path: string): void {
  if (!isPointer(bytes)) return;
  throw new CliError("usage", `${path}: ${pointerProblem}`, { hints: [pointerHint] });
}

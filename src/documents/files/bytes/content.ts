import { type SourceFile, stampOf, tickMs, trustedStamp } from "../source-file.ts";
import { closeSync, fstatSync, openSync, type BigIntStats, readSync, statSync } from "node:fs";
import { CliError, codeOf, isOutOfFiles, fileProblem } from "../../../errors.ts";
import { openFlags, readAll, readSmall, hashText } from "./file-bytes.ts";
import { mebibytes } from "./unpack.ts";
import { createHash } from "node:crypto";

interface Content {
  /** Valid until the next call: the buffer is reused. */
  bytes: Buffer;
  /** Stamp of exactly these bytes. */
  stamp: string;
  mtimeMs: number;
}

/** How often a file is read that changes meanwhile. */
const attempts = 4;

/** Whether the file changed within the last clock tick: then it is read after the tick. */
function isFresh(stats: BigIntStats): boolean {
  const age = Date.now() - Number(stats.ctimeMs);
  return age >= 0 && age < tickMs;
}

/** Whether the stamps of both are equal, without building them. */
export function isSameVersion(a: BigIntStats, b: BigIntStats): boolean {
  const hasSameTimes = a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;
  return hasSameTimes && a.size === b.size && a.ino === b.ino;
}

/** Blocks until the clock tick in which the file changed is over. */
export function waitForTick({ ctimeMs }: Pick<BigIntStats, "ctimeMs">): void {
  const leftMs = Number(ctimeMs) + tickMs - Date.now();
  // Never longer than a tick: the clock may have been put back.
  const waitMs = Math.min(Math.max(1, leftMs), tickMs);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
}

/** What a file is now, and whether its clock tick is over: a file that just changed is waited for. */
function settledStats(descriptor: number, before?: BigIntStats): [BigIntStats, boolean] {
  let stats = before ?? fstatSync(descriptor, { bigint: true });
  if (isFresh(stats)) {
    waitForTick(stats);
    stats = fstatSync(descriptor, { bigint: true });
  }
  return [stats, !isFresh(stats)];
}

/** Opens a file for reading. Throws CliError `usage`. */
function openFile(file: SourceFile): number {
  try {
    return openSync(file.absolutePath, openFlags);
  } catch (error) {
    if (isOutOfFiles(error)) throw error;
    const code = codeOf(error);
    const reasons: Record<string, string> = {
      ENOENT: "the file is gone",
      ENOTDIR: "its folder is gone",
      ELOOP: "it became a symbolic link after it was found",
    };
    const why = reasons[code ?? ""] ?? fileProblem(code);
    throw new CliError("usage", `${file.path}: cannot be read: ${why}`, { cause: error });
  }
}

function checkKind(file: SourceFile, stats: BigIntStats, maxBytes: number): void {
  if (!stats.isFile()) {
    throw new CliError("usage", `${file.path}: cannot be read: it is not a regular file`);
  }
  if (Number(stats.size) > maxBytes) {
    throw new CliError(
      "usage",
      `${file.path}: ${mebibytes(Number(stats.size))} is larger than the limit of ${mebibytes(maxBytes)} per file`,
      {
        hints: [
          /\.ipynb$/i.test(file.path)
            ? "clear the outputs of the notebook, or exclude it"
            : "split the file, exclude it, or send its documents as NDJSON to `knowctl ingest -`",
        ],
      },
    );
  }
}

/**
 * Reads a file with one look at its stamp, after the bytes: if its last change is older than the
 * begin of the reading, it did not change meanwhile. A look costs as much as the reading of a small
 * file. Undefined on any doubt or problem; the caller then reads again, and reports the problem.
 */
function readUnchanged(descriptor: number, maxBytes: number): Content | undefined {
  const startedMs = Date.now();
  let bytes: Buffer;
  try {
    bytes = readSmall(descriptor);
  } catch {
    return undefined;
  }
  const after = fstatSync(descriptor, { bigint: true });
  const isWhole = bytes.length === Number(after.size) && bytes.length <= maxBytes;
  const stamp = stampOf(after);
  if (!isWhole || !after.isFile() || trustedStamp(stamp, startedMs) === "") return undefined;
  return { bytes, stamp, mtimeMs: Number(after.mtimeMs) };
}

/**
 * Reads the bytes of a file as they were at one moment. If the stamps before and after differ, it
 * reads again, at most four more times. Throws CliError `usage` for a file that cannot be read, is
 * too large, or keeps changing, and for an open file that `isWanted` refuses.
 */
export function readContent(
  file: SourceFile,
  maxBytes: number,
  isWanted: (descriptor: number) => boolean = () => true,
): Content {
  const descriptor = openFile(file);
  try {
    if (!isWanted(descriptor)) {
      throw new CliError("usage", `${file.path}: cannot be read: another file took its place`);
    }
    const unchanged = readUnchanged(descriptor, maxBytes);
    if (unchanged) return unchanged;
    let last: BigIntStats | undefined;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const [before, isSettled] = settledStats(descriptor, last);
      checkKind(file, before, maxBytes);
      const bytes = readAll(descriptor, Number(before.size));
      const after = fstatSync(descriptor, { bigint: true });
      if (isSettled && isSameVersion(before, after) && bytes.length === Number(after.size)) {
        return { bytes, stamp: stampOf(after), mtimeMs: Number(after.mtimeMs) };
      }
      last = after;
    }
  } catch (error) {
    throw readFailure(file, error);
  } finally {
    closeSync(descriptor);
  }
  return fail(file, `changed during each of ${attempts} reads`);
}

/** A file that is larger than what is read at once. */
interface FileStream {
  /** Stamp of exactly the bytes that were hashed. */
  stamp: string;
  mtimeMs: number;
  /** Hash of these bytes, as contentHash(). */
  content: string;
  /** The bytes. Throws CliError `usage` at the end if they are no longer the hashed ones. */
  chunks(): AsyncGenerator<Uint8Array, void>;
  close(): void;
}

const chunkBytes = 256 * 1024;
const bytesPerTurn = 64 * 1024 * 1024;

/** Whether a file is larger than `maxBytes`. False if it is gone: reading it reports that. */
export function isLarger({ absolutePath }: SourceFile, maxBytes: number): boolean {
  return (statSync(absolutePath, { throwIfNoEntry: false })?.size ?? 0) > maxBytes;
}

async function hashFile(descriptor: number): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafeSlow(4 * chunkBytes);
  let at = 0;
  for (let turn = bytesPerTurn; ;) {
    const count = readSync(descriptor, buffer, 0, buffer.length, at);
    if (count === 0) return hashText(hash);
    hash.update(buffer.subarray(0, count));
    at += count;
    if (at < turn) continue;
    turn = at + bytesPerTurn;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function fail(file: SourceFile, problem: string): never {
  throw new CliError("usage", `${file.path}: ${problem}`, {
    hints: ["run the command again when no program writes to it"],
  });
}

/** Hashes a file as it is at one moment. */
async function hashSettled(
  file: SourceFile,
  descriptor: number,
): Promise<{ stats: BigIntStats; content: string }> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const [before, isSettled] = settledStats(descriptor);
    const content = await hashFile(descriptor);
    const stats = fstatSync(descriptor, { bigint: true });
    if (isSettled && isSameVersion(before, stats)) return { stats, content };
  }
  return fail(file, `changed during each of ${attempts} reads`);
}

function readFailure({ path }: SourceFile, error: unknown): CliError {
  if (error instanceof CliError) return error;
  const why = fileProblem(codeOf(error));
  return new CliError("usage", `${path}: cannot be read: ${why}`, { cause: error });
}

/**
 * Opens a file of any size, and reads it once for its hash: what its rows become is recorded with
 * the hash. The caller closes the result. Throws CliError `usage`.
 */
export async function openFileStream(file: SourceFile): Promise<FileStream> {
  const descriptor = openFile(file);
  try {
    if (!fstatSync(descriptor).isFile()) fail(file, "cannot be read: it is not a regular file");
    const { stats, content } = await hashSettled(file, descriptor);
    return {
      stamp: stampOf(stats),
      mtimeMs: Number(stats.mtimeMs),
      content,
      async *chunks() {
        for (let at = 0; ;) {
          const buffer = Buffer.allocUnsafeSlow(chunkBytes);
          const count = readSync(descriptor, buffer, 0, chunkBytes, at);
          if (count === 0) break;
          at += count;
          yield buffer.subarray(0, count);
        }
        const after = fstatSync(descriptor, { bigint: true });
        if (!isSameVersion(stats, after)) fail(file, "changed while its rows were read");
      },
      close: () => closeSync(descriptor),
    };
  } catch (error) {
    closeSync(descriptor);
    throw readFailure(file, error);
  }
}

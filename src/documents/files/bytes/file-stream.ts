import type { SourceFile } from "../source-file.ts";
import { createHash } from "node:crypto";
import { closeSync, fstatSync, readSync, statSync, type BigIntStats } from "node:fs";
import { CliError, codeOf, fileProblem } from "../../../errors.ts";
import { attempts, isFresh, isSameVersion, openFile, waitForTick } from "./content.ts";
import { hashText } from "./file-bytes.ts";
import { stampOf } from "../stamp.ts";

/** A file that is larger than what is read at once. */
export interface FileStream {
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

function fail(file: SourceFile, problem: string, cause?: unknown): never {
  throw new CliError("usage", `${file.path}: ${problem}`, {
    hints: ["run the command again when no program writes to it"],
    cause,
  });
}

/** Hashes a file as it is at one moment. */
async function hashSettled(
  file: SourceFile,
  descriptor: number,
): Promise<{ stats: BigIntStats; content: string }> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    let before = fstatSync(descriptor, { bigint: true });
    if (isFresh(before)) {
      waitForTick(before);
      before = fstatSync(descriptor, { bigint: true });
    }
    const isSettled = !isFresh(before);
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

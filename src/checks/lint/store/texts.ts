import { randomBytes } from "node:crypto";
import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Texts in the order in which they were added; on disk, but for the last ones. */
export interface StoredTexts {
  /** Appends a text and returns its position. */
  add(text: string): number;
  /** All texts with their positions, in order. Add none meanwhile. */
  entries(): Generator<[position: number, text: string]>;
  /** The text at a position. */
  at(position: number): string;
  /** Forgets the texts. Others can be added. */
  clear(): void;
}

interface Limits {
  /** Bytes that stay in memory; also those that are read at once. */
  blockBytes: number;
  folder: string;
}

const lengthBytes = 4;

/** Opens a file and removes its name, so that no file remains however the process ends. */
function openNameless(folder: string): number {
  const path = join(folder, `knowctl-${randomBytes(8).toString("hex")}`);
  const descriptor = openSync(path, "wx+", 0o600);
  rmSync(path, { force: true });
  return descriptor;
}

function writeFully(file: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length;) {
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
  }
}

function readFully(file: number, into: Buffer, position: number): Buffer {
  for (let done = 0; done < into.length;) {
    const more = readSync(file, into, done, into.length - done, position + done);
    if (more === 0) throw new Error("the file is shorter than what was written to it");
    done += more;
  }
  return into;
}

/**
 * Creates an empty store. What does not fit into a block of memory goes into a nameless file; where
 * none can be written, all texts stay in memory. clear() closes the file.
 */
export function createStoredTexts({
  blockBytes = 256 * 1024,
  folder = tmpdir(),
}: Partial<Limits> = {}): StoredTexts {
  let file: number | undefined;
  let fileBytes = 0;
  let canWrite = true;
  // The texts after those in the file.
  let block = Buffer.alloc(0);
  let used = 0;

  const flush = (): void => {
    try {
      file ??= openNameless(folder);
      writeFully(file, block.subarray(0, used), fileBytes);
      fileBytes += used;
      used = 0;
    } catch {
      canWrite = false;
    }
  };
  const makeRoom = (bytes: number): void => {
    if (used + bytes <= block.length) return;
    if (canWrite && used > 0) flush();
    if (used + bytes <= block.length) return;
    const larger = Buffer.allocUnsafeSlow(
      Math.max(blockBytes, used + bytes, canWrite ? 0 : 2 * used),
    );
    block.copy(larger, 0, 0, used);
    block = larger;
  };
  // Reads as much as fits into the buffer.
  const read = (position: number, into: Buffer): Buffer => {
    if (file === undefined || position >= fileBytes)
      return block.subarray(position - fileBytes, used);
    return readFully(file, into.subarray(0, fileBytes - position), position);
  };
  return {
    add(text) {
      const bytes = Buffer.byteLength(text);
      makeRoom(lengthBytes + bytes);
      const position = fileBytes + used;
      block.writeUInt32LE(bytes, used);
      block.write(text, used + lengthBytes);
      used += lengthBytes + bytes;
      return position;
    },
    *entries() {
      // One buffer for all: the heap does not grow by what is outside of it, so it would pile up.
      let window = Buffer.allocUnsafe(Math.min(blockBytes, fileBytes));
      for (let position = 0; position < fileBytes + used;) {
        let bytes = read(position, window);
        const first = lengthBytes + bytes.readUInt32LE(0);
        if (first > bytes.length) bytes = read(position, (window = Buffer.allocUnsafe(first)));
        let at = 0;
        while (at + lengthBytes <= bytes.length) {
          const end = at + lengthBytes + bytes.readUInt32LE(at);
          if (end > bytes.length) break;
          yield [position + at, bytes.toString("utf8", at + lengthBytes, end)];
          at = end;
        }
        position += at;
      }
    },
    at(position) {
      let bytes = read(position, Buffer.allocUnsafe(1024));
      const end = lengthBytes + bytes.readUInt32LE(0);
      if (end > bytes.length) bytes = read(position, Buffer.allocUnsafe(end));
      return bytes.toString("utf8", lengthBytes, end);
    },
    clear() {
      if (file !== undefined) closeSync(file);
      file = undefined;
      block = Buffer.alloc(0);
      fileBytes = used = 0;
    },
  };
}

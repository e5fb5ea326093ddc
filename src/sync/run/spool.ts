import { randomBytes } from "node:crypto";
import {
  closeSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
  writevSync,
} from "node:fs";
import { join } from "node:path";

/** Documents to send, stored between the plan and the upload. */
export interface Spool<Head> {
  /**
   * Appends a record. A full spool drops the body. A document without a body is read again
   * just before sending. The caller must not change the head afterwards.
   */
  add(head: Head, body?: Uint8Array): void;
  /** All records in the order in which they were added. Do not add records meanwhile. */
  records(): Generator<SpoolRecord<Head>>;
  /** The record at a position from records(). */
  read(position: number): SpoolRecord<Head>;
  close(): void;
}

export interface SpoolRecord<Head> {
  /** Increases from record to record. */
  position: number;
  /** May have gone through JSON. */
  head: Head;
  /** Undefined when the spool does not have it. */
  body: Buffer | undefined;
}

const prefixBytes = 8;
const noBody = 0xffff_ffff;
const inMemoryBytes = 8 * 1024 * 1024;
const windowBytes = 1024 * 1024;
/** Limit that keeps the disk from filling up. */
const mostBytes = 1024 * 1024 * 1024;

/** A record in memory; a small run never writes it to the file. */
interface MemoryRecord<Head> {
  head: Head;
  body: Uint8Array | undefined;
}

// Estimated size of a head in memory.
const headBytes = 256;

function sizeOf({ body }: MemoryRecord<unknown>): number {
  return headBytes + (body?.length ?? 0);
}

/** Encodes the lengths and the head. */
function encodeFront({ head, body }: MemoryRecord<unknown>): Buffer {
  const text = JSON.stringify(head);
  const textBytes = Buffer.byteLength(text);
  const front = Buffer.allocUnsafe(prefixBytes + textBytes);
  front.writeUInt32LE(textBytes, 0);
  front.writeUInt32LE(body ? body.length : noBody, 4);
  front.write(text, prefixBytes);
  return front;
}

function toRecord<Head>({ head, body }: MemoryRecord<Head>, position: number): SpoolRecord<Head> {
  return { position, head, body: body && Buffer.from(body.buffer, body.byteOffset, body.length) };
}

/** Length of the record at `at`; undefined when `bytes` ends before its lengths do. */
function lengthAt(bytes: Buffer, at: number): number | undefined {
  if (bytes.length - at < prefixBytes) return undefined;
  const body = bytes.readUInt32LE(at + 4);
  return prefixBytes + bytes.readUInt32LE(at) + (body === noBody ? 0 : body);
}

/** Decodes the record at `at`; `start` is the position of the first byte in the spool. */
function decode<Head>(bytes: Buffer, at: number, start: number): SpoolRecord<Head> {
  const headEnd = at + prefixBytes + bytes.readUInt32LE(at);
  const bodyBytes = bytes.readUInt32LE(at + 4);
  const head = JSON.parse(bytes.toString("utf8", at + prefixBytes, headEnd)) as Head;
  const body = bodyBytes === noBody ? undefined : bytes.subarray(headEnd, headEnd + bodyBytes);
  return { position: start + at, head, body };
}

function readFully(descriptor: number, length: number, position: number): Buffer {
  // A new buffer for each read: its bodies are sent without another copy.
  const bytes = Buffer.allocUnsafeSlow(length);
  let count = 0;
  while (count < length) {
    const more = readSync(descriptor, bytes, count, length - count, position + count);
    if (more === 0) break;
    count += more;
  }
  return bytes.subarray(0, count);
}

// IOV_MAX on Linux: the maximum for one call.
const buffersAtOnce = 1024;

function writeFully(
  descriptor: number,
  records: readonly MemoryRecord<unknown>[],
  position: number,
): number {
  let at = position;
  const parts = records.flatMap((record) => {
    const front = encodeFront(record);
    return record.body ? [front, record.body] : [front];
  });
  for (let index = 0; index < parts.length; index += buffersAtOnce) {
    const some = parts.slice(index, index + buffersAtOnce);
    const total = some.reduce((sum, each) => sum + each.length, 0);
    let count = writevSync(descriptor, some, at);
    // A short write, e.g. on a nearly full disk: write the rest, or get the error.
    const rest = count < total ? Buffer.concat(some) : undefined;
    while (rest && count < total) {
      count += writeSync(descriptor, rest, count, total - count, at + count);
    }
    at += total;
  }
  return at - position;
}

/** Frees the space of a failed write: the state may need it. */
function truncateTo(descriptor: number | undefined, length: number): void {
  try {
    if (descriptor !== undefined) ftruncateSync(descriptor, length);
  } catch {
    // Only disk space is lost.
  }
}

/** Opens a file and removes its name, so that no file remains however the process ends. */
function openNameless(folder: string): number {
  const path = join(folder, `spool-${randomBytes(8).toString("hex")}`);
  const descriptor = openSync(path, "wx+", 0o600);
  rmSync(path, { force: true });
  return descriptor;
}

/**
 * Creates a spool that uses up to 8 MiB of memory, then a nameless file in `folder` of up to
 * 1 GiB. If the file cannot be written, the spool drops all further bodies. The caller closes it.
 */
export function createSpool<Head>(
  folder: string,
  limits = { inMemoryBytes, mostBytes },
): Spool<Head> {
  let descriptor: number | undefined;
  let fileBytes = 0;
  // Records that are not in the file. Their positions continue after the file, one per record.
  let tail: MemoryRecord<Head>[] = [];
  let tailBytes = 0;
  let keepsBodies = true;
  let canWrite = true;

  const flush = (): void => {
    try {
      descriptor ??= openNameless(folder);
      fileBytes += writeFully(descriptor, tail, fileBytes);
      tail = [];
      tailBytes = 0;
    } catch {
      // On a full or read-only disk the run continues: it reads the files a second time.
      keepsBodies = canWrite = false;
      truncateTo(descriptor, fileBytes);
    }
  };
  const readAt = (position: number): SpoolRecord<Head> => {
    const record = tail[position - fileBytes];
    if (record) return toRecord(record, position);
    const file = descriptor ?? -1;
    const length = lengthAt(readFully(file, prefixBytes, position), 0) ?? 0;
    return decode(readFully(file, length, position), 0, position);
  };

  return {
    add(head, body) {
      if (fileBytes + tailBytes >= limits.mostBytes) keepsBodies = false;
      const record = { head, body: keepsBodies ? body : undefined };
      tail.push(record);
      tailBytes += sizeOf(record);
      if (canWrite && tailBytes >= limits.inMemoryBytes) flush();
    },
    *records() {
      for (let position = 0; position < fileBytes;) {
        let bytes = readFully(
          descriptor ?? -1,
          Math.min(windowBytes, fileBytes - position),
          position,
        );
        const first = lengthAt(bytes, 0) ?? 0;
        if (first > bytes.length) bytes = readFully(descriptor ?? -1, first, position);
        let at = 0;
        for (let length = lengthAt(bytes, at); length !== undefined; length = lengthAt(bytes, at)) {
          if (at + length > bytes.length) break;
          yield decode(bytes, at, position);
          at += length;
        }
        if (at === 0) throw new Error("the spool is shorter than what was written to it");
        position += at;
      }
      for (const [index, record] of tail.entries()) yield toRecord(record, fileBytes + index);
    },
    read: readAt,
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

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

/** What is to be sent, kept between the plan and the upload. */
export interface Spool<Head> {
  /**
   * Appends a record. Without a body, also because there is no more room for
   * bodies, the document is read when its turn comes. Nobody changes the head any more.
   */
  add(head: Head, body?: Uint8Array): void;
  /** All records in the order in which they were added; nothing is added meanwhile. */
  records(): Generator<SpoolRecord<Head>>;
  /** The record of a position that records() gave. */
  read(position: number): SpoolRecord<Head>;
  close(): void;
}

export interface SpoolRecord<Head> {
  /** Greater than those before it. */
  position: number;
  /** At most what JSON keeps of it. */
  head: Head;
  /** Undefined when it was left out. */
  body: Buffer | undefined;
}

const prefixBytes = 8;
const noBody = 0xffff_ffff;
const inMemoryBytes = 8 * 1024 * 1024;
const windowBytes = 1024 * 1024;
/** Beyond this the disk is not ours to fill. */
const mostBytes = 1024 * 1024 * 1024;

/** A record as it waits to be written, as it came: in a small run it never is. */
interface Waiting<Head> {
  head: Head;
  body: Uint8Array | undefined;
}

// About what a head takes in memory.
const headBytes = 256;

function sizeOf({ body }: Waiting<unknown>): number {
  return headBytes + (body?.length ?? 0);
}

/** The lengths and the head. */
function encodeFront({ head, body }: Waiting<unknown>): Buffer {
  const text = JSON.stringify(head);
  const textBytes = Buffer.byteLength(text);
  const front = Buffer.allocUnsafe(prefixBytes + textBytes);
  front.writeUInt32LE(textBytes, 0);
  front.writeUInt32LE(body ? body.length : noBody, 4);
  front.write(text, prefixBytes);
  return front;
}

function give<Head>({ head, body }: Waiting<Head>, position: number): SpoolRecord<Head> {
  return { position, head, body: body && Buffer.from(body.buffer, body.byteOffset, body.length) };
}

/** Bytes of the record that begins at `at`, undefined when not even its lengths are there. */
function lengthAt(bytes: Buffer, at: number): number | undefined {
  if (bytes.length - at < prefixBytes) return undefined;
  const body = bytes.readUInt32LE(at + 4);
  return prefixBytes + bytes.readUInt32LE(at) + (body === noBody ? 0 : body);
}

/** `start` is the position of the first of the bytes. */
function decode<Head>(bytes: Buffer, at: number, start: number): SpoolRecord<Head> {
  const headEnd = at + prefixBytes + bytes.readUInt32LE(at);
  const bodyBytes = bytes.readUInt32LE(at + 4);
  const head = JSON.parse(bytes.toString("utf8", at + prefixBytes, headEnd)) as Head;
  const body = bodyBytes === noBody ? undefined : bytes.subarray(headEnd, headEnd + bodyBytes);
  return { position: start + at, head, body };
}

function readFully(descriptor: number, length: number, position: number): Buffer {
  // A buffer of its own each time: bodies in it are sent without another copy.
  const bytes = Buffer.allocUnsafeSlow(length);
  let count = 0;
  while (count < length) {
    const more = readSync(descriptor, bytes, count, length - count, position + count);
    if (more === 0) break;
    count += more;
  }
  return bytes.subarray(0, count);
}

// The most that one call takes on Linux.
const buffersAtOnce = 1024;

function writeFully(
  descriptor: number,
  records: readonly Waiting<unknown>[],
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
    // Cut short, as on a disk that is nearly full: the rest by itself, or the error.
    const rest = count < total ? Buffer.concat(some) : undefined;
    while (rest && count < total) {
      count += writeSync(descriptor, rest, count, total - count, at + count);
    }
    at += total;
  }
  return at - position;
}

/** What a failed write took is room that the state needs. */
function giveBack(descriptor: number | undefined, length: number): void {
  try {
    if (descriptor !== undefined) ftruncateSync(descriptor, length);
  } catch {
    // Then it is room lost, nothing more.
  }
}

/** A file that has no name any more: nothing is left behind, however the process ends. */
function openNameless(folder: string): number {
  const path = join(folder, `spool-${randomBytes(8).toString("hex")}`);
  const descriptor = openSync(path, "wx+", 0o600);
  rmSync(path, { force: true });
  return descriptor;
}

/**
 * Creates a spool that stays in memory up to 8 MiB and goes on in a nameless
 * file in `folder`, up to 1 GiB. Where the file cannot be written, bodies are
 * left out from then on. The caller closes it.
 */
export function createSpool<Head>(
  folder: string,
  limits = { inMemoryBytes, mostBytes },
): Spool<Head> {
  let descriptor: number | undefined;
  let fileBytes = 0;
  // What is not in the file. Positions go on there, one a record.
  let tail: Waiting<Head>[] = [];
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
      // A full or read-only disk costs a second reading, not the run.
      keepsBodies = canWrite = false;
      giveBack(descriptor, fileBytes);
    }
  };
  const readAt = (position: number): SpoolRecord<Head> => {
    const record = tail[position - fileBytes];
    if (record) return give(record, position);
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
      for (const [index, record] of tail.entries()) yield give(record, fileBytes + index);
    },
    read: readAt,
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

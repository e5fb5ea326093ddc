import { randomBytes } from "node:crypto";
import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

/** What is to be sent, kept between the plan and the upload. */
export interface Spool<Head> {
  /**
   * Appends a record and gives its position. The body is left out when there is
   * no more room for bodies: then the document is read again when its turn comes.
   */
  add(head: Head, body: Uint8Array): number;
  /** All records in the order in which they were added. */
  records(): Generator<SpoolRecord<Head>>;
  /** The record that add() gave a position for. */
  read(position: number): SpoolRecord<Head>;
  close(): void;
}

export interface SpoolRecord<Head> {
  position: number;
  /** As JSON keeps it. */
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

function encode(head: unknown, body: Uint8Array | undefined): Buffer {
  const text = JSON.stringify(head);
  const headBytes = Buffer.byteLength(text);
  const record = Buffer.allocUnsafe(prefixBytes + headBytes + (body?.length ?? 0));
  record.writeUInt32LE(headBytes, 0);
  record.writeUInt32LE(body ? body.length : noBody, 4);
  record.write(text, prefixBytes);
  if (body) record.set(body, prefixBytes + headBytes);
  return record;
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

function writeFully(descriptor: number, bytes: Buffer, position: number): void {
  for (let count = 0; count < bytes.length;) {
    count += writeSync(descriptor, bytes, count, bytes.length - count, position + count);
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
  // What is not in the file, by its position.
  const tail = new Map<number, Buffer>();
  let tailBytes = 0;
  let keepsBodies = true;
  let canWrite = true;

  const flush = (): void => {
    try {
      descriptor ??= openNameless(folder);
      const bytes = Buffer.concat([...tail.values()]);
      writeFully(descriptor, bytes, fileBytes);
      fileBytes += bytes.length;
      tail.clear();
      tailBytes = 0;
    } catch {
      // A full or read-only disk costs a second reading, not the run.
      keepsBodies = canWrite = false;
    }
  };
  const readAt = (position: number): SpoolRecord<Head> => {
    const record = tail.get(position);
    if (record) return decode(record, 0, position);
    const file = descriptor ?? -1;
    const length = lengthAt(readFully(file, prefixBytes, position), 0) ?? 0;
    return decode(readFully(file, length, position), 0, position);
  };

  return {
    add(head, body) {
      const position = fileBytes + tailBytes;
      if (position >= limits.mostBytes) keepsBodies = false;
      const record = encode(head, keepsBodies ? body : undefined);
      tail.set(position, record);
      tailBytes += record.length;
      if (canWrite && tailBytes >= limits.inMemoryBytes) flush();
      return position;
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
      for (const [position, record] of tail) yield decode(record, 0, position);
    },
    read: readAt,
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

import { crc32, inflateRawSync } from "node:zlib";
import { codeOf } from "../../../errors.ts";

/** The archive cannot be read or is refused; the message contains the reason. */
export class ZipError extends Error {}

export interface ZipEntry {
  name: string;
  isEncrypted: boolean;
  method: number;
  /** CRC-32 of its content. */
  checksum: number;
  packedBytes: number;
  /** Offset of its local header. */
  offset: number;
}

/** Bytes that may still be unpacked, over all entries of an archive. */
export interface Budget {
  left: number;
}

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const localSignature = 0x04034b50;
const maxEntries = 20_000;
const damaged = "the ZIP archive is damaged or cut off";

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Finds the end record: only a comment of at most 65,535 bytes may follow it. */
function findEnd(view: DataView): number {
  const last = view.byteLength - 22;
  for (let at = last; at >= Math.max(0, last - 0xffff); at--) {
    if (view.getUint32(at, true) === endSignature) return at;
  }
  throw new ZipError(damaged);
}

/**
 * Lists the entries of an archive by name, from its central directory (PKWARE APPNOTE.TXT 4.3.12),
 * like the programs that write archives. Unpacks nothing. Does not read ZIP64 sizes: such files are
 * larger than our limits. Throws ZipError.
 */
export function listEntries(bytes: Uint8Array): Map<string, ZipEntry> {
  const view = viewOf(bytes);
  try {
    const end = findEnd(view);
    const count = view.getUint16(end + 10, true);
    if (count > maxEntries) throw new ZipError(`it contains more than ${maxEntries} parts`);
    let at = view.getUint32(end + 16, true);
    const entries = new Map<string, ZipEntry>();
    for (let index = 0; index < count; index++) {
      if (view.getUint32(at, true) !== entrySignature) throw new ZipError(damaged);
      const nameBytes = view.getUint16(at + 28, true);
      const name = Buffer.from(bytes.subarray(at + 46, at + 46 + nameBytes)).toString("utf8");
      entries.set(name, {
        name,
        isEncrypted: (view.getUint16(at + 8, true) & 1) !== 0,
        method: view.getUint16(at + 10, true),
        checksum: view.getUint32(at + 16, true),
        packedBytes: view.getUint32(at + 20, true),
        offset: view.getUint32(at + 42, true),
      });
      at += 46 + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    }
    return entries;
  } catch (error) {
    // A DataView throws this error for a read outside its bytes.
    if (error instanceof RangeError) throw new ZipError(damaged);
    throw error;
  }
}

function packedBytesOf(bytes: Uint8Array, entry: ZipEntry): Uint8Array {
  const view = viewOf(bytes);
  const { offset } = entry;
  if (offset + 30 > bytes.length || view.getUint32(offset, true) !== localSignature) {
    throw new ZipError(damaged);
  }
  const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  if (start + entry.packedBytes > bytes.length) throw new ZipError(damaged);
  return bytes.subarray(start, start + entry.packedBytes);
}

function inflate(packed: Uint8Array, maxBytes: number): Uint8Array {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, maxBytes) });
  } catch (error) {
    if (codeOf(error) !== "ERR_BUFFER_TOO_LARGE") throw new ZipError(damaged);
    throw new ZipError("unpacked, it is larger than the limit for one document");
  }
}

/**
 * Unpacks an entry and subtracts its size from the budget. Does not trust the sizes in the archive:
 * zlib stops at the remaining budget. Throws ZipError, also for content that does not match its
 * checksum.
 */
export function unpackEntry(bytes: Uint8Array, entry: ZipEntry, budget: Budget): Uint8Array {
  if (entry.isEncrypted) throw new ZipError(`its part ${entry.name} is encrypted`);
  const packed = packedBytesOf(bytes, entry);
  if (entry.method !== 0 && entry.method !== 8) {
    throw new ZipError(`its part ${entry.name} uses a compression method that is not supported`);
  }
  const content = entry.method === 8 ? inflate(packed, budget.left) : packed;
  budget.left -= content.length;
  if (budget.left < 0) throw new ZipError("unpacked, it is larger than the limit for one document");
  if (crc32(content) !== entry.checksum) throw new ZipError(damaged);
  return content;
}

import { constants, createInflate, inflateSync } from "node:zlib";
import { codeOf } from "../../../../errors.ts";

// Limit for all unpacked streams together, without images (text, fonts, objects). pdf.js unpacks a
// whole page and has no limit of its own.
const maxUnpackedBytes = 256 * 1024 * 1024;
// Limit for one stream: it is in memory as a whole, and twice while it grows.
const maxStreamBytes = 64 * 1024 * 1024;
const maxLayers = 3;
const sampleBytes = 512;
// The maximum of deflate (zlib.net/zlib_tech.html).
const maxRatio = 1032;
const dictionaryBytes = 1024;

/** Whether a zlib header is at `start`: deflate, and a check over both bytes (RFC 1950, 2.2). */
function isPacked(bytes: Buffer, start: number): boolean {
  const [first = 0, second = 0] = bytes.subarray(start, start + 2);
  return (first & 15) === 8 && (first * 256 + second) % 31 === 0;
}

/** Finds streams that may be packed with deflate: offsets of their first byte and of their end. */
function findStreams(bytes: Buffer): [number, number][] {
  const found: [number, number][] = [];
  for (let at = bytes.indexOf("stream"); at !== -1;) {
    let start = at + 6;
    if (bytes[start] === 0x0d) start++;
    if (bytes[start] === 0x0a) start++;
    const next = bytes.indexOf("endstream", start);
    const end = next === -1 ? bytes.length : next;
    const before = bytes.subarray(Math.max(0, at - dictionaryBytes), at).toString("latin1");
    const dictionary = before.slice(before.lastIndexOf(" obj") + 1);
    // Images are never unpacked for text, and may be large.
    const isImage = /\/Subtype\s*\/Image\b/.test(dictionary);
    if (!isImage && isPacked(bytes, start)) found.push([start, end]);
    at = next === -1 ? -1 : bytes.indexOf("stream", end + 9);
  }
  return found;
}

/** Counts the bytes that a stream unpacks to, up to `max`, without storing them. */
function countUnpacked(packed: Buffer, max: number): Promise<number> {
  return new Promise((done) => {
    const inflate = createInflate({ finishFlush: constants.Z_SYNC_FLUSH });
    let count = 0;
    // Broken data counts up to the error: pdf.js also reads it that far.
    inflate.on("error", () => done(count));
    inflate.on("close", () => done(count));
    inflate.on("data", (chunk: Buffer) => {
      count += chunk.length;
      if (count > max) inflate.destroy();
    });
    inflate.end(packed);
  });
}

/**
 * Unpacks the outer layer of a stream that is packed twice: two layers turn two kilobytes into a
 * gigabyte. Few streams are packed twice, so most need only a check of their first bytes.
 */
function innerOf(packed: Buffer, maxBytes: number): Buffer | undefined {
  const options = { finishFlush: constants.Z_SYNC_FLUSH };
  try {
    const start = inflateSync(packed.subarray(0, sampleBytes), options);
    if (!isPacked(start, 0)) return undefined;
    // Text may begin with the same two bytes, but it does not continue like packed data.
    inflateSync(start.subarray(0, sampleBytes), options);
    return inflateSync(packed, { ...options, maxOutputLength: maxBytes });
  } catch (error) {
    return codeOf(error) === "ERR_BUFFER_TOO_LARGE" ? Buffer.alloc(0) : undefined;
  }
}

/** The streams to count, without outer layers; undefined for too many layers or bytes. */
function unwrap(streams: readonly Buffer[], maxBytes: number): Buffer[] | undefined {
  const bare: Buffer[] = [];
  let remaining = maxBytes;
  for (const stream of streams) {
    let packed = stream;
    for (let layer = 0, inner; (inner = innerOf(packed, Math.max(1, remaining))); layer++) {
      remaining -= inner.length;
      if (layer === maxLayers || inner.length === 0 || remaining < 0) return undefined;
      packed = inner;
    }
    bare.push(packed);
  }
  return bare;
}

/**
 * Returns why a PDF must not be opened: its streams unpack to more than the limit. Undefined if it
 * may be opened. Does not detect streams of encrypted files, and streams packed with LZW.
 */
export async function checkStreams(
  bytes: Uint8Array,
  maxBytes = maxUnpackedBytes,
): Promise<string | undefined> {
  const reason = "unpacked, it is larger than the limit for one document";
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = findStreams(buffer).map(([start, end]) => buffer.subarray(start, end));
  const streams = unwrap(found, maxBytes);
  if (!streams) return reason;
  const maxSizes = streams.map(({ length }) => length * maxRatio);
  const sum = maxSizes.reduce((all, each) => all + each, 0);
  if (sum <= maxBytes && maxSizes.every((each) => each <= maxStreamBytes)) return undefined;
  let remaining = maxBytes;
  for (const stream of streams) {
    const max = Math.min(remaining, maxStreamBytes);
    const count = await countUnpacked(stream, max);
    if (count > max) return reason;
    remaining -= count;
  }
  return undefined;
}

import { constants, createInflate, inflateSync } from "node:zlib";
import { codeOf } from "../../../../errors.ts";

// What streams that are no images (text, fonts, objects) may unpack to, all
// together. pdf.js unpacks a page whole and has no limit of its own.
const maxUnpackedBytes = 256 * 1024 * 1024;
// One alone: it stands in memory as a whole, and twice while it grows.
const maxStreamBytes = 64 * 1024 * 1024;
const maxLayers = 3;
const sampleBytes = 512;
// Deflate cannot do better (zlib.net/zlib_tech.html).
const maxRatio = 1032;
const dictionaryBytes = 1024;

/** The header of zlib: deflate, and a check over both bytes (RFC 1950, 2.2). */
function isPacked(bytes: Buffer, start: number): boolean {
  const [first = 0, second = 0] = bytes.subarray(start, start + 2);
  return (first & 15) === 8 && (first * 256 + second) % 31 === 0;
}

/** Where the streams of a PDF lie that may be packed with deflate: offsets of their first byte and end. */
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
    // Images are never unpacked for text, and large by right.
    const isImage = /\/Subtype\s*\/Image\b/.test(dictionary);
    if (!isImage && isPacked(bytes, start)) found.push([start, end]);
    at = next === -1 ? -1 : bytes.indexOf("stream", end + 9);
  }
  return found;
}

/** Bytes that a stream unpacks to, counted up to `max` and never held. */
function countUnpacked(packed: Buffer, max: number): Promise<number> {
  return new Promise((done) => {
    const inflate = createInflate({ finishFlush: constants.Z_SYNC_FLUSH });
    let count = 0;
    // Broken data counts up to where it breaks: pdf.js takes it as far, too.
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
 * What is packed in a stream, if that is packed once more: two layers make a
 * gigabyte of two kilobytes. Few streams are, so most cost a look at their begin.
 */
function innerOf(packed: Buffer, maxBytes: number): Buffer | undefined {
  const options = { finishFlush: constants.Z_SYNC_FLUSH };
  try {
    const start = inflateSync(packed.subarray(0, sampleBytes), options);
    if (!isPacked(start, 0)) return undefined;
    // Text may begin with the same two bytes: it does not go on as packed data does.
    inflateSync(start.subarray(0, sampleBytes), options);
    return inflateSync(packed, { ...options, maxOutputLength: maxBytes });
  } catch (error) {
    return codeOf(error) === "ERR_BUFFER_TOO_LARGE" ? Buffer.alloc(0) : undefined;
  }
}

/** The streams to count, without the layers around them; undefined when there are too many. */
function unwrap(streams: readonly Buffer[], maxBytes: number): Buffer[] | undefined {
  const bare: Buffer[] = [];
  let left = maxBytes;
  for (const stream of streams) {
    let packed = stream;
    for (let layer = 0, inner; (inner = innerOf(packed, Math.max(1, left))); layer++) {
      left -= inner.length;
      if (layer === maxLayers || inner.length === 0 || left < 0) return undefined;
      packed = inner;
    }
    bare.push(packed);
  }
  return bare;
}

/**
 * Why a PDF must not be opened: streams that unpack to more than memory should
 * hold. Undefined when nothing speaks against it. Those of encrypted files, and
 * what is packed with LZW, are not seen.
 */
export async function checkStreams(
  bytes: Uint8Array,
  maxBytes = maxUnpackedBytes,
): Promise<string | undefined> {
  const reason = "unpacked it is larger than what one document may have";
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = findStreams(buffer).map(([start, end]) => buffer.subarray(start, end));
  const streams = unwrap(found, maxBytes);
  if (!streams) return reason;
  const most = streams.map(({ length }) => length * maxRatio);
  const sum = most.reduce((all, each) => all + each, 0);
  if (sum <= maxBytes && most.every((each) => each <= maxStreamBytes)) return undefined;
  let left = maxBytes;
  for (const stream of streams) {
    const max = Math.min(left, maxStreamBytes);
    const count = await countUnpacked(stream, max);
    if (count > max) return reason;
    left -= count;
  }
  return undefined;
}

import { constants, createInflate } from "node:zlib";

// What streams that are no images (text, fonts, objects) may unpack to, all
// together. pdf.js unpacks a page whole and has no limit of its own.
const maxUnpackedBytes = 256 * 1024 * 1024;
// Deflate cannot do better (zlib.net/zlib_tech.html).
const maxRatio = 1032;
const dictionaryBytes = 1024;

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
    // The header of zlib: deflate, and a check over both bytes (RFC 1950, 2.2).
    const [first = 0, second = 0] = bytes.subarray(start, start + 2);
    const isPacked = (first & 15) === 8 && (first * 256 + second) % 31 === 0;
    if (isPacked && !isImage) found.push([start, end]);
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
 * Why a PDF must not be opened: streams that unpack to more than memory should
 * hold. Undefined when nothing speaks against it. Those of encrypted files, and
 * packed by other means or twice, are not seen.
 */
export async function checkStreams(
  bytes: Uint8Array,
  maxBytes = maxUnpackedBytes,
): Promise<string | undefined> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const streams = findStreams(buffer);
  const packed = streams.reduce((sum, [start, end]) => sum + end - start, 0);
  if (packed * maxRatio <= maxBytes) return undefined;
  let left = maxBytes;
  for (const [start, end] of streams) {
    left -= await countUnpacked(buffer.subarray(start, end), left);
    if (left < 0) return "unpacked it is larger than what one document may have";
  }
  return undefined;
}

/** Bytes to text, wherever the bytes are cut. */
export interface Utf8Decoder {
  write(chunk: Uint8Array): string;
  /** The text of what the last chunk left unfinished. */
  end(): string;
}

/** Stands for bytes that are no UTF-8: half of a pair, which no decoded text has by itself. */
const mark = "\udcff";

const replacement = "\uFFFD";
const nothing = Buffer.alloc(0);
const replacementBytes = Buffer.from(replacement);

/** Whether a decoded text holds bytes that are no UTF-8. */
export function isDamaged(text: string): boolean {
  // The search is fast, but finds the second half of whole characters too, such as U+1F4FF.
  return text.includes(mark) && !text.isWellFormed();
}

/** How many bytes a character has that begins with `lead`; 0 for a byte that begins none of several. */
function lengthFrom(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

/** Bytes at the end that may be the beginning of a character. */
function openBytes(bytes: Buffer): number {
  for (let count = 1; count <= 3; count++) {
    const byte = bytes[bytes.length - count];
    if (byte === undefined) return 0;
    const isContinuation = (byte & 0xc0) === 0x80;
    if (!isContinuation) return lengthFrom(byte) > count ? count : 0;
  }
  return 0;
}

// Large chunks: twice as fast as Buffer.toString() in Node 20, but only in the mode for streams.
const largeBytes = 2048;
let largeDecoder: InstanceType<typeof TextDecoder> | undefined;

function textOf(bytes: Buffer): string {
  // The decoder would keep a character without its end for its next call.
  if (bytes.length < largeBytes || openBytes(bytes) > 0) return bytes.toString();
  largeDecoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
  return largeDecoder.decode(bytes, { stream: true });
}

/** Text of complete characters. A replacement character that is in the bytes themselves stays. */
function decode(bytes: Buffer): string {
  const text = textOf(bytes);
  if (!text.includes(replacement)) return text;
  const parts: string[] = [];
  let start = 0;
  const take = (end: number): void => {
    parts.push(bytes.toString("utf8", start, end).replaceAll(replacement, mark));
    start = end + replacementBytes.length;
  };
  for (
    let at = bytes.indexOf(replacementBytes);
    at >= 0;
    at = bytes.indexOf(replacementBytes, start)
  ) {
    take(at);
  }
  take(bytes.length);
  return parts.join(replacement);
}

/**
 * Decodes UTF-8. What is none becomes a half of a surrogate pair where other decoders put
 * U+FFFD, which a text may hold itself: see isDamaged().
 */
export function createUtf8Decoder(): Utf8Decoder {
  let open: Buffer = nothing;
  return {
    write(chunk) {
      const given = Buffer.isBuffer(chunk)
        ? chunk
        : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const bytes = open.length === 0 ? given : Buffer.concat([open, given]);
      const count = openBytes(bytes);
      open = nothing;
      if (count === 0) return decode(bytes);
      const end = bytes.length - count;
      open = Buffer.from(bytes.subarray(end));
      return decode(bytes.subarray(0, end));
    },
    end() {
      const rest = decode(open);
      open = nothing;
      return rest;
    },
  };
}

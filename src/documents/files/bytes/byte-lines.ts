/** One line of a stream, without its end. */
export interface ByteLine {
  /** From 1. */
  line: number;
  /** Undefined for a line longer than the limit. */
  bytes: Buffer | undefined;
}

/** Splits chunks of bytes into lines. */
export interface ByteLineSplitter {
  /** Returns the lines that end in `chunk`. */
  push(chunk: Uint8Array): ByteLine[];
  /** Returns the last line if it has no LF. */
  end(): ByteLine[];
}

const lineFeed = 0x0a;

/**
 * Creates a splitter at LF. Lines are bytes, so that invalid UTF-8 fails only its own line. A line
 * longer than `maxBytes` is discarded. A line may be a view of its chunk.
 */
export function createByteLines(maxBytes: number): ByteLineSplitter {
  // Pieces of the unfinished line. Joined only once: otherwise each chunk would copy a long line.
  let open: Buffer[] = [];
  let length = 0;
  let line = 0;
  const keep = (piece: Buffer): void => {
    length += piece.length;
    if (length > maxBytes) open = [];
    else if (piece.length > 0) open.push(piece);
  };
  const finishLine = (): ByteLine => {
    const [first] = open;
    const bytes = open.length === 1 ? first : Buffer.concat(open);
    const isTooLong = length > maxBytes;
    open = [];
    length = 0;
    return { line: ++line, bytes: isTooLong ? undefined : bytes };
  };
  return {
    push(bytes) {
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const lines: ByteLine[] = [];
      let start = 0;
      for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
        keep(chunk.subarray(start, end));
        lines.push(finishLine());
        start = end + 1;
      }
      // A copy: a view would keep the whole chunk in memory.
      if (start < chunk.length) keep(Buffer.from(chunk.subarray(start)));
      return lines;
    },
    end: () => (length > 0 ? [finishLine()] : []),
  };
}

/** The lines of chunks, as they come. */
export async function* byteLinesOf(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<ByteLine> {
  const splitter = createByteLines(maxBytes);
  for await (const chunk of chunks) yield* splitter.push(chunk);
  yield* splitter.end();
}

/** One line of a stream, without its end. */
export interface ByteLine {
  /** From 1. */
  line: number;
  /** Undefined for one that is longer than it may be. */
  bytes: Buffer | undefined;
}

/** Bytes to lines, wherever the bytes are cut. */
export interface ByteLineSplitter {
  /** The lines that `chunk` ends. */
  push(chunk: Uint8Array): ByteLine[];
  /** The line that nothing ended, if there is one. */
  end(): ByteLine[];
}

const lineFeed = 0x0a;

/**
 * Lines that end with LF, as bytes: what is not UTF-8 is then one line's fault.
 * Of a line longer than `maxBytes` nothing is kept. A line may be a view of its
 * chunk.
 */
export function createByteLines(maxBytes: number): ByteLineSplitter {
  // Pieces of a line that has not ended: joined once, or a long line would be copied for each chunk.
  let open: Buffer[] = [];
  let length = 0;
  let line = 0;
  const keep = (piece: Buffer): void => {
    length += piece.length;
    if (length > maxBytes) open = [];
    else if (piece.length > 0) open.push(piece);
  };
  const take = (): ByteLine => {
    const [first] = open;
    const bytes = open.length === 1 ? first : Buffer.concat(open);
    const isTooLong = length > maxBytes;
    open = [];
    length = 0;
    return { line: ++line, bytes: isTooLong ? undefined : bytes };
  };
  return {
    push(given) {
      const chunk = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
      const lines: ByteLine[] = [];
      let start = 0;
      for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
        keep(chunk.subarray(start, end));
        lines.push(take());
        start = end + 1;
      }
      // A copy: the whole chunk would stay for the sake of its end.
      if (start < chunk.length) keep(Buffer.from(chunk.subarray(start)));
      return lines;
    },
    end: () => (length > 0 ? [take()] : []),
  };
}

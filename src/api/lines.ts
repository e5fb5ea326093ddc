import { StringDecoder } from "node:string_decoder";

/** A stream is larger than it may be; nothing of the rest is read. */
export class StreamTooLargeError extends Error {
  constructor(what: string, limit: number) {
    super(`${what} is longer than ${limit} bytes`);
    this.name = "StreamTooLargeError";
  }
}

/** Throws StreamTooLargeError for a line or message above the limit. */
export function checkLength(length: number, limit: number): void {
  if (length > limit) throw new StreamTooLargeError("a line of the stream", limit);
}

interface OpenLine {
  /** Pieces of a line that has not ended: joined once, or a long line would be copied for each chunk. */
  pieces: string[];
  length: number;
}

/** Cuts `text` at its line ends into `lines`, beginning with the open line; the rest stays open. */
function splitLines(open: OpenLine, text: string, lines: string[], limit: number): void {
  let start = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
    const piece = text.slice(start, end);
    lines.push(open.pieces.length === 0 ? piece : open.pieces.join("") + piece);
    open.pieces.length = open.length = 0;
    start = end + 1;
  }
  if (start === text.length) return;
  open.pieces.push(start === 0 ? text : text.slice(start));
  open.length += text.length - start;
  checkLength(open.length, limit);
}

/** Bytes to lines, wherever the bytes are cut. */
export interface LineSplitter {
  /** The lines that `chunk` ends. Throws StreamTooLargeError. */
  push(chunk: Uint8Array): string[];
  /** The line that nothing ended, if there is one. */
  end(): string[];
}

/** Lines of UTF-8 text that end with LF, CRLF or CR; a byte order mark is dropped. */
export function createLineSplitter(limit: number): LineSplitter {
  const utf8 = new StringDecoder("utf8");
  const open: OpenLine = { pieces: [], length: 0 };
  let isFirst = true;
  /** The text so far ends with CR: a line has ended, and an LF now belongs to it. */
  let afterReturn = false;
  const take = (given: string): string[] => {
    const lines: string[] = [];
    let text = given;
    if (isFirst && text.startsWith("\uFEFF")) text = text.slice(1);
    isFirst = false;
    if (afterReturn && text.startsWith("\n")) text = text.slice(1);
    afterReturn = text.endsWith("\r");
    splitLines(open, text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text, lines, limit);
    return lines;
  };
  return {
    push(chunk) {
      const text = utf8.write(chunk as Buffer);
      return text === "" ? [] : take(text);
    },
    end() {
      const tail = utf8.end();
      const lines = tail === "" ? [] : take(tail);
      if (open.pieces.length > 0) lines.push(open.pieces.join(""));
      return lines;
    },
  };
}

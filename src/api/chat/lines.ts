import { StringDecoder } from "node:string_decoder";
import type { Utf8Decoder } from "./utf8.ts";

const carriageReturn = 0x0d;

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

/** Takes one line: `text` from `start` (included) to `end` (excluded), its line end left out. */
type TakeLine = (text: string, start: number, end: number) => void;

interface OpenLine {
  /** Pieces of a line that has not ended: joined once, or a long line would be copied for each chunk. */
  pieces: string[];
  length: number;
}

/** Hands the lines that `text` ends to `take`, beginning with the open line; the rest stays open. */
function splitLines(open: OpenLine, text: string, limit: number, take: TakeLine): void {
  let start = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
    checkLength(open.length + end - start, limit);
    if (open.pieces.length === 0) take(text, start, end);
    else {
      const line = open.pieces.join("") + text.slice(start, end);
      open.pieces.length = open.length = 0;
      take(line, 0, line.length);
    }
    start = end + 1;
  }
  if (start === text.length) return;
  open.pieces.push(start === 0 ? text : text.slice(start));
  open.length += text.length - start;
  checkLength(open.length, limit);
}

/** Bytes to lines, wherever the bytes are cut. Both throw StreamTooLargeError, after the lines before. */
export interface LineSplitter {
  /** Hands over the lines that `chunk` ends. */
  push(chunk: Uint8Array): void;
  /** Hands over the line that nothing ended, if there is one. */
  end(): void;
}

/**
 * Lines of UTF-8 text (`utf8` decodes it) that end with LF, CRLF or CR; a byte order mark is
 * dropped. A line is handed over as a part of a longer text: cutting each one
 * out would cost as much as finding it.
 */
export function createLineSplitter(
  limit: number,
  take: TakeLine,
  utf8: Utf8Decoder = new StringDecoder("utf8"),
): LineSplitter {
  const open: OpenLine = { pieces: [], length: 0 };
  let isFirst = true;
  /** The text so far ends with CR: a line has ended, and an LF now belongs to it. */
  let afterReturn = false;
  const split = (given: string, hasReturn: boolean): void => {
    if (given === "") return;
    let text = given;
    if (isFirst && text.startsWith("\uFEFF")) text = text.slice(1);
    isFirst = false;
    if (afterReturn && text.startsWith("\n")) text = text.slice(1);
    afterReturn = text.endsWith("\r");
    splitLines(open, hasReturn ? text.replace(/\r\n?/g, "\n") : text, limit, take);
  };
  return {
    push(chunk) {
      const bytes = chunk as Buffer;
      const text = utf8.write(bytes);
      // Of a large chunk the bytes are searched several times as fast as its text.
      const isLarge = bytes.length >= 2048 && Buffer.isBuffer(bytes);
      split(text, isLarge ? bytes.includes(carriageReturn) : text.includes("\r"));
    },
    end() {
      split(utf8.end(), false);
      const rest = open.pieces.join("");
      open.pieces.length = open.length = 0;
      if (rest !== "") take(rest, 0, rest.length);
    },
  };
}

import { StringDecoder } from "node:string_decoder";
import type { Utf8Decoder } from "./utf8.ts";

const carriageReturn = 0x0d;

/** A stream exceeds its size limit; the rest is not read. */
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

/** Receives one line without its line end. */
type OnLine = (line: string) => void;

/** The beginning of an unfinished line. The engine joins texts only when one is read, so not per chunk. */
interface OpenLine {
  text: string;
}

/** Passes each line that `text` completes to `onLine`, the open line first; the rest stays open. */
function splitLines(open: OpenLine, text: string, limit: number, onLine: OnLine): void {
  let start = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
    checkLength(open.text.length + end - start, limit);
    const line = open.text + text.slice(start, end);
    open.text = "";
    start = end + 1;
    onLine(line);
  }
  if (start === text.length) return;
  open.text += text.slice(start);
  checkLength(open.text.length, limit);
}

/** Splits chunks of bytes into lines. Throws StreamTooLargeError, after passing on the lines before it. */
export interface LineSplitter {
  /** Passes on the lines that `chunk` completes. */
  push(chunk: Uint8Array): void;
  /** Passes on the last line if it has no line end. */
  end(): void;
}

/**
 * Splits UTF-8 text, decoded by `utf8`, into lines, which end with LF, CRLF or CR; drops a byte
 * order mark.
 */
export function createLineSplitter(
  limit: number,
  onLine: OnLine,
  utf8: Utf8Decoder = new StringDecoder("utf8"),
): LineSplitter {
  const open: OpenLine = { text: "" };
  let isFirst = true;
  /** The text so far ends with CR: a line has ended, and a following LF belongs to it. */
  let afterReturn = false;
  const split = (given: string, hasReturn: boolean): void => {
    if (given === "") return;
    let text = given;
    if (isFirst && text.startsWith("\uFEFF")) text = text.slice(1);
    isFirst = false;
    if (afterReturn && text.startsWith("\n")) text = text.slice(1);
    afterReturn = hasReturn && text.endsWith("\r");
    splitLines(open, hasReturn ? text.replace(/\r\n?/g, "\n") : text, limit, onLine);
  };
  return {
    push(chunk) {
      const bytes = chunk as Buffer;
      const text = utf8.write(bytes);
      // In a large chunk, searching the bytes is several times faster than searching the text.
      const isLarge = bytes.length >= 2048 && Buffer.isBuffer(bytes);
      split(text, isLarge ? bytes.includes(carriageReturn) : text.includes("\r"));
    },
    end() {
      split(utf8.end(), false);
      const rest = open.text;
      open.text = "";
      if (rest !== "") onLine(rest);
    },
  };
}

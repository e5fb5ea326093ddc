import { graphemeAfter, graphemeBefore, graphemesOf } from "./graphemes.ts";

/** The edited text. Immutable: each edit returns a new buffer. */
export interface Buffer {
  readonly text: string;
  /** Index into `text`, always between two graphemes. */
  readonly cursor: number;
  /** The first character was pasted: the text is never a command. */
  readonly isPasted: boolean;
  /** The last cut text, for Ctrl-Y. */
  readonly cut: string;
}

export const emptyBuffer: Buffer = { text: "", cursor: 0, isPasted: false, cut: "" };

/** Longest text that can be edited, in UTF-16 code units. */
const maxLength = 200_000;

/** Inserts `text` at the cursor; cuts it at the maximum length. */
export function insert(buffer: Buffer, text: string, byPaste = false): Buffer {
  const room = maxLength - buffer.text.length;
  const inserted = text.length <= room ? text : text.slice(0, room).toWellFormed();
  if (inserted === "") return buffer;
  const { cursor } = buffer;
  return {
    ...buffer,
    text: buffer.text.slice(0, cursor) + inserted + buffer.text.slice(cursor),
    cursor: cursor + inserted.length,
    isPasted: cursor === 0 ? byPaste : buffer.isPasted,
  };
}

function remove(buffer: Buffer, from: number, to: number, keep: boolean): Buffer {
  const [start, end] = from < to ? [from, to] : [to, from];
  if (start === end) return buffer;
  const text = buffer.text.slice(0, start) + buffer.text.slice(end);
  return {
    text,
    cursor: start,
    isPasted: text !== "" && buffer.isPasted,
    cut: keep ? buffer.text.slice(start, end) : buffer.cut,
  };
}

const lineStart = ({ text, cursor }: Buffer): number => text.lastIndexOf("\n", cursor - 1) + 1;

function lineEnd({ text, cursor }: Buffer): number {
  const end = text.indexOf("\n", cursor);
  return end < 0 ? text.length : end;
}

const isWord = (character: string): boolean => /[\p{L}\p{M}\p{N}_]/u.test(character);

function wordLeft({ text, cursor }: Buffer): number {
  let at = cursor;
  while (at > 0 && !isWord(text.slice(graphemeBefore(text, at), at))) at = graphemeBefore(text, at);
  while (at > 0 && isWord(text.slice(graphemeBefore(text, at), at))) at = graphemeBefore(text, at);
  return at;
}

function wordRight({ text, cursor }: Buffer): number {
  let at = cursor;
  while (at < text.length && !isWord(text.slice(at, graphemeAfter(text, at))))
    at = graphemeAfter(text, at);
  while (at < text.length && isWord(text.slice(at, graphemeAfter(text, at))))
    at = graphemeAfter(text, at);
  return at;
}

/** Length back to the previous white space, as for Ctrl-W in a shell. */
function lengthToSpaceLeft({ text, cursor }: Buffer): number {
  return /\S*\s*$/.exec(text.slice(Math.max(0, cursor - 1000), cursor))![0].length;
}

const moveTo = (buffer: Buffer, cursor: number): Buffer =>
  cursor === buffer.cursor ? buffer : { ...buffer, cursor };

/** Moves one line up or down, keeping the column; undefined at the first or last line. */
export function moveLine(buffer: Buffer, step: -1 | 1): Buffer | undefined {
  const { text, cursor } = buffer;
  const start = lineStart(buffer);
  const column = [...graphemesOf(text.slice(start, cursor))].length;
  const target = step < 0 ? start - 1 : lineEnd(buffer) + 1;
  if (target < 0 || target > text.length) return undefined;
  let at = lineStart({ ...buffer, cursor: target });
  const end = lineEnd({ ...buffer, cursor: at });
  for (let count = 0; count < column && at < end; count++) at = graphemeAfter(text, at);
  return moveTo(buffer, Math.min(at, end));
}

/** Edits by the name of their key. */
export const edits: Readonly<Record<string, (buffer: Buffer) => Buffer>> = {
  left: (buffer) => moveTo(buffer, graphemeBefore(buffer.text, buffer.cursor)),
  right: (buffer) => moveTo(buffer, graphemeAfter(buffer.text, buffer.cursor)),
  "ctrl-b": (buffer) => moveTo(buffer, graphemeBefore(buffer.text, buffer.cursor)),
  "ctrl-f": (buffer) => moveTo(buffer, graphemeAfter(buffer.text, buffer.cursor)),
  home: (buffer) => moveTo(buffer, lineStart(buffer)),
  end: (buffer) => moveTo(buffer, lineEnd(buffer)),
  "ctrl-a": (buffer) => moveTo(buffer, lineStart(buffer)),
  "ctrl-e": (buffer) => moveTo(buffer, lineEnd(buffer)),
  "alt-b": (buffer) => moveTo(buffer, wordLeft(buffer)),
  "alt-f": (buffer) => moveTo(buffer, wordRight(buffer)),
  backspace: (buffer) =>
    remove(buffer, graphemeBefore(buffer.text, buffer.cursor), buffer.cursor, false),
  delete: (buffer) =>
    remove(buffer, buffer.cursor, graphemeAfter(buffer.text, buffer.cursor), false),
  "ctrl-d": (buffer) =>
    remove(buffer, buffer.cursor, graphemeAfter(buffer.text, buffer.cursor), false),
  "ctrl-w": (buffer) =>
    remove(buffer, buffer.cursor - lengthToSpaceLeft(buffer), buffer.cursor, true),
  "alt-d": (buffer) => remove(buffer, buffer.cursor, wordRight(buffer), true),
  "ctrl-u": (buffer) => remove(buffer, lineStart(buffer), buffer.cursor, true),
  "ctrl-k": (buffer) => remove(buffer, buffer.cursor, lineEnd(buffer), true),
  "ctrl-y": (buffer) => insert(buffer, buffer.cut, buffer.isPasted || buffer.cursor === 0),
  newline: (buffer) => insert(buffer, "\n"),
};

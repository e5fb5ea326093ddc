import type { LeftOut, LeftOutKind, Surroundings } from "../../reader.ts";
import type { Line } from "./blocks/rst-lines.ts";

/** A part of the page. Its text is still reStructuredText, except that of code. */
export type Piece =
  | { kind: "heading"; level: number; text: string; line: number | undefined }
  /** Running text; `mark` begins a list item. A tight piece follows without a blank line. */
  | { kind: "text"; indent: number; mark: string; text: string; isTight: boolean }
  /** Markdown as it is, for example a picture. */
  | { kind: "made"; indent: number; mark: string; text: string; isTight: boolean }
  /** Markdown of several blocks, with headings. */
  | { kind: "markdown"; indent: number; mark: string; text: string }
  | {
      kind: "code";
      indent: number;
      mark: string;
      text: string;
      info: string;
      /** Whether the code has inline markup. */
      isParsed: boolean;
    }
  /** The cells of a row; each is a list of pieces. */
  | { kind: "row"; indent: number; mark: string; cells: Piece[][] }
  /** A cell that began in a row above. */
  | { kind: "again"; pieces: Piece[] }
  /** Begins or ends an ignore region. */
  | { kind: "ignore"; isOpen: boolean; line: number | undefined }
  /** A name that gets an anchor. A place leads to what follows, other targets to an address. */
  | { kind: "target"; name: string; isPlace: boolean };

/** What stands for `|name|`. */
export type Substitution = { kind: "text"; text: string } | { kind: "made"; text: string };

/** Another page of the project. */
export interface LinkedPage {
  /** Relative to the folder of the document. */
  address: string;
  /** Undefined if it has none. */
  title: string | undefined;
}

/** What is collected while the blocks of one document are read. */
export interface Reading {
  around: Surroundings;
  /** The text of the document. */
  source: string;
  /** Root-relative paths from the document to the file that is read now. */
  chain: string[];
  pieces: Piece[];
  /** Adornments of titles in the order of their levels. */
  styles: string[];
  substitutions: Map<string, Substitution>;
  /** Address or other name by name of the target; "" for a place in the document. */
  targets: Map<string, string>;
  /** Names that directives give to what they show. */
  names: Set<string>;
  /** Addresses of anonymous targets in order. */
  anonymous: string[];
  /** Labels of footnotes in order: `1`, `#`, `#name`. */
  footnotes: string[];
  /** Roles whose text is in another markup language. */
  rawRoles: Set<string>;
  leftOut: LeftOut[];
  /** Pages by the names that the document uses; undefined if there is no such page. */
  pages: Map<string, LinkedPage | undefined>;
  /** Lines that were read, with those of included files. */
  lineCount: number;
  /** Of the pieces that follow, in columns. */
  indent: number;
  /** Mark of the list item whose first piece follows, and its column. */
  mark: string;
  markIndent: number;
  /** Whether the next piece follows without a blank line. */
  isTight: boolean;
}

/** Lines of a block while they are read. */
export interface Block {
  reading: Reading;
  lines: readonly Line[];
  /** Whether section titles can occur: not in lists, quotations and most directives. */
  hasTitles: boolean;
  /** Reads the lines within this block, by default without titles. */
  readInner: (lines: readonly Line[], canHaveTitles?: boolean) => void;
  /** The last numbered item: its number, and the line below it. */
  lastItem?: { number: number; next: number };
}

/** Reads what begins at line `at`. Returns the next line, or -1 if something else begins there. */
export type ReadAt = (block: Block, at: number) => number;

export function createReading(path: string, around: Surroundings, source = ""): Reading {
  return {
    around,
    source,
    chain: [path],
    pieces: [],
    styles: [],
    substitutions: new Map(),
    targets: new Map(),
    names: new Set(),
    anonymous: [],
    footnotes: [],
    rawRoles: new Set(),
    leftOut: [],
    pages: new Map(),
    lineCount: 0,
    indent: 0,
    mark: "",
    markIndent: 0,
    isTight: false,
  };
}

/** Names are compared without case, and with single blanks. */
export const nameOf = (text: string): string =>
  text.replace(/\\(.)/g, "$1").replace(/\s+/g, " ").trim().toLowerCase();

function takePlace(reading: Reading): { indent: number; mark: string; isTight: boolean } {
  const { mark, isTight } = reading;
  const indent = mark === "" ? reading.indent : reading.markIndent;
  reading.mark = "";
  reading.isTight = false;
  return { indent, mark, isTight: isTight || mark !== "" };
}

/** Adds running text. */
export function addText(reading: Reading, text: string): void {
  if (text.trim() !== "") reading.pieces.push({ kind: "text", text, ...takePlace(reading) });
}

const ignoreMark = /^<!--[ \t]*(\/?)knowctl:ignore[ \t]*-->$/;
const slashOf = (text: string): string | undefined =>
  text.startsWith("<!--") && text.length < 100 ? ignoreMark.exec(text)?.[1] : undefined;

/** Whether a line begins or ends an ignore region. */
export const isIgnoreMark = (text: string): boolean => slashOf(text) !== undefined;

/** Adds the begin or end of an ignore region. Returns whether the line is one. */
export function addIgnoreMark(reading: Reading, { text, number }: Line): boolean {
  const slash = slashOf(text);
  if (slash === undefined) return false;
  reading.pieces.push({ kind: "ignore", isOpen: slash === "", line: number });
  return true;
}

/** Adds Markdown that is complete. */
export function addMade(reading: Reading, text: string): void {
  if (text !== "") reading.pieces.push({ kind: "made", text, ...takePlace(reading) });
}

/** Adds Markdown of any number of blocks. */
export function addMarkdown(reading: Reading, text: string): void {
  if (text.trim() === "") return;
  const { indent, mark } = takePlace(reading);
  reading.pieces.push({ kind: "markdown", text, indent, mark });
}

/** Adds text that stays as it is, but for inline markup if it is parsed. */
export function addCode(reading: Reading, text: string, info = "", isParsed = false): void {
  if (text.trim() === "") return;
  const { indent, mark } = takePlace(reading);
  reading.pieces.push({ kind: "code", text, info, isParsed, indent, mark });
}

export function addHeading(
  reading: Reading,
  text: string,
  style: string,
  line: number | undefined,
): void {
  if (!reading.styles.includes(style)) reading.styles.push(style);
  const level = Math.min(reading.styles.indexOf(style) + 1, 6);
  reading.pieces.push({ kind: "heading", level, text, line });
  const name = nameOf(text);
  if (!reading.targets.has(name)) reading.targets.set(name, "");
}

const widestIndent = 12;

/** Reads the content of a list item. `mark` begins its first piece. */
export function inItem(reading: Reading, mark: string, read: () => void): void {
  const { indent } = reading;
  // A list that begins in the first line of an item adds its mark to that of the item.
  if (reading.mark === "") reading.markIndent = indent;
  reading.mark += mark;
  reading.indent = Math.min(indent + mark.length, widestIndent);
  read();
  reading.mark = "";
  reading.isTight = false;
  reading.indent = indent;
}

/** Reads a part of the page apart. Returns its pieces. */
export function piecesOf(reading: Reading, read: () => void): Piece[] {
  const { pieces, indent, mark, isTight } = reading;
  Object.assign(reading, { pieces: [], indent: 0, mark: "", isTight: false });
  read();
  const inner = reading.pieces;
  Object.assign(reading, { pieces, indent, mark, isTight });
  return inner;
}

/** Adds a row of a table. */
export function addRow(reading: Reading, cells: Piece[][]): void {
  const { indent, mark } = takePlace(reading);
  if (cells.some((cell) => cell.length > 0)) {
    reading.pieces.push({ kind: "row", indent, mark, cells });
  }
}

/** Counts what the document lacks. */
export function leaveOut(
  reading: Reading,
  kind: LeftOutKind,
  what: string,
  line: number | undefined,
): void {
  reading.leftOut.push({ kind, what, line });
}

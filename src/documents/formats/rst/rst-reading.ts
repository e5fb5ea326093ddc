import type { Surroundings } from "../format.ts";
import type { LeftOut, LeftOutKind } from "../../text/left-out.ts";
import type { Line } from "./rst-lines.ts";

/** A part of the page. Its text is still reStructuredText, except that of code and HTML. */
export type Piece =
  | { kind: "heading"; level: number; text: string; line: number | undefined }
  /** Running text; of `lines`, each line is one of the page. */
  | { kind: "text"; text: string; isLines: boolean }
  /** HTML as it is. `next` is the number of the item that would continue the list that ends here. */
  | { kind: "html"; html: string; next?: number }
  /** Markdown of several blocks, with headings. */
  | { kind: "markdown"; text: string }
  /** Code; `isParsed` if it has inline markup. */
  | { kind: "code"; text: string; language: string; isParsed: boolean }
  /** The mark of the footnote at this place among all. */
  | { kind: "note"; index: number }
  /** A name that gets an anchor. A place leads to what follows, other targets to an address. */
  | { kind: "target"; name: string; isPlace: boolean };

/** What stands for `|name|`. */
export type Substitution = { kind: "text" | "html"; text: string };

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
  /** The module of Python whose objects are described; "" for none, and within a class. */
  module: string;
  /** Lines that were read, with those of included files. */
  lineCount: number;
  /** Lines of the file where the open ignore regions begin. */
  ignored: (number | undefined)[];
}

/** Lines of a block while they are read. */
export interface Block {
  reading: Reading;
  lines: readonly Line[];
  /** Whether section titles can occur: not in lists, quotations and most directives. */
  hasTitles: boolean;
  /** Reads the lines within this block, by default without titles. */
  readInner: (lines: readonly Line[], canHaveTitles?: boolean) => void;
  /** Types by the names that fields describe, once they are asked for. */
  types?: ReadonlyMap<string, string>;
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
    module: "",
    lineCount: 0,
    ignored: [],
  };
}

/** Names are compared without case, and with single blanks. */
export const nameOf = (text: string): string =>
  text.replace(/\\(.)/g, "$1").replace(/\s+/g, " ").trim().toLowerCase();

/** Adds running text. */
export function addText({ pieces }: Reading, text: string, isLines = false): void {
  if (text.trim() !== "") pieces.push({ kind: "text", text, isLines });
}

export function addHtml({ pieces }: Reading, html: string): void {
  if (html !== "") pieces.push({ kind: "html", html });
}

/** Reads what stands between two tags. */
export function within(reading: Reading, open: string, close: string, read: () => void): void {
  addHtml(reading, open);
  read();
  addHtml(reading, close);
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
  if (slash === "") reading.ignored.push(number);
  else reading.ignored.pop();
  addHtml(reading, `<!-- ${slash}knowctl:ignore -->`);
  return true;
}

/** Adds Markdown of any number of blocks. */
export function addMarkdown({ pieces }: Reading, text: string): void {
  if (text.trim() !== "") pieces.push({ kind: "markdown", text });
}

/** Adds text that stays as it is, but for inline markup if it is parsed. */
export function addCode({ pieces }: Reading, text: string, language = "", isParsed = false): void {
  if (text.trim() !== "") pieces.push({ kind: "code", text, language, isParsed });
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

/** Begins a list, unless the one before goes on: that of the same kind, whose next number it is. */
function openList({ pieces }: Reading, name: "ul" | "dl" | "ol", number?: ItemNumber): void {
  const last = pieces.at(-1);
  const end = `</${name}>`;
  const isSame = last?.kind === "html" && last.html === end;
  if (isSame && (number === undefined || last.next === number.value)) return void pieces.pop();
  const options = number ? ` start="${number.value}"${number.type}` : "";
  pieces.push({ kind: "html", html: `<${name}${options}>` });
}

/** The number of an item, and the attribute for the style of its list. */
export interface ItemNumber {
  value: number;
  type: string;
}

/** Reads an item of a list. */
export function inItem(reading: Reading, read: () => void, number?: ItemNumber): void {
  const name = number ? "ol" : "ul";
  openList(reading, name, number);
  within(reading, "<li>", "</li>", read);
  const next = number ? { next: number.value + 1 } : {};
  reading.pieces.push({ kind: "html", html: `</${name}>`, ...next });
}

/** Reads a term, or several of them, and what it means. */
export function inDefinition(reading: Reading, terms: readonly string[], read: () => void): void {
  openList(reading, "dl");
  for (const term of terms) within(reading, "<dt>", "</dt>", () => addText(reading, term));
  within(reading, "<dd>", "</dd>", read);
  addHtml(reading, "</dl>");
}

/** A cell of a table: in how many columns and rows it stands, and what reads it. */
export interface Cell {
  columns: number;
  rows: number;
  read: () => void;
}

/** Adds a row of a table. */
export function addRow(reading: Reading, cells: readonly Cell[], isHead: boolean): void {
  const name = isHead ? "th" : "td";
  addHtml(reading, "<tr>");
  for (const { columns, rows, read } of cells) {
    const spans =
      (columns > 1 ? ` colspan="${columns}"` : "") + (rows > 1 ? ` rowspan="${rows}"` : "");
    within(reading, `<${name}${spans}>`, `</${name}>`, read);
  }
  addHtml(reading, "</tr>");
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

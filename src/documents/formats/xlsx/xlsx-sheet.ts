import {
  attributeOf,
  childOf,
  descendantsOf,
  elementsIn,
  isOn,
  readXml,
  textIn,
  XmlError,
  type XmlNode,
} from "../office/archive.ts";
import { cleanText } from "../properties.ts";
import { formatNumber, formatText } from "./number-format.ts";

/** A filled cell; columns count from 1. */
export interface Cell {
  column: number;
  text: string;
  isText: boolean;
  /** The address in its formula. */
  link: string | undefined;
}

export interface Row {
  number: number;
  cells: Cell[];
}

/** A rectangle of cells, from 1, with both ends. */
export interface Range {
  rows: [number, number];
  columns: [number, number];
}

/** What is in a sheet and shown. */
export interface Sheet {
  /** Those with filled cells, in order. */
  rows: Row[];
  merged: Range[];
  /** Relations and places of links by `row:column`. */
  links: Map<string, string>;
  hiddenRows: number;
  hiddenColumns: number;
  /** Cells whose formula has no stored value, and cells with an error. */
  unknown: Places;
  errors: Places;
}

/** Cells of a kind: how many there are, and the first. */
export interface Places {
  count: number;
  first: string;
}

/** What the cells of all sheets share. */
export interface Book {
  strings: readonly string[];
  /** Codes of number formats by the number of a style. */
  formats: readonly string[];
  is1904: boolean;
  /** Takes characters from the limit of the document. Throws LimitError. */
  spend: (chars: number) => void;
}

const escaped = /_x([0-9A-Fa-f]{4})_/g;

/** The text of a string (18.4.8): its runs, without their reading aloud. */
export function stringOf(node: XmlNode): string {
  const parts = elementsIn(node).map((each) => {
    if (each.name === "t") return textIn(each);
    const text = each.name === "r" ? childOf(each, "t") : undefined;
    return text ? textIn(text) : "";
  });
  // ECMA-376 part 1, 22.9.2.19: `_x000D_` is a character that XML cannot hold.
  const text = parts
    .join("")
    .replace(escaped, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
  return cleanText(text.replace(/\r\n?/g, "\n")).trim();
}

const mostColumns = 16_384;

/** The row and the column of `AB12`. */
function placeOf(reference: string): [row: number, column: number] | undefined {
  const [, letters = "", row = ""] = /^\$?([A-Z]{1,3})\$?(\d{1,7})$/i.exec(reference) ?? [];
  if (letters === "") return undefined;
  let column = 0;
  for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
  return column > mostColumns ? undefined : [Number(row), column];
}

function rangeOf(reference: string): Range | undefined {
  const [first = "", last = first] = reference.split(":");
  const [start, end] = [placeOf(first), placeOf(last)];
  return start && end && { rows: [start[0], end[0]], columns: [start[1], end[1]] };
}

const linkFormula = /^\s*HYPERLINK\(\s*"([^"]{1,2000})"\s*[,;)]/i;

/** What a cell shows. */
function shownIn(node: XmlNode, book: Book): { text: string; isText: boolean } {
  const value = childOf(node, "v");
  const written = value ? textIn(value) : "";
  const code = book.formats[Number(attributeOf(node, "s") ?? 0)] ?? "General";
  const type = attributeOf(node, "t");
  if (type === "s") {
    const text = written === "" ? "" : book.strings[Number(written)];
    if (text === undefined) throw new XmlError("a cell names a text that the file lacks");
    return { text: formatText(text, code), isText: true };
  }
  if (type === "inlineStr") {
    const inline = childOf(node, "is");
    return { text: formatText(inline ? stringOf(inline) : "", code), isText: true };
  }
  if (type === "str") {
    const text = value ? stringOf({ ...node, children: [{ ...value, name: "t" }] }) : "";
    return { text: formatText(text, code), isText: true };
  }
  if (type === "b") return { text: written === "1" ? "TRUE" : "FALSE", isText: false };
  const number = written.trim() === "" ? NaN : Number(written);
  if (type === "e" || Number.isNaN(number)) return { text: cleanText(written), isText: false };
  return { text: formatNumber(number, code, book.is1904), isText: false };
}

/** The state of reading a sheet. */
interface Walk {
  sheet: Sheet;
  book: Book;
  hidden: Set<number>;
  /** The cells of the open row. */
  cells: Cell[];
  column: number;
  unknown: string[];
  errors: string[];
}

function addPlace(places: Places, where: string): void {
  if (places.count === 0) places.first = where;
  places.count++;
}

function takeCell(walk: Walk, node: XmlNode): void {
  const { book, cells } = walk;
  const reference = attributeOf(node, "r") ?? "";
  walk.column = placeOf(reference)?.[1] ?? walk.column + 1;
  if (node.children.length === 0 || walk.column > mostColumns) return;
  const formula = childOf(node, "f");
  const value = childOf(node, "v");
  const type = attributeOf(node, "t");
  if (formula && (!value || (textIn(value) === "" && type !== "str"))) {
    walk.unknown.push(reference);
    return;
  }
  const { text, isText } = shownIn(node, book);
  if (text === "") return;
  if (type === "e") walk.errors.push(`${reference} ${text}`);
  book.spend(text.length);
  const link = formula && linkFormula.exec(textIn(formula))?.[1];
  cells.push({ column: walk.column, text, isText, link });
}

function takeRow(walk: Walk, node: XmlNode, before: number): number {
  const { sheet, hidden } = walk;
  const number = Number(/^\d{1,7}$/.exec(attributeOf(node, "r") ?? "")?.[0] ?? before + 1);
  const cells = walk.cells.splice(0);
  const shown = cells.filter(({ column }) => !hidden.has(column));
  walk.column = 0;
  const [unknown, errors] = [walk.unknown.splice(0), walk.errors.splice(0)];
  if (isOn(attributeOf(node, "hidden"))) {
    if (cells.length > 0) sheet.hiddenRows++;
    return number;
  }
  for (const each of unknown) addPlace(sheet.unknown, each);
  for (const each of errors) addPlace(sheet.errors, each);
  if (shown.length > 0) sheet.rows.push({ number, cells: shown });
  return number;
}

function takeColumns({ sheet, hidden }: Walk, node: XmlNode): void {
  if (!isOn(attributeOf(node, "hidden"))) return;
  const [first, last] = [Number(attributeOf(node, "min")), Number(attributeOf(node, "max"))];
  // Programs hide all columns behind a table at once.
  if (last < mostColumns) sheet.hiddenColumns += Math.max(0, last - first + 1) || 0;
  for (let column = first; column <= Math.min(last, mostColumns); column++) hidden.add(column);
}

/**
 * Reads a sheet (ECMA-376 part 1, 18.3.1.99) row by row. Skips hidden rows and columns. Throws
 * XmlError, and what `book.spend` throws.
 */
export function readSheet(bytes: Uint8Array, book: Book): Sheet {
  const sheet: Sheet = {
    rows: [],
    merged: [],
    links: new Map(),
    hiddenRows: 0,
    hiddenColumns: 0,
    unknown: { count: 0, first: "" },
    errors: { count: 0, first: "" },
  };
  const walk: Walk = {
    sheet,
    book,
    hidden: new Set(),
    cells: [],
    column: 0,
    unknown: [],
    errors: [],
  };
  let row = 0;
  readXml(bytes, (node, parent) => {
    if (node.name === "c" && parent === "row") takeCell(walk, node);
    else if (node.name === "row") row = takeRow(walk, node, row);
    else if (node.name === "col") takeColumns(walk, node);
    else if (node.name === "mergeCell") {
      const range = rangeOf(attributeOf(node, "ref") ?? "");
      if (range) sheet.merged.push(range);
    } else if (node.name === "hyperlink") {
      const start = rangeOf(attributeOf(node, "ref") ?? "");
      const relation = attributeOf(node, "id");
      if (start && relation !== undefined) {
        sheet.links.set(`${start.rows[0]}:${start.columns[0]}`, relation);
      }
    } else return parent === "worksheet";
    return true;
  });
  return sheet;
}

/** The texts of a drawing on a sheet, and of its pictures. Throws XmlError. */
export function shapesIn(root: XmlNode): XmlNode[] {
  return [...descendantsOf(root)].filter(({ name }) => name === "sp" || name === "pic");
}

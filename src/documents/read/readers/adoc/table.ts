import { codeSpan } from "../../../markdown/code-span.ts";
import { escapeLine } from "../html/html-blocks.ts";
import type { Attributes } from "./source/attributes.ts";
import { ignoreMarkOf, isComment } from "./starts.ts";
import type { BlockAttributes, State } from "./state.ts";
import { addBlock, inline } from "./state.ts";

const mostColumns = 1000;
const separatorLength = " | ".length;
// The specification of a cell stands before its separator: `2+`, `.3+^.>s`, `3*`.
const specification =
  /(?:^|\s)(?:(\d{1,4})(?:\.(\d{1,4}))?([+*])|\.(\d{1,4})\+)?(?:[<^>]?(?:\.[<^>])?)(?:[aehlmsvd]?)$/;

/** Number of columns that `cols` names; undefined without it. */
function columnsOf({ named }: BlockAttributes): number | undefined {
  const cols = named.get("cols");
  if (cols === undefined || cols.trim() === "") return undefined;
  let count = 0;
  const parts = /^\s*\d+\s*$/.test(cols) ? [`${cols.trim()}*`] : cols.split(/[,;]/);
  for (const part of parts) count += Number(/^\s*(\d{1,4})\*/.exec(part)?.[1] ?? 1);
  return Math.min(mostColumns, count);
}

/** In how many columns and rows a cell stands. */
interface Span {
  columns: number;
  rows: number;
}

interface Cell extends Span {
  text: string;
}

interface Cells {
  cells: Cell[];
  /** Number of columns of the first line with cells. */
  firstLine: number;
  /** Of the next cell. */
  span: Span;
  /** How often the next cell is repeated. */
  repeat: number;
}

const single: Span = { columns: 1, rows: 1 };

/** Takes the specification of the next cell from the end of the previous one. */
function takeSpecification(text: string): { text: string; span: Span; repeat: number } {
  const tail = text.slice(-30);
  const found = specification.exec(tail);
  if (!found || found[0].trim() === "") return { text, span: single, repeat: 1 };
  const [, count = "1", rows, sign, onlyRows] = found;
  const isRepeated = sign === "*";
  const columns = isRepeated ? 1 : Math.max(1, Number(count));
  return {
    text: text.slice(0, text.length - tail.length + found.index),
    span: { columns, rows: isRepeated ? 1 : Math.max(1, Number(rows ?? onlyRows ?? 1)) },
    repeat: isRepeated ? Math.max(1, Math.min(100, Number(count))) : 1,
  };
}

function addCell(cells: Cells, text: string, attributes: Attributes): void {
  const cell = { ...cells.span, text };
  cells.cells.push(cell);
  for (let count = 1; count < cells.repeat && attributes.left > 0; count++) {
    cells.cells.push(cell);
    attributes.left -= text.length + separatorLength;
  }
}

/** Splits the lines of a table at its separators. */
function splitCells(lines: readonly string[], separator: string, attributes: Attributes): Cells {
  const cells: Cells = { cells: [], firstLine: 0, span: single, repeat: 1 };
  let open: string[] | undefined;
  for (const line of lines) {
    // A separator after a backslash is text.
    const pieces = line.includes(separator) ? line.split(separator) : [line];
    let joined = "";
    let count = 0;
    for (const [index, piece] of pieces.entries()) {
      const isLast = index === pieces.length - 1;
      joined += piece;
      if (!isLast && piece.endsWith("\\")) {
        joined = `${joined.slice(0, -1)}${separator}`;
        continue;
      }
      if (isLast) {
        if (open) open.push(joined);
        break;
      }
      const { text, span, repeat } = takeSpecification(joined);
      if (open) addCell(cells, [...open, text].join("\n"), attributes);
      Object.assign(cells, { span, repeat });
      open = [];
      count += repeat * span.columns;
      joined = "";
    }
    if (cells.firstLine === 0) cells.firstLine = count;
  }
  if (open) addCell(cells, open.join("\n"), attributes);
  return cells;
}

// Within a cell, only the words of its blocks stay.
const markup = /^(?:\[.*\]|-{2,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{1}|\|={3,}|!={3,}|\/\/.*)$/;

const fence = /^(?:-{4,}|\.{4,})$/;

/** The code up to the end of a block that begins at a line of a cell; undefined if it has none. */
function codeIn(lines: readonly string[], at: number): { code: string; end: number } | undefined {
  const mark = lines[at] ?? "";
  const end = fence.test(mark) ? lines.indexOf(mark, at + 1) : -1;
  return end === -1 ? undefined : { code: lines.slice(at + 1, end).join(" "), end };
}

function cellText(state: State, text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  const filled = lines.filter((line) => line !== "");
  const parts: string[] = [];
  let prose: string[] = [];
  const endProse = (): void => {
    if (prose.length > 0) parts.push(inline(state, prose.join(" ")));
    prose = [];
  };
  for (let at = 0; at < filled.length; at++) {
    const line = filled[at] ?? "";
    const found = codeIn(filled, at);
    if (found) {
      endProse();
      parts.push(codeSpan(found.code));
      at = found.end;
    } else if (filled.length === 1 || !markup.test(line)) prose.push(line); // `--` alone is a value.
  }
  endProse();
  return parts.join(" ").replace(/\s+/g, " ").replaceAll("|", "\\|").trim();
}

/** A row as a line; "" for a row without text. */
function rowText(cells: readonly string[]): string {
  const text = cells.join(" | ").trim();
  return text.replace(/[|\s]+/g, "") === "" ? "" : escapeLine(text);
}

// A value is short. A longer text stands in its first row only.
const mostRepeated = 200;
// Repeated cells make a table at most so many times as long, and their empty places once more: a
// few lines must not make gigabytes.
const mostTimes = 10;

/** The rows of cells. A cell that stands in several rows is in each of them. */
function rowsOf(state: State, cells: readonly Cell[], columns: number): string[] {
  const rows: string[] = [];
  let left = cells.reduce((sum, { text }) => sum + text.length + separatorLength, 0) * mostTimes;
  const least = -left;
  /** By column: a cell that stands in the next rows as well. */
  const below = new Map<number, Cell>();
  let row: string[] = [];
  let column = 0;
  const put = (cell: Cell): void => {
    row.push(cell.text);
    const text = cell.text.length > mostRepeated ? "" : cell.text;
    if (cell.rows > 1) below.set(column, { ...cell, text, rows: cell.rows - 1 });
    else below.delete(column);
    column += cell.columns;
    if (column < columns) return;
    rows.push(rowText(row));
    row = [];
    column = 0;
  };
  const putFromAbove = (): void => {
    for (let above = below.get(column); above; above = below.get(column)) {
      const text = above.text.length < left ? above.text : "";
      left -= text.length + separatorLength;
      if (left < least) return below.clear();
      put({ ...above, text });
    }
  };
  for (const cell of cells) {
    putFromAbove();
    put({ ...cell, text: cellText(state, cell.text) });
  }
  if (column > 0) putFromAbove();
  if (row.length > 0) rows.push(rowText(row));
  return rows;
}

/** The rows of values between separators. A value in quotes has any character. */
function csvRows(state: State, lines: readonly string[], separator: string): string[] {
  const mark = separator.replace(/[^\w\s]/g, "\\$&");
  const rest = `(?:(?!${mark})[^\\n])*`;
  const value = new RegExp(`([ ]*"(?:[^"]|"")*"${rest}|${rest})(${mark}|\\n|$)`, "g");
  const rows: string[] = [];
  let row: string[] = [];
  for (const [, cell = "", end = ""] of lines.join("\n").matchAll(value)) {
    const quoted = /^\s*"([^]*)"\s*$/.exec(cell)?.[1];
    row.push(cellText(state, quoted?.replaceAll('""', '"') ?? cell));
    if (end === separator) continue;
    rows.push(rowText(row));
    row = [];
  }
  return rows;
}

/** The lines without comments and ignore regions, and the marks of regions that go on below. */
function keptLines(state: State, lines: readonly string[]): { kept: string[]; open: string[] } {
  const kept: string[] = [];
  const open: string[] = [];
  for (const line of lines) {
    const mark = ignoreMarkOf(line);
    if (mark?.includes("/") === true) open.pop();
    else if (mark !== undefined) open.push(mark);
    else if (open.length > 0) continue;
    else if (isComment(line)) state.lines.leaveOutComment();
    else kept.push(line);
  }
  return { kept, open };
}

/** A table as lines with ` | ` between the cells. */
export function addTable(
  state: State,
  delimiter: string,
  lines: readonly string[],
  attributes: BlockAttributes,
): void {
  const format = attributes.named.get("format") ?? "psv";
  const isCsv = delimiter.startsWith(",") || format === "csv";
  const isDsv = delimiter.startsWith(":") || format === "dsv";
  const given = attributes.named.get("separator");
  const { kept, open } = keptLines(state, lines);
  let rows: string[] = [];
  if (isCsv || isDsv || format === "tsv") {
    const separator = given || (isCsv ? "," : isDsv ? ":" : "\t");
    rows = csvRows(state, kept, separator);
  } else {
    const separator = given || (delimiter.startsWith("!") ? "!" : "|");
    const cells = splitCells(kept, separator, state.context.attributes);
    const columns = Math.max(1, columnsOf(attributes) ?? cells.firstLine);
    rows = rowsOf(state, cells.cells, columns);
  }
  addBlock(state, rows.filter((row) => row !== "").join("\n"));
  for (const text of open) state.blocks.push({ text, isTight: false });
}

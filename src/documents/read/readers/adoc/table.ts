import { escapeLine } from "../html/html-blocks.ts";
import type { Attributes } from "./source/attributes.ts";
import type { BlockAttributes, State } from "./state.ts";
import { addBlock, inline } from "./state.ts";

const mostColumns = 1000;
// The specification of a cell stands before its separator: `2+`, `.3+^.>s`, `3*`.
const specification =
  /(?:^|\s)((\d{1,4})(?:\.\d{1,4})?([+*])|\.\d{1,4}\+)?([<^>]?(?:\.[<^>])?)([aehlmsvd]?)$/;

/** Number of columns that `cols` names; undefined without it. */
function columnsOf({ named }: BlockAttributes): number | undefined {
  const cols = named.get("cols");
  if (cols === undefined || cols.trim() === "") return undefined;
  let count = 0;
  const parts = /^\s*\d+\s*$/.test(cols) ? [`${cols.trim()}*`] : cols.split(/[,;]/);
  for (const part of parts) count += Number(/^\s*(\d{1,4})\*/.exec(part)?.[1] ?? 1);
  return Math.min(mostColumns, count);
}

interface Cells {
  texts: string[];
  /** Number of cells on the first line with cells. */
  firstLine: number;
  /** Offset of the specification of the next cell: how often it is repeated. */
  repeat: number;
}

/** Takes the specification of the next cell from the end of the previous one. */
function takeSpecification(text: string): { text: string; repeat: number } {
  const tail = text.slice(-30);
  const found = specification.exec(tail);
  if (!found || found[0].trim() === "") return { text, repeat: 1 };
  const repeat = found[3] === "*" ? Math.min(100, Number(found[2])) : 1;
  return {
    text: text.slice(0, text.length - tail.length + found.index),
    repeat: Math.max(1, repeat),
  };
}

function addCell(cells: Cells, text: string, attributes: Attributes): void {
  cells.texts.push(text);
  for (let count = 1; count < cells.repeat && attributes.left > 0; count++) {
    cells.texts.push(text);
    attributes.left -= text.length + " | ".length;
  }
}

/** Splits the lines of a table at its separators. */
function splitCells(lines: readonly string[], separator: string, attributes: Attributes): Cells {
  const cells: Cells = { texts: [], firstLine: 0, repeat: 1 };
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
      const { text, repeat } = takeSpecification(joined);
      if (open) addCell(cells, [...open, text].join("\n"), attributes);
      cells.repeat = repeat;
      open = [];
      count += repeat;
      joined = "";
    }
    if (cells.firstLine === 0) cells.firstLine = count;
  }
  if (open) addCell(cells, open.join("\n"), attributes);
  return cells;
}

// Within a cell, only the words of its blocks stay.
const markup = /^(?:\[.*\]|-{2,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{1}|\|={3,}|!={3,}|\/\/.*)$/;

function cellText(state: State, text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  const kept = lines.filter((line) => line !== "" && !markup.test(line)).join(" ");
  return inline(state, kept).replace(/\s+/g, " ").replaceAll("|", "\\|").trim();
}

/** A row as a line; "" for a row without text. */
function rowText(state: State, cells: readonly string[]): string {
  const text = cells
    .map((cell) => cellText(state, cell))
    .join(" | ")
    .trim();
  return text.replace(/[|\s]+/g, "") === "" ? "" : escapeLine(text);
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
  const rows: string[] = [];
  if (isCsv || isDsv || format === "tsv") {
    const separator = given ?? (isCsv ? "," : isDsv ? ":" : "\t");
    const unquote = (cell: string): string => cell.replace(/^\s*"(.*)"\s*$/, "$1");
    for (const line of lines) rows.push(rowText(state, line.split(separator).map(unquote)));
  } else {
    const separator = given || (delimiter.startsWith("!") ? "!" : "|");
    const cells = splitCells(lines, separator, state.context.attributes);
    const columns = Math.max(1, columnsOf(attributes) ?? cells.firstLine);
    for (let at = 0; at < cells.texts.length; at += columns) {
      rows.push(rowText(state, cells.texts.slice(at, at + columns)));
    }
  }
  addBlock(state, rows.filter((row) => row !== "").join("\n"));
}

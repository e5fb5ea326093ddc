import { CsvError, parse } from "csv-parse/sync";
import { argumentOf, type Directive, type Handle } from "./rst-directive.ts";
import { readIncluded } from "./rst-include.ts";
import { mostLines, takeItem, textOf, toLines, type Line } from "../blocks/rst-lines.ts";
import { addRow, addText, leaveOut, within, type Block } from "../rst-reading.ts";

const table: Handle = ({ reading, readInner }, directive) => {
  addText(reading, argumentOf(directive));
  readInner(directive.body);
};

const itemMark = /^[-+*](?: +|$)/;

/** The items of a list; undefined if something else is there. */
function itemsOf(lines: readonly Line[]): Line[][] {
  const items: Line[][] = [];
  for (let at = 0; at < lines.length;) {
    const marker = itemMark.exec(lines[at]?.text ?? "")?.[0];
    if (marker === undefined) {
      const line = lines[at];
      if (line && line.text !== "") items.push([line]);
      at++;
      continue;
    }
    const taken = takeItem(lines, at, marker.length);
    items.push(taken.lines);
    at = taken.next;
  }
  return items;
}

/** Adds a table; its first `heads` rows are its head. */
function addTable({ reading, readInner }: Block, rows: readonly Line[][][], heads: number): void {
  within(reading, "<table>", "</table>", () => {
    for (const [index, cells] of rows.entries()) {
      const read = cells.map((lines) => ({ columns: 1, rows: 1, read: () => readInner(lines) }));
      addRow(reading, read, index < heads);
    }
  });
}

/** A list of rows, each a list of cells. */
const listTable: Handle = (block, directive) => {
  addText(block.reading, argumentOf(directive));
  const rows = itemsOf(directive.body).map(itemsOf);
  addTable(block, rows, Number(directive.options.get("header-rows") ?? 0) || 0);
};

const delimiters: Readonly<Record<string, string>> = { tab: "\t", space: " " };

function recordsOf(text: string, { options }: Directive): string[][] {
  const delimiter = options.get("delim") ?? ",";
  try {
    return parse(text, {
      delimiter: delimiters[delimiter] ?? (delimiter || ","),
      quote: options.get("quote") || '"',
      escape: options.get("escape") || options.get("quote") || '"',
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      ltrim: true,
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // A quote that is never closed: each line is a row.
    return text.split("\n").map((line) => [line]);
  }
}

const csvTable: Handle = (block, directive) => {
  const { reading } = block;
  const { options, line } = directive;
  addText(reading, argumentOf(directive));
  const file = options.get("file");
  const url = options.get("url");
  if (url !== undefined) leaveOut(reading, "include", `${url}: not in the project`, line);
  const named = file === undefined ? undefined : [{ text: file, number: line }];
  const included = named && readIncluded(reading, { ...directive, args: named });
  const text = included?.text ?? textOf(directive.body);
  const header = options.get("header");
  const records = [...(header ? recordsOf(header, directive) : []), ...recordsOf(text, directive)];
  // A cell costs as much memory as a line.
  reading.lineCount += records.reduce((sum, cells) => sum + cells.length, 0);
  if (reading.lineCount > mostLines) {
    const what = `${file ?? "csv-table"}: the page has more than ${mostLines} lines and cells`;
    return leaveOut(reading, file === undefined ? "directive" : "include", what, line);
  }
  const rows = records.map((cells) => cells.map((cell) => toLines(cell, undefined)));
  addTable(block, rows, header ? 1 : Number(options.get("header-rows") ?? 0) || 0);
};

/** Directives with tables by name. */
export const tableDirectives: ReadonlyMap<string, Handle> = new Map([
  ["table", table],
  ["list-table", listTable],
  ["flat-table", listTable],
  ["csv-table", csvTable],
]);

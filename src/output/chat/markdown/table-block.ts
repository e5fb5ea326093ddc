import { bits, cellsOf, widthOf, type Cell } from "./cells.ts";
import { beginBlock, finishText, openText } from "./leaves.ts";
import type { Reader } from "./reader.ts";
import {
  createTable,
  drawInline,
  fitTable,
  parseAligns,
  ruleRow,
  splitCells,
  tableRow,
  type Table,
} from "./table.ts";

const mostRows = 400;
const largest = 64 * 1024;
const longestLine = 16 * 1024;
const longestCell = 4000;

// What is longer than anybody reads in a cell is not worth a look of its own.
function cellOf(reader: Reader, text: string, style = 0): Cell[] {
  return text.length > longestCell ? cellsOf(text, style) : drawInline(text, reader.look, style);
}

/** A row as a list of `header: value`, for terminals that are too narrow for the table. */
function writeEntries(reader: Reader, headers: readonly Cell[][], row: readonly Cell[][]): void {
  const { rows } = reader;
  let isFirst = true;
  for (const [column, cells] of row.entries()) {
    if (cells.length === 0) continue;
    const { first, rest } = beginBlock(reader);
    // As prefixOf() does it, what stands in front leaves half of the row.
    const room = Math.max(0, Math.floor(rows.limit() / 2) - widthOf(rest));
    const bullet = cellsOf((isFirst ? "• " : "  ").slice(0, room));
    rows.open([...first, ...bullet], [...rest, ...cellsOf(" ".repeat(Math.min(4, room)))]);
    const header = headers[column] ?? [];
    const colon = header.length > 0 ? cellsOf(": ", bits.bold) : [];
    for (const cell of [...header, ...colon, ...cells]) rows.line.add({ ...cell });
    rows.end();
    isFirst = false;
  }
}

/** Writes what has been collected, and keeps the columns for the rows that may follow. */
function writeRows(reader: Reader, table: Table): void {
  const [header = "", ...lines] = table.lines;
  const { aligns = [] } = table;
  const headers = splitCells(header).map((text) => cellOf(reader, text, bits.bold));
  // More cells than the header has are kept: a model often forgets that a bar in a cell ends it.
  const body = lines.map((line) => splitCells(line).map((text) => cellOf(reader, text)));
  const isFirst = table.widths === undefined;
  const { first, rest } = beginBlock(reader);
  const room = reader.rows.limit() - first.length;
  table.widths ??= fitTable([headers, ...body], room) ?? [];
  const { widths } = table;
  const write = (cells: Cell[], prefix: Cell[]): void => reader.rows.row([...prefix, ...cells]);
  if (isFirst && widths.length > 0) {
    write(tableRow(headers, widths, aligns), first);
    write(ruleRow(widths), rest);
  }
  // Headers stand in front of their cells; one that has none would be lost.
  const isLost = headers.some((_, column) => body.every((row) => !row[column]?.length));
  if (isFirst && widths.length === 0 && isLost) writeEntries(reader, [], headers);
  for (const row of body) {
    const fits = fitTable([row], room) !== undefined && widths.length > 0;
    const isInside = row.every(
      (cells, column) => fitTable([[cells]], widths[column] ?? 0) !== undefined,
    );
    if (fits && isInside) write(tableRow(row, widths, aligns), rest);
    else writeEntries(reader, headers, row);
  }
  table.lines = [header];
  table.size = 0;
}

/** Begins to collect what may be a table. `header`: its first line, when that is known already. */
export function openTable(reader: Reader, header?: string): void {
  reader.table = createTable();
  if (header !== undefined) reader.table.lines.push(header);
}

/** Gives up a table that is none: its lines are text, a row each. */
function giveUp(reader: Reader, more?: string): void {
  const lines = reader.table?.lines ?? [];
  reader.table = undefined;
  const all = more === undefined ? lines : [...lines, more];
  if (all.length === 0) return;
  openText(reader);
  const { text } = reader;
  if (!text) return;
  for (const [index, line] of all.entries()) {
    if (index > 0) text.inline.newline(true);
    text.inline.feed(line);
  }
  text.keepsLines = true;
  text.lines = all.length;
}

/** Ends the table: it is written, with the columns that its rows need. */
export function finishTable(reader: Reader): void {
  const { table } = reader;
  if (!table) return;
  if (table.line !== "") endTableLine(reader);
  if (reader.table?.aligns) writeRows(reader, reader.table);
  else giveUp(reader);
  reader.table = undefined;
  finishText(reader);
}

/** Takes a complete source line into the table. */
export function endTableLine(reader: Reader): void {
  const { table } = reader;
  if (!table) return;
  const { line } = table;
  table.line = "";
  if (table.lines.length > 0 && !table.aligns) {
    const aligns = parseAligns(line);
    if (aligns?.length !== splitCells(table.lines[0] ?? "").length) return giveUp(reader, line);
    table.aligns = aligns;
    return;
  }
  // A line without any bar is text that follows without an empty line.
  if (table.aligns && !line.includes("|")) {
    writeRows(reader, table);
    reader.table = undefined;
    openText(reader);
    reader.text?.inline.feed(line);
    if (reader.text) reader.text.lines = 1;
    return;
  }
  table.lines.push(line);
  table.size += line.length;
  if (table.lines.length > mostRows || table.size > largest) writeRows(reader, table);
}

/** Text of the current source line of the table. */
export function addToTable(reader: Reader, text: string): void {
  const { table } = reader;
  if (!table) return;
  table.line += text;
  if (table.line.length <= longestLine) return;
  // No table has such rows: what follows is text.
  const { line } = table;
  table.line = "";
  if (table.aligns) {
    finishTable(reader);
    openText(reader);
    reader.text?.inline.feed(line);
  } else giveUp(reader, line);
  reader.mode = "text";
}

/** What the reader sees of a table that is not complete: the source line that is coming. */
export function previewTable(reader: Reader): void {
  const { table, rows } = reader;
  if (!table) return rows.preview([]);
  const line = table.line || reader.lead || (table.lines.at(-1) ?? "");
  const cells: Cell[] = [];
  let left = rows.limit();
  // A terminal takes more columns for a tab than a row that is redrawn can know.
  for (const cell of cellsOf(line.slice(0, left).replaceAll("\t", " "), bits.dim)) {
    left -= cell.width;
    if (left < 0) break;
    cells.push(cell);
  }
  rows.preview(cells);
}

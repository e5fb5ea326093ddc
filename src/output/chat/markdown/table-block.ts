import { bits, cellsOf, widthOf, type Cell } from "./cells.ts";
import { beginBlock, finishText, openText } from "./leaves.ts";
import type { Reader } from "./reader.ts";
import {
  drawCell,
  fitTable,
  parseAligns,
  ruleRow,
  splitCells,
  tableRow,
  type Table,
} from "./table.ts";

const maxRows = 400;
const maxSize = 64 * 1024;
const maxLineLength = 16 * 1024;

/** Writes a row as a list of `header: value`, for terminals too narrow for the table. */
function writeEntries(reader: Reader, headers: readonly Cell[][], row: readonly Cell[][]): void {
  const { rows } = reader;
  let isFirst = true;
  for (const [column, cells] of row.entries()) {
    if (cells.length === 0) continue;
    const { first, rest } = beginBlock(reader);
    // Like prefixOf(): the prefix takes at most half of the row.
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

/** Writes the collected rows; keeps the column widths for later rows. */
function writeRows(reader: Reader, table: Table): void {
  const [header = "", ...lines] = table.lines;
  const { aligns = [] } = table;
  const headers = splitCells(header).map((text) => drawCell(text, reader.look, bits.bold));
  // Extra cells are kept: models often forget to escape a bar in a cell.
  const body = lines.map((line) => splitCells(line).map((text) => drawCell(text, reader.look)));
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
  // In a list, headers precede their cells; a header of an empty column would be lost.
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

/** Starts collecting a possible table. `header`: its first line, if already read. */
export function openTable(reader: Reader, header?: string): void {
  const lines = header === undefined ? [] : [header];
  reader.table = { lines, aligns: undefined, size: 0, widths: undefined, line: "" };
}

/** Turns collected lines that are not a table into text, a row each. */
function convertToText(reader: Reader, more?: string): void {
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

/** Ends the table and writes it. */
export function finishTable(reader: Reader): void {
  const { table } = reader;
  if (!table) return;
  if (table.line !== "") endTableLine(reader);
  if (reader.table?.aligns) writeRows(reader, reader.table);
  else convertToText(reader);
  reader.table = undefined;
  finishText(reader);
}

/** Adds the complete source line to the table. */
export function endTableLine(reader: Reader): void {
  const { table } = reader;
  if (!table) return;
  const { line } = table;
  table.line = "";
  if (table.lines.length > 0 && !table.aligns) {
    const aligns = parseAligns(line);
    if (aligns?.length !== splitCells(table.lines[0] ?? "").length)
      return convertToText(reader, line);
    table.aligns = aligns;
    return;
  }
  // A line without a bar is text after the table, without an empty line between them.
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
  if (table.lines.length > maxRows || table.size > maxSize) writeRows(reader, table);
}

/** Adds text to the current source line of the table. */
export function addToTable(reader: Reader, text: string): void {
  const { table } = reader;
  if (!table) return;
  table.line += text;
  if (table.line.length <= maxLineLength) return;
  // No real table has such a row: the rest is text.
  const { line } = table;
  table.line = "";
  if (table.aligns) {
    finishTable(reader);
    openText(reader);
    reader.text?.inline.feed(line);
  } else convertToText(reader, line);
  reader.mode = "text";
}

/** Shows the current source line of an incomplete table. */
export function previewTable(reader: Reader): void {
  const { table, rows } = reader;
  if (!table) return rows.preview([]);
  const line = table.line || reader.lead || (table.lines.at(-1) ?? "");
  const cells: Cell[] = [];
  let left = rows.limit();
  // Tabs become spaces, because their width depends on the terminal.
  for (const cell of cellsOf(line.slice(0, left).replaceAll("\t", " "), bits.dim)) {
    left -= cell.width;
    if (left < 0) break;
    cells.push(cell);
  }
  rows.preview(cells);
}

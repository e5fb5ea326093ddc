import { escapeHtml } from "../../page/tree.ts";
import type { Cell, Range, Row, Sheet } from "./xlsx-sheet.ts";

/** A sheet of more columns or rows is no table: its rows are lines `Column: value`. */
const mostTableColumns = 10;
const mostTableRows = 30;
/** Without a header, the cells of wider rows are one line. */
const mostPlainColumns = 20;
const rowsPerPiece = 500;
// As in tables of pages: a value is short, and no sheet makes gigabytes of a few texts.
const [mostRepeatedChars, mostRepeated] = [200, 200_000];

const isFull = ({ cells }: Row, columns: number): boolean =>
  cells.length > 1 && cells.length * 2 >= columns;

/** The place of the header: the first row that fills half of the columns, if it has only texts. */
function headerAt(rows: readonly Row[], columns: number): number | undefined {
  const at = rows.findIndex((row) => isFull(row, columns));
  return rows[at]?.cells.every(({ isText }) => isText) ? at : undefined;
}

function usedColumns(rows: readonly Row[]): number[] {
  const used = new Set<number>();
  for (const { cells } of rows) for (const { column } of cells) used.add(column);
  return [...used].toSorted((a, b) => a - b);
}

/** Puts the text of merged cells into each of them, unless they are as wide as the sheet. */
function repeatMerged(
  rows: readonly Row[],
  merged: readonly Range[],
  used: readonly number[],
): void {
  const byNumber = new Map(rows.map((row) => [row.number, row]));
  const changed = new Set<Row>();
  let left = mostRepeated;
  for (const {
    rows: [top, bottom],
    columns: [first, last],
  } of merged) {
    const origin = byNumber.get(top)?.cells.find(({ column }) => column === first);
    const columns = used.filter((column) => column >= first && column <= last);
    if (!origin || origin.text.length > mostRepeatedChars) continue;
    const isWhole = columns.length > 1 && columns.length === used.length;
    for (let number = top; number <= bottom && left > 0; number++) {
      left--;
      const row = byNumber.get(number);
      for (const column of row && !isWhole ? columns : []) {
        if (row === undefined || (number === top && column === first)) continue;
        left -= 1 + origin.text.length;
        row.cells.push({ ...origin, column });
        changed.add(row);
      }
    }
  }
  for (const row of changed) row.cells.sort((a, b) => a.column - b.column);
}

/** Writes the rows of a sheet as HTML, piece by piece. `addressOf` gives the address of a relation. */
export function* rowsHtml(
  sheet: Sheet,
  addressOf: (relation: string) => string | undefined,
): Generator<string> {
  const { rows, merged, links } = sheet;
  const used = usedColumns(rows);
  const start = headerAt(rows, used.length);
  const lead = rows.slice(0, start ?? 0);
  const table = rows.slice(start ?? 0);
  repeatMerged(table, merged, used);
  const cellHtml = ({ number }: Row, { column, text, link }: Cell): string => {
    const href = link ?? addressOf(links.get(`${number}:${column}`) ?? "");
    const html = escapeHtml(text).replaceAll("\n", "<br>");
    const address = href === undefined ? "" : escapeHtml(href).replaceAll('"', "&quot;");
    return address === "" ? html : `<a href="${address}">${html}</a>`;
  };
  const line = (row: Row, separator: string): string =>
    `<p>${row.cells.map((cell) => cellHtml(row, cell)).join(separator)}</p>`;
  for (const row of lead) yield line(row, " ");
  const [header] = table;
  const isSmall = used.length <= mostTableColumns && table.length <= mostTableRows + 1;
  const names = new Map(header?.cells.map(({ column, text }) => [column, text]));
  const named = (row: Row): string => {
    const cells = row.cells.map((cell) => {
      const name = names.get(cell.column)?.replace(/\s+/g, " ").replace(/:$/, "");
      return `${name === undefined ? "" : `${escapeHtml(name)}: `}${cellHtml(row, cell)}`;
    });
    return `<p>${cells.join("<br>")}</p>`;
  };
  const isLines = start !== undefined && !isSmall && table.length > 1;
  const body = isLines ? table.slice(1) : table;
  const isWide = start === undefined && used.length > mostPlainColumns;
  for (let at = 0; at < body.length; at += rowsPerPiece) {
    const part = body.slice(at, at + rowsPerPiece);
    if (isLines) yield part.map(named).join("");
    else if (isWide) yield part.map((row) => line(row, ", ")).join("");
    else {
      const html = part.map((row, index) => {
        const tag = start !== undefined && at + index === 0 ? "th" : "td";
        const byColumn = new Map(row.cells.map((cell) => [cell.column, cell]));
        const cells = used.map((column) => {
          const cell = byColumn.get(column);
          return `<${tag}>${cell ? cellHtml(row, cell) : ""}</${tag}>`;
        });
        return `<tr>${cells.join("")}</tr>`;
      });
      yield `<table>${html.join("")}</table>`;
    }
  }
}

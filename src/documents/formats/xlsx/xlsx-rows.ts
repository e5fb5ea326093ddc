import { escapeAttribute, escapeHtml } from "../../page/tree.ts";
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

/** Gives the HTML of a cell. */
type CellHtml = (row: Row, cell: Cell) => string;

function createCellHtml(
  links: Sheet["links"],
  addressOf: (relation: string) => string | undefined,
): CellHtml {
  return ({ number }, { column, text, link }) => {
    const href = link ?? addressOf(links.get(`${number}:${column}`) ?? "");
    const html = escapeHtml(text).replaceAll("\n", "<br>");
    const address = href === undefined ? "" : escapeAttribute(href);
    return address === "" ? html : `<a href="${address}">${html}</a>`;
  };
}

const lineHtml = (row: Row, separator: string, cellHtml: CellHtml): string =>
  `<p>${row.cells.map((cell) => cellHtml(row, cell)).join(separator)}</p>`;

/** Creates the writer of a row as lines `Column: value`. */
function createNamed(header: Row, cellHtml: CellHtml): (row: Row) => string {
  const names = new Map(
    header.cells.map(({ column, text }) => [column, text.replace(/\s+/g, " ").replace(/:$/, "")]),
  );
  return (row) => {
    const cells = row.cells.map((cell) => {
      const name = names.get(cell.column);
      return `${name === undefined ? "" : `${escapeHtml(name)}: `}${cellHtml(row, cell)}`;
    });
    return `<p>${cells.join("<br>")}</p>`;
  };
}

function tableHtml(
  rows: readonly Row[],
  used: readonly number[],
  hasHead: boolean,
  cellHtml: CellHtml,
): string {
  const html = rows.map((row, at) => {
    const tag = hasHead && at === 0 ? "th" : "td";
    const byColumn = new Map(row.cells.map((cell) => [cell.column, cell]));
    const cells = used.map((column) => {
      const cell = byColumn.get(column);
      return `<${tag}>${cell ? cellHtml(row, cell) : ""}</${tag}>`;
    });
    return `<tr>${cells.join("")}</tr>`;
  });
  return `<table>${html.join("")}</table>`;
}

/** Writes the rows of a sheet as HTML, piece by piece. `addressOf` gives the address of a relation. */
export function* rowsHtml(
  { rows, merged, links }: Sheet,
  addressOf: (relation: string) => string | undefined,
): Generator<string> {
  const cellHtml = createCellHtml(links, addressOf);
  const used = usedColumns(rows);
  const start = headerAt(rows, used.length);
  for (const row of rows.slice(0, start ?? 0)) yield lineHtml(row, " ", cellHtml);
  const table = rows.slice(start ?? 0);
  repeatMerged(table, merged, used);
  const [header] = table;
  if (!header) return;
  const isSmall = used.length <= mostTableColumns && table.length <= mostTableRows + 1;
  const named =
    start !== undefined && !isSmall && table.length > 1 ? createNamed(header, cellHtml) : undefined;
  const isWide = start === undefined && used.length > mostPlainColumns;
  for (let at = named ? 1 : 0; at < table.length; at += rowsPerPiece) {
    const part = table.slice(at, at + rowsPerPiece);
    if (named) yield part.map(named).join("");
    else if (isWide) yield part.map((row) => lineHtml(row, ", ", cellHtml)).join("");
    else yield tableHtml(part, used, start !== undefined && at === 0, cellHtml);
  }
  const filled = new Set(named ? usedColumns(table.slice(1)) : used);
  const empty = header.cells.filter(({ column }) => !filled.has(column));
  if (named && empty.length > 0)
    yield named({
      number: 0,
      cells: empty.map((cell) => ({ ...cell, text: "", link: undefined })),
    });
}

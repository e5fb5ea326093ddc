import { pageFromHtml } from "../../page/page.ts";
import { escapeHtml, escapeAttribute } from "../../page/tree.ts";
import type { GivenHeading } from "../../text/heading-text.ts";
import type { LeftOut } from "../../text/left-out.ts";
import type { Parsed } from "../format.ts";
import { attributeOf, descendantsOf, LimitError, readXml, unpack } from "../office/archive.ts";
import { lineIn } from "../office/graphics.ts";
import {
  commentsOut,
  countedOut,
  embeddedOut,
  frontMatterIn,
  macrosOut,
  type Office,
  type OfficeFormat,
  officePage,
  readOffice,
  readPart,
  readRelated,
  readRelations,
  type Relations,
} from "../office/package.ts";
import { alternativeOf } from "../office/run-text.ts";
import { builtInFormat } from "./number-format.ts";
import {
  readSheet,
  shapesIn,
  stringOf,
  type Book,
  type Places,
  type Cell,
  type Range,
  type Row,
  type Sheet,
} from "./xlsx-sheet.ts";

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
function* rowsHtml(
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

/** A sheet by its name. */
interface Tab {
  name: string;
  relation: string;
  isHidden: boolean;
}

/** The sheets in their order, and how dates count (ECMA-376 part 1, 18.2.27). Throws XmlError. */
function readWorkbook(content: Uint8Array): { tabs: Tab[]; is1904: boolean } {
  const tabs: Tab[] = [];
  let is1904 = false;
  readXml(content, (node, parent) => {
    if (node.name === "workbookPr")
      is1904 = /^(?:1|true)$/.test(attributeOf(node, "date1904") ?? "");
    if (node.name === "sheet" && parent === "sheets") {
      const state = attributeOf(node, "state");
      tabs.push({
        name: attributeOf(node, "name") ?? "",
        relation: attributeOf(node, "id") ?? "",
        isHidden: state === "hidden" || state === "veryHidden",
      });
    }
    return node.name !== "workbook" && node.name !== "sheets";
  });
  return { tabs, is1904 };
}

/** The codes of the number formats of all styles (18.8). Throws XmlError. */
function readFormats(bytes: Uint8Array): string[] {
  const codes = new Map<number, string>();
  const ids: number[] = [];
  readXml(bytes, (node, parent) => {
    const id = Number(attributeOf(node, "numFmtId") ?? 0);
    if (node.name === "numFmt") codes.set(id, attributeOf(node, "formatCode") ?? "");
    if (node.name === "xf" && parent === "cellXfs") ids.push(id);
    return node.name !== "styleSheet";
  });
  return ids.map((id) => codes.get(id) ?? builtInFormat(id));
}

function readStrings(bytes: Uint8Array | undefined): string[] {
  const strings: string[] = [];
  if (!bytes) return strings;
  readXml(bytes, (node) => {
    if (node.name !== "si") return false;
    strings.push(stringOf(node));
    return true;
  });
  return strings;
}

const maxChars = 32 * 1024 * 1024;

/** A workbook while it is read. */
interface Reading {
  office: Office;
  path: string;
  book: Book;
  leftOut: LeftOut[];
  bodies: string[];
  headings: GivenHeading[];
}

function write({ path, bodies, headings }: Reading, html: string): void {
  const page = pageFromHtml(html, { path });
  if (page.body !== "") bodies.push(page.body);
  headings.push(...page.headings);
}

/** The texts on the drawing of a sheet; its charts are counted. */
function drawingHtml({ office, leftOut }: Reading, { parts }: Relations): string {
  const html = readRelated(office, parts.get("drawing"), "a drawing", (root, { counts }) => {
    leftOut.push(...countedOut("embedded", "chart", counts.get("chart") ?? 0));
    const texts = shapesIn(root).map((shape) => {
      if (shape.name === "sp") return lineIn(shape);
      const name = [...descendantsOf(shape)].find((node) => node.name === "cNvPr");
      return name ? alternativeOf(name) : "";
    });
    return texts.map((text) => (text === "" ? "" : `<p>${escapeHtml(text)}</p>`)).join("");
  });
  return html ?? "";
}

function readTab(reading: Reading, { name }: Tab, part: string): void {
  const { office, book, leftOut, path } = reading;
  const bytes = unpack(office.archive, part);
  if (!bytes) return office.warn(`sheet ${name}`)("the file lacks it");
  const sheet = readSheet(bytes, book);
  const relations = readRelations(office.archive, part);
  const { links } = relations;
  const add = (kind: LeftOut["kind"], what: string, count: number): void =>
    void leftOut.push(...countedOut(kind, what, count));
  const place = ({ first }: Places): string => `${name}!${first}`;
  add("hidden", `row of ${name}`, sheet.hiddenRows);
  add("hidden", `column of ${name}`, sheet.hiddenColumns);
  add("expression", `${place(sheet.unknown)}: a formula without its value`, sheet.unknown.count);
  leftOut.push(...embeddedOut(relations, "embedded file"));
  leftOut.push(...commentsOut(office, relations, "comment", "comment of a cell"));
  if (sheet.errors.count > 0) {
    const { count } = sheet.errors;
    const cells = count === 1 ? "1 cell shows an error" : `${count} cells show errors`;
    office.warnings.push(`${path}: ${cells} (first: ${place(sheet.errors)})`);
  }
  const drawing = drawingHtml(reading, relations);
  if (sheet.rows.length === 0 && drawing === "") return;
  const pieces: string[] = [];
  // Most of the time goes into pages: what is too large ends before the first one.
  const take = (html: string): void => {
    book.spend(html.length);
    pieces.push(html);
  };
  take(`<h2>${escapeHtml(name)}</h2>`);
  for (const html of rowsHtml(sheet, (relation) => links.get(relation))) take(html);
  if (drawing !== "") take(drawing);
  for (const html of pieces) write(reading, html);
}

/** Takes characters from the limit of one document. */
function createSpend(): Book["spend"] {
  let left = maxChars;
  return (chars) => {
    left -= chars;
    if (left < 0) throw new LimitError("its text is larger than the limit for one document");
  };
}

function readBook(office: Office, path: string): Parsed {
  const { archive, main, content, warnings } = office;
  const { tabs, is1904 } = readWorkbook(content);
  const relations = readRelations(archive, main);
  const { parts, byId } = relations;
  const book: Book = {
    strings: readStrings(unpack(archive, parts.get("sharedStrings"))),
    // Without its formats, a file has its numbers as they are stored.
    formats: readPart(office, parts.get("styles"), "formats of numbers", [], readFormats),
    is1904,
    spend: createSpend(),
  };
  const reading: Reading = {
    office,
    path,
    book,
    leftOut: [
      ...macrosOut(relations),
      ...countedOut("hidden", "hidden sheet", tabs.filter(({ isHidden }) => isHidden).length),
    ],
    bodies: [],
    headings: [],
  };
  for (const tab of tabs) {
    if (!tab.isHidden) readTab(reading, tab, byId.get(tab.relation) ?? "");
  }
  const { bodies, headings, leftOut } = reading;
  return officePage(
    { body: bodies.join("\n"), headings },
    {
      frontMatter: frontMatterIn(office),
      warnings,
      leftOut,
      empty: "its sheets contain no text",
    },
  );
}

const excel: OfficeFormat = {
  noun: "Excel workbook",
  extension: "xlsx",
  old: "xls",
  main: "xl/workbook.xml",
  element: "workbook",
  whenLarge: "save its sheets as CSV: then each row is a document",
};

/**
 * Reads a workbook (ECMA-376) as Markdown, through HTML: a section for each sheet, with values as
 * they are shown. A sheet of up to 10 columns and 30 rows is a table; of a larger one, each row is a
 * paragraph of lines `Column: value`, by the header. Skips hidden sheets, rows and columns, comments
 * and charts. The document properties become front matter. Throws CliError `usage` with `path`, also
 * for more than 64 MiB unpacked or 32 Mi characters.
 */
export const readXlsx = (bytes: Uint8Array, path: string): Promise<Parsed> =>
  readOffice(bytes, path, excel, (office) => readBook(office, path));

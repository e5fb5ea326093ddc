import { bodyOf, createProseTest } from "../page/body.ts";
import { createFindSpan } from "../page/spans.ts";
import type { PageRule, Span } from "../rule.ts";

// An empty first row, and the line below it: nothing else of a table has two such lines.
const emptyHeader = /^[ \t>]*\|[ \t|]*\|[ \t]*\n[ \t>]*\|?[ \t]*:?-+:?[ \t]*\|[-:| \t]*$/gm;
const mostRow = 2000;

/** Whether a row below the header has two cells with words. */
function hasWordsFrom(text: string, from: number): boolean {
  const row = text.slice(from, from + mostRow).split("\n")[1] ?? "";
  const cells = row.split("|").map((cell) => cell.replace(/!\[[^\]]*\]\([^)]*\)|<[^<>]*>/g, ""));
  return cells.filter((cell) => /[\p{L}\p{N}]/u.test(cell)).length > 1;
}

const label = /^(?:\*\*|__)|[:：][*_]*$/;
// `--quiet` and what it does, or a page and what it is about.
const term = /^(?:`[^`]+`|\[[^[\]]+\]\([^()]*\))$/;
// What a record names, not a column: `Type | string`, `Description | …`.
const field =
  /^(?:title|authors?|created|updated|status|version|type|description|required|default)$/i;
const longestName = 50;
const linked = /\[([^[\]]+)\]\([^()]*\)/g;
// A first row that its author meant as the header.
const columnName =
  /^\W*(?:descriptions?|values?|meanings?|explanations?|defaults?|purposes?|comments?|notes?|types?|examples?)\W*$/i;
const twoWords = /\p{L}+\P{L}+\p{L}+/u;

/** The rows below a header without names, each with its cells. */
function rowsBelow(text: string, from: number): string[][] {
  const lines = text
    .slice(from, from + mostRow)
    .split("\n")
    .slice(1);
  const end = lines.findIndex((line) => !line.includes("|"));
  return (end === -1 ? lines.slice(0, -1) : lines.slice(0, end)).map((row) => {
    const cells = row
      .trim()
      .replace(/^[ \t>]*\|/, "")
      .split(/(?<!\\)\|/);
    return cells.map((cell) => cell.trim());
  });
}

const isPair = (row: readonly string[] = []): boolean =>
  new Set(row.filter((cell) => cell !== "")).size < 3;

const bold = /^(?:\*\*|__)(?!\s).+(?:\*\*|__)$/;
/** Whether the first row is one of names: all are bold. */
const isHeader = (row: readonly string[] = []): boolean =>
  row.every((cell) => cell === "" || bold.test(cell)) &&
  row.filter((cell) => bold.test(cell)).length > 1;

const fewestOfGrid = 6;
/** Whether a table is a list of words in several columns: each stands once, and none is a number. */
function isGrid(rows: readonly string[][]): boolean {
  const cells = rows.flat().filter((cell) => cell !== "");
  const isWord = (cell: string): boolean => !/\s/.test(cell) && /\p{L}/u.test(cell);
  const areDifferent = new Set(cells).size === cells.length;
  const isLarge = cells.length >= fewestOfGrid && !isPair(rows[0]);
  return isLarge && areDifferent && cells.every((cell) => isWord(cell));
}

/** The first column of a table of pairs: one that a page has several times names fields. */
const fieldsOf = (rows: readonly string[][]): string | undefined =>
  rows.length > 1 && rows.every((row) => isPair(row))
    ? rows.map(([first = ""]) => first).join("\n")
    : undefined;

/**
 * Whether the rows below the header have a label in the first cell, and the first of them nothing but
 * a label and its value: labels say what column names would. So do terms with their explanations, the
 * names of fields of a record, and names with values that are no mere numbers. A cell of several columns stands in each of them.
 */
function isOfLabels(rows: readonly string[][]): boolean {
  if (isGrid(rows) || isHeader(rows[0])) return true;
  const isTerm = ([first = "", second = ""]: readonly string[]): boolean =>
    term.test(first) && twoWords.test(second.replace(/`[^`]*`/g, ""));
  const isRecord = rows.filter(([first = ""]) => field.test(first)).length > 1;
  if (rows.every((row) => isPair(row) && (isRecord || isTerm(row)))) return true;
  const names = new Set(rows.map(([first = ""]) => first));
  const isNamed = ([first = "", second = ""]: readonly string[]): boolean =>
    first.replace(linked, "$1").length <= longestName && /\p{L}/u.test(second);
  const areNames = names.size === rows.length && rows.every((row) => isPair(row) && isNamed(row));
  if (rows.length > 2 && areNames && !columnName.test(rows[0]?.[1] ?? "")) return true;
  return isPair(rows[0]) && rows.every(([first = ""]) => first === "" || label.test(first));
}

// The first columns are labels of the rows, or the author says that the first row has no names:
// docutils.sourceforge.io, "List Table"; docs.asciidoctor.org, "Format Column Content".
const stubColumns =
  /\blist-table\b(?:(?!\blist-table\b)[^]){0,400}:(?:stub-columns:|header-rows:[ \t]*0\b)(?:(?!\blist-table\b)[^])*$|\bcols="(?:\d+\*)?[^\w",;]*\d*h[",;](?:(?!\|===\n[^]*\|===)[^])*$/;
const mostBefore = 1000;

/** Whether the directive of a table says that its first column has labels. */
const hasStubs = (source: string | undefined, span: Span | undefined): boolean =>
  span !== undefined &&
  stubColumns.test(source?.slice(Math.max(0, span.start - mostBefore), span.start) ?? "");

export const tableWithoutHeader: PageRule = {
  kind: "page",
  name: "table-without-header",
  group: "content",
  severity: "warning",
  summary: "A table has no column names",
  advice:
    "A model reads a table row by row. Without column names it has to guess what a number means. " +
    "Name every column.",
  bad: "# Rooms\n\nBook a room in the calendar, at least one day ahead.\n\n| | | |\n|---|---|---|\n| Aare | 12 | 3 |\n| Rhine | 6 | 1 |\n",
  good: "# Rooms\n\nBook a room in the calendar, at least one day ahead.\n\n| Room | Seats | Floor |\n|---|---|---|\n| Aare | 12 | 3 |\n| Rhine | 6 | 1 |\n",
  *check(page) {
    const body = bodyOf(page);
    const { text } = body;
    if (!page.parsed.isMarkdown || !text.includes("|") || !/\|[ \t]*:?-/.test(text)) return;
    const isProse = createProseTest(body);
    const find = createFindSpan(page);
    const tables = Array.from(text.matchAll(emptyHeader), ({ 0: header, index }) => {
      const from = index + header.length;
      return { index, from, rows: rowsBelow(text, from) };
    });
    const fields = tables.flatMap(({ rows }) => fieldsOf(rows) ?? []);
    const repeated = new Set(fields.filter((each, at) => fields.indexOf(each) < at));
    for (const { index, from, rows } of tables) {
      if (!isProse(index) || !hasWordsFrom(text, from) || isOfLabels(rows)) continue;
      if (repeated.has(fieldsOf(rows) ?? "")) continue;
      // A format without empty headers has the first row.
      const [row = ""] = /\n[^\n]*/.exec(text.slice(from, from + mostRow)) ?? [];
      const span = find(index, text.indexOf("\n", index)) ?? find(from + 1, from + row.length);
      if (hasStubs(page.source, span)) continue;
      yield { message: "the table has no column names", span };
    }
  },
};

import { readIncluded } from "../rst/rst-include.ts";
import { count, type Directive, type Fences, inner } from "./fence.ts";

const itemMark = /^[-+*](?: +|$)/;

/** The items of a list whose marks stand at the start of lines, without their indentation. */
function itemsOf(lines: readonly string[]): string[][] {
  const items: string[][] = [];
  let width = 0;
  for (const line of lines) {
    const mark = itemMark.exec(line)?.[0];
    if (mark !== undefined) {
      width = mark.length;
      items.push([line.slice(width)]);
    } else {
      const blanks = /^ */.exec(line)?.[0].length ?? 0;
      items.at(-1)?.push(line.slice(Math.min(width, blanks)));
    }
  }
  return items;
}

/** A row is one line: so is each of its cells. */
const cellOf = (lines: readonly string[]): string =>
  lines
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ")
    .replace(/(?<!\\)\|/g, "\\|");

/** Rows as a table; the first one is its head. */
function tableOf(rows: readonly string[][], hasHead: boolean): string[] {
  const columns = Math.max(0, ...rows.map((cells) => cells.length));
  if (columns === 0) return [];
  const row = (cells: readonly string[]): string =>
    `| ${Array.from({ length: columns }, (_each, at) => cells[at] ?? "").join(" | ")} |`;
  const [first = [], ...rest] = hasHead ? rows : [[], ...rows];
  return [row(first), row(Array.from({ length: columns }, () => "---")), ...rest.map(row)];
}

const headsOf = ({ options }: Directive): boolean => Number(options.get("header-rows") ?? 0) > 0;

/** A list of rows, each a list of cells. */
export function listTable(fences: Fences, directive: Directive): string[] {
  const rows = itemsOf(directive.body).map((row) =>
    itemsOf(row).map((cell) => cellOf(inner(fences, { ...directive, first: undefined }, cell))),
  );
  return tableOf(rows, headsOf(directive));
}

const field = /[ \t]*(?:"([^"]*(?:""[^"]*)*)"[^,\n]*|([^,\n]*))(,|\n|$)/y;

/** The records of comma-separated values. */
function recordsOf(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (field.lastIndex = 0; field.lastIndex < text.length;) {
    const [, quoted, plain = "", end] = field.exec(text) ?? [];
    row.push((quoted?.replaceAll('""', '"') ?? plain).trim());
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  if (row.length > 0) rows.push(row);
  return rows.filter((cells) => cells.some((cell) => cell !== ""));
}

export function csvTable(fences: Fences, directive: Directive): string[] {
  const { options, line, body } = directive;
  const { file = "", url } = Object.fromEntries(options);
  if (url !== undefined) count(fences, "include", `${url}: not in the project`, line);
  const args = [{ text: file, number: line }];
  const empty = { name: "csv-table", options: new Map<string, string>(), body: [], content: [] };
  const text =
    file === ""
      ? body.join("\n")
      : (readIncluded(fences.reading, { ...empty, args, line })?.text ?? "");
  const header = options.get("header");
  const rows = recordsOf(header === undefined ? text : `${header}\n${text}`);
  const read = rows.map((cells) =>
    cells.map((cell) => cellOf(inner(fences, { ...directive, first: undefined }, [cell]))),
  );
  return tableOf(read, header !== undefined || headsOf(directive));
}

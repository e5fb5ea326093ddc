import { cellText } from "./select.ts";

/** A format that is written row by row, as text. */
export interface RowFormat {
  /** Whether a row is its cells, in the order of the columns; else its whole record. */
  isCells: boolean;
  /** Whether the text is JSON, which keeps the data unchanged. */
  isJson: boolean;
  /** The text before the rows, from the names of the columns. */
  head(names: readonly string[]): string;
  row(value: unknown, index: number): string;
  /** The text after the rows. */
  tail(count: number): string;
  /** One record that is no list. */
  single(record: object): string;
}

/**
 * Puts an apostrophe, which spreadsheets hide, before text that they would run as a
 * formula (CSV injection, OWASP); not before plain numbers. Other formats keep the data.
 */
function escapeFormula(text: string): string {
  return /^[=+\-@\t\r]/.test(text) && !/^[-+]?\d+(?:[.,]\d+)*$/.test(text) ? `'${text}` : text;
}

/**
 * One line of csv for spreadsheets: quoted as in RFC 4180, but it ends with LF, which
 * every reader accepts, and no cell is a formula.
 */
export function csvLine(values: readonly unknown[]): string {
  const cells = values.map((value) => {
    const text = escapeFormula(cellText(value));
    return /[",\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  // Without quotes, a single empty cell would be an empty line, which readers skip.
  return `${cells.length === 1 && cells[0] === "" ? '""' : cells.join(",")}\n`;
}

/** One line of tsv. The format has no quotes: tabs and line breaks in a value become spaces. */
export function tsvLine(values: readonly unknown[]): string {
  return `${values.map((value) => cellText(value).replace(/[\t\n\r]+/g, " ")).join("\t")}\n`;
}

const nothing = (): string => "";
const indented = (record: unknown): string => JSON.stringify(record, undefined, 2);

function cells(line: (values: readonly unknown[]) => string, hasHead: boolean): RowFormat {
  const row = (values: unknown): string => line(values as unknown[]);
  const head = hasHead ? line : nothing;
  return { isCells: true, isJson: false, head, row, tail: nothing, single: row };
}

const json: RowFormat = {
  isCells: false,
  isJson: true,
  head: nothing,
  row: (record, index) =>
    `${index === 0 ? "[" : ","}\n  ${indented(record).replaceAll("\n", "\n  ")}`,
  tail: (count) => (count === 0 ? "[]\n" : "\n]\n"),
  single: (record) => `${indented(record)}\n`,
};

const ndjsonLine = (record: unknown): string => `${JSON.stringify(record)}\n`;

async function loadYaml(): Promise<RowFormat> {
  const { dump } = await import("js-yaml");
  // Anchors and folded lines are valid YAML, but simple readers fail on them.
  const text = (value: unknown): string => dump(value, { noRefs: true, lineWidth: -1 });
  return {
    isCells: false,
    isJson: false,
    head: nothing,
    row: (record) => text([record]),
    tail: (count) => (count === 0 ? "[]\n" : ""),
    single: text,
  };
}

/** The formats of lists and records; `table` needs all rows. A new format is an entry here. */
export const writers = {
  table: undefined,
  json: () => json,
  ndjson: () => ({ ...json, row: ndjsonLine, tail: nothing, single: ndjsonLine }),
  yaml: loadYaml,
  csv: () => cells(csvLine, true),
  tsv: () => cells(tsvLine, false),
} as const satisfies Record<string, (() => RowFormat | Promise<RowFormat>) | undefined>;

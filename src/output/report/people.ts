import type { ShownPath } from "../paths.ts";
import { neutraliseLine } from "../terminal/neutralise.ts";
import type { Output } from "../terminal/output.ts";
import { formatCount } from "../terminal/progress.ts";
import { layOutTable } from "../terminal/table.ts";
import { bold, dim, green, red, magenta, type Text } from "../terminal/text.ts";
import { fit, wrapWords } from "../terminal/width.ts";
import {
  gather,
  labelOf,
  type Detail,
  type Item,
  type Level,
  type Report,
  type Table,
  type Tone,
} from "./report.ts";

type Paint = (text: string) => Text;
const tonePaints: Readonly<Record<Tone, Paint>> = { ok: green, warn: magenta, bad: red, soft: dim };
const levelPaints: Readonly<Record<Level, Paint>> = {
  error: red,
  warning: magenta,
  note: dim,
  fine: green,
};

const wordWidth = 12;
const nameWidth = 11;
/** Lines of a detail without --verbose. */
const linesShown = 2;
/** Rows for what follows the list: the number of hidden items, the summary, the error, the prompt. */
const rowsBelow = 5;

const withShown = (item: Item, shown: ShownPath): Item => ({
  ...item,
  path: item.path === null ? null : shown(item.path),
});

/** `docs/a.md:3:5: warning message (rule)` of a rule, else `missing      docs/a.md: message`. */
export function itemLine(raw: Item, shown: ShownPath): Text[] {
  const item = withShown(raw, shown);
  const { word, level, message, rule } = item;
  const name = neutraliseLine(labelOf(item));
  const said = neutraliseLine(message);
  const paint = levelPaints[level];
  // An editor opens the place at the start of a line.
  if (rule !== undefined)
    return [`${name}: `, paint(word), ` ${said} `, dim(`(${neutraliseLine(rule)})`)];
  return [paint(word.padEnd(wordWidth)), name, dim(said === "" ? "" : `: ${said}`)];
}

const marks = { good: "✓ ", bad: "✗ ", left: "" } as const;

function detailRows({ name, lines, isRow }: Detail, isWhole: boolean): [string, string][] {
  const texts = lines.map(({ text, mark, note }) => {
    const about = note === undefined || isRow ? "" : ` (${note})`;
    return neutraliseLine(`${mark === undefined ? "" : marks[mark]}${text}${about}`);
  });
  if (isRow) {
    const counted = texts.map((text, index) => `${index + 1} ${text}`);
    return [[name, counted.join("  ") || "nothing"]];
  }
  const shown = isWhole ? texts : texts.slice(0, linesShown);
  const hidden = texts.length - shown.length;
  if (hidden > 0) shown.push(`and ${formatCount(hidden)} more`);
  return shown.map((text, index) => [index === 0 ? name : "", text]);
}

/** The lines of an item with its evidence; `cut` fits a line to the terminal. */
function evidenceLines(
  item: Item,
  shown: ShownPath,
  isWhole: boolean,
  cut: (text: string) => string,
): Text[][] {
  const { name, subject = "", tags = [], message, details = [] } = item;
  const about = tags.length === 0 ? "" : ` (${tags.join(", ")})`;
  const head =
    name === undefined
      ? itemLine(item, shown)
      : [bold(cut(neutraliseLine(`  ${name}${about}  ${subject}`)))];
  const known = details.filter(({ isLong }) => isWhole || !isLong);
  const rows = known.flatMap((each) => detailRows(each, isWhole));
  if (details.length === 0 && name !== undefined) rows.push(["", neutraliseLine(message)]);
  const indent = 4 + nameWidth;
  return [
    head,
    ...rows.map(([title, text]): Text[] => [
      dim(`    ${title.padEnd(nameWidth)}`),
      cut(" ".repeat(indent) + text).slice(indent),
    ]),
  ];
}

/** The lines of a table; drawings are left out. */
function tableLines({ columns, rows }: Table): Text[][] {
  const shown = columns.flatMap(({ name, kind }, index) =>
    kind === "drawing"
      ? []
      : [
          {
            name,
            value: (row: Table["rows"][number]) => row[index] ?? null,
            ...(kind === "number" && { align: "right" as const }),
          },
        ],
  );
  // Not cut: a terminal wraps the lines of a table that is too wide.
  const { header, lines } = layOutTable(
    { isTerminal: false, columns: () => 0, now: () => 0 },
    shown,
    rows,
  );
  return rows.length === 0 ? [] : [[dim(header)], ...lines.map((line): Text[] => [line])];
}

/** What the run was about, its result, what to know of it, and its tables. */
function headLines(report: Report, isWhole: boolean, columns: number): Text[][] {
  const { command, facts, verdict, title, notes, blocks } = report;
  const rows = (paint: Paint, text: string): Text[][] =>
    wrapWords(neutraliseLine(text), columns).map((row) => [paint(row)]);
  return [
    ...rows(dim, `${command}: ${facts.join(" · ")}`),
    ...rows(tonePaints[verdict.tone], title),
    ...notes.flatMap(({ tone, text, isWarned }) => (isWarned ? [] : rows(tonePaints[tone], text))),
    ...blocks.flatMap((block) => {
      if (block === "items" || "chart" in block || block.people === undefined) return [];
      return isWhole || block.people === "always" ? tableLines(block) : [];
    }),
  ];
}

/** Rows that lines take on a terminal. */
function rowsOf(lines: readonly Text[][], columns: number): number {
  const textOf = (part: Text): string =>
    typeof part === "string" ? part : "parts" in part ? part.parts.map(textOf).join("") : "";
  const lengths = lines.map((line) => line.map(textOf).join("").length);
  return lengths.reduce((sum, length) => sum + Math.max(1, Math.ceil(length / columns)), 0);
}

function openItems(items: Iterable<Item>): Iterable<Item> {
  return {
    *[Symbol.iterator]() {
      for (const item of items) if (item.level !== "fine") yield item;
    },
  };
}

/** Items in a line each, or with their evidence, or below head and tables of the report as well. */
type Style = "lines" | "evidence" | "page";

/**
 * Writes the items for people on stdout. A terminal shows one screen of them, the worst first, unless
 * `--verbose`; then the number of the others. Elsewhere all are written.
 */
export async function writePeople(
  output: Output,
  report: Report,
  shown: ShownPath,
  style: Style = "lines",
): Promise<void> {
  const { isOrdered = false } = report;
  const isFineShown = output.verbose || style !== "page";
  const items = isFineShown ? report.items : openItems(report.items);
  const isWhole = output.verbose || !output.isTerminal || style === "evidence";
  const columns = output.isTerminal ? output.columns() : Number.POSITIVE_INFINITY;
  const cut = (text: string): string => (isWhole ? text : fit(text, columns));
  const head = style === "page" ? headLines(report, isWhole, columns) : [];
  for (const line of head) await output.line(...line);
  const most = Math.max(3, output.rows() - rowsBelow - head.length);
  const found = gather(items, isWhole ? 1 : most, isOrdered);
  let heading: string | undefined;
  const linesOf = (item: Item): Text[][] => {
    if (style === "lines") return [itemLine(item, shown)];
    const lines = evidenceLines(item, shown, isWhole, cut);
    if (style === "evidence" || item.group === heading) return lines;
    heading = item.group;
    const count = found.groups.find(({ name }) => name === heading)?.count ?? 0;
    return [[bold(neutraliseLine(`${heading}: ${formatCount(count)}`))], ...lines];
  };
  const fits = (all: Iterable<Item>): Item[] => {
    const kept: Item[] = [];
    let left = most;
    for (const item of all) {
      left -= rowsOf(linesOf(item), columns);
      if (left < 0 && kept.length > 0) break;
      kept.push(item);
    }
    heading = undefined;
    return kept;
  };
  const inOrder = isWhole ? items : fits(items);
  const isAll = isWhole || (inOrder as Item[]).length === found.total;
  const listed = isAll || isOrdered ? inOrder : fits(found.shown);
  let count = 0;
  for (const item of listed) {
    count++;
    for (const line of linesOf(item)) await output.line(...line);
  }
  const hidden = found.total - count;
  if (hidden > 0) await output.line(dim(`and ${formatCount(hidden)} more: -v lists them all`));
}

import { realpathSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { isAbsolute, posix, relative, sep } from "node:path";
import { codeOf, writeProblem } from "../../errors.ts";
import { neutraliseLine } from "../terminal/neutralise.ts";
import type { Output } from "../terminal/output.ts";
import { countOf, formatCount } from "../terminal/progress.ts";
import type { Annotation } from "../workflow-commands.ts";
import {
  gather,
  labelOf,
  type Gathered,
  type Cell,
  type Detail,
  type Item,
  type Report,
  type Table,
} from "./report.ts";
import { factsText } from "./text.ts";

type Env = Readonly<Record<string, string | undefined>>;

function realPath(path: string | undefined): string | undefined {
  if (!path) return undefined;
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/**
 * Path of a folder in the repository: `""`, `docs/`; undefined outside a repository. Without a
 * git root, the repository is the checkout folder of the CI (GITHUB_WORKSPACE, CI_PROJECT_DIR).
 */
export function ciPrefix(
  folder: string,
  gitRoot: string | undefined,
  env: Env,
): string | undefined {
  const repository = realPath(gitRoot ?? (env["GITHUB_WORKSPACE"] || env["CI_PROJECT_DIR"]));
  if (repository === undefined) return undefined;
  const path = relative(repository, realPath(folder) ?? folder);
  if (path === "") return "";
  if (isAbsolute(path) || path === ".." || path.startsWith(`..${sep}`)) return undefined;
  return `${path.replaceAll(sep, "/")}/`;
}

/** GitHub shows 10 annotations of each level for a step and drops the rest (community #26680). */
const maxAnnotations = 10;

const annotationLevels = { error: "error", warning: "warning", note: "notice" } as const;

function annotationOf(item: Item, prefix: string | undefined): Annotation {
  const { path, line, column, level, title, subject, message, details = [] } = item;
  const file = prefix === undefined || !path ? ".." : posix.normalize(prefix + path);
  const isPlaced = file !== ".." && !file.startsWith("../");
  const rows = details
    .filter(({ isRow, isLong }) => isRow && !isLong)
    .map(({ name, lines }) => `${name}: ${lines.map((each) => each.text).join(", ") || "nothing"}`);
  const text = [...(subject === undefined ? [] : [subject]), message, ...rows].join("\n");
  const label = labelOf({ ...item, name: undefined });
  return {
    level: level === "fine" ? "notice" : annotationLevels[level],
    ...(isPlaced ? { file, line: line ?? undefined, column: column ?? undefined } : {}),
    title,
    message: isPlaced || text.startsWith(label) ? text : `${label}: ${text}`,
  };
}

/**
 * The annotations that GitHub shows, 10 of each level, worst first. If there are more items, the last
 * one is a notice with their number. Without `prefix` (see ciPrefix) the message names the place.
 * Write them with output.annotate(), which redacts and escapes them.
 */
export function annotationsOf(
  { command, items }: Report,
  prefix: string | undefined,
): Annotation[] {
  const { first, counts } = gather(items, maxAnnotations);
  const shown = [...first.error, ...first.warning, ...first.note];
  const total = counts.error + counts.warning + counts.note;
  // The line that counts the others is a notice too.
  if (shown.length < total && first.note.length === maxAnnotations) shown.pop();
  const annotations = shown.map((item) => annotationOf(item, prefix));
  if (shown.length === total) return annotations;
  const hidden = `${formatCount(total - shown.length)} of ${formatCount(total)}`;
  const message = `${hidden} are not shown here; the job summary has more`;
  return [...annotations, { level: "notice", title: `knowctl ${command}`, message }];
}

/**
 * Untrusted text for a cell of a Markdown table. Characters with a meaning in Markdown,
 * HTML or workflow commands become character references, which are never markup
 * (https://spec.commonmark.org/0.31.2/#entity-and-numeric-character-references).
 */
function cell(text: string): string {
  const line = neutraliseLine(text).toWellFormed().trim();
  const short = line.length > 500 ? `${line.slice(0, 500).toWellFormed()}…` : line;
  return short
    .replace(/[!-/:-@[-`{-~]/g, (sign) =>
      /[-/.,()]/.test(sign) ? sign : `&#${sign.charCodeAt(0)};`,
    )
    .replace(/\bwww\./gi, (word) => `${word.slice(0, 3)}&#46;`);
}

const rowOf = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;

/** A table of Markdown. Cells are Markdown already: foreign texts pass cell(). */
function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return rowOf(header) + rowOf(header.map(() => "---")) + rows.map(rowOf).join("");
}

/** GitHub refuses a summary above 1 MiB a step; others of the job write into it too. */
const maxLength = 200_000;
const maxRows = 100;

const moreRows = (count: number): string =>
  count > 0 ? `\nand ${formatCount(count)} more in the report\n` : "";

function folded(title: string, text: string): string {
  return `<details><summary>${cell(title)}</summary>\n\n${text}\n</details>\n\n`;
}

/** Drawings are left out: the numbers beside them say the same. */
function tableText({ title, columns, rows, leftOut = 0, isFolded = false }: Table): string {
  const kept = columns.flatMap(({ kind }, index) => (kind === "drawing" ? [] : [index]));
  const shown = rows.slice(0, maxRows);
  const textOf = (value: Cell | undefined): string =>
    typeof value === "string" ? cell(value) : "";
  const header = kept.map((index) => columns[index]?.name ?? "");
  const body = table(
    header,
    shown.map((row) => kept.map((index) => textOf(row[index]))),
  );
  const text = body + moreRows(rows.length - shown.length + leftOut);
  return isFolded ? folded(title, text) : `### ${cell(title)}\n\n${text}\n`;
}

function detailText({ name, lines }: Detail): string {
  const texts = lines.map(({ text, note, mark }) => {
    const sign = mark === "good" ? "✓ " : mark === "bad" ? "✗ " : "";
    return sign + cell(note === undefined ? text : `${text} (${note})`);
  });
  return `<br>${name}: ${texts.join("; ")}`;
}

function itemRow(item: Item): string[] {
  const { word, tags = [], subject, message, details = [] } = item;
  const about = subject === undefined ? "" : `<br>${cell(subject)}`;
  const evidence = details.filter(({ isLong }) => !isLong).map(detailText);
  const marks = tags.length === 0 ? "" : ` (${tags.map(cell).join(", ")})`;
  return [cell(word), cell(labelOf(item)) + about, cell(message) + marks + evidence.join("")];
}

function itemsText({ shown, groups, total, counts }: Gathered, report: Report): string {
  const open = total - counts.fine;
  if (open === 0) return "";
  const about = new Map(report.rules.map(({ name, summary }) => [name, summary]));
  const causes = groups
    .filter(({ level }) => level !== "fine")
    .slice(0, maxRows)
    .map(({ count, word, name }) => [
      formatCount(count),
      cell(word),
      cell(name),
      cell(about.get(name) ?? ""),
    ]);
  const named = about.size > 0 ? causes : causes.map((row) => row.slice(0, 3));
  const header = ["count", "result", "cause", "what is wrong"].slice(0, named[0]?.length);
  const rows: string[][] = [];
  let length = 0;
  for (const item of shown) {
    if (item.level === "fine") continue;
    const row = itemRow(item);
    length += row.join(" | ").length + 5;
    if (length > maxLength) break;
    rows.push(row);
  }
  const list = table(["result", "what", "reason"], rows) + moreRows(open - rows.length);
  return `${table(header, named)}\n${folded(countOf(open, report.data.list.slice(0, -1)), list)}`;
}

/** The run as Markdown for GitHub's job summary: what did not go well, as much as fits. */
export function jobSummary(report: Report): string {
  const { command, verdict, title, notes, counts, blocks, items, isOrdered } = report;
  const parts = blocks.map((block) => {
    if (block === "items") return itemsText(gather(items, 1000, isOrdered), report);
    return "chart" in block || block.rows.length === 0 ? "" : tableText(block);
  });
  const numbers = table(
    counts.map(({ name }) => cell(name)),
    [counts.map(({ count }) => formatCount(count))],
  );
  return [
    `## knowctl ${command}: ${cell(verdict.word)}\n\n${cell(title)}\n\n`,
    ...notes.map(({ text }) => `> ${cell(text)}\n\n`),
    counts.length === 0 ? "" : `${numbers}\n`,
    `${cell(factsText(report))}\n\n`,
    ...parts,
  ].join("");
}

/** A table of foreign texts as Markdown, below the heading `knowctl`. */
export function summaryTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  return `## knowctl\n\n${table(
    header,
    rows.map((row) => row.map(cell)),
  )}\n`;
}

/**
 * In GitHub Actions, appends Markdown to the job summary, the file in GITHUB_STEP_SUMMARY. `textOf`
 * makes it, without secrets, and is called only there. The run is already finished, so a failed
 * write is only a warning.
 */
export async function writeJobSummary(
  output: Output,
  env: Env,
  textOf: () => string,
): Promise<void> {
  const path = env["GITHUB_STEP_SUMMARY"];
  if (!env["GITHUB_ACTIONS"] || !path) return;
  const text = textOf();
  try {
    await appendFile(path, text);
  } catch (error) {
    await output.warn(`cannot write the job summary ${path}: ${writeProblem(codeOf(error))}`);
  }
}

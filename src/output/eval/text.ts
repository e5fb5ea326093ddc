import type { EvalReport } from "../../checks/eval/report.ts";
import { neutraliseLine } from "../terminal/neutralise.ts";
import type { Output } from "../terminal/output.ts";
import { countOf, formatCount } from "../terminal/progress.ts";
import { bold, dim, green, red, yellow, type Text } from "../terminal/text.ts";
import { fit } from "../terminal/width.ts";
import { wrapWords } from "../terminal/wrap.ts";
import { caseLines, type Cut } from "./case-lines.ts";
import { byReason, problemsOf, type Problems } from "./problems.ts";
import { groupRows, metricRows } from "./tables.ts";
import { basisParts, betterText, countsText, leftOutText, verdictText } from "./words.ts";

/** Reasons of errors that are named above the cases. */
const reasonsShown = 3;
/** Rows for the notice of what is not shown and for the prompt. */
const rowsBelow = 3;

const verdictColours = { better: green, worse: red, same: green, "cannot-tell": yellow } as const;

/** The most frequent reasons of errors in one line; empty without errors. */
function errorsText(problems: readonly Problems[]): string {
  const errors = problems.find(({ kind }) => kind === "error")?.cases ?? [];
  const reasons = byReason(errors).map(
    ([reason, those]) => `${formatCount(those.length)} × ${reason}`,
  );
  const hidden = reasons.length - reasonsShown;
  const more = hidden > 0 ? `; and ${countOf(hidden, "more reason")}` : "";
  return reasons.length === 0 ? "" : `errors: ${reasons.slice(0, reasonsShown).join("; ")}${more}`;
}

function blocksOf({ title, cases }: Problems, isWhole: boolean, cut: Cut): Text[][][] {
  const blocks = cases.map((each) => caseLines(each, isWhole, cut));
  blocks[0]?.unshift([bold(neutraliseLine(`${title}: ${formatCount(cases.length)}`))]);
  return blocks;
}

function headLines(
  report: EvalReport,
  problems: readonly Problems[],
  isWhole: boolean,
  rowsOf: (text: string) => string[],
): Text[][] {
  const { summary, comparison, stopped, command } = report;
  const isBad = summary.failed + summary.flaky + summary.error > 0;
  const leftOut = comparison === null ? "" : leftOutText(comparison);
  const lines: Text[][] = [];
  const add = (paint: (text: string) => Text, text: string): void => {
    if (text !== "") lines.push(...rowsOf(neutraliseLine(text)).map((row) => [paint(row)]));
  };
  add(dim, `${command}: ${basisParts(report).join(" · ")}`);
  add(isBad ? red : green, countsText(summary));
  add(yellow, errorsText(problems));
  add(yellow, stopped === null ? "" : `stopped early: ${stopped}`);
  if (comparison) add(verdictColours[comparison.verdict], verdictText(comparison));
  add(green, comparison === null ? "" : betterText(comparison));
  add(dim, leftOut);
  for (const table of [metricRows(report), isWhole ? groupRows(report) : []]) {
    for (const [index, line] of table.entries()) lines.push([index === 0 ? dim(line) : line]);
  }
  return lines;
}

/**
 * Writes a report for people on stdout: counts, verdict, metrics with intervals, then the cases that
 * did not pass, those that got worse first. On a terminal one screen, unless `--verbose`; elsewhere
 * all of them.
 */
export async function writeEvalText(output: Output, raw: EvalReport): Promise<void> {
  // Redacted before lines are cut: a part of a secret would not be found.
  const report = output.secrets.redactAll(raw);
  const isWhole = output.verbose || !output.isTerminal;
  const columns = output.isTerminal ? output.columns() : Number.POSITIVE_INFINITY;
  const cut: Cut = (text) => (isWhole ? text : fit(text, columns));
  const problems = problemsOf(report);
  const head = headLines(report, problems, isWhole, (text) => wrapWords(text, columns));
  const blocks = problems.flatMap((each) => blocksOf(each, isWhole, cut));
  let left = isWhole ? Number.POSITIVE_INFINITY : output.rows() - rowsBelow - head.length;
  let shown = 0;
  for (const block of blocks) {
    if (shown > 0 && block.length > left) break;
    head.push(...block);
    left -= block.length;
    shown++;
  }
  for (const line of head) await output.line(...line);
  const hidden = blocks.length - shown;
  if (hidden > 0) {
    await output.line(dim(`and ${formatCount(hidden)} more: --verbose lists them all`));
  }
}

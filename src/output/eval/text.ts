import type { EvalReport, ReportedCase } from "../../checks/eval/report.ts";
import { neutraliseLine } from "../terminal/neutralise.ts";
import type { Output } from "../terminal/output.ts";
import { formatCount } from "../terminal/progress.ts";
import { bold, dim, green, red, yellow, type Text } from "../terminal/text.ts";
import { fit } from "../terminal/width.ts";
import { wrapWords } from "../terminal/wrap.ts";
import { caseLines, type Cut } from "./case-lines.ts";
import { byReason, problemsOf, type Problems } from "./problems.ts";
import { groupRows, metricRows } from "./tables.ts";
import { basisParts, countsText, leftOutText, verdictText } from "./words.ts";

/** Rows for the notice of what is not shown and for the prompt. */
const rowsBelow = 3;

const verdictColours = { better: green, worse: red, same: green, "cannot-tell": yellow } as const;

/** Lines that are shown together, and the number of cases that they are about. */
interface Block {
  cases: number;
  lines: Text[][];
}

/** Errors in one line for each reason, with the first ids. */
function reasonBlocks(cases: readonly ReportedCase[], cut: Cut): Block[] {
  return byReason(cases).map(([reason, those]) => {
    const ids = those.slice(0, 3).map(({ id }) => id);
    const more = those.length > ids.length ? ", …" : "";
    const text = `  ${formatCount(those.length)} × ${reason} (${ids.join(", ")}${more})`;
    return { cases: those.length, lines: [[cut(neutraliseLine(text))]] };
  });
}

function blocksOf({ kind, title, cases }: Problems, isWhole: boolean, cut: Cut): Block[] {
  const blocks =
    kind === "error" && !isWhole
      ? reasonBlocks(cases, cut)
      : cases.map((each) => ({ cases: 1, lines: caseLines(each, isWhole, cut) }));
  const heading = [bold(neutraliseLine(`${title}: ${formatCount(cases.length)}`))];
  blocks[0]?.lines.unshift(heading);
  return blocks;
}

function headLines(
  report: EvalReport,
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
  add(yellow, stopped === null ? "" : `stopped early: ${stopped}`);
  if (comparison) add(verdictColours[comparison.verdict], verdictText(comparison));
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
  const head = headLines(report, isWhole, (text) => wrapWords(text, columns));
  const blocks = problemsOf(report).flatMap((each) => blocksOf(each, isWhole, cut));
  let left = isWhole ? Number.POSITIVE_INFINITY : output.rows() - rowsBelow - head.length;
  let shown = 0;
  for (const { lines } of blocks) {
    if (shown > 0 && lines.length > left) break;
    head.push(...lines);
    left -= lines.length;
    shown++;
  }
  for (const line of head) await output.line(...line);
  const hidden = blocks.slice(shown).reduce((sum, { cases }) => sum + cases, 0);
  if (hidden > 0) {
    await output.line(dim(`and ${formatCount(hidden)} more: --verbose lists them all`));
  }
}

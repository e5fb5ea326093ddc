import type { Finding, Findings, Severity } from "../../checks/lint/rule.ts";
import type { ShownPath } from "../paths.ts";
import { neutraliseLine } from "../terminal/neutralise.ts";
import type { Output } from "../terminal/output.ts";
import { formatCount } from "../terminal/progress.ts";
import { dim, red, yellow, type Text } from "../terminal/text.ts";
import { placeOf, worstFirst } from "./lint-run.ts";

const colours: Readonly<Record<Severity, (text: string) => Text>> = {
  error: red,
  warning: yellow,
  note: dim,
};

/** Rows that a line takes on a terminal. */
function rowsOf(text: string, columns: number): number {
  return Math.max(1, Math.ceil(text.length / columns));
}

// The lines below the list: `and 312 more`, the summary, the error, and the next prompt.
const rowsBelow = 5;

/** The findings that fit on the screen, the worst first; all of them if they fit. */
function fitting(
  findings: Findings,
  textOf: (finding: Finding) => string,
  output: Output,
): Findings {
  const sum = (all: Iterable<Finding>, most: number): number => {
    let rows = 0;
    let count = 0;
    for (const each of all) {
      rows += rowsOf(textOf(each), output.columns());
      if (rows > most) break;
      count++;
    }
    return count;
  };
  const most = Math.max(3, output.rows() - rowsBelow);
  if (sum(findings, most) === findings.length) return findings;
  const worst = worstFirst(findings, most);
  return worst.slice(0, Math.max(1, sum(worst, most)));
}

/**
 * Writes the findings for people, one a line: `docs/a.md:3:5: warning message (rule)`. A terminal
 * shows one screen of them, the worst first, unless `all` is set. Expects a safeRun().
 */
export async function writeFindings(
  output: Output,
  findings: Findings,
  shown: ShownPath,
  all: boolean,
): Promise<void> {
  const shownPlace = (each: Finding): string =>
    neutraliseLine(placeOf({ ...each, path: shown(each.path) }));
  const textOf = (each: Finding): string =>
    `${shownPlace(each)}: ${each.severity} ${each.message} (${each.rule})`;
  const listed = all || !output.isTerminal ? findings : fitting(findings, textOf, output);
  for (const each of listed) {
    const severity = colours[each.severity](each.severity);
    await output.line(
      `${shownPlace(each)}: `,
      severity,
      ` ${each.message} `,
      dim(`(${each.rule})`),
    );
  }
  const hidden = findings.length - listed.length;
  if (hidden === 0) return;
  await output.line(dim(`and ${formatCount(hidden)} more: -v lists them all`));
}

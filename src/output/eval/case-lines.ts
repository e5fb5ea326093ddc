import type { ReportedCase, ReportedDocument } from "../../checks/eval/report.ts";
import { neutraliseLine } from "../terminal/neutralise.ts";
import { countOf } from "../terminal/progress.ts";
import { bold, dim, type Text } from "../terminal/text.ts";
import { failedChecks, foundText, isMissing, namedText, rankText, runsText } from "./words.ts";

/** Failed expectations of a case that are shown without `--verbose`. */
const checksShown = 2;

/** Cuts a line at the width of a terminal. The text is redacted before. */
export type Cut = (text: string) => string;

const marks = { expected: "✓ ", unwanted: "✗ " } as const;

function foundParts(documents: readonly ReportedDocument[]): string {
  if (documents.length === 0) return "nothing";
  return documents
    .map((each, index) => {
      const mark = each.role === null ? "" : marks[each.role];
      return `${index + 1} ${mark}${neutraliseLine(foundText(each))}`;
    })
    .join("  ");
}

function expectedMark(expected: { rank: number | null }, of: ReportedCase): string {
  if (of.outcome === "error") return "";
  return isMissing(expected, of) ? "✗ " : "✓ ";
}

/**
 * The lines of one case: question, expected and retrieved documents, failed expectations; with
 * `isWhole` also what was cited, and the answer.
 */
export function caseLines(of: ReportedCase, isWhole: boolean, cut: Cut): Text[][] {
  const notes = [runsText(of), of.profile === null ? "" : `as ${of.profile}`].filter(Boolean);
  const note = notes.length === 0 ? "" : ` (${notes.join(", ")})`;
  const head = cut(`  ${neutraliseLine(`${of.id}${note}  ${of.question}`)}`);
  const row = (name: string, text: string): Text[] => [dim(`    ${name.padEnd(11)}`), text];
  const wide = (text: string): string => cut(" ".repeat(15) + neutraliseLine(text)).slice(15);
  const expected = of.expected.map((each) =>
    row("expected", wide(`${expectedMark(each, of)}${namedText(each)} (${rankText(each, of)})`)),
  );
  const unwanted = of.unwanted
    .filter(({ rank }) => isWhole || rank !== null)
    .map((each) => row("unwanted", wide(`${namedText(each)} (${rankText(each, of)})`)));
  const shown = isWhole ? of.retrieved : of.retrieved.slice(0, of.k ?? 5);
  const checks = failedChecks(of);
  const hidden = checks.length - checksShown;
  const failed = (isWhole ? checks : checks.slice(0, checksShown)).map((text) =>
    row("failed", wide(text)),
  );
  return [
    [bold(head)],
    ...expected,
    ...unwanted,
    ...(of.outcome === "error" ? [] : [row("retrieved", wide(foundParts(shown)))]),
    ...(of.cited.length > 0 && isWhole ? [row("cited", wide(foundParts(of.cited)))] : []),
    ...failed,
    ...(!isWhole && hidden > 0
      ? [row("", `and ${countOf(hidden, "more failed expectation")}`)]
      : []),
    ...(of.reason === null ? [] : [row("reason", wide(of.reason))]),
    ...answerLines(of, isWhole, row),
  ];
}

function answerLines(
  { runs, outcome }: ReportedCase,
  isWhole: boolean,
  row: (name: string, text: string) => Text[],
): Text[][] {
  const shows = runs.find((each) => each.outcome === (outcome === "passed" ? "passed" : "failed"));
  const answer = shows?.answer;
  return isWhole && answer !== undefined ? [row("answer", neutraliseLine(answer))] : [];
}

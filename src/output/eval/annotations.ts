import type { EvalReport, ReportedCase } from "../../checks/eval/report.ts";
import { maxAnnotations } from "../report/ci/github.ts";
import type { Annotation } from "../workflow-commands.ts";
import { countOf, formatCount } from "../terminal/progress.ts";
import { problemsOf } from "./problems.ts";
import { failedChecks, foundText, isMissing, namedText, rankText } from "./words.ts";

/** Where annotations stand in the repository. */
export interface Places {
  /** Path of the project in the repository, see repositoryPrefix(); undefined outside of one. */
  prefix: string | undefined;
  /** Path of a suite in the repository, by the name in the report; undefined outside of it. */
  suitePath: (file: string) => string | undefined;
  /** Line of the section that should have answered, from 1; undefined if it is unknown. */
  lineOf?: ((expected: ReportedCase["expected"][number]) => number | undefined) | undefined;
}

type Expected = ReportedCase["expected"][number];

/** The first wanted document whose file is known and that `isMeant`. */
function expectedFile(
  of: ReportedCase,
  isMeant: (each: Expected) => boolean,
): (Expected & { path: string }) | undefined {
  for (const each of of.expected) {
    if (each.path !== null && isMeant(each)) return { ...each, path: each.path };
  }
  return undefined;
}

/** The first file that an answer should have cited or retrieved. */
function missingFile({ checks }: ReportedCase): string | undefined {
  for (const { word, value, passed } of checks) {
    if (passed || (word !== "cites" && word !== "retrieves")) continue;
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof each === "string") return each;
      const { path } = (each ?? {}) as { path?: unknown };
      if (typeof path === "string") return path;
    }
  }
  return undefined;
}

function placeOf(of: ReportedCase, places: Places): Pick<Annotation, "file" | "line" | "column"> {
  const { prefix } = places;
  const placeIn = (each: Expected & { path: string }) => ({
    file: `${prefix}${each.path}`,
    line: places.lineOf?.(each) ?? 1,
  });
  if (prefix !== undefined) {
    const missing = expectedFile(of, (each) => isMissing(each, of));
    if (missing) return placeIn(missing);
    const uncited = missingFile(of);
    if (uncited !== undefined) return { file: prefix + uncited, line: 1 };
    // It was found, and the answer is wrong all the same: its text is the cause.
    const found = failedChecks(of).length > 0 ? expectedFile(of, () => true) : undefined;
    if (found) return placeIn(found);
  }
  const { file, line, column } = of.place;
  const path = places.suitePath(file);
  return path === undefined ? {} : { file: path, line, column };
}

/** What went wrong, in one line. */
export function problemText(of: ReportedCase): string {
  if (of.outcome === "error") return `not judged: ${of.reason ?? "no reason is known"}`;
  const parts = [
    ...of.expected
      .filter((each) => isMissing(each, of))
      .map((each) => `${namedText(each)}: ${rankText(each, of)}`),
    ...of.unwanted
      .filter((each) => !isMissing(each, of))
      .map((each) => `${namedText(each)} must not be retrieved: ${rankText(each, of)}`),
    ...failedChecks(of),
  ];
  return parts.join("; ") || of.outcome;
}

function messageOf(of: ReportedCase, judge: string | null): string {
  const first = of.retrieved.slice(0, of.k ?? 5).map(foundText);
  const instead = of.outcome === "error" ? "" : `\nretrieved: ${first.join(", ") || "nothing"}`;
  const judged = judge === null ? "" : `\njudged by ${judge}`;
  return `${of.question}\n${problemText(of)}${instead}${judged}`;
}

/**
 * An annotation for each of the first 10 cases that did not pass, those that got worse first, then a
 * notice with their number. It stands on the document that should have been retrieved or cited, or that the
 * wrong answer is about: at the line of its section where known, else at line 1. A case without such a file has it in the suite.
 * The report is redacted by output.annotate(), which also escapes the texts.
 */
export function evalAnnotations(report: EvalReport, places: Places): Annotation[] {
  const all = problemsOf(report).flatMap(({ kind, cases }) => cases.map((of) => ({ kind, of })));
  const annotations = all.slice(0, maxAnnotations).map(({ kind, of }): Annotation => {
    const title = kind === "worse" ? `Worse than before: ${of.id}` : `${of.outcome}: ${of.id}`;
    const place = placeOf(of, places);
    const message = messageOf(of, report.basis.judge);
    const where = `${of.place.file}:${of.place.line}: `;
    return {
      level: kind === "error" ? "warning" : "error",
      ...place,
      title,
      message: place.file === undefined ? where + message : message,
    };
  });
  const hidden = all.length - annotations.length;
  if (hidden > 0) {
    annotations.push({
      level: "notice",
      title: `knowctl ${report.command}`,
      message: `${countOf(all.length, "case")} did not pass, ${formatCount(hidden)} of them not shown here; the job summary has more`,
    });
  }
  return annotations;
}

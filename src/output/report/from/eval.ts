import type { EvalReport, ReportedCase, ReportedDocument } from "../../../checks/eval/result.ts";
import { sandboxCaveat } from "../../search/results.ts";
import { countOf, formatCount } from "../../terminal/progress.ts";
import type { Count, Detail, Item, Line, Report } from "../report.ts";
import {
  basisParts,
  betterText,
  countsText,
  failedChecks,
  foundText,
  groupsTable,
  isMissing,
  leftOutText,
  metricsTable,
  missingTable,
  namedText,
  rankText,
  runsText,
  verdictText,
} from "./eval-words.ts";

type Expected = ReportedCase["expected"][number];

/** Where the items of a run stand. */
export interface EvalPlaces {
  /** Path of a suite relative to the project root, by the name in the report. */
  suitePath: (file: string) => string;
  /** Line of the section that should have answered, from 1; undefined if it is unknown. */
  lineOf: (expected: Expected) => number | undefined;
}

/** The first file that an answer should have cited or retrieved. */
function uncitedFile({ checks }: ReportedCase): string | undefined {
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

/**
 * The place of a case: the document that should have been retrieved or cited, or that the wrong
 * answer is about, at the line of its section where known; else the case in its suite.
 */
function placeOf(of: ReportedCase, places: EvalPlaces): Pick<Item, "path" | "line" | "column"> {
  const isBad = of.outcome !== "passed" && of.outcome !== "skipped";
  if (isBad) {
    const known = of.expected.filter(({ path }) => path !== null);
    const missing = known.find((each) => isMissing(each, of));
    const uncited = missing ? undefined : uncitedFile(of);
    if (uncited !== undefined) return { path: uncited, line: 1 };
    // It was found, and the answer is wrong all the same: its text is the cause.
    const wanted = missing ?? (failedChecks(of).length > 0 ? known[0] : undefined);
    if (wanted) return { path: wanted.path, line: places.lineOf(wanted) ?? 1 };
  }
  const { file, line, column } = of.place;
  return { path: places.suitePath(file), line, column };
}

/** What went wrong, in one line. */
function problemText(of: ReportedCase): string {
  if (of.outcome === "passed" || of.outcome === "skipped") return of.reason ?? "";
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

function namedLine(
  each: ReportedCase["unwanted"][number],
  of: ReportedCase,
  isWanted: boolean,
): Line {
  const isKnown = of.outcome !== "error" && of.outcome !== "skipped";
  const isGood = isMissing(each, of) !== isWanted;
  return {
    text: namedText(each),
    ...(isKnown && { note: rankText(each, of), mark: isGood ? "good" : "bad" }),
  };
}

const roleMarks = { expected: "good", unwanted: "bad" } as const;

function foundLine(each: ReportedDocument, { k }: ReportedCase): Line {
  const text = foundText(each);
  const title = each.title === null || each.title === text ? undefined : each.title;
  const more = [title, each.snippet ?? undefined].filter((part) => part !== undefined).join("\n");
  const isLeft = k !== undefined && each.rank > k;
  return {
    text,
    ...(each.role !== null && { note: each.role, mark: roleMarks[each.role] }),
    ...(each.role === null && isLeft && { note: `beyond ${k}`, mark: "left" as const }),
    ...(more !== "" && { more }),
  };
}

/** The answer that shows the outcome. */
function answerOf({ runs, outcome }: ReportedCase): string | undefined {
  const wanted = outcome === "passed" ? "passed" : "failed";
  return (runs.find((each) => each.outcome === wanted) ?? runs[0])?.answer;
}

function detailsOf(of: ReportedCase): Detail[] {
  const { expected, unwanted, retrieved, cited, outcome } = of;
  const lines = (name: string, texts: readonly Line[], more: Partial<Detail> = {}): Detail[] =>
    texts.length === 0 ? [] : [{ name, lines: texts, ...more }];
  const isAsked = outcome !== "error" && outcome !== "skipped";
  const found = retrieved.map((each) => foundLine(each, of));
  const answer = answerOf(of);
  return [
    ...lines(
      "expected",
      expected.map((each) => namedLine(each, of, true)),
    ),
    ...lines(
      "unwanted",
      unwanted.map((each) => namedLine(each, of, false)),
      { isLong: unwanted.every(({ rank }) => rank === null) },
    ),
    ...(isAsked ? [{ name: "retrieved", lines: found, isRow: true }] : []),
    ...lines(
      "failed",
      failedChecks(of).map((text) => ({ text, mark: "left" })),
    ),
    ...lines("reason", of.reason === null ? [] : [{ text: of.reason }]),
    ...lines(
      "cited",
      cited.map((each) => foundLine(each, of)),
      { isRow: true, isLong: true },
    ),
    ...lines("answer", answer === undefined ? [] : [{ text: answer }], { isLong: true }),
  ];
}

const judgements = {
  failed: { level: "error", test: "failed", group: "Failed" },
  flaky: { level: "error", test: "failed", group: "Flaky" },
  error: { level: "warning", test: "error", group: "Errors: not judged" },
  passed: { level: "fine", test: "passed", group: "Passed" },
  skipped: { level: "fine", test: "skipped", group: "Skipped" },
  provisional: { level: "note", test: "skipped", group: "Drafts: provisional, they do not count" },
} as const;

/** The evidence of a draft, without a mark of success or failure. */
function undecided(details: readonly Detail[]): Detail[] {
  const unmarked = ({ mark, ...line }: Line): Line => (mark ? { ...line, mark: "left" } : line);
  return details.map((detail) => ({ ...detail, lines: detail.lines.map(unmarked) }));
}

/** A draft that was asked: its result is reported, and is neither good nor bad. */
function provisionalItem(of: ReportedCase, report: EvalReport, places: EvalPlaces): Item {
  const { provisional = "passed", ...draft } = of;
  const reason = of.reason?.replace(/^provisional: \w+(?:: )?/, "") || null;
  const item = itemOf({ ...draft, outcome: provisional, reason }, report, places);
  const { file, line, column } = of.place;
  return {
    ...item,
    ...judgements.provisional,
    word: "provisional",
    title: `provisional: ${of.id}`,
    message: [`a draft, it does not count: ${provisional}`, item.message]
      .filter(Boolean)
      .join(": "),
    path: places.suitePath(file),
    line,
    column,
    tags: ["draft", ...(item.tags ?? [])],
    details: undecided(item.details ?? []),
  };
}

function itemOf(of: ReportedCase, { basis, comparison }: EvalReport, places: EvalPlaces): Item {
  const { id, outcome, question, profile, runs, group } = of;
  const isWorse = comparison?.worse.some((each) => each.id === id) === true;
  const problem = problemText(of);
  const isJudged = basis.judge !== null && problem !== "";
  const place = placeOf(of, places);
  const inSuite = `${of.place.file}:${of.place.line}`;
  const isElsewhere = place.path !== places.suitePath(of.place.file);
  const suite = { name: "suite", lines: [{ text: inSuite }], isLong: true };
  return {
    ...judgements[outcome],
    ...(isWorse && { group: `Worse than ${comparison?.baseline}` }),
    word: isWorse ? "worse" : outcome,
    title: isWorse ? `Worse than before: ${id}` : `${outcome}: ${id}`,
    message: isJudged ? `${problem} (judged by ${basis.judge})` : problem,
    ...place,
    name: id,
    subject: question,
    suite: group ?? undefined,
    seconds: runs.reduce((sum, run) => sum + run.elapsedMs, 0) / 1000,
    tags: [runsText(of), profile === null ? "" : `as ${profile}`].filter((text) => text !== ""),
    details: [...detailsOf(of), ...(isElsewhere ? [suite] : [])],
  };
}

/** What got worse first, then what else did not pass, then the rest. */
function itemsOf(report: EvalReport, places: EvalPlaces): Item[] {
  const order = ["worse", "failed", "flaky", "error", "provisional", "passed", "skipped"];
  const items = report.cases.map((each) =>
    (each.provisional === undefined ? itemOf : provisionalItem)(each, report, places),
  );
  return items.toSorted((a, b) => order.indexOf(a.word) - order.indexOf(b.word));
}

const verdictTones = { better: "ok", worse: "bad", same: "ok", "cannot-tell": "warn" } as const;
const mostReasons = 3;

/** The most frequent reasons of errors in one line; empty without errors. */
function errorsText({ cases }: EvalReport): string {
  const counts = new Map<string, number>();
  for (const { outcome, reason } of cases) {
    if (outcome !== "error") continue;
    const known = reason ?? "no reason is known";
    counts.set(known, (counts.get(known) ?? 0) + 1);
  }
  const reasons = [...counts].toSorted((a, b) => b[1] - a[1]);
  const shown = reasons.slice(0, mostReasons).map(([reason, n]) => `${formatCount(n)} × ${reason}`);
  const hidden = reasons.length - shown.length;
  if (hidden > 0) shown.push(`and ${countOf(hidden, "more reason")}`);
  return shown.length === 0 ? "" : `errors: ${shown.join("; ")}`;
}

function notesOf(report: EvalReport): Report["notes"] {
  const { sandbox, stopped, comparison } = report;
  const notes: Report["notes"][number][] = [
    { tone: "warn", text: errorsText(report) },
    { tone: "warn", text: stopped === null ? "" : `stopped early: ${stopped}` },
    { tone: "warn", text: sandbox ? sandboxCaveat : "", isWarned: true },
  ];
  if (comparison) {
    notes.push(
      { tone: verdictTones[comparison.verdict], text: verdictText(comparison) },
      { tone: "ok", text: betterText(comparison) },
      { tone: "soft", text: leftOutText(comparison) },
    );
  }
  return notes.filter(({ text }) => text !== "");
}

const provisionalIn = ({ cases }: Pick<EvalReport, "cases">): number =>
  cases.filter(({ provisional }) => provisional !== undefined).length;

function countsOf({ summary, comparison, cases }: EvalReport): Count[] {
  const { passed, failed, flaky, error, skipped } = summary;
  const provisional = provisionalIn({ cases });
  return [
    { name: "passed", count: passed, tone: "ok", part: "new" },
    ...(comparison
      ? ([
          { name: "worse than before", count: comparison.worse.length, tone: "bad" },
          { name: "better than before", count: comparison.better.length, tone: "ok" },
        ] as const)
      : []),
    { name: "failed", count: failed, tone: "bad", part: "bad" },
    { name: "flaky", count: flaky, tone: "warn", part: "changed" },
    { name: "errors", count: error, tone: "warn", part: "open" },
    ...(provisional > 0
      ? [{ name: "provisional", count: provisional, tone: "soft", part: "left" } as const]
      : []),
    { name: "skipped", count: skipped - provisional, tone: "soft", part: "left" },
  ];
}

function propertiesOf({ summary, basis, comparison, calls, sandbox }: EvalReport) {
  const values: Record<string, string | number | undefined> = {
    via: basis.via,
    k: basis.k ?? undefined,
    dialect: basis.dialect,
    judge: basis.judge ?? undefined,
    calls,
    sandbox: sandbox ? "true" : undefined,
    flaky: summary.flaky,
    verdict: comparison?.verdict,
    baseline: comparison?.baseline,
    p: comparison?.p ?? undefined,
  };
  for (const [name, { value, low, high, n }] of Object.entries(summary.metrics)) {
    if (value === null) continue;
    Object.assign(values, { [name]: value, [`${name}.low`]: low, [`${name}.high`]: high });
    values[`${name}.n`] = n;
  }
  return values;
}

const words = { passed: "Passed", failed: "Failed", partial: "Incomplete" } as const;

/** The report of a run. Its texts must be redacted. */
export function evalReport(result: EvalReport, places: EvalPlaces): Report {
  const { cases, ...head } = result;
  const { command, status, summary, startedAt, elapsedMs, stopped } = head;
  const isGood = summary.failed + summary.flaky + summary.error === 0;
  const provisional = provisionalIn(result);
  const isDraft = provisional > 0 && summary.skipped === summary.cases;
  return {
    command,
    verdict: isDraft
      ? { word: "Provisional", tone: "soft" }
      : { word: words[status], tone: isGood ? "ok" : "bad" },
    title: countsText(summary, provisional),
    facts: basisParts(result),
    startedAt,
    seconds: elapsedMs / 1000,
    stopped: stopped ?? undefined,
    notes: notesOf(result),
    counts: countsOf(result),
    items: itemsOf(result, places),
    isOrdered: true,
    blocks: [metricsTable(result), "items", missingTable(result), groupsTable(result)],
    rules: [],
    tallies: [],
    properties: propertiesOf(result),
    data: { head, list: "cases", type: "case", items: cases },
  };
}

import type {
  Check,
  Comparison,
  Difference,
  DocumentRef,
  Estimate,
  EvalReport,
  Measured,
  MetricName,
  ReportedCase,
  ReportedDocument,
} from "../../../checks/eval/result.ts";
import { countOf, formatCount } from "../../terminal/progress.ts";
import { asPath, asNumber, asDrawing, type Table } from "../report.ts";

/** `12.5 %`. Never rounded to 0 or 100 from anything else. */
function percent(share: number): string {
  const text = (share * 100).toFixed(1);
  if (text === "100.0" && share < 1) return "> 99.9 %";
  if (text === "0.0" && share > 0) return "< 0.1 %";
  return `${text} %`;
}

const isShare = (name: MetricName): boolean => name !== "mrr" && name !== "ndcg";

/** A metric for people: shares in percent, MRR and nDCG with three decimals. */
function metricText(name: MetricName, value: number | null): string {
  if (value === null) return "—";
  return isShare(name) ? percent(value) : value.toFixed(3);
}

/** `85.0 % to 93.4 %` */
function intervalText(name: MetricName, { low, high }: Estimate): string {
  return low === null ? "—" : `${metricText(name, low)} to ${metricText(name, high)}`;
}

/** `hit@5`; without k `hit`. */
function metricLabel(name: MetricName, { k }: EvalReport["basis"]): string {
  const label = name === "mrr" ? "MRR" : name === "ndcg" ? "nDCG" : name;
  return name === "passed" || k === null ? label : `${label}@${k}`;
}

/** A change with its 95 % interval: `+2.5 (−1.0 to +6.0) points`, `+0.012 (−0.001 to +0.030)`. */
function differenceText(name: MetricName, { value, low, high }: Difference): string {
  const signed = (number: number): string => {
    const size = isShare(name) ? (Math.abs(number) * 100).toFixed(1) : Math.abs(number).toFixed(3);
    return `${number > 0 ? "+" : number < 0 ? "−" : ""}${size}`;
  };
  const text = `${signed(value)} (${signed(low)} to ${signed(high)})`;
  return isShare(name) ? `${text} points` : text;
}

/** `180 of 200 cases passed: 12 failed, 5 errors, 3 skipped`. `provisional`: drafts among the skipped ones. */
export function countsText(counts: Measured, provisional = 0): string {
  const { cases, passed, failed, flaky, error, skipped } = counts;
  const parts = [
    failed > 0 ? `${formatCount(failed)} failed` : "",
    flaky > 0 ? `${formatCount(flaky)} flaky` : "",
    error > 0 ? countOf(error, "error") : "",
    provisional > 0 ? `${formatCount(provisional)} provisional` : "",
    skipped > provisional ? `${formatCount(skipped - provisional)} skipped` : "",
  ].filter((text) => text !== "");
  const all = `${formatCount(passed)} of ${countOf(cases, "case")} passed`;
  return parts.length === 0 ? all : `${all}: ${parts.join(", ")}`;
}

/** Suites, way, k and judge of a run, each as a part of a line. */
export function basisParts({ basis, calls }: EvalReport): string[] {
  const { suites, via, k, dialect, judge } = basis;
  const files = suites.map(({ file }) => file);
  const hidden = files.length - 3;
  return [
    files.slice(0, 3).join(", ") + (hidden > 0 ? ` and ${hidden} more` : ""),
    `way ${via}`,
    ...(k === null ? [] : [`k ${k}`]),
    dialect,
    ...(calls > 0 ? [countOf(calls, "model call")] : []),
    ...(judge === null ? [] : [`judged by ${judge}`]),
  ];
}

const pText = (p: number): string => (p < 0.001 ? "p < 0.001" : `p ${Number(p.toPrecision(2))}`);

function neededText({ needed, undecided }: Comparison): string {
  if (undecided.length > 0) {
    const [noun, verb] = undecided.length === 1 ? ["case", "is"] : ["cases", "are"];
    return `${formatCount(undecided.length)} ${noun} that ended in an error ${verb} undecided`;
  }
  if (needed === null) return "as many cases got better as worse";
  return `about ${countOf(needed, "case")} would be needed`;
}

/** The verdict in one sentence that claims no more than the numbers can. */
export function verdictText(comparison: Comparison): string {
  const { baseline, better, worse, compared, p, verdict } = comparison;
  const cases = countOf(compared, "case");
  const counts = `${formatCount(better.length)} better, ${formatCount(worse.length)} worse of ${cases}`;
  const numbers = p === null ? counts : `${counts} (${pText(p)})`;
  if (verdict === "cannot-tell") {
    return `cannot tell whether better or worse than ${baseline}: ${numbers}; ${neededText(comparison)}`;
  }
  if (verdict !== "same") return `${verdict} than ${baseline}: ${numbers}`;
  if (better.length + worse.length > 0) return `same as ${baseline}, within 5 points: ${numbers}`;
  // Other results may differ: the ranks of a case that passes, or flaky instead of failed.
  return `same as ${baseline}: ${counts}`;
}

const mostBetter = 10;

/** `better: leave-days, lunch`; empty if no case got better. */
export function betterText({ better }: Comparison): string {
  if (better.length === 0) return "";
  const hidden = better.length - mostBetter;
  const names = better.slice(0, mostBetter).map(({ id }) => id);
  return `better: ${names.join(", ")}${hidden > 0 ? ` and ${formatCount(hidden)} more` : ""}`;
}

/** Cases that the comparison leaves out: `2 cases are new, 1 is gone`; empty if there are none. */
export function leftOutText({ added, removed, changed }: Comparison): string {
  const parts = [
    [added, "new"],
    [removed, "gone"],
    [changed, "written differently"],
  ] as const;
  const texts = parts
    .filter(([ids]) => ids.length > 0)
    .map(([ids, word]) => {
      const more = ids.length > 3 ? ", …" : "";
      return `${formatCount(ids.length)} ${word} (${ids.slice(0, 3).join(", ")}${more})`;
    });
  return texts.length === 0 ? "" : `not compared: ${texts.join("; ")}`;
}

/** A document of a suite as people read it. */
export function namedText({ document }: { document: DocumentRef }): string {
  if ("path" in document) return document.path;
  return "id" in document ? `id ${document.id}` : document.link;
}

function isDocumentRef(value: unknown): value is DocumentRef {
  if (typeof value !== "object" || value === null) return false;
  return Object.keys(value).length === 1 && ("path" in value || "id" in value || "link" in value);
}

/** A retrieved document as people read it: its file, else its id, link or title. */
export function foundText({ path, id, link, title }: ReportedDocument): string {
  return path ?? id ?? link ?? title ?? "a document without a name";
}

/** Whether a wanted document is not among those that count. */
export function isMissing({ rank }: { rank: number | null }, { k }: ReportedCase): boolean {
  return rank === null || (k !== undefined && rank > k);
}

/** Where a document that a case names came: `rank 2`, `rank 7, beyond 5`, `not retrieved`. */
export function rankText(named: { rank: number | null }, of: ReportedCase): string {
  if (of.outcome === "error") return "not judged";
  if (named.rank === null) return "not retrieved";
  return isMissing(named, of) ? `rank ${named.rank}, beyond ${of.k}` : `rank ${named.rank}`;
}

/** Words of a check that the lists of documents show already. */
const documentWords = new Set(["must_retrieve", "must_not_retrieve"]);

/** The value of a check: text, the names of documents, else JSON. */
function valueText(value: unknown): string {
  if (typeof value === "string") return value;
  const documents = Array.isArray(value) ? value.filter(isDocumentRef) : [];
  if (!Array.isArray(value) || documents.length < value.length) return JSON.stringify(value) ?? "";
  return documents.map((document) => namedText({ document })).join(", ");
}

/** A check in one line: `contains "28 days": not found`. */
function checkText({ word, value, detail }: Check): string {
  return `${word} ${valueText(value)}${detail === undefined ? "" : `: ${detail}`}`;
}

/** The failed expectations of a case, a line each, but for those on documents. */
export function failedChecks({ checks }: ReportedCase): string[] {
  return checks.filter(({ passed, word }) => !passed && !documentWords.has(word)).map(checkText);
}

/** `3 of 5 runs passed`; empty for a case that is asked once. */
export function runsText({ runs }: ReportedCase): string {
  if (runs.length < 2) return "";
  const passed = runs.filter(({ outcome }) => outcome === "passed").length;
  return `${passed} of ${runs.length} runs passed`;
}

const namesOf = ({ metrics }: Measured): MetricName[] => Object.keys(metrics) as MetricName[];

/** The metrics with their intervals; with a baseline also the change. */
export function metricsTable({ summary, basis, comparison }: EvalReport): Table {
  const names = namesOf(summary).filter((name) => summary.metrics[name].n > 0);
  return {
    title: "Metrics",
    columns: [
      { name: "metric" },
      asNumber("value"),
      asDrawing("0 to 1"),
      asNumber("95 % interval"),
      asNumber("cases"),
      ...(comparison ? [{ name: "change (95 %)" }] : []),
    ],
    rows: names.map((name) => {
      const estimate = summary.metrics[name];
      const change = comparison?.metrics[name] ?? undefined;
      return [
        metricLabel(name, basis),
        metricText(name, estimate.value),
        rangeOf(estimate, change?.before),
        intervalText(name, estimate),
        formatCount(estimate.n),
        ...(comparison ? [change ? differenceText(name, change) : null] : []),
      ];
    }),
    key: comparison ? "Dashed line: the baseline, on the cases of both runs." : undefined,
    people: "always",
  };
}

function rangeOf({ value, low, high }: Estimate, before?: number) {
  if (value === null || low === null || high === null) return null;
  return { range: { value, low, high, before } };
}

/** Counts and metrics of each group. */
export function groupsTable({ summary, basis }: EvalReport): Table {
  const names = namesOf(summary);
  return {
    title: "Groups",
    columns: [
      { name: "group" },
      asNumber("cases"),
      asDrawing("passed, 0 to 1"),
      ...names.map((name) => asNumber(metricLabel(name, basis))),
    ],
    rows: summary.groups.map(({ group, cases, metrics }) => [
      group ?? "(none)",
      formatCount(cases),
      rangeOf(metrics.passed),
      ...names.map((name) => metricText(name, metrics[name].value)),
    ]),
    isFolded: true,
    people: "verbose",
  };
}

/** The documents that should have been retrieved and were not, with the number of cases. */
export function missingTable({ cases }: EvalReport): Table {
  const counts = new Map<string, number>();
  for (const of of cases) {
    if (of.outcome !== "failed" && of.outcome !== "flaky") continue;
    for (const each of of.expected) {
      if (isMissing(each, of)) counts.set(namedText(each), (counts.get(namedText(each)) ?? 0) + 1);
    }
  }
  const sorted = [...counts].toSorted((a, b) => b[1] - a[1]);
  return {
    title: "Documents that should have been retrieved",
    columns: [asNumber("cases"), asPath("document")],
    rows: sorted.map(([document, count]) => [formatCount(count), document]),
  };
}

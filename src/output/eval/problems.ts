import type { Outcome } from "../../checks/eval/result.ts";
import type { EvalReport, ReportedCase } from "../../checks/eval/report.ts";

/** Cases that need a look, with a heading. */
export interface Problems {
  kind: "worse" | "failed" | "flaky" | "error";
  title: string;
  cases: readonly ReportedCase[];
}

/**
 * The cases that did not pass, worst first: what got worse than the baseline, then what else failed,
 * is flaky, or ended in an error. Each case is in one list; empty lists are left out.
 */
export function problemsOf({ cases, comparison }: EvalReport): Problems[] {
  const worse = new Set(comparison?.worse.map(({ id }) => id));
  const rest = (outcome: Outcome): ReportedCase[] =>
    cases.filter((each) => each.outcome === outcome && !worse.has(each.id));
  const all: Problems[] = [
    {
      kind: "worse",
      title: `Worse than ${comparison?.baseline ?? ""}`,
      cases: cases.filter(({ id }) => worse.has(id)),
    },
    { kind: "failed", title: "Failed", cases: rest("failed") },
    { kind: "flaky", title: "Flaky", cases: rest("flaky") },
    { kind: "error", title: "Errors: not judged", cases: rest("error") },
  ];
  return all.filter((each) => each.cases.length > 0);
}

/** Cases by their reason, the most frequent reason first. */
export function byReason(cases: readonly ReportedCase[]): [string, ReportedCase[]][] {
  const groups = new Map<string, ReportedCase[]>();
  for (const each of cases) {
    const reason = each.reason ?? "no reason is known";
    const group = groups.get(reason);
    if (group) group.push(each);
    else groups.set(reason, [each]);
  }
  return [...groups].toSorted((a, b) => b[1].length - a[1].length);
}

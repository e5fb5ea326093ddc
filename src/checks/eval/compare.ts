import { CliError } from "../../errors.ts";
import type { ComparedCase, Comparison, Difference, Verdict } from "./comparison.ts";
import type { EvalReport, ReportedCase } from "./report.ts";
import type { EvalBasis } from "./result.ts";
import { meanDifference } from "./statistics/bootstrap.ts";
import { scoreOf, type MetricName } from "./summary.ts";
import { z } from "./statistics/wilson.ts";

/** Below, a difference is called one. */
const significance = 0.05;

/** Fewer differing cases cannot be significant: 2 / 2 ** 5 is 0.0625. */
const fewestDiffering = 6;

function logFactorials(count: number): number[] {
  const logs = [0];
  for (let n = 1; n <= count; n++) logs.push((logs[n - 1] ?? 0) + Math.log(n));
  return logs;
}

/**
 * Two-sided p of McNemar's exact test: `better` and `worse` are the cases whose result changed, in
 * either direction. Without a difference each direction has a probability of one half, so p is
 * twice the binomial tail, at most 1.
 */
export function mcnemar(better: number, worse: number): number {
  const n = better + worse;
  const least = Math.min(better, worse);
  const logs = logFactorials(n);
  const of = (index: number): number => logs[index] ?? 0;
  let tail = 0;
  // By logarithms: 2 ** -n is 0 from n = 1075 on.
  for (let k = 0; k <= least; k++) tail += Math.exp(of(n) - of(k) - of(n - k) - n * Math.LN2);
  // Without the last digits, which are rounding errors.
  return Number(Math.min(1, 2 * tail).toPrecision(12));
}

/**
 * About how many cases would make the difference significant, if cases went on to differ at the
 * observed rate and in the observed directions; null if no number would, because as many got
 * better as got worse.
 *
 * With the share s of the larger direction, m differing cases are needed: (m·s − m/2) ÷ (√m / 2) = z,
 * so m = (z ÷ (2s − 1))², and never fewer than 6. At a rate of d differing cases of n these are
 * m·n ÷ d cases.
 */
export function casesNeeded(better: number, worse: number, compared: number): number | null {
  const differing = better + worse;
  if (better === worse) return null;
  const share = Math.max(better, worse) / differing;
  const needed = Math.max(fewestDiffering, Math.ceil((z / (2 * share - 1)) ** 2));
  return Math.ceil((needed * compared) / differing);
}

/** Rates whose difference lies within this, with 95 % confidence, are called the same. */
const sameWithin = 0.05;

/** A case before and now. */
type Pair = readonly [before: ReportedCase, now: ReportedCase];

const basisWords = {
  kind: "kind",
  via: "way",
  dialect: "dialect",
  k: "k",
  judge: "judge",
} as const satisfies Partial<Record<keyof EvalBasis, string>>;

/**
 * Throws CliError `usage` if results of the run cannot be compared with those of the baseline,
 * because they depend on something else than the documents. `name` is the baseline's file as typed.
 */
function checkBasis(baseline: EvalBasis, now: EvalBasis, name: string): void {
  const names = Object.keys(basisWords) as (keyof typeof basisWords)[];
  const other = names.filter((each) => baseline[each] !== now[each]);
  if (other.length === 0) return;
  const words = other.map((each) => basisWords[each]).join(", ");
  throw new CliError("usage", `--baseline ${name}: a run of another ${words}`, {
    details: other.map(
      (each) =>
        `${basisWords[each]}: ${baseline[each] ?? "none"} there, ${now[each] ?? "none"} now`,
    ),
    hints: ["run with the same options, or write a new baseline with --report FILE.json"],
  });
}

function refuseRepeatedCases(cases: readonly Identity[], name: string): void {
  const seen = new Set<string>();
  for (const { id } of cases) {
    if (seen.has(id)) {
      throw new CliError("usage", `--baseline ${name}: the case ${id} occurs twice`, {
        hints: ["write a new baseline with --report FILE.json"],
      });
    }
    seen.add(id);
  }
}

/** What identifies a case: those with equal id and digest are compared. */
type Identity = Pick<ReportedCase, "id" | "digest">;

/**
 * Throws CliError `usage` if the baseline is of another kind, way, dialect, k or judge, or shares no
 * case with `cases`, the ones that are asked now. Call it before the first question.
 */
export function checkBaseline(
  baseline: Pick<EvalReport, "basis" | "cases">,
  now: { basis: EvalBasis; cases: Iterable<Identity> },
  name: string,
): void {
  checkBasis(baseline.basis, now.basis, name);
  refuseRepeatedCases(baseline.cases, name);
  const before = new Map(
    baseline.cases.filter(wasAsked).map((each) => [each.id, each.digest] as const),
  );
  for (const { id, digest } of now.cases) if (before.has(id) && before.get(id) === digest) return;
  throw new CliError("usage", `--baseline ${name}: a run of another suite: no case is the same`, {
    hints: ["a case is the same if its id, question and expectations are"],
  });
}

const wasAsked = ({ outcome }: ReportedCase): boolean => outcome !== "skipped";

function isMixed({ runs }: ReportedCase): boolean {
  const passed = runs.filter(({ outcome }) => outcome === "passed").length;
  return passed > 0 && passed < runs.length;
}

type Change = "better" | "worse" | "flaky" | "undecided" | "unchanged";

// | before  | now     | change    |
// | error   | any     | undecided |
// | any     | error   | undecided |
// | mixed   | mixed   | flaky     |
// | passed  | other   | worse     |
// | other   | passed  | better    |
// | flaky   | other   | flaky     |
// | other   | flaky   | flaky     |
// | same    | same    | unchanged |
// `mixed`: some of its runs passed and some failed, so that another threshold is chance. A case that
// is mixed in both runs and passes in one only has not changed beyond its own flakiness.
function changeOf([before, now]: Pair): Change {
  const both = [before.outcome, now.outcome];
  if (both.includes("error")) return "undecided";
  if (both[0] !== both[1] && isMixed(before) && isMixed(now)) return "flaky";
  const [passedBefore, passesNow] = both.map((outcome) => outcome === "passed");
  if (passedBefore !== passesNow) return passesNow === true ? "better" : "worse";
  return both.includes("flaky") ? "flaky" : "unchanged";
}

function differenceOf(pairs: readonly Pair[], name: MetricName): Difference | null {
  const scores = pairs.flatMap(([before, now]) => {
    const both = [scoreOf(before, name), scoreOf(now, name)] as const;
    return both[0] === null || both[1] === null ? [] : [[both[0], both[1]] as const];
  });
  const n = scores.length;
  if (n === 0) return null;
  const mean = (at: 0 | 1): number => scores.reduce((sum, score) => sum + score[at], 0) / n;
  const { value, low, high } = meanDifference(scores.map(([before, now]) => now - before));
  return { before: mean(0), now: mean(1), value, low, high, n };
}

interface Counts {
  better: number;
  worse: number;
  /** Each may be better or worse. */
  undecided: number;
}

/**
 * What the counts prove: `better` and `worse` by McNemar's exact test, even if every undecided case
 * were evidence against it; `same` if no case differs, or if the rate differs by less than 5 points
 * with 95 % confidence. Up to five differing cases prove nothing.
 */
export function verdictOf({ better, worse, undecided }: Counts, rate: Difference | null): Verdict {
  const proves = (more: number, less: number): boolean =>
    more > less && mcnemar(more, less) < significance;
  if (rate === null) return "cannot-tell";
  if (proves(better, worse + undecided)) return "better";
  if (proves(worse, better + undecided)) return "worse";
  if (undecided > 0) return "cannot-tell";
  if (better + worse === 0) return "same";
  const isNarrow = rate.low > -sameWithin && rate.high < sameWithin;
  return better + worse > 5 && isNarrow ? "same" : "cannot-tell";
}

/** Sorts the cases of both runs into pairs and the rest. */
function pairUp(baseline: readonly ReportedCase[], now: readonly ReportedCase[]) {
  const ran = (cases: readonly ReportedCase[]): Map<string, ReportedCase> =>
    new Map(cases.filter(wasAsked).map((each) => [each.id, each]));
  const [before, after] = [ran(baseline), ran(now)];
  const pairs: Pair[] = [];
  const added: string[] = [];
  const changed: string[] = [];
  for (const [id, each] of after) {
    const earlier = before.get(id);
    if (earlier === undefined) added.push(id);
    else if (earlier.digest === each.digest) pairs.push([earlier, each]);
    else changed.push(id);
  }
  const removed = [...before.keys()].filter((id) => !after.has(id));
  return { pairs, added, removed, changed };
}

/**
 * Compares a run with a baseline, case by case: those with the same id and digest in both. Throws
 * CliError `usage` as checkBaseline(). `name` is the baseline's file as typed.
 */
export function compareReports(baseline: EvalReport, now: EvalReport, name: string): Comparison {
  checkBaseline(baseline, { ...now, cases: now.cases.filter(wasAsked) }, name);
  const { pairs, added, removed, changed } = pairUp(baseline.cases, now.cases);
  const listOf = (change: Change): ComparedCase[] =>
    pairs
      .filter((pair) => changeOf(pair) === change)
      .map(([before, after]) => ({ id: after.id, before: before.outcome, now: after.outcome }));
  const [better, worse, undecided] = [listOf("better"), listOf("worse"), listOf("undecided")];
  const passed = differenceOf(pairs, "passed");
  const counts = { better: better.length, worse: worse.length, undecided: undecided.length };
  const verdict = verdictOf(counts, passed);
  return {
    baseline: name,
    compared: pairs.length,
    better,
    worse,
    flaky: listOf("flaky"),
    undecided,
    unchanged: listOf("unchanged").length,
    p: mcnemar(better.length, worse.length),
    verdict,
    needed:
      verdict === "cannot-tell" ? casesNeeded(better.length, worse.length, pairs.length) : null,
    metrics: {
      passed,
      hit: differenceOf(pairs, "hit"),
      recall: differenceOf(pairs, "recall"),
      mrr: differenceOf(pairs, "mrr"),
      ndcg: differenceOf(pairs, "ndcg"),
    },
    added,
    removed,
    changed,
  };
}

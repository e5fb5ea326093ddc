import { CliError } from "../../errors.ts";
import type { ComparedCase, Comparison, Difference, EvalReport, ReportedCase } from "./result.ts";
import { meanDifference, z, forEachMetric, scoreOf } from "./summary.ts";

/** Below, a difference is called one. */
const significance = 0.05;

/** Fewer differing cases cannot be significant: 2 / 2 ** 5 is 0.0625. */
const fewestDiffering = 6;

/**
 * Two-sided p of McNemar's exact test: `better` and `worse` are the cases whose result changed, in
 * either direction. Without a difference each direction has a probability of one half, so p is
 * twice the binomial tail, at most 1.
 */
export function mcnemar(better: number, worse: number): number {
  const n = better + worse;
  // By logarithms: 2 ** -n is 0 from n = 1075 on.
  let term = -n * Math.LN2;
  let tail = Math.exp(term);
  for (let k = 1; k <= Math.min(better, worse); k++) {
    term += Math.log(n - k + 1) - Math.log(k);
    tail += Math.exp(term);
  }
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
} as const;

/** What of a report is compared. */
type Run = Pick<EvalReport, "basis"> & { cases: readonly ReportedCase[] };

/** What identifies a case: those with equal id and digest are compared. */
type Identity = Pick<ReportedCase, "id" | "digest">;

const wasAsked = ({ outcome }: ReportedCase): boolean => outcome !== "skipped";

/**
 * Throws CliError `usage` if the baseline is of another kind, way, dialect, k or judge, or shares no
 * case with `cases`, the ones that are asked now. Call it before the first question. `name` is the
 * baseline's file as typed.
 */
export function checkBaseline(
  baseline: Run,
  now: Pick<EvalReport, "basis"> & { cases: readonly Identity[] },
  name: string,
): void {
  const refuse = (problem: string, hint: string, details: string[] = []): CliError =>
    new CliError("usage", `--baseline ${name}: ${problem}`, { details, hints: [hint] });
  const names = Object.keys(basisWords) as (keyof typeof basisWords)[];
  const other = names.filter((each) => baseline.basis[each] !== now.basis[each]);
  if (other.length > 0) {
    const words = other.map((each) => basisWords[each]);
    const valueOf = ({ basis }: Pick<EvalReport, "basis">, each: keyof typeof basisWords) =>
      basis[each] ?? "none";
    throw refuse(
      `a run of another ${words.join(", ")}`,
      "run with the same options, or write a new baseline with --report FILE.json",
      other.map(
        (each) =>
          `${basisWords[each]}: ${valueOf(baseline, each)} there, ${valueOf(now, each)} now`,
      ),
    );
  }
  const seen = new Map<string, ReportedCase>();
  for (const each of baseline.cases) {
    if (seen.has(each.id)) {
      throw refuse(
        `the case ${each.id} occurs twice`,
        "write a new baseline with --report FILE.json",
      );
    }
    seen.set(each.id, each);
  }
  const isSame = ({ id, digest }: Identity): boolean => {
    const before = seen.get(id);
    return before !== undefined && wasAsked(before) && before.digest === digest;
  };
  if (now.cases.some(isSame)) return;
  throw refuse(
    "a run of another suite: no case is the same",
    "a case is the same if its id, question and expectations are",
  );
}

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

function differenceOf(
  pairs: readonly Pair[],
  name: Parameters<typeof scoreOf>[1],
): Difference | null {
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
export function verdictOf(
  { better, worse, undecided }: Counts,
  rate: Difference | null,
): Comparison["verdict"] {
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
export function compareReports(baseline: Run, now: Run, name: string): Comparison {
  checkBaseline(baseline, { ...now, cases: now.cases.filter(wasAsked) }, name);
  const { pairs, ...others } = pairUp(baseline.cases, now.cases);
  const listOf = (change: Change): ComparedCase[] =>
    pairs
      .filter((pair) => changeOf(pair) === change)
      .map(([before, after]) => ({ id: after.id, before: before.outcome, now: after.outcome }));
  const [better, worse, undecided] = [listOf("better"), listOf("worse"), listOf("undecided")];
  const metrics = forEachMetric((metric) => differenceOf(pairs, metric));
  const counts = { better: better.length, worse: worse.length, undecided: undecided.length };
  const verdict = verdictOf(counts, metrics.passed);
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
    metrics,
    ...others,
  };
}

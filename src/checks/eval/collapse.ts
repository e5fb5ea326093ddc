import type { EvalRun, Outcome } from "./result.ts";

const epsilon = 1e-9;

/**
 * The outcome of a case from its runs. `passed`: at least the share `threshold` of the runs passed.
 * Otherwise `flaky` if some passed, `failed` if none did. A run in error is neither: the case is
 * `error` unless it misses the threshold whatever the result of that run had been. Errors never
 * become a pass.
 */
export function collapseRuns(
  runs: readonly Pick<EvalRun, "outcome">[],
  threshold: number,
): Exclude<Outcome, "skipped"> {
  const count = (outcome: EvalRun["outcome"]): number =>
    runs.filter((each) => each.outcome === outcome).length;
  const [passed, errors] = [count("passed"), count("error")];
  const needed = threshold * runs.length - epsilon;
  const mayPass = passed + errors >= needed;
  if (mayPass) return errors > 0 ? "error" : "passed";
  return passed > 0 ? "flaky" : "failed";
}

/** The run that shows the outcome: a failing one of a flaky case. */
export function runThatShows(runs: readonly EvalRun[], outcome: Outcome): EvalRun | undefined {
  const wanted = outcome === "flaky" ? "failed" : outcome;
  return runs.find((each) => each.outcome === wanted) ?? runs[0];
}

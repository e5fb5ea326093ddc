import { outcomeOf, type CheckStatus } from "../../checks/verify/decide.ts";
import { CliError } from "../../errors.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { verifyResults, type VerifyCounts } from "../../output/report/from/verified.ts";
import { countsText } from "../../output/report/from/verify.ts";

function countOutcome(counts: VerifyCounts, expectsHidden: boolean, outcome: string): number {
  return verifyResults
    .filter((result) => outcomeOf(result, expectsHidden) === outcome)
    .reduce((sum, result) => sum + counts[result], 0);
}

/** How a check ended. `unread`: documents that could not be checked. */
export function statusOf(
  counts: VerifyCounts,
  expectsHidden: boolean,
  unread: number,
): CheckStatus {
  if (countOutcome(counts, expectsHidden, "failed") > 0) return "failed";
  const open = countOutcome(counts, expectsHidden, "undecided") + unread;
  return open > 0 ? "partial" : "passed";
}

/**
 * CliError `checks-failed` or `partial`; undefined if every document is as expected. `isRecent`: one
 * that is not was sent so recently that the service may still index it. `isRecorded`: the state has
 * the uploads, so that retry knows them.
 */
export function verifyProblem(
  counts: VerifyCounts,
  expectsHidden: boolean,
  { unread = 0, isRecent = false, isRecorded = true } = {},
): CliError | undefined {
  const failed = countOutcome(counts, expectsHidden, "failed");
  if (failed > 0) {
    const bad = { ...counts, current: 0, present: 0, unknown: 0 };
    const what = expectsHidden
      ? `${countOf(failed, "document")} visible to this reader`
      : `${countOf(failed, "document")} not as uploaded: ${countsText(bad)}`;
    const canSendAgain = counts.missing + counts["listed-only"] + counts.stale > 0;
    const hints: string[] = [];
    if (canSendAgain && !expectsHidden) {
      if (isRecent) {
        hints.push("a service indexes later: `knowctl verify --wait 10m` waits until it has");
      }
      hints.push(
        isRecorded
          ? "`knowctl retry --missing` sends missing, listed only and stale ones again"
          : "`knowctl ingest PATH` sends them",
      );
    }
    return new CliError("checks-failed", what, { hints });
  }
  const open = countOutcome(counts, expectsHidden, "undecided") + unread;
  if (open === 0) return undefined;
  return new CliError("partial", `${countOf(open, "document")} could not be decided`);
}

import { outcomeOf } from "../../checks/verify/decide.ts";
import { CliError } from "../../errors.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { countsText, verifyResults, type VerifyCounts } from "../../output/verify.ts";

/** Throws CliError `checks-failed` or `partial` unless every document is as expected. */
export function failUnlessExpected(counts: VerifyCounts, expectsHidden: boolean, unread = 0): void {
  const sum = (outcome: string): number =>
    verifyResults
      .filter((result) => outcomeOf(result, expectsHidden) === outcome)
      .reduce((all, result) => all + counts[result], 0);
  const failed = sum("failed");
  if (failed > 0) {
    const bad = { ...counts, current: 0, present: 0, unknown: 0 };
    const what = expectsHidden
      ? `${countOf(failed, "document")} visible to this reader`
      : `${countOf(failed, "document")} not as uploaded: ${countsText(bad)}`;
    const canSendAgain = counts.missing + counts["listed-only"] + counts.stale > 0;
    const hints =
      canSendAgain && !expectsHidden
        ? ["`knowctl ingest retry --missing` sends missing, listed only and stale ones again"]
        : [];
    throw new CliError("checks-failed", what, { hints });
  }
  const open = sum("undecided") + unread;
  if (open > 0) throw new CliError("partial", `${countOf(open, "document")} could not be decided`);
}

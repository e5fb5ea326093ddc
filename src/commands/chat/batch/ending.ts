import { CliError } from "../../../errors.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { formatCount } from "../../../output/terminal/progress.ts";
import { dim } from "../../../output/terminal/text.ts";
import type { BatchCounts } from "./progress.ts";

async function noteCounts(output: Output, counts: BatchCounts): Promise<void> {
  const { ok, failed, skipped, open } = counts;
  const more: [number, string][] = [
    [skipped, "answered before"],
    [open, "not asked again"],
  ];
  const parts = more.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : []));
  await output.note(dim([`${ok} answered`, `${failed} failed`, ...parts].join(", ")));
}

/** Reports the counts. Throws CliError `partial` unless each question has an answer. */
export async function reportCounts(
  output: Output,
  file: string,
  counts: BatchCounts,
): Promise<void> {
  const { failed, open, read } = counts;
  await noteCounts(output, counts);
  if (read === 0) {
    throw new CliError("usage", `--batch: ${file === "-" ? "stdin" : file} holds no question`, {
      hints: ['write one question per line: {"id": "a", "message": "Who is on call?"}'],
    });
  }
  const unanswered = failed + open;
  if (unanswered === 0) return;
  const hints = [
    "their results hold the reason; --resume RESULTS recovers answers and asks the rest",
  ];
  if (open > 0)
    hints.push("leave out --no-reask to repeat questions that the service may have received");
  const message = `${unanswered} of ${read} questions were not answered`;
  throw new CliError("partial", message, { hints });
}

/**
 * Reports a run that was stopped: its counts, the questions that it did not ask, and how to
 * continue.
 */
export async function reportStop(output: Output, file: string, counts: BatchCounts): Promise<void> {
  const { ok, failed, skipped, open, read, isWhole } = counts;
  await noteCounts(output, counts);
  const unasked = read - ok - failed - skipped - open;
  const ofAll = (count: number, what: string): string =>
    `${formatCount(count)} of ${formatCount(read)} questions were not ${what}`;
  const source = file === "-" ? "stdin" : file;
  let left: string;
  if (!isWhole) {
    // Whether a pipe would bring another question is not known.
    left =
      unasked > 0
        ? `the remaining questions of ${source} were not asked`
        : `${source} was not read to its end`;
  } else if (unasked > 0) left = ofAll(unasked, "asked");
  else if (failed + open > 0) left = ofAll(failed + open, "answered");
  else return;
  await output.problem(
    `${left}; to continue, repeat the command with --resume RESULTS, the file with the results so far`,
  );
}

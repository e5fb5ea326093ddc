import { CliError } from "../../../errors.ts";
import { countOf, formatCount } from "../../../output/terminal/progress.ts";

/** How many documents may be removed at once: a number, or a share of all. */
export type MaxDelete = { count: number } | { percent: number };

/** What is known before anything is removed. */
export interface RemovalFacts {
  /** Files found, whatever became of them. */
  fileCount: number;
  /** Files and folders that could not be looked at. */
  unreadable: number;
  /** A file in scope that failed in an earlier run. */
  failedBefore: string | undefined;
  /** A recorded path where none of the recorded files exists under the root, as people see it. */
  lostPath: string | undefined;
  /** A document to remove that a file outside the inputs may yield: its id is not made of its path. */
  unsureId: string | undefined;
  /** The inputs of an upload that was stopped before it had sent everything, for messages. */
  stopped: string | undefined;
  /** The target, for messages, and the other targets that the state knows where it knows not this one. */
  target: string;
  otherTargets: readonly string[];
  /** Documents to remove, of how many in scope. */
  count: number;
  total: number;
  maxDelete: MaxDelete | undefined;
}

const usualShare = 0.1;
const usualCount = 100;

function limitOf({ maxDelete, total }: RemovalFacts): { most: number; words: string } {
  if (maxDelete === undefined) {
    const most = Math.min(Math.max(1, Math.floor(total * usualShare)), usualCount);
    const words = `10 % of ${formatCount(total)}, at least 1 and at most ${usualCount}`;
    return { most, words: `default: ${words}` };
  }
  if ("count" in maxDelete) return { most: maxDelete.count, words: "as given" };
  const most = Math.floor((total * maxDelete.percent) / 100);
  return { most, words: `${maxDelete.percent} % of ${formatCount(total)}` };
}

function refuse(reason: string, ...hints: string[]): CliError {
  return new CliError("usage", `${reason}; nothing was removed`, { hints });
}

/**
 * Throws CliError `usage` unless everything was seen and the removal is of an
 * expected size. What a fault of the disk, a wrong path or a wrong target would
 * make look like "all files are gone" ends here.
 */
export function refuseRemoval(facts: RemovalFacts): void {
  const {
    lostPath,
    unsureId,
    fileCount,
    unreadable,
    failedBefore,
    stopped,
    target,
    otherTargets,
    count,
    total,
  } = facts;
  if (otherTargets.length > 0) {
    throw refuse(
      `the state knows nothing of ${target}, but of ${otherTargets.join(", ")}`,
      "check --cc-pair-id, --base-url and --profile",
    );
  }
  if (lostPath !== undefined) {
    throw refuse(
      `none of the recorded files exists under this root (the first is ${lostPath})`,
      "name the root of the uploads with --root DIR",
      "if all files were renamed, upload them under their new names first",
    );
  }
  if (fileCount === 0) {
    throw refuse("no file was found at all", "check the paths, and whether everything is mounted");
  }
  if (unreadable > 0) {
    throw refuse(
      `${countOf(unreadable, "file or folder", "files or folders")} cannot be read`,
      "mend them first; `knowctl ingest orphans` without --prune names them",
    );
  }
  if (failedBefore !== undefined) {
    throw refuse(
      `the last upload of ${failedBefore} failed`,
      "send what failed first: knowctl ingest retry",
      "or forget that it failed: knowctl state forget --failed",
    );
  }
  if (stopped !== undefined) {
    throw refuse(
      `the upload of ${stopped} was stopped before it had sent everything, or is still running`,
      "run that upload again: it sends what is missing",
      "or forget that it was stopped: knowctl state forget --failed",
    );
  }
  if (unsureId !== undefined) {
    throw refuse(
      `the id ${unsureId} is not made of its path, so a file outside the given paths may have it now`,
      "run the same command over the whole project root",
    );
  }
  const { most, words } = limitOf(facts);
  if (count <= most) return;
  throw refuse(
    `${formatCount(count)} of ${countOf(total, "document")} would be removed, --max-delete allows ${formatCount(most)} (${words})`,
    `look at the list, then give --max-delete ${count}`,
  );
}

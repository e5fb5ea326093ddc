import { CliError } from "../../errors.ts";
import { countOf, formatCount } from "../../output/terminal/progress.ts";

/** Limit for one removal: a number, or a share of all documents. */
export type MaxDelete = { count: number } | { percent: number };

/** Facts that decide whether a removal is safe. */
export interface RemovalFacts {
  /** Number of files found, including failed files. */
  fileCount: number;
  /** Whether every path was removed from a folder that holds other entries. */
  isRemoved: boolean;
  /** Number of files and folders that could not be read. */
  unreadable: number;
  /** A file in scope that failed in an earlier run. */
  failedBefore: string | undefined;
  /** A recorded path, for messages, when none of the recorded files exists under the root. */
  lostPath: string | undefined;
  /** Id of a document to remove that a file outside the inputs may have: its path does not give it. */
  unsureId: string | undefined;
  /** Inputs, for messages, of an upload that stopped before it sent everything. */
  stopped: string | undefined;
  /** The target, for messages. */
  target: string;
  /** Targets in the state, when it has no records for `target`; else empty. */
  otherTargets: readonly string[];
  /** Number of documents to remove. */
  count: number;
  /** Number of documents in scope. */
  total: number;
  maxDelete: MaxDelete | undefined;
}

const defaultShare = 0.1;
const defaultCount = 100;

function limitOf({ maxDelete, total }: RemovalFacts): { most: number; words: string } {
  if (maxDelete === undefined) {
    const most = Math.min(Math.max(1, Math.floor(total * defaultShare)), defaultCount);
    const words = `10 % of ${formatCount(total)}, at least 1 and at most ${defaultCount}`;
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
 * Throws CliError `usage` unless all files were read and the size of the removal is expected.
 * This guards against disk errors, wrong paths and wrong targets, which all look like "all
 * files are gone".
 */
export function refuseRemoval(facts: RemovalFacts): void {
  const {
    lostPath,
    unsureId,
    fileCount,
    isRemoved,
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
      `the state has no records for ${target}, only for ${otherTargets.join(", ")}`,
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
  if (fileCount === 0 && !isRemoved) {
    throw refuse("no file was found", "check the paths, and that all file systems are mounted");
  }
  if (unreadable > 0) {
    throw refuse(
      `${countOf(unreadable, "file or folder", "files or folders")} cannot be read`,
      "fix them first; `knowctl status` lists them",
    );
  }
  if (failedBefore !== undefined) {
    throw refuse(
      `the last upload of ${failedBefore} failed`,
      "send the failed documents first: knowctl retry",
      "or forget the failures: knowctl state forget --failed",
    );
  }
  if (stopped !== undefined) {
    throw refuse(
      `the upload of ${stopped} stopped before it sent all documents, or is still running`,
      "run that upload again: it sends the missing documents",
      "or forget that it stopped: knowctl state forget --failed",
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
    `${formatCount(count)} of ${countOf(total, "document")} would be removed, but --max-delete allows ${formatCount(most)} (${words})`,
    `check the list (--dry-run), then use --max-delete ${count}`,
  );
}

import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { findMissingFile, type MissingFile, openRepository } from "../../git/repository.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { countOf, formatCount } from "../../output/terminal/progress.ts";
import { countYielded, type OrphanTable } from "../../sync/orphans/orphans.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import { listTargets, type Target } from "../../sync/state/target.ts";
import { areInputsRemoved, orphanScope } from "../ingest/options/inputs.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";
import { targetText } from "../ingest/target/pair.ts";
import { failureScope, failuresKey, stoppedUpload } from "../ingest/upload/failures.ts";
import type { JudgingSession } from "../judging/judge.ts";

/** The orphans, with the session, plan and target of the search. */
export interface Work {
  session: JudgingSession;
  plan: Plan;
  target: Target;
  orphans: OrphanTable;
}

function refuse(reason: string, ...hints: string[]): never {
  throw new CliError("usage", `${reason}; nothing was removed`, { hints });
}

/** Limit for one removal: a number, or a share of all documents. */
export type MaxDelete = { count: number } | { percent: number };

const defaultShare = 0.1;
const defaultCount = 100;

function limitOf(maxDelete: MaxDelete | undefined, total: number): { most: number; words: string } {
  if (maxDelete === undefined) {
    const most = Math.min(Math.max(1, Math.floor(total * defaultShare)), defaultCount);
    const words = `10 % of ${formatCount(total)}, at least 1 and at most ${defaultCount}`;
    return { most, words: `default: ${words}` };
  }
  if ("count" in maxDelete) return { most: maxDelete.count, words: "as given" };
  const most = Math.floor((total * maxDelete.percent) / 100);
  return { most, words: `${maxDelete.percent} % of ${formatCount(total)}` };
}

/** Throws CliError `usage` for a removal of more documents than expected. */
export function refuseMany(count: number, total: number, maxDelete?: MaxDelete): void {
  const { most, words } = limitOf(maxDelete, total);
  if (count <= most) return;
  refuse(
    `${formatCount(count)} of ${countOf(total, "document")} would be removed, but --max-delete allows ${formatCount(most)} (${words})`,
    `check the list (--dry-run), then use --max-delete ${count}`,
  );
}

const targetsShown = 10;

/** Records for another target, or of another root: wrong flags look like "all files are gone". */
function refuseOtherRecords({ session: { state, lostPath }, target: { key } }: Work): void {
  const others = state.knows(key) ? [] : listTargets(state.database, targetsShown);
  if (others.length > 0) {
    refuse(
      `the state has no records for ${targetText(key)}, only for ${others.map(targetText).join(", ")}`,
      "check --cc-pair-id, --base-url and --profile",
    );
  }
  if (lostPath !== undefined) {
    refuse(
      `none of the recorded files exists under this root (the first is ${lostPath})`,
      "name the root of the uploads with --root DIR",
      "if all files were renamed, upload them under their new names first",
    );
  }
}

/** Files that cannot be found or read: a disk error looks like "all files are gone". */
function refuseUnread({ session: { source }, plan }: Work): void {
  if (plan.fileCount === 0 && !areInputsRemoved(source)) {
    refuse("no file was found", "check the paths, and that all file systems are mounted");
  }
  const unreadable = plan.table.count("failed");
  if (unreadable > 0) {
    refuse(
      `${countOf(unreadable, "file or folder", "files or folders")} cannot be read`,
      "fix them first; `knowctl status` lists them",
    );
  }
}

/** An upload that failed or stopped: what it did not send is not recorded. */
function refuseUnfinished({ session: { state, source, targets }, plan }: Work): void {
  const isInFailureScope = failureScope(source, plan);
  for (const { path } of state.listFailures(failuresKey(targets))) {
    if (!isInFailureScope(path)) continue;
    refuse(
      `the last upload of ${source.shown(path)} failed`,
      "send the failed documents first: knowctl retry",
      "or forget the failures: knowctl state forget --failed",
    );
  }
  const stopped = stoppedUpload(state, targets, source);
  if (stopped !== undefined) {
    refuse(
      `the upload of ${stopped} stopped before it sent all documents, or is still running`,
      "run that upload again: it sends the missing documents",
      "or forget that it stopped: knowctl state forget --failed",
    );
  }
}

/** A document whose file is gone: a file that was not read may have its id, in front matter or a row. */
function refuseUnsureId({ inputs, cwd, settings }: DocumentSource, orphans: OrphanTable): void {
  const isWhole =
    inputs.length === 0
      ? settings.include.length === 0
      : inputs.some((input) => resolve(cwd, input) === settings.root);
  if (isWhole) return;
  for (const { class: name, isSelected, id, path } of orphans.list()) {
    if (!isSelected || name !== "gone" || id.endsWith(path)) continue;
    refuse(
      `the id ${id} is not made of its path, so a file outside the given paths may have it now`,
      "run the same command over the whole project root",
    );
  }
}

/** Throws CliError `usage` unless all files were read and the size of the removal is expected. */
export function checkRemoval(work: Work, maxDelete: MaxDelete | undefined): void {
  const { session, target, orphans } = work;
  refuseOtherRecords(work);
  refuseUnread(work);
  refuseUnfinished(work);
  refuseUnsureId(session.source, orphans);
  let recorded = 0;
  for (const { isSelected, class: name } of orphans.list()) {
    if (isSelected && name !== "extra") recorded++;
  }
  const isInScope = orphanScope(session.source);
  const total = countYielded(session.state.database, target.key, isInScope) + recorded;
  refuseMany(orphans.selected, total, maxDelete);
}

const remedies: Readonly<Record<MissingFile["why"], (name: string) => string[]>> = {
  "left-out": (name) => [
    "complete the checkout: git sparse-checkout disable",
    `or, for a single file: git update-index --no-skip-worktree '${name}' && git restore '${name}'`,
  ],
  submodule: () => ["fetch the submodules: git submodule update --init --recursive"],
  assumed: (name) => [
    `git update-index --no-assume-unchanged '${name}', then restore it or commit its removal`,
  ],
  deleted: () => ["restore it (git restore), or commit its removal"],
};

/**
 * Throws CliError `usage` when the work tree lacks a tracked file below the root that nobody removed:
 * its document would seem to have no file. With `deletions` also for one deleted without a commit.
 * Outside git there is nothing to check.
 */
export async function refuseIncompleteCheckout(
  { env, signal }: Context,
  root: string,
  { deletions }: { deletions: boolean },
): Promise<void> {
  const repository = await openRepository(root, env, { signal });
  const missing = repository && (await findMissingFile(repository, { signal, deletions }));
  if (missing === undefined) return;
  const name = neutraliseLine(missing.name);
  refuse(
    `a removal needs a complete checkout, and ${name}, which git tracks, is missing`,
    ...remedies[missing.why](name),
  );
}

import { deleteDocument } from "../../../api/documents.ts";
import { createGate, type Gate } from "../../../api/retry/gate.ts";
import { resolve } from "node:path";
import type { Context } from "../../../context.ts";
import { CliError } from "../../../errors.ts";
import { countOf } from "../../../output/terminal/progress.ts";
import {
  countAccepted,
  listTargets,
  type ListedOrphan,
  type OrphanTable,
} from "../../../sync/orphans/orphan-table.ts";
import type { OrphanClass } from "../../../sync/orphans/orphan-classes.ts";
import type { Orphan } from "../../../sync/orphans/orphans.ts";
import type { Plan } from "../../../sync/plan/plan.ts";
import { removeOrphans } from "../../../sync/orphans/remove.ts";
import type { Target } from "../../../sync/state/target.ts";
import { createPrompt } from "../../prompt.ts";
import type { AccessFlags } from "../target/access.ts";
import { failureScope, failuresKey, stoppedUpload } from "../upload/failures.ts";
import { refuseRemoval, type MaxDelete } from "./orphan-guards.ts";
import { orphanScope } from "./orphan-scope.ts";
import type { DocumentSource } from "../options/settings.ts";
import type { Session, SessionRequest, UploadConnection } from "../session.ts";
import { sendTombstone } from "./tombstone.ts";

export interface OrphansOptions extends SessionRequest, AccessFlags {
  prune?: boolean;
  tombstone?: boolean;
  yes?: boolean;
  maxDelete?: MaxDelete;
  /** Classes to list; with a removal, classes to remove beside the usual ones. */
  class?: OrphanClass[];
}

/** Orphans that were found, and what they were found with. */
export interface Work {
  session: Session;
  plan: Plan;
  target: Target;
  orphans: OrphanTable;
}

/**
 * The id of a document whose file is gone, where a file that this command did not look at may have
 * that id in its front matter or a row.
 */
function unsureIdOf(source: DocumentSource, orphans: OrphanTable): string | undefined {
  if (source.inputs.some((input) => resolve(source.cwd, input) === source.settings.root)) {
    return undefined;
  }
  for (const { class: name, isSelected, id, path } of orphans.list()) {
    if (isSelected && name === "gone" && !id.endsWith(path)) return id;
  }
  return undefined;
}

/** Throws CliError `usage` where a guard says no, see refuseRemoval(). */
export function checkRemoval(
  { session, plan, target, orphans }: Work,
  options: OrphansOptions,
): void {
  const { state, source } = session;
  const isFailed = failureScope(source, plan);
  let failedBefore: string | undefined;
  for (const { path } of state.listFailures(failuresKey(session.targets))) {
    if (isFailed(path)) failedBefore ??= path;
  }
  const isInScope = orphanScope(source);
  refuseRemoval({
    fileCount: plan.fileCount,
    unreadable: plan.table.count("failed"),
    failedBefore: failedBefore === undefined ? undefined : source.shown(failedBefore),
    lostPath: session.lostPath,
    unsureId: unsureIdOf(source, orphans),
    stopped: stoppedUpload(session),
    target: target.key,
    otherTargets: state.knows(target.key) ? [] : listTargets(state.database),
    count: orphans.selected,
    total: countAccepted(state.database, target.key, isInScope),
    maxDelete: options.maxDelete,
  });
}

/** Asks, unless `--yes` was given. Throws CliError `usage` where nobody can be asked. */
export async function mayRemove(
  context: Context,
  { session, target, orphans }: Work,
  options: OrphansOptions,
): Promise<boolean> {
  if (options.yes) return true;
  const what = `${countOf(orphans.selected, "document")} of ${target.key}`;
  const prompt = createPrompt(context, options, session.output);
  if (prompt.canAsk) {
    return await prompt.confirm(
      options.prune ? `Delete ${what}?` : `Replace ${what} by a removal notice?`,
    );
  }
  throw new CliError("usage", `this removes ${what}, and there is no terminal to ask on`, {
    hints: ["look at the list without it first, then give --yes"],
  });
}

/** Whether an id that the service gave is ours in its own encoding: nothing else may be deleted by it. */
function isSameId(storedId: string, id: string): boolean {
  const plain = (text: string): string => text.replaceAll(" ", "_");
  try {
    return plain(decodeURIComponent(storedId)) === plain(id);
  } catch {
    return plain(storedId) === plain(id);
  }
}

/** Removes one orphan from the service, then from the state: never the other way round. */
function createRemove(
  context: Context,
  { session, target }: Work,
  { client }: UploadConnection,
  { gate, prune }: { gate: Gate; prune: boolean },
): (orphan: ListedOrphan) => Promise<"deleted" | "tombstoned"> {
  const { state, source, output } = session;
  const storedIdOf = ({ id, storedId }: Orphan): string => {
    const own = client.dialect.storedId?.(id) ?? id;
    // A short secret of the profile is hidden in what the service says, ids included.
    if (storedId === undefined || storedId === output.secrets.redact(own)) return own;
    if (storedId === own || isSameId(storedId, id)) return storedId;
    throw new CliError("usage", `the service named it ${storedId}, which may be another document`);
  };
  return async (orphan) => {
    // Should the answer be lost and the file come back, it is sent again.
    state.doubt([{ target: target.key, id: orphan.id }]);
    if (prune) {
      await deleteDocument(client, storedIdOf(orphan), { gate });
      state.dropAccepted(target.key, orphan.id);
      return "deleted";
    }
    const { settings } = source;
    const tools = { settings, gate, now: context.now };
    state.save({ accepted: [await sendTombstone(client, orphan, target, tools)] });
    return "tombstoned";
  };
}

/** Removes them all and says how many. Throws the error that stopped it. */
export async function removeAll(
  context: Context,
  work: Work,
  connected: UploadConnection,
  options: OrphansOptions,
): Promise<{ failed: number }> {
  const { session, orphans } = work;
  const { concurrency, rate: ratePerSecond } = connected;
  const gate = createGate({
    ceiling: concurrency,
    ratePerSecond,
    clock: context,
    signal: context.signal,
  });
  const counts = { removed: 0, failed: 0 };
  try {
    await removeOrphans({
      orphans,
      remove: createRemove(context, work, connected, { gate, prune: options.prune === true }),
      isGivenUp: () => gate.state().stopped !== undefined,
      concurrency,
      signal: context.signal,
      onDone: (status) => counts[status]++,
    });
  } finally {
    const done = options.prune ? "deleted" : "replaced by a removal notice";
    const failed = counts.failed > 0 ? `, ${countOf(counts.failed, "failure")}` : "";
    await session.output.note(`${countOf(counts.removed, "document")} ${done}${failed}`);
  }
  return counts;
}

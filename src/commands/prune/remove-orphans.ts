import { deleteDocument, upsertDocument } from "../../api/documents.ts";
import { createGate, type Gate } from "../../api/retry/gate.ts";
import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { countOf } from "../../output/terminal/progress.ts";
import {
  countYielded,
  type ListedOrphan,
  type OrphanTable,
} from "../../sync/orphans/orphan-table.ts";
import type { OrphanClass } from "../../sync/orphans/orphan-classes.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import { removeOrphans } from "../../sync/orphans/remove.ts";
import { listTargets, serviceTargets, type Target } from "../../sync/state/target.ts";
import { createPrompt, confirmChange } from "../prompt.ts";
import type { AccessFlags } from "../ingest/target/access.ts";
import { namedPair, pairText } from "../ingest/target/names.ts";
import { failureScope, failuresKey, stoppedUpload } from "../ingest/upload/failures.ts";
import { refuseRemoval, type MaxDelete } from "./orphan-guards.ts";
import { orphanScope, areInputsRemoved } from "../ingest/options/inputs.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";
import type { Session, SessionRequest, UploadConnection } from "../ingest/session.ts";
import { tombstoneMark, type AcceptedRecord } from "../../sync/state/records.ts";
import type { Client } from "../../api/client.ts";
import type { IngestionRequest } from "../../api/schemas.ts";
import { effectiveFor } from "../../documents/map/effective.ts";
import { fingerprintOf } from "../../documents/payload/payload.ts";
import type { DocumentSettings } from "../../documents/map/settings.ts";

function noticeOf(orphan: ListedOrphan, settings: DocumentSettings): IngestionRequest["document"] {
  const name = orphan.path.slice(orphan.path.lastIndexOf("/") + 1);
  // No date: the service then uses its own clock, and a restored file may have an older date.
  return {
    id: orphan.id,
    semantic_identifier: `${name} (removed)`,
    sections: [{ text: "This document has been removed." }],
    source: effectiveFor(orphan.path, settings).source.value,
    metadata: { status: "removed" },
  };
}

/** Replaces a document with a short removal notice. Returns the record of the notice. Throws ApiError. */
async function sendTombstone(
  client: Client,
  orphan: ListedOrphan,
  target: Target,
  { settings, gate, now }: { settings: DocumentSettings; gate: Gate; now: () => number },
): Promise<AcceptedRecord> {
  const document = noticeOf(orphan, settings);
  const body: IngestionRequest = { document, cc_pair_id: target.ccPairId };
  const result = await upsertDocument(client, JSON.stringify(body), { gate });
  const storedId = result.document_id ?? undefined;
  return {
    target: target.key,
    id: orphan.id,
    path: orphan.path,
    part: orphan.part,
    whole: tombstoneMark,
    fields: fingerprintOf(document).fields,
    updatedAt: undefined,
    storedId: storedId === orphan.id ? undefined : storedId,
    sentAtMs: now(),
  };
}

export interface PruneOptions extends SessionRequest, AccessFlags {
  tombstone?: boolean;
  yes?: boolean;
  /** Also remove documents that only the service has. */
  extra?: boolean;
  maxDelete?: MaxDelete;
  /** Additional classes to remove; `shared`: also what another pair has. */
  class?: (OrphanClass | "shared")[];
}

/** The orphans, with the session, plan and target of the search. */
export interface Work {
  session: Session;
  plan: Plan;
  target: Target;
  orphans: OrphanTable;
}

const targetsShown = 10;

/**
 * Id of a document whose file is gone, when a file that this command did not read may have that id
 * in its front matter or in a row.
 */
function unsureIdOf(
  { inputs, cwd, settings }: DocumentSource,
  orphans: OrphanTable,
): string | undefined {
  const isWhole =
    inputs.length === 0
      ? settings.include.length === 0
      : inputs.some((input) => resolve(cwd, input) === settings.root);
  if (isWhole) return undefined;
  for (const { class: name, isSelected, id, path } of orphans.list()) {
    if (isSelected && name === "gone" && !id.endsWith(path)) return id;
  }
  return undefined;
}

/** Throws CliError `usage` when the removal is not safe, see refuseRemoval(). */
export function checkRemoval(
  { session, plan, target, orphans }: Work,
  options: PruneOptions,
): void {
  const { state, source } = session;
  const isInFailureScope = failureScope(source, plan);
  let failedBefore: string | undefined;
  for (const { path } of state.listFailures(failuresKey(session.targets))) {
    if (isInFailureScope(path)) failedBefore ??= path;
  }
  const isInScope = orphanScope(source);
  let recorded = 0;
  for (const { isSelected, class: name } of orphans.list()) {
    if (isSelected && name !== "extra") recorded++;
  }
  refuseRemoval({
    fileCount: plan.fileCount,
    isRemoved: areInputsRemoved(source),
    unreadable: plan.table.count("failed"),
    failedBefore: failedBefore === undefined ? undefined : source.shown(failedBefore),
    lostPath: session.lostPath,
    unsureId: unsureIdOf(source, orphans),
    stopped: stoppedUpload(session.state, session.targets, session.source),
    target: target.key,
    otherTargets: state.knows(target.key) ? [] : listTargets(state.database, targetsShown),
    count: orphans.selected,
    total: countYielded(state.database, target.key, isInScope) + recorded,
    maxDelete: options.maxDelete,
  });
}

/** Asks for confirmation, unless `--yes` is set. Throws CliError `usage` without a terminal. */
export async function confirmRemoval(
  context: Context,
  { session, target, orphans }: Work,
  options: PruneOptions,
): Promise<boolean> {
  const { connected, output, pairNames, targets } = session;
  const { ccPairId } = target;
  const documents = countOf(orphans.selected, "document");
  return await confirmChange(
    createPrompt(context, options, output),
    options.yes,
    async () => {
      const pair = connected
        ? await namedPair(connected.client, ccPairId, pairNames)
        : pairText(ccPairId, undefined);
      return options.tombstone
        ? `Replace ${documents} of ${pair} with a removal notice?`
        : `Delete ${documents} of ${pair}?`;
    },
    `remove ${documents} of ${pairText(ccPairId, undefined)} at ${targets.baseUrl}`,
    "check the list first (--dry-run), then confirm with --yes",
  );
}

/** Whether a stored id is the encoded form of our id. Deleting by any other id is not allowed. */
function isSameId(storedId: string, id: string): boolean {
  const plain = (text: string): string => text.replaceAll(" ", "_");
  try {
    return plain(decodeURIComponent(storedId)) === plain(id);
  } catch {
    return plain(storedId) === plain(id);
  }
}

/** Removes an orphan from the service first, then from the state. */
function createRemove(
  context: Context,
  { session, target }: Work,
  { client }: UploadConnection,
  { gate, deletes }: { gate: Gate; deletes: boolean },
): (orphan: ListedOrphan) => Promise<"deleted" | "tombstoned"> {
  const { state, source, output } = session;
  const storedIdOf = ({ id, storedId }: ListedOrphan): string => {
    const own = client.dialect.storedId?.(id) ?? id;
    // Responses are redacted, so a short secret of the profile is hidden in stored ids too.
    if (storedId === undefined || storedId === output.secrets.redact(own)) return own;
    if (storedId === own || isSameId(storedId, id)) return storedId;
    throw new CliError(
      "usage",
      `the service stored it as ${storedId}, which may be another document`,
    );
  };
  const sharedTargets = serviceTargets(state.database, session.targets.baseUrl);
  return async (orphan) => {
    // If the response is lost and the file is restored later, it is sent again. One id is one
    // document, whatever pair it was sent to (observed-service.md 3.3): the others lose it too.
    state.doubt(sharedTargets.map((key) => ({ target: key, id: orphan.id })));
    if (deletes) {
      await deleteDocument(client, storedIdOf(orphan), { gate });
      for (const key of sharedTargets) state.dropAccepted(key, orphan.id);
      return "deleted";
    }
    const { settings } = source;
    const tools = { settings, gate, now: context.now };
    const notice = await sendTombstone(client, orphan, target, tools);
    // No pair has the document of a file that is gone. Another file stays in doubt.
    const isOfFile = (key: string): boolean =>
      orphan.class === "gone" && state.accepted(key, orphan.id)?.path === orphan.path;
    const others = sharedTargets.filter((key) => key !== target.key && isOfFile(key));
    state.save({ accepted: [notice, ...others.map((key) => ({ ...notice, target: key }))] });
    return "tombstoned";
  };
}

/** Removes the selected orphans and reports their number. Throws the error that stopped it. */
export async function removeAll(
  context: Context,
  work: Work,
  connected: UploadConnection,
  options: PruneOptions,
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
      remove: createRemove(context, work, connected, { gate, deletes: options.tombstone !== true }),
      isGivenUp: () => gate.state().stopped !== undefined,
      concurrency,
      signal: context.signal,
      onDone: (status) => counts[status]++,
    });
  } finally {
    const done = options.tombstone ? "replaced with a removal notice" : "deleted";
    const failed = counts.failed > 0 ? `, ${countOf(counts.failed, "failure")}` : "";
    await session.output.note(`${countOf(counts.removed, "document")} ${done}${failed}`);
  }
  return counts;
}

import type { Client } from "../../api/client.ts";
import { deleteDocument, upsertDocument } from "../../api/documents.ts";
import type { Gate } from "../../api/retry/gate.ts";
import type { IngestionRequest } from "../../api/schemas.ts";
import type { Context } from "../../context.ts";
import { effectiveFor } from "../../documents/map/effective.ts";
import type { DocumentSettings } from "../../documents/map/settings.ts";
import { fingerprintOf } from "../../documents/payload/payload.ts";
import { CliError } from "../../errors.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { type ListedOrphan, removeOrphans } from "../../sync/orphans/orphans.ts";
import { tombstoneMark, type AcceptedRecord } from "../../sync/state/records.ts";
import { serviceTargets, type Target } from "../../sync/state/target.ts";
import type { UploadConnection } from "../ingest/session.ts";
import type { Work } from "./guards.ts";

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
  { key, ccPairId }: Target,
  settings: DocumentSettings,
  gate: Gate,
): Promise<Omit<AcceptedRecord, "sentAtMs">> {
  const { id, path, part } = orphan;
  const document = noticeOf(orphan, settings);
  const body: IngestionRequest = { document, cc_pair_id: ccPairId };
  const json = JSON.stringify(body);
  const { document_id: stored, answeredAtMs } = await upsertDocument(client, json, { gate });
  return {
    target: key,
    id,
    path,
    part,
    whole: tombstoneMark,
    updatedAt: undefined,
    answeredAtMs,
    fields: fingerprintOf(document).fields,
    storedId: stored === id ? undefined : (stored ?? undefined),
  };
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
  { now }: Context,
  { session, target }: Work,
  client: Client,
  gate: Gate,
  byNotice: boolean,
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
    await state.doubt(sharedTargets.map((key) => ({ target: key, id: orphan.id })));
    if (!byNotice) {
      await deleteDocument(client, storedIdOf(orphan), { gate });
      for (const key of sharedTargets) state.dropAccepted(key, orphan.id);
      return "deleted";
    }
    const sent = await sendTombstone(client, orphan, target, source.settings, gate);
    const notice = { ...sent, sentAtMs: now() };
    // No pair has the document of a file that is gone. Another file stays in doubt.
    const isOfFile = (key: string): boolean =>
      orphan.class === "gone" && state.accepted(key, orphan.id)?.path === orphan.path;
    const others = sharedTargets.filter((key) => key !== target.key && isOfFile(key));
    state.save({ accepted: [notice, ...others.map((key) => ({ ...notice, target: key }))] });
    return "tombstoned";
  };
}

/**
 * Removes the selected orphans, with `byNotice` by a removal notice in place of each, and prints their
 * number. Returns the number of failures. Throws the error that stopped it.
 */
export async function removeAll(
  context: Context,
  work: Work,
  { client, concurrency }: UploadConnection,
  { gate, byNotice }: { gate: Gate; byNotice: boolean },
): Promise<number> {
  const { session, orphans } = work;
  const { signal } = context;
  const counts = { removed: 0, failed: 0 };
  try {
    await removeOrphans({
      orphans,
      remove: createRemove(context, work, client, gate, byNotice),
      isGivenUp: () => gate.state().stopped !== undefined,
      concurrency,
      signal,
      onDone: (status) => counts[status]++,
    });
  } finally {
    const done = byNotice ? "replaced with a removal notice" : "deleted";
    const failed = counts.failed > 0 ? `, ${countOf(counts.failed, "failure")}` : "";
    await session.output.note(`${countOf(counts.removed, "document")} ${done}${failed}`);
  }
  return counts.failed;
}

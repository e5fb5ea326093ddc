import { tombstoneMark } from "../../sync/state/records.ts";
import { upsertDocument } from "../../api/documents.ts";
import type { Client } from "../../api/client.ts";
import type { Gate } from "../../api/retry/gate.ts";
import type { IngestionRequest } from "../../api/schemas.ts";
import { effectiveFor } from "../../documents/map/effective.ts";
import { fingerprintOf } from "../../documents/payload/payload.ts";
import type { DocumentSettings } from "../../documents/map/settings.ts";
import type { ListedOrphan } from "../../sync/orphans/orphan-table.ts";
import type { AcceptedRecord } from "../../sync/state/records.ts";
import type { Target } from "../../sync/state/target.ts";

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
export async function sendTombstone(
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

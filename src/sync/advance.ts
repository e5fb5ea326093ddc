import type { IngestionRequest } from "../api/schemas.ts";
import type { ReadyDocument } from "../documents/inspection.ts";
import type { LastSent } from "./due.ts";
import type { SentBody } from "./run.ts";

// How far the clock of the service may be from ours.
const skewMs = 5 * 60_000;

/**
 * The body to send for a document that the service has already, where the
 * service leaves out what has no later date and the same text (observed-service.md
 * 3.5): metadata, title or links alone would not arrive. A date that is not later
 * than the one sent last becomes a little later than that. Without a date the
 * service takes its own clock: that advances by itself, unless the date sent last
 * lies in the future.
 */
export function advanceDate(document: ReadyDocument, last: LastSent, nowMs: number): SentBody {
  const { body, updatedAt } = document;
  if (updatedAt === undefined && last.updatedAt === undefined) return { body, updatedAt };
  const wantedMs = updatedAt === undefined ? nowMs - skewMs : Date.parse(updatedAt);
  const lastMs = last.updatedAt === undefined ? last.sentAtMs + skewMs : Date.parse(last.updatedAt);
  if (Number.isNaN(lastMs) || wantedMs > lastMs) return { body, updatedAt };
  // More with the time that went by: what an interrupted run sent is not known here,
  // and the service has its date already.
  const stepMs = 1000 + Math.max(0, Math.ceil((nowMs - last.sentAtMs) / 1000));
  const later = new Date(lastMs + stepMs).toISOString();
  const request = JSON.parse(Buffer.from(body).toString()) as IngestionRequest;
  request.document.doc_updated_at = later;
  return { body: Buffer.from(JSON.stringify(request)), updatedAt: later };
}

import type { IngestionRequest } from "../api/schemas.ts";
import type { ReadyDocument } from "../documents/inspection.ts";
import type { SentBody } from "./run.ts";

/**
 * The body to send for a document that the service has already, where the
 * service leaves out what has no later date and the same text (observed-service.md
 * 3.5): metadata, title or links alone would not arrive. The date becomes one
 * second later than the one sent last; without a date the service takes its own
 * clock, which advances by itself.
 */
export function advanceDate(document: ReadyDocument, lastSentAt: string | undefined): SentBody {
  const { body, updatedAt } = document;
  if (updatedAt === undefined || lastSentAt === undefined) return { body, updatedAt };
  const [wanted, last] = [Date.parse(updatedAt), Date.parse(lastSentAt)];
  if (Number.isNaN(last) || wanted > last) return { body, updatedAt };
  const request = JSON.parse(Buffer.from(body).toString()) as IngestionRequest;
  const later = new Date(last + 1000).toISOString();
  request.document.doc_updated_at = later;
  return { body: Buffer.from(JSON.stringify(request)), updatedAt: later };
}

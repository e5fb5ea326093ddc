import type { SentBody } from "./run-request.ts";
import type { IngestionRequest } from "../../api/schemas.ts";
import type { ReadyDocument } from "../../documents/inspect/inspection.ts";
import type { LastSent } from "./pending.ts";
import type { State } from "../state/state.ts";
import { serviceTargets } from "../state/target.ts";

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
export function bumpUpdatedAt(document: ReadyDocument, last: LastSent, nowMs: number): SentBody {
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

/**
 * How a document was sent last that the service has, though nothing is recorded of it here: no
 * advance of this tool is beyond this date. Each adds a second, and a millisecond for each second
 * that went by since the one before; sixty of them without a new date nobody writes.
 */
function farthestSent(updatedAt: string, nowMs: number): LastSent {
  const dateMs = Date.parse(updatedAt);
  const farthestMs = dateMs + 60_000 + Math.max(0, Math.ceil((nowMs - dateMs) / 1000));
  return { updatedAt: new Date(farthestMs).toISOString(), sentAtMs: nowMs };
}

/** Gives documents the dates with which the service takes them as they are. */
export interface Dates {
  /** As RunRequest.adapt. */
  adapt(document: ReadyDocument, last: LastSent | undefined): SentBody;
  /** Documents that the service had already with a date that nobody knows here. */
  unknown(): number;
}

/**
 * For a service that leaves out what has no later date, see advanceDate(). Its documents have one
 * date whatever the pair: the last one sent to any of its pairs counts. Where nothing is recorded,
 * as after the state was lost, the date stays as it is unless `force` says that the service shall
 * take the document; should it have been there, the farthest date it can have is recorded, so that
 * the next change arrives.
 */
export function createDates(request: {
  state: State;
  baseUrl: string;
  force: boolean;
  now: () => number;
}): Dates {
  const { state, force, now } = request;
  // What this run itself adds is of documents that it sends once.
  const targets = serviceTargets(state.database, request.baseUrl);
  let unknown = 0;
  return {
    adapt(document, last) {
      for (const target of targets) {
        const sent = state.accepted(target, document.id);
        if (sent && (!last || sent.sentAtMs > last.sentAtMs)) last = sent;
      }
      if (last) return bumpUpdatedAt(document, last, now());
      const { body, updatedAt } = document;
      if (updatedAt === undefined) return { body, updatedAt };
      if (force) return bumpUpdatedAt(document, farthestSent(updatedAt, now()), now());
      const dateIfThere = (): string | undefined => {
        unknown++;
        return farthestSent(updatedAt, now()).updatedAt;
      };
      return { body, updatedAt, dateIfThere };
    },
    unknown: () => unknown,
  };
}

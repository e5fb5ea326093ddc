import type { IngestionRequest } from "../../api/schemas.ts";
import { imagePlaceholder } from "../../documents/map/images/image-sections.ts";
import type { LocalImage } from "../../documents/map/images/images.ts";
import { stateFailure } from "../state/state-failure.ts";
import type { State } from "../state/state.ts";
import type { SentBody } from "./run-request.ts";
import type { ReadyDocument } from "../../documents/inspect/inspection.ts";
import type { LastSent } from "./pending.ts";
import { serviceTargets } from "../state/target.ts";

/** Images of the documents of a run: uploaded once per content, remembered in the state. */
interface Images {
  /**
   * Returns the request with the service's file ids in place of the image placeholders.
   * Uploads images that have no id yet. Throws what the upload throws.
   */
  place(body: Uint8Array, images: readonly LocalImage[]): Promise<Uint8Array>;
}

interface ImagesRequest {
  state: State;
  /** Origin and path prefix of the service that issued the ids. */
  service: string;
  /** Upload images of earlier runs again: the service may have lost them. */
  force: boolean;
  /** Uploads one image; resolves with its id. */
  upload: (image: LocalImage) => Promise<string>;
  now: () => number;
}

function withFileIds(body: Uint8Array, ids: ReadonlyMap<string, string>): Uint8Array {
  const request = JSON.parse(Buffer.from(body).toString()) as IngestionRequest;
  for (const section of request.document.sections) {
    const id = ids.get(section.image_file_id ?? "");
    if (id !== undefined) section.image_file_id = id;
  }
  return Buffer.from(JSON.stringify(request));
}

/** Creates the image uploader. With a temporary state it remembers images until the state closes. */
export function createImages({ state, service, force, upload, now }: ImagesRequest): Images {
  const { database } = state;
  const select = database.prepare("SELECT file_id FROM images WHERE service = ? AND hash = ?");
  const insert = database.prepare(
    "INSERT OR REPLACE INTO images (service, hash, file_id, sent_at) VALUES (?, ?, ?, ?)",
  );
  const uploads = new Map<string, Promise<string>>();
  const uploadedInThisRun = new Set<string>();

  const uploadOne = async (image: LocalImage): Promise<string> => {
    const { sha256 } = image;
    const id = await upload(image);
    // Record the image before its document is sent, so that a retry finds the id.
    try {
      database.transaction(() => insert.run(service, sha256, id, now()));
    } catch (error) {
      throw stateFailure("for images", error);
    }
    if (force) uploadedInThisRun.add(sha256);
    return id;
  };
  const idOf = (image: LocalImage): Promise<string> | string => {
    const { sha256 } = image;
    const known = force && !uploadedInThisRun.has(sha256) ? undefined : select.get(service, sha256);
    if (known) return String(known["file_id"]);
    let uploading = uploads.get(sha256);
    if (!uploading) {
      uploading = uploadOne(image).finally(() => uploads.delete(sha256));
      uploads.set(sha256, uploading);
    }
    return uploading;
  };
  return {
    async place(body, images) {
      if (images.length === 0) return body;
      const ids = new Map<string, string>();
      // Sequential: several documents are already in flight at the same time.
      for (const image of images) ids.set(imagePlaceholder(image.sha256), await idOf(image));
      return withFileIds(body, ids);
    },
  };
}

// Maximum difference between the clock of the service and the local clock.
const skewMs = 5 * 60_000;

/**
 * Returns the body for a document that the service already has. The service ignores an
 * update with the same text and no later date (observed-service.md 3.5), so a change of
 * only metadata, title or links would be lost. If the date is not later than the last
 * sent date, it is set slightly later. Without a date the service uses its own clock,
 * which is later unless the last sent date lies in the future.
 */
export function bumpUpdatedAt(document: ReadyDocument, last: LastSent, nowMs: number): SentBody {
  const { body, updatedAt } = document;
  if (updatedAt === undefined && last.updatedAt === undefined) return { body, updatedAt };
  const wantedMs = updatedAt === undefined ? nowMs - skewMs : Date.parse(updatedAt);
  const lastMs = last.updatedAt === undefined ? last.sentAtMs + skewMs : Date.parse(last.updatedAt);
  if (Number.isNaN(lastMs) || wantedMs > lastMs) return { body, updatedAt };
  // The step grows with the elapsed time: an interrupted run may have sent a later date
  // that is not recorded here.
  const stepMs = 1000 + Math.max(0, Math.ceil((nowMs - last.sentAtMs) / 1000));
  const later = new Date(lastMs + stepMs).toISOString();
  const request = JSON.parse(Buffer.from(body).toString()) as IngestionRequest;
  request.document.doc_updated_at = later;
  return { body: Buffer.from(JSON.stringify(request)), updatedAt: later };
}

/**
 * Upper limit for the last sent date of a document that is not recorded here. Each bump adds one
 * second, plus one millisecond for each second since the bump before. This allows sixty bumps
 * without a new date in the document.
 */
function farthestSent(updatedAt: string, nowMs: number): LastSent {
  const dateMs = Date.parse(updatedAt);
  const bumpedMs = dateMs + 60_000 + Math.max(0, Math.ceil((nowMs - dateMs) / 1000));
  // An upload without a date has that of the service's clock.
  const farthestMs = Math.max(bumpedMs, nowMs + skewMs);
  return { updatedAt: new Date(farthestMs).toISOString(), sentAtMs: nowMs };
}

/** Sets dates in documents so that the service does not ignore their changes. */
interface Dates {
  /** See RunRequest.adapt. */
  adapt(document: ReadyDocument, last: LastSent | undefined): SentBody;
  /** Number of documents that the service already had with an unknown date. */
  unknown(): number;
}

/** For a service that takes every update. */
export const unchangedDates: Dates = { adapt: (document) => document, unknown: () => 0 };

/**
 * For a service that ignores updates without a later date, see bumpUpdatedAt(). A document has one
 * date for all pairs, so the last date sent to any pair counts. If nothing is recorded (the state
 * was lost), the date is unchanged unless `force` is set. If the service then already had the
 * document, farthestSent() is recorded as its date, so that the next change is not ignored.
 */
export function createDates(request: {
  state: State;
  baseUrl: string;
  force: boolean;
  now: () => number;
}): Dates {
  const { state, force, now } = request;
  // Targets that this run adds do not matter: it sends each document once.
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

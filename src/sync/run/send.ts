import type { DocumentEvent, RunRequest } from "./run-request.ts";
import type { ReadyDocument } from "../../documents/inspect/inspection.ts";
import { ApiError, CliError, messageOf } from "../../errors.ts";
import { changedFields } from "../../documents/payload/payload.ts";
import { isDocumentFault, mayHaveSent } from "./failures.ts";
import type { Known, LastSent, Pending } from "./pending.ts";
import type { Recorder } from "./recorder.ts";
import { seenText, type AcceptedRecord, type FileRecord, type IdOrigin } from "../state/records.ts";
import type { State } from "../state/state.ts";
import { targetFor, type Target } from "../state/target.ts";

/** A RunRequest with cheaper look-ups in the state. */
export interface Run extends RunRequest {
  acceptedOf: State["accepted"];
  /** Whether an id is recorded under any pair of the service. */
  isRecorded: (id: string) => boolean;
}

function toFileRecord(
  document: ReadyDocument,
  target: Target,
  request: RunRequest,
): FileRecord | undefined {
  const { path, part, stamp, content, parts, id, ownPair, fingerprint } = document;
  if (path === "") return undefined;
  return {
    path,
    part,
    seen: seenText(stamp, request.mappingKey(path)),
    content,
    document: { id, ccPairId: ownPair, whole: fingerprint.whole },
    skipped: undefined,
    parts,
    target: target.key,
  };
}

/** Whether only fields beside the text changed: a service may skip such an update. */
function isMetadataAlone({ fingerprint }: ReadyDocument, last: LastSent | undefined): boolean {
  if (last?.fields === undefined || last.fields === "") return false;
  const names = changedFields(last.fields, fingerprint.fields);
  return names.length > 0 && !names.includes("sections");
}

const msSince = (start: number): number => Math.round(performance.now() - start);

type Base = Pick<DocumentEvent, "path" | "id" | "row" | "line" | "ms">;

/** Result of one document; `fatal` is an error that stops the run. */
export type Outcome = { event: DocumentEvent } | { fatal: unknown };

function toOutcome(base: Base, error: unknown, request: Run): Outcome {
  const isOwnFailure =
    isDocumentFault(error) || (error instanceof CliError && error.exit === "usage");
  const runFault = request.runFaultOf?.(error);
  if (runFault || !isOwnFailure || request.isGivenUp()) return { fatal: runFault ?? error };
  const known = error instanceof ApiError ? error : undefined;
  const { retryable = false, status: httpStatus } = known ?? {};
  const isOpen = known && httpStatus === undefined && request.wasUnanswered(base.id);
  const reason = messageOf(error) + (isOpen ? "; the service may have stored it nevertheless" : "");
  return { event: { ...base, status: "failed", reason, retryable, httpStatus } };
}

function originOf(path: string, part: number, id: string, idPrefix: string): IdOrigin {
  if (path === "") return "stdin";
  if (part > 0) return "row";
  return id === idPrefix + path ? "path" : "front-matter";
}

function toAcceptedRecord(
  { path, part, id, fingerprint }: ReadyDocument,
  target: Target,
  updatedAt: string | undefined,
  storedId: string | undefined,
  { sentAtMs, answeredAtMs }: Pick<AcceptedRecord, "sentAtMs" | "answeredAtMs">,
  { options, idPrefix }: RunRequest,
  isAdopted: boolean,
): AcceptedRecord {
  const isFile = path !== "";
  return {
    target: target.key,
    id,
    path: isFile ? path : undefined,
    // The line number in stdin is no property of the document.
    part: isFile ? part : 0,
    whole: fingerprint.whole,
    fields: fingerprint.fields,
    updatedAt,
    storedId: storedId === id ? undefined : storedId,
    sentAtMs,
    answeredAtMs,
    options: isFile ? options : undefined,
    origin: isAdopted ? "adopted" : originOf(path, part, id, idPrefix),
  };
}

/**
 * Sends one document, unless it is unchanged, and records the accepted document.
 * One function without spreading, for speed: for each document, the promises of further
 * async functions and spreading cost as much as the rest of this file.
 */
async function sendDocument(
  document: ReadyDocument,
  known: Known | undefined,
  request: Run,
  recorder: Recorder,
  spentMs: number,
  wasListed: boolean,
): Promise<Outcome> {
  const { path, part, line, id, content, warnings, images, notices } = document;
  const row = part > 0 ? part : undefined;
  const startedAt = performance.now();
  try {
    const target = targetFor(request.targets, document.ownPair);
    if (!target) throw new CliError("usage", `${path}: no cc_pair_id for this document`);
    if (known === "unchanged") {
      const file = toFileRecord(document, target, request);
      if (file) recorder.skip(file);
      return { event: { status: "unchanged", path, row, id, warnings, images, notices, ms: 0 } };
    }
    const last = known?.last;
    const sent = request.adapt(document, last);
    const result = await request.upload(sent.body, document, spentMs);
    const { already_existed: alreadyExisted, document_id: idThere, answeredAtMs } = result;
    const storedId = idThere ?? undefined;
    const sentAtMs = request.now();
    const isUnrecorded =
      alreadyExisted && !last && !request.wasUnanswered(id) && !request.isRecorded(id);
    const updatedAt = (isUnrecorded ? sent.dateIfThere?.() : undefined) ?? sent.updatedAt;
    const wasUnrecorded =
      (isUnrecorded && !wasListed && !mayHaveSent(request.state, request.targets, document)) ||
      undefined;
    recorder.accept(
      toFileRecord(document, target, request),
      toAcceptedRecord(
        document,
        target,
        updatedAt,
        storedId,
        { sentAtMs, answeredAtMs },
        request,
        wasListed || wasUnrecorded === true,
      ),
    );
    const isAlone = request.onSuspect !== undefined && isMetadataAlone(document, last);
    if (isUnrecorded || isAlone) {
      request.onSuspect?.({ target: target.key, id, why: isAlone ? "metadata" : "existed" });
    }
    const status: DocumentEvent["status"] = alreadyExisted ? "updated" : "created";
    const renamedFrom = !last && path !== "" ? request.renamedFrom(content, path) : undefined;
    const sentBytes = sent.body.length;
    const ms = msSince(startedAt);
    const event = {
      status,
      path,
      row,
      id,
      storedId,
      renamedFrom,
      wasUnrecorded,
      sentBytes,
      warnings,
      images,
      notices,
      ms,
    };
    return { event };
  } catch (error) {
    return toOutcome({ path, row, line, id, ms: msSince(startedAt) }, error, request);
  }
}

/**
 * Sends a pending document, if there is one to send, and records the result. `spentMs` is the
 * time that an earlier attempt took. Throws CliError
 * `local` when the state cannot be written.
 */
export function sendPending(
  { prepared, known, isAdopted = false }: Pending,
  request: Run,
  recorder: Recorder,
  spentMs: number,
): Outcome | Promise<Outcome> {
  const { path, part } = prepared;
  const base = { path, id: "", ms: 0, row: part > 0 ? part : undefined };
  if (prepared.kind === "failed") {
    const { reason, id = "" } = prepared;
    return { event: { ...base, id, status: "failed", reason, retryable: false } };
  }
  if (prepared.kind === "skipped") {
    const { reason, stamp, content, parts } = prepared;
    const seen = seenText(stamp, request.mappingKey(path));
    const target = undefined;
    recorder.skip({
      path,
      part,
      seen,
      content,
      document: undefined,
      skipped: reason,
      parts,
      target,
    });
    return { event: { ...base, status: "skipped", reason } };
  }
  // A list of the service's documents may hold what this run has sent itself.
  const wasListed = isAdopted && !request.wasUnanswered(prepared.id);
  return sendDocument(prepared, known, request, recorder, spentMs, wasListed);
}

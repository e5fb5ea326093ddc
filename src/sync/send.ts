import type { ReadyDocument } from "../documents/inspection.ts";
import { ApiError, CliError, messageOf } from "../errors.ts";
import { decide } from "./decide.ts";
import { isDocumentFault } from "./outcome.ts";
import { knownOf, type Due, type Known } from "./due.ts";
import type { Recorder } from "./recorder.ts";
import { seenText, type FileRecord } from "./records.ts";
import type { DocumentEvent, RunRequest } from "./run.ts";
import type { State } from "./state.ts";
import { targetFor, type Target } from "./target.ts";

/** A request whose look-ups in the state are cut short. */
export interface Run extends RunRequest {
  acceptedOf: State["accepted"];
}

function toFileRecord(document: ReadyDocument, request: RunRequest): FileRecord | undefined {
  const { path, part, stamp, content, id, ownPair, fingerprint } = document;
  if (path === "") return undefined;
  return {
    path,
    part,
    seen: seenText(stamp, request.mappingKey(path)),
    content,
    document: { id, ccPairId: ownPair, whole: fingerprint.whole },
    skipped: undefined,
  };
}

function lookUp(document: ReadyDocument, target: Target, request: Run): Known | "unchanged" {
  const accepted = request.acceptedOf(target.key, document.id);
  const { action } = decide(accepted, document.fingerprint, request.force);
  if (action === "unchanged") return action;
  return knownOf(accepted);
}

/** Sends one document, unless the service has it as it is, and records what it accepted. */
async function sendDocument(
  document: ReadyDocument,
  given: Known | undefined,
  target: Target,
  request: Run,
  recorder: Recorder,
): Promise<Partial<DocumentEvent> & Pick<DocumentEvent, "status">> {
  const { path, part, id, fingerprint, content, warnings, images } = document;
  const known = given ?? lookUp(document, target, request);
  const file = toFileRecord(document, request);
  const told = { warnings, images };
  if (known === "unchanged") return { status: "unchanged", ...told };
  const { body, updatedAt } = known.last
    ? request.adapt(document, known.last)
    : { body: document.body, updatedAt: document.updatedAt };
  const result = await request.upload(body, document);
  const { alreadyExisted, storedId } = result;
  recorder.accept(file, {
    target: target.key,
    id,
    path: path === "" ? undefined : path,
    // The line of stdin it came on says nothing about the document.
    part: path === "" ? 0 : part,
    ...fingerprint,
    updatedAt,
    storedId: storedId === id ? undefined : storedId,
    sentAtMs: request.now(),
  });
  const isRename = !known.last && path !== "";
  const renamedFrom = isRename ? request.renamedFrom(content, path) : undefined;
  return {
    status: alreadyExisted ? "updated" : "created",
    storedId,
    renamedFrom,
    sentBytes: body.length,
    ...told,
  };
}

/** What became of one document; `fatal`: an error that is not its own and stops the run. */
export type Outcome = { event: DocumentEvent } | { fatal: unknown };

type Base = Pick<DocumentEvent, "path" | "id" | "row" | "ms">;

function toOutcome(base: Base, error: unknown, request: Run): Outcome {
  const isOwn = isDocumentFault(error) || (error instanceof CliError && error.exit === "usage");
  if (!isOwn || request.isGivenUp()) return { fatal: error };
  const known = error instanceof ApiError ? error : undefined;
  const { retryable = false, status: httpStatus } = known ?? {};
  const reason = messageOf(error);
  return { event: { ...base, status: "failed", reason, retryable, httpStatus } };
}

/**
 * Sends what is due, if it gives anything to send, and records what was accepted
 * or skipped. Throws CliError `local` when the state cannot be written.
 */
export async function sendDue(due: Due, request: Run, recorder: Recorder): Promise<Outcome> {
  const { prepared } = due;
  const { path, part } = prepared;
  const base = { path, id: "", ms: 0, ...(part > 0 ? { row: part } : {}) };
  if (prepared.kind === "failed") {
    const { reason } = prepared;
    return { event: { ...base, status: "failed", reason, retryable: false } };
  }
  if (prepared.kind === "skipped") {
    const { reason, stamp, content } = prepared;
    const seen = seenText(stamp, request.mappingKey(path));
    recorder.see({ path, part, seen, content, document: undefined, skipped: reason });
    return { event: { ...base, status: "skipped", reason } };
  }
  const startedAt = request.now();
  const { id } = prepared;
  const timed = (): Base => ({ ...base, id, ms: request.now() - startedAt });
  try {
    const target = targetFor(request.targets, prepared.ownPair);
    if (!target) throw new CliError("usage", `${path}: no cc_pair_id to send it to`);
    const sent = await sendDocument(prepared, due.known, target, request, recorder);
    return { event: { ...timed(), ...sent } };
  } catch (error) {
    return toOutcome(timed(), error, request);
  }
}

import type { ReadyDocument } from "../documents/inspection.ts";
import { decide } from "./decide.ts";
import type { Known } from "./prepare.ts";
import type { Recorder } from "./recorder.ts";
import { seenText, type FileRecord } from "./records.ts";
import type { DocumentEvent, RunRequest } from "./run.ts";
import type { State } from "./state.ts";
import type { Target } from "./target.ts";

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
  return { isUpdate: accepted !== undefined, updatedAt: accepted?.updatedAt };
}

/**
 * Sends one document, unless the service has it as it is, and records what it
 * accepted. Throws what the upload throws.
 */
export async function sendDocument(
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
  const { body, updatedAt } = known.isUpdate
    ? request.adapt(document, known.updatedAt)
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
  const isRename = !known.isUpdate && path !== "";
  const renamedFrom = isRename ? request.renamedFrom(content, path) : undefined;
  return {
    status: alreadyExisted ? "updated" : "created",
    storedId,
    renamedFrom,
    sentBytes: body.length,
    ...told,
  };
}

import type { upsertDocument } from "../../../api/documents.ts";
import type { FaultKind } from "../../../api/retry/policy.ts";
import type { Gate } from "../../../api/retry/gate.ts";
import type { Context } from "../../../context.ts";
import { createImages } from "../../../sync/run/images.ts";
import type { RunRequest } from "../../../sync/run/run-request.ts";
import type { SentCheck } from "../../verify/expected/sent.ts";
import type { UploadSession } from "../session.ts";
import { keepingSent } from "./check-sent.ts";
import type { ImageUploads } from "./images.ts";

interface Sending extends Pick<UploadSession, "state" | "connected" | "targets"> {
  /** With `--verify`: keeps what was sent. */
  check?: SentCheck | undefined;
  options: { force?: boolean };
}

/** Whether the service may have stored a document although its request failed. */
function mayBeStored(kind: FaultKind, status = 0): boolean {
  if (kind === "status") return status >= 500 || status === 408;
  return kind !== "unsent";
}

/** Returns the function that sends one document, after its images. */
export function createSender(
  { now }: Context,
  { state, connected: { client }, targets, check, options: { force = false } }: Sending,
  gate: Gate,
  uploads: ImageUploads,
  onHeld: (change: 1 | -1) => void,
): Pick<RunRequest, "upload" | "wasUnanswered"> {
  const unanswered = new Set<string>();
  const optionsOf = (spentMs: number, { id }: { id: string }) => ({
    gate,
    onHeld,
    spentMs,
    onFailure(kind: FaultKind, status?: number) {
      if (mayBeStored(kind, status)) unanswered.add(id);
    },
  });
  const wasUnanswered = (id: string): boolean => unanswered.has(id);
  const service = targets.baseUrl;
  // Imported with the first document: most runs have none to send.
  let upsert: typeof upsertDocument | undefined;
  const images = createImages({ state, service, force, upload: uploads.upload, now });
  const send: RunRequest["upload"] = async (planned, document, spentMs) => {
    const { uploads: wanted = [] } = document;
    upsert ??= (await import("../../../api/documents.ts")).upsertDocument;
    const body = wanted.length > 0 ? await images.place(planned, wanted) : planned;
    return await upsert(client, body, optionsOf(spentMs, document));
  };
  if (check) return { upload: keepingSent(send, check, { client, targets, now }), wasUnanswered };
  // Without images, return the promise of upsert() itself: in bulk, each extra promise counts.
  const upload: RunRequest["upload"] = (body, document, spentMs) =>
    upsert && document.uploads === undefined
      ? upsert(client, body, optionsOf(spentMs, document))
      : send(body, document, spentMs);
  return { upload, wasUnanswered };
}

import type { Client } from "../../../api/client.ts";
import type { Gate } from "../../../api/retry/gate.ts";
import { readImageBytes, type LocalImage } from "../../../documents/map/images/images.ts";
import { ApiError, CliError, reworded } from "../../../errors.ts";
import type { upsertDocument } from "../../../api/documents.ts";
import type { FaultKind } from "../../../api/retry/policy.ts";
import type { createImages } from "../../../sync/run/bodies.ts";
import type { RunRequest } from "../../../sync/run/run-request.ts";

export interface ImageUploads {
  /** Uploads one image of the project; resolves with its id in the service. */
  upload(image: LocalImage): Promise<string>;
  /** Number of uploads without a response: the service may have stored files that no document uses. */
  lost(): number;
}

function failureOf(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { message, hints, details, status } = error;
  // The service rejected this image, so only its document fails.
  if (status === 200) return new CliError("usage", message, { hints, details, cause: error });
  if (status !== 404 && status !== 405) return error;
  const hint = "the service accepts no images at this address: use --images skip";
  return reworded(error, message, [hint, ...hints]);
}

/** Uploads images of the project below `root` (a real path), through the gate of the run. */
export function createImageUploads(client: Client, root: string, gate: Gate): ImageUploads {
  let lost = 0;
  return {
    async upload(image) {
      const { name, mime: type, sizeBytes } = image;
      let unreadable: unknown;
      // Read just before sending, so that waiting images use no memory.
      // oxlint-disable-next-line typescript/require-await
      const bytes = async function* (): AsyncGenerator<Uint8Array> {
        try {
          yield readImageBytes(root, image);
        } catch (error) {
          unreadable = error;
          throw error;
        }
      };
      const onOrphan = (): void => void lost++;
      const options = { gate, isRemembered: true, onOrphan };
      try {
        const { uploadImage } = await import("../../../api/files.ts");
        return await uploadImage(client, { name, type, sizeBytes, bytes }, options);
      } catch (error) {
        throw unreadable ?? failureOf(error);
      }
    },
    lost: () => lost,
  };
}

/** Whether the service may have stored a document although its request failed. */
function mayBeStored(kind: FaultKind, status = 0): boolean {
  if (kind === "status") return status >= 500 || status === 408;
  return kind !== "unsent";
}

/** Returns the function that sends one document, after its images; `keeping` keeps what was sent. */
export function createSender(
  client: Client,
  gate: Gate,
  images: ReturnType<typeof createImages>,
  keeping?: (send: RunRequest["upload"]) => RunRequest["upload"],
): Pick<RunRequest, "upload" | "wasUnanswered" | "followHeld"> {
  const unanswered = new Set<string>();
  let hold: (change: 1 | -1) => void = () => {};
  const onHeld = (change: 1 | -1): void => hold(change);
  const optionsOf = (spentMs: number, { id }: { id: string }) => ({
    gate,
    onHeld,
    spentMs,
    onFailure(kind: FaultKind, status?: number) {
      if (mayBeStored(kind, status)) unanswered.add(id);
    },
  });
  // Imported with the first document: most runs have none to send.
  let upsert: typeof upsertDocument | undefined;
  const send: RunRequest["upload"] = async (planned, document, spentMs) => {
    const { uploads: wanted = [] } = document;
    upsert ??= (await import("../../../api/documents.ts")).upsertDocument;
    const body = wanted.length > 0 ? await images.place(planned, wanted) : planned;
    return await upsert(client, body, optionsOf(spentMs, document));
  };
  // Without images, return the promise of upsert() itself: in bulk, each extra promise counts.
  const sendFast: RunRequest["upload"] = (body, document, spentMs) =>
    upsert && document.uploads === undefined
      ? upsert(client, body, optionsOf(spentMs, document))
      : send(body, document, spentMs);
  return {
    upload: keeping ? keeping(send) : sendFast,
    wasUnanswered: (id) => unanswered.has(id),
    followHeld: (workers) => void (hold = workers),
  };
}

import type { Client } from "../../../api/client.ts";
import type { Gate } from "../../../api/retry/gate.ts";
import { readImageBytes, type LocalImage } from "../../../documents/map/images/images.ts";
import { ApiError, CliError, reworded } from "../../../errors.ts";
import type { upsertDocument } from "../../../api/documents.ts";
import type { FaultKind } from "../../../api/retry/policy.ts";
import type { createImages } from "../../../sync/run/bodies.ts";
import type { RunRequest } from "../../../sync/run/run-request.ts";
import type { UploadConnection } from "../session.ts";
import {
  type ProgressState,
  formatDuration,
  type UploadCounts,
} from "../../../output/terminal/progress.ts";

interface ImageUploads {
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

/** State of an upload at one moment, to find out why it is slow. */
export interface Moment {
  gate: Pick<
    ReturnType<Gate["state"]>,
    | "inFlight"
    | "limit"
    | "waiting"
    | "pausedUntil"
    | "retries"
    | "throttled"
    | "breakerOpen"
    | "isHeldByRate"
    | "isHeldByLease"
    | "permittedPerSecond"
    | "isHeldByLatency"
    | "latencyMs"
    | "answeredAt"
  >;
  now: number;
  /** Maximum number of requests in flight. */
  ceiling: number;
  /** Value of --rate. */
  rate: number | undefined;
  /** Documents in flight or waiting for a request slot. */
  sending: number;
  /** Number of consecutive moments with hardly any documents in flight. */
  idleMoments: number;
}

const slowResponseMs = 1000;
const silenceMs = 3000;
const idleMomentsShown = 5;

const inSeconds = (ms: number): string => `${Math.ceil(ms / 1000)} s`;

/** Why an upload is not faster, for the progress line: the first cause that applies, else undefined. */
export function whySlow(moment: Moment): string | undefined {
  const { gate, now, ceiling, rate, sending, idleMoments } = moment;
  const { inFlight, waiting, limit, latencyMs } = gate;
  if (gate.pausedUntil > now) {
    const why = gate.breakerOpen ? "the service does not answer" : "the service asks for it";
    return `pausing ${inSeconds(gate.pausedUntil - now)}: ${why}`;
  }
  if (gate.isHeldByLease) return "waiting for the shared record";
  if (gate.breakerOpen) return "checking whether the service responds again";
  const silent = now - gate.answeredAt;
  if (inFlight > 0 && silent >= silenceMs) return `no response for ${inSeconds(silent)}`;
  if (sending > 0 && inFlight === 0 && waiting === 0 && gate.retries > 0) {
    return "waiting to retry failed requests";
  }
  if (gate.isHeldByRate) return `limited to ${rate}/s by --rate`;
  const permitted = gate.permittedPerSecond;
  if (permitted !== undefined) {
    return `throttled to ${permitted.toFixed(permitted < 10 ? 1 : 0)}/s by the service`;
  }
  if (gate.throttled > 0 && limit < ceiling) return `throttled to ${limit} at once`;
  const answers = `the service needs ${formatDuration(latencyMs)} per document`;
  if (gate.isHeldByLatency && limit < ceiling) return `limited to ${limit} at once: ${answers}`;
  if (latencyMs >= slowResponseMs && inFlight >= limit) return answers;
  return idleMoments >= idleMomentsShown ? "reading files is the bottleneck" : undefined;
}

/**
 * Counts consecutive moments with hardly any documents in flight, while `left` others, or an unknown
 * number, are still to come. Call it once per moment.
 */
export function createIdleCount(): (
  sending: number,
  limit: number,
  left: number | undefined,
) => number {
  let moments = 0;
  return (sending, limit, left) => (moments = left !== 0 && sending * 4 <= limit ? moments + 1 : 0);
}

/** An upload on the progress line. */
export interface FollowedUpload {
  describe(): ProgressState;
  onSending(change: 1 | -1): void;
  add(documents: number): void;
  /** Nothing is sent while other workers hold what is left. Shown until a document is sent. */
  wait(reason: string): void;
}

/** Describes an upload of `total` documents, as far as their number is known. */
export function followUpload(
  elapsed: () => number,
  { concurrency: ceiling, rate }: Pick<UploadConnection, "concurrency" | "rate">,
  gate: Gate,
  counts: UploadCounts,
  total: number | undefined,
): FollowedUpload {
  const idleFor = createIdleCount();
  let sending = 0;
  let done = 0;
  let waitingFor: string | undefined;
  return {
    describe() {
      const seen = gate.state();
      const { retries, throttled } = seen;
      const left = total === undefined ? undefined : Math.max(0, total - done - sending);
      const idleMoments = idleFor(sending, seen.limit, left);
      const slowBecause =
        waitingFor ??
        whySlow({
          gate: seen,
          now: elapsed(),
          ceiling,
          rate,
          sending,
          idleMoments,
        });
      return { phase: "uploading", done, total, counts, retries, throttled, slowBecause };
    },
    onSending(change) {
      sending += change;
      waitingFor = undefined;
    },
    wait: (reason) => void (waitingFor = reason),
    add: (documents) => void (done += documents),
  };
}

import type { UploadConnection } from "../session.ts";
import type { Gate } from "../../../api/retry/gate.ts";
import {
  type ProgressState,
  formatDuration,
  type UploadCounts,
} from "../../../output/terminal/progress.ts";

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

/** Counts consecutive moments with hardly any documents in flight. Call it once per moment. */
export function createIdleCount(): (sending: number, limit: number) => number {
  let moments = 0;
  return (sending, limit) => (moments = sending * 4 <= limit ? moments + 1 : 0);
}

/** An upload on the progress line. */
export interface FollowedUpload {
  describe(): ProgressState;
  onSending(change: 1 | -1): void;
  add(documents: number): void;
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
  return {
    describe() {
      const seen = gate.state();
      const { retries, throttled } = seen;
      const idleMoments = idleFor(sending, seen.limit);
      const slowBecause = whySlow({
        gate: seen,
        now: elapsed(),
        ceiling,
        rate,
        sending,
        idleMoments,
      });
      return { phase: "uploading", done, total, counts, retries, throttled, slowBecause };
    },
    onSending: (change) => void (sending += change),
    add: (documents) => void (done += documents),
  };
}

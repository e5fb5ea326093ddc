import type { Gate } from "../../../api/retry/gate.ts";
import { formatDuration } from "../../../output/terminal/progress.ts";

/** What holds an upload back, at one moment. */
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
    | "isHeldByLatency"
    | "latencyMs"
    | "answeredAt"
  >;
  now: number;
  /** Most requests in flight. */
  ceiling: number;
  /** As --rate says. */
  rate: number | undefined;
  /** Documents that are on their way, in flight or waiting for it. */
  sending: number;
  /** For how many moments in a row hardly any was. */
  idleMoments: number;
}

const slowAnswerMs = 1000;
const silenceMs = 3000;
const idleMomentsToTell = 5;

const inSeconds = (ms: number): string => `${Math.ceil(ms / 1000)} s`;

/** Why an upload is no faster, for the live line: the first cause that applies; undefined when none does. */
export function whySlow(moment: Moment): string | undefined {
  const { gate, now, ceiling, rate, sending, idleMoments } = moment;
  const { inFlight, waiting, limit, latencyMs } = gate;
  if (gate.pausedUntil > now) {
    const why = gate.breakerOpen ? "the service does not answer" : "the service asks for it";
    return `pausing ${inSeconds(gate.pausedUntil - now)}: ${why}`;
  }
  if (gate.breakerOpen) return "trying whether the service answers again";
  const silent = now - gate.answeredAt;
  if (inFlight > 0 && silent >= silenceMs) return `no answer for ${inSeconds(silent)}`;
  if (sending > 0 && inFlight === 0 && waiting === 0 && gate.retries > 0) {
    return "waiting to repeat what failed";
  }
  if (gate.isHeldByRate) return `held at ${rate}/s by --rate`;
  if (gate.throttled > 0 && limit < ceiling) return `throttled to ${limit} at once`;
  const answers = `the service takes ${formatDuration(latencyMs)} a document`;
  if (gate.isHeldByLatency && limit < ceiling) return `held to ${limit} at once: ${answers}`;
  if (latencyMs >= slowAnswerMs && inFlight >= limit) return answers;
  return idleMoments >= idleMomentsToTell ? "reading files takes the time" : undefined;
}

/** Counts for how long hardly anything has been on its way; one call a moment. */
export function createIdleCount(): (sending: number, limit: number) => number {
  let moments = 0;
  return (sending, limit) => (moments = sending * 4 <= limit ? moments + 1 : 0);
}

import type { Handler } from "undici/lib/dispatcher/pool.js";
import { markUnsent } from "./connector.ts";
import type { Bounded, Deadlines } from "./deadlines.ts";
import type { Headers } from "./headers.ts";

export type Body = Uint8Array | (() => AsyncIterable<Uint8Array>);

/** A request to make once, and its limits. */
export interface Exchange {
  method: string;
  /** Path and query. */
  path: string;
  headers: Record<string, string>;
  body?: Body | undefined;
  /** Told whenever a piece of the body has been sent. */
  onSent?: (() => void) | undefined;
  /** From now, or the last piece of the body, to the response headers, in ms; 0: no limit. */
  headersMs: number;
  /** Longest silence inside the body, in ms; 0: no limit. */
  idleMs: number;
  /** Everything, in ms; 0: no limit. */
  totalMs: number;
  responseBytes: number;
  /** Own connection, closed afterwards. */
  fresh: boolean;
  /** Not ended by the transport's signal: for what is said after an interrupt. */
  detached?: boolean | undefined;
}

/** An error of the transport, told from others by its code (faults.ts reads it). */
export function fault(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** One exchange in flight: what undici calls, and how to end it. */
export interface Watch extends Bounded {
  handler: Handler;
  detached: boolean;
  abort(error: Error): void;
}

function timeoutOf(isPhase: boolean, inBody: boolean): Error {
  if (!isPhase) return fault("TOTAL_TIMEOUT", "not done in time");
  return inBody
    ? fault("IDLE_TIMEOUT", "the answer stopped coming")
    : fault("HEADERS_TIMEOUT", "no answer in time");
}

/** Holds the sender of an answer back. */
export interface Flow {
  pause(): void;
  resume(): void;
}

/** What is told of an exchange. */
export interface Listener {
  onFlow?(flow: Flow): void;
  onHeaders(status: number, headers: Headers): void;
  onChunk(chunk: Buffer): void;
  onEnd(): void;
  onError(error: Error): void;
  /** The reader has not taken what came: silence is not the sender's. */
  isBehind?(): boolean;
}

/** When something that may take `ms` from `now` must be over; 0: no limit. */
function after(now: number, ms: number): number {
  return ms > 0 ? now + ms : Number.POSITIVE_INFINITY;
}

/** Follows one exchange: its deadlines, its bytes, and its end, which comes exactly once. */
export function watch(exchange: Exchange, listener: Listener, deadlines: Deadlines<Watch>): Watch {
  /** Ends the request in undici; undefined while there is no connection for it. */
  let abortRequest: ((reason: Error) => void) | undefined;
  let resumeRequest: (() => void) | undefined;
  let isPaused = false;
  let failure: Error | undefined;
  let done = false;
  let received = 0;
  let inBody = false;
  const begun = deadlines.now();
  const totalAt = after(begun, exchange.totalMs);
  let phaseAt = after(begun, exchange.headersMs);
  const finish = (): boolean => {
    if (done) return false;
    deadlines.remove(watched);
    return (done = true);
  };
  const abort = (error: Error): void => {
    if (!finish()) return;
    failure = error;
    abortRequest?.(error);
    listener.onError(error);
  };
  const handler: Handler = {
    onConnect(end) {
      abortRequest = end;
      if (failure) end(failure);
    },
    onBodySent() {
      if (done || inBody) return;
      phaseAt = after(deadlines.now(), exchange.headersMs);
      exchange.onSent?.();
    },
    onHeaders(status, headers, resume) {
      resumeRequest = resume;
      if (status < 200 || done) return true;
      inBody = true;
      phaseAt = after(deadlines.now(), exchange.idleMs);
      deadlines.sooner(watched);
      listener.onHeaders(status, headers);
      return !isPaused;
    },
    onData(chunk) {
      if (done) return true;
      received += chunk.length;
      if (received > exchange.responseBytes) {
        abort(fault("ANSWER_TOO_LARGE", `answer above ${exchange.responseBytes} bytes`));
        return true;
      }
      phaseAt = after(deadlines.now(), exchange.idleMs);
      listener.onChunk(chunk);
      return !isPaused;
    },
    onComplete() {
      if (finish()) listener.onEnd();
    },
    onError(error) {
      if (finish()) listener.onError(error);
    },
  };
  const watched: Watch = {
    handler,
    abort,
    detached: exchange.detached === true,
    place: -1,
    dueAt: () => Math.min(phaseAt, totalAt),
    expire() {
      const isPhase = phaseAt <= totalAt;
      if (isPhase && inBody && listener.isBehind?.()) {
        phaseAt = after(deadlines.now(), exchange.idleMs);
        return;
      }
      const error = timeoutOf(isPhase, inBody);
      // undici has not begun: there is no connection, so nothing can have been sent.
      if (!abortRequest) markUnsent(error);
      abort(error);
    },
  };
  listener.onFlow?.({
    pause: () => void (isPaused = true),
    resume() {
      if (!isPaused) return;
      isPaused = false;
      resumeRequest?.();
    },
  });
  deadlines.add(watched);
  return watched;
}

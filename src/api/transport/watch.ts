import type { Handler } from "undici/lib/dispatcher/pool.js";
import { markUnsent } from "./connector.ts";
import { clampTimer } from "../retry/timing.ts";
import type { Headers } from "./headers.ts";

export type Body = Uint8Array | (() => AsyncIterable<Uint8Array>);

/** One attempt of a request, and its limits. */
export interface Exchange {
  method: string;
  /** Path and query. */
  path: string;
  headers: Record<string, string>;
  body?: Body | undefined;
  /** Called whenever a piece of the body was sent. */
  onSent?: (() => void) | undefined;
  /** Timeout of the response headers, from the start or the last sent piece of the body, in ms; 0: no limit. */
  headersMs: number;
  /** Idle timeout within the response body, in ms; 0: no limit. */
  idleMs: number;
  /** Timeout of the whole exchange, in ms; 0: no limit. */
  totalMs: number;
  responseBytes: number;
  /** Use a separate connection, closed afterwards. */
  fresh: boolean;
  /** Not aborted by the transport's signal: for requests after an interrupt. */
  detached?: boolean | undefined;
}

/** Creates a transport error, recognised by its code (faults.ts reads it). */
export function fault(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** One exchange in flight: its handler for undici, and how to abort it. */
export interface Watch {
  handler: Handler;
  detached: boolean;
  abort(error: Error): void;
}

function timeoutOf(isPhase: boolean, inBody: boolean): Error {
  if (!isPhase) return fault("TOTAL_TIMEOUT", "not complete in time");
  return inBody
    ? fault("IDLE_TIMEOUT", "the response stopped arriving")
    : fault("HEADERS_TIMEOUT", "no response in time");
}

/** Pauses and resumes the sender of a response. */
export interface Flow {
  pause(): void;
  resume(): void;
}

/** Receives the events of an exchange. */
export interface Listener {
  onFlow?(flow: Flow): void;
  onHeaders(status: number, headers: Headers): void;
  onChunk(chunk: Buffer): void;
  onEnd(): void;
  onError(error: Error): void;
  /** Whether the reader has unread chunks: then silence is not the sender's fault. */
  isBehind?(): boolean;
}

/**
 * Removes an exchange from those in flight. They are no Set: V8 links the earlier tables of a Set to
 * its next ones, so that one old table would keep every second exchange, with its body, until the next
 * full collection.
 */
function remove(inFlight: Watch[], watched: Watch): void {
  const at = inFlight.indexOf(watched);
  if (at < 0) return;
  const last = inFlight.pop();
  if (last && last !== watched) inFlight[at] = last;
}

/** The deadline in `ms` on a monotonic clock; 0 means no limit. */
function deadlineAfter(ms: number): number {
  return ms > 0 ? performance.now() + ms : Number.POSITIVE_INFINITY;
}

/**
 * Follows one exchange: its deadlines, its bytes, and its end, which is reported exactly once. Keeps
 * itself in `inFlight` until then. Its one timer fires at the deadline known when it was set, and is
 * set again where a later one counts by then.
 */
export function watch(exchange: Exchange, listener: Listener, inFlight: Watch[]): Watch {
  /** Aborts the request in undici; undefined before the request has a connection. */
  let abortRequest: ((reason: Error) => void) | undefined;
  let resumeRequest: (() => void) | undefined;
  let isPaused = false;
  let failure: Error | undefined;
  let done = false;
  let received = 0;
  let inBody = false;
  const totalAt = deadlineAfter(exchange.totalMs);
  let phaseAt = deadlineAfter(exchange.headersMs);
  let timer: NodeJS.Timeout | undefined;
  const dueAt = (): number => Math.min(phaseAt, totalAt);
  const setTimer = (): void => {
    clearTimeout(timer);
    if (dueAt() === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(onTimer, clampTimer(dueAt() - performance.now()));
  };
  const finish = (): boolean => {
    if (done) return false;
    clearTimeout(timer);
    remove(inFlight, watched);
    return (done = true);
  };
  const abort = (error: Error): void => {
    if (!finish()) return;
    failure = error;
    abortRequest?.(error);
    listener.onError(error);
  };
  const onTimer = (): void => {
    const isPhase = phaseAt <= totalAt;
    if (isPhase && inBody && listener.isBehind?.()) phaseAt = deadlineAfter(exchange.idleMs);
    // Timers count whole milliseconds, so they may fire a fraction early.
    if (dueAt() > performance.now() + 1) return setTimer();
    const error = timeoutOf(isPhase, inBody);
    // The request has no connection yet, so nothing was sent.
    if (!abortRequest) markUnsent(error);
    abort(error);
  };
  const handler: Handler = {
    onConnect(end) {
      abortRequest = end;
      if (failure) end(failure);
    },
    onBodySent() {
      if (done || inBody) return;
      phaseAt = deadlineAfter(exchange.headersMs);
      exchange.onSent?.();
    },
    onHeaders(status, headers, resume) {
      resumeRequest = resume;
      if (status < 200 || done) return true;
      inBody = true;
      phaseAt = deadlineAfter(exchange.idleMs);
      setTimer();
      listener.onHeaders(status, headers);
      return !isPaused;
    },
    onData(chunk) {
      if (done) return true;
      received += chunk.length;
      if (received > exchange.responseBytes) {
        abort(fault("ANSWER_TOO_LARGE", `response above ${exchange.responseBytes} bytes`));
        return true;
      }
      phaseAt = deadlineAfter(exchange.idleMs);
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
  };
  listener.onFlow?.({
    pause: () => void (isPaused = true),
    resume() {
      if (!isPaused) return;
      isPaused = false;
      resumeRequest?.();
    },
  });
  inFlight.push(watched);
  setTimer();
  return watched;
}

import type { Handler } from "undici/lib/dispatcher/pool.js";
import { markUnsent } from "./connector.ts";
import type { Bounded, Deadlines } from "./deadlines.ts";
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
export interface Watch extends Bounded {
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

/** The deadline `ms` after `now`; 0 means no limit. */
function deadlineAfter(now: number, ms: number): number {
  return ms > 0 ? now + ms : Number.POSITIVE_INFINITY;
}

/** Follows one exchange: its deadlines, its bytes, and its end, which is reported exactly once. */
export function watch(exchange: Exchange, listener: Listener, deadlines: Deadlines<Watch>): Watch {
  /** Aborts the request in undici; undefined before the request has a connection. */
  let abortRequest: ((reason: Error) => void) | undefined;
  let resumeRequest: (() => void) | undefined;
  let isPaused = false;
  let failure: Error | undefined;
  let done = false;
  let received = 0;
  let inBody = false;
  const begun = deadlines.now();
  const totalAt = deadlineAfter(begun, exchange.totalMs);
  let phaseAt = deadlineAfter(begun, exchange.headersMs);
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
      phaseAt = deadlineAfter(deadlines.now(), exchange.headersMs);
      exchange.onSent?.();
    },
    onHeaders(status, headers, resume) {
      resumeRequest = resume;
      if (status < 100) {
        abort(fault("UND_ERR_HTTP_PARSER", `no HTTP status: ${status}`));
        return true;
      }
      if (status < 200 || done) return true;
      inBody = true;
      phaseAt = deadlineAfter(deadlines.now(), exchange.idleMs);
      deadlines.sooner(watched);
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
      phaseAt = deadlineAfter(deadlines.now(), exchange.idleMs);
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
        phaseAt = deadlineAfter(deadlines.now(), exchange.idleMs);
        return;
      }
      const error = timeoutOf(isPhase, inBody);
      // The request has no connection yet, so nothing was sent.
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

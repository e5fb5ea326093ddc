import type { Headers } from "./headers.ts";
import { redactBody, redactHeaders, type Redactor } from "../answers/redaction.ts";
import { fault, watch, type Exchange, type Flow, type Watch } from "./watch.ts";

/** Above this many unread bytes the sender is paused. */
const readAheadBytes = 1024 * 1024;

/** Chunks that arrived and are not read yet; the reader waits for more. */
interface ReadBuffer {
  put(chunk: Buffer): void;
  isFull(): boolean;
  end(error?: Error): void;
  read(): AsyncGenerator<Uint8Array>;
}

/** `flow` pauses and resumes the sender. */
function createReadBuffer(flow: () => Flow | undefined): ReadBuffer {
  let chunks: Buffer[] = [];
  let unreadBytes = 0;
  let ended = false;
  let failure: Error | undefined;
  let wake = (): void => {};
  return {
    put(chunk) {
      chunks.push(chunk);
      unreadBytes += chunk.length;
      if (unreadBytes > readAheadBytes) flow()?.pause();
      wake();
    },
    isFull: () => unreadBytes > readAheadBytes,
    end(error) {
      ended = true;
      failure = error;
      wake();
    },
    async *read() {
      for (;;) {
        if (chunks.length > 0) {
          const batch = chunks;
          chunks = [];
          for (const chunk of batch) yield chunk;
          const wasFull = unreadBytes > readAheadBytes;
          unreadBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
          if (wasFull && unreadBytes <= readAheadBytes) flow()?.resume();
        } else if (failure) throw failure;
        else if (ended) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

export interface Answer {
  status: number;
  headers: Headers;
  body: Buffer;
}

export interface StreamedAnswer {
  status: number;
  headers: Headers;
  /** A reader that leaves early closes the connection. */
  body: AsyncGenerator<Uint8Array>;
}

/** Starts a watched exchange; the returned function releases its connection. */
export type Start = (watch: Watch) => () => void;

/** Dependencies of an exchange: start function, those in flight, and the redactor of its response. */
export interface Means {
  start: Start;
  inFlight: Watch[];
  secrets: Redactor;
}

/** Sends and collects the body. Rejects with the transport's error (faults.ts reads it). */
export function wholeAnswer(
  exchange: Exchange,
  { start, inFlight, secrets }: Means,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let headers: Headers = [];
    const chunks: Buffer[] = [];
    const watched = watch(
      exchange,
      {
        onHeaders(code, fields) {
          status = code;
          headers = redactHeaders(fields, secrets);
        },
        onChunk: (chunk) => void chunks.push(chunk),
        onEnd() {
          release();
          const [only] = chunks;
          const body = chunks.length === 1 && only ? only : Buffer.concat(chunks);
          resolve({ status, headers, body: redactBody(body, secrets) });
        },
        onError(error) {
          // A request that undici refuses fails before `start` has returned.
          queueMicrotask(() => release());
          reject(error);
        },
      },
      inFlight,
    );
    const release = start(watched);
  });
}

/**
 * Sends and resolves with the headers; the body is streamed. All chunks before a fault are
 * yielded before it throws. A reader that leaves early aborts the exchange.
 */
export function streamedAnswer(
  exchange: Exchange,
  { start, inFlight, secrets }: Means,
): Promise<StreamedAnswer> {
  return new Promise((resolve, reject) => {
    let flow: Flow | undefined;
    const buffer = createReadBuffer(() => flow);
    const watched = watch(
      exchange,
      {
        onFlow: (given) => void (flow = given),
        onHeaders(status, fields) {
          resolve({ status, headers: redactHeaders(fields, secrets), body: read() });
        },
        onChunk: (chunk) => buffer.put(chunk),
        isBehind: () => buffer.isFull(),
        onEnd: () => buffer.end(),
        onError(error) {
          buffer.end(error);
          reject(error);
          queueMicrotask(() => release());
        },
      },
      inFlight,
    );
    async function* read(): AsyncGenerator<Uint8Array> {
      try {
        yield* buffer.read();
      } finally {
        watched.abort(fault("READER_LEFT", "the reader left"));
        release();
      }
    }
    const release = start(watched);
  });
}

/** Maximum of an error body that is read: its message is at the beginning. */
const errorBodyBytes = 1024 * 1024;

/** Reads the beginning of the body of a failed response, redacted. */
export async function readErrorBody(answer: StreamedAnswer, secrets: Redactor): Promise<Answer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > errorBodyBytes) break;
  }
  const bytes = Buffer.concat(chunks);
  // Drop a possible beginning of a secret at the cut: redaction would not find it.
  const open = size > errorBodyBytes ? secrets.openTail(bytes.toString("latin1")) : 0;
  const body = redactBody(bytes.subarray(0, bytes.length - open), secrets);
  return { status: answer.status, headers: answer.headers, body };
}

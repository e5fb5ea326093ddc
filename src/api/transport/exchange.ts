import type { Deadlines } from "./deadlines.ts";
import { createReadBuffer } from "../chat/read-buffer.ts";
import type { Headers } from "./headers.ts";
import { redactBody, redactHeaders, type Redactor } from "../answers/redaction.ts";
import { fault, watch, type Exchange, type Flow, type Watch } from "./watch.ts";

export interface Answer {
  status: number;
  headers: Headers;
  body: Buffer;
}

export interface StreamedAnswer {
  status: number;
  headers: Headers;
  /** Ends the connection when the reader leaves early. */
  body: AsyncGenerator<Uint8Array>;
}

/** Starts a watched exchange; the function it returns lets go of its connection. */
export type Start = (watch: Watch) => () => void;

/** What an exchange needs: a way to start, its time limits, and what hides secrets in its answer. */
export interface Means {
  start: Start;
  deadlines: Deadlines<Watch>;
  secrets: Redactor;
}

/** Sends and collects the body. Rejects with the transport's own error (faults.ts reads it). */
export function wholeAnswer(
  exchange: Exchange,
  { start, deadlines, secrets }: Means,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let headers: Headers = [];
    const chunks: Buffer[] = [];
    const followed = watch(
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
      deadlines,
    );
    const release = start(followed);
  });
}

/**
 * Sends and resolves with the headers; the body comes as it arrives, what has
 * arrived before a fault first. A reader that leaves early ends the exchange.
 */
export function streamedAnswer(
  exchange: Exchange,
  { start, deadlines, secrets }: Means,
): Promise<StreamedAnswer> {
  return new Promise((resolve, reject) => {
    let flow: Flow | undefined;
    const buffer = createReadBuffer(() => flow);
    const followed = watch(
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
      deadlines,
    );
    async function* read(): AsyncGenerator<Uint8Array> {
      try {
        yield* buffer.read();
      } finally {
        followed.abort(fault("READER_LEFT", "the reader left"));
        release();
      }
    }
    const release = start(followed);
  });
}

/** Above this an error body is not read on: the words are in its beginning. */
const errorBodyBytes = 1024 * 1024;

/** The beginning of the body of an answer that is no success, with every secret replaced. */
export async function readErrorBody(answer: StreamedAnswer, secrets: Redactor): Promise<Answer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > errorBodyBytes) break;
  }
  const whole = Buffer.concat(chunks);
  // Where it is cut, the beginning of a secret would no longer be found.
  const open = size > errorBodyBytes ? secrets.openTail(whole.toString("latin1")) : 0;
  const body = redactBody(whole.subarray(0, whole.length - open), secrets);
  return { status: answer.status, headers: answer.headers, body };
}

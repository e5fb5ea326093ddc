import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { LedgerRequest } from "../store/ledger.ts";
import type { Caller } from "../store/access.ts";
import type { IndexFault } from "./faults.ts";
import { detail, Refusal } from "./reply.ts";
import { refuseBody } from "./validation.ts";

/** One admitted request. */
export interface Call {
  method: string;
  /** Path as sent, without the query. */
  path: string;
  /** Decoded values of the route's `:name` segments. */
  parameters: Record<string, string>;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Its record in the ledger. */
  entry: LedgerRequest;
  /** The parsed body, cached. Throws a Refusal (422) for a wrong content type or broken JSON. */
  json(): unknown;
  caller: Caller;
  /** What goes wrong with an uploaded document after the response. */
  indexFault?: IndexFault | undefined;
  /** Aborted when the client or the shutdown of the sandbox closes the connection. */
  signal: AbortSignal;
}

/** Maximum of request body bytes in memory, over all connections. */
const totalLimitBytes = 160 * 1024 * 1024;
let heldBytes = 0;

/** Subtracts the bytes that `readBody` counted. */
export function releaseBody(body: Buffer): void {
  heldBytes -= body.length;
}

const tooLarge = (limitBytes: number): Refusal =>
  new Refusal(detail(413, `Request body is larger than ${limitBytes} bytes`));

/** Throws the 413 Refusal if the announced length is too large, before the client sends the body. */
export function checkLength(request: IncomingMessage, limitBytes: number): void {
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) throw tooLarge(limitBytes);
}

/**
 * Reads a request body of at most `limitBytes`. Throws a Refusal: 413 if the body is larger,
 * 503 if the bodies of all connections need too much memory. Rejects if the client
 * disconnects. The caller must call `releaseBody`.
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Events, not `for await`: leaving that loop early would destroy the socket before the response.
  return await new Promise<Buffer>((resolve, reject) => {
    const fail = (error: Error): void => {
      request.off("data", onData).pause();
      heldBytes -= size;
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      heldBytes += chunk.length;
      if (size > limitBytes) return fail(tooLarge(limitBytes));
      if (heldBytes > totalLimitBytes) return fail(new Refusal(detail(503, "Too much at once")));
      chunks.push(chunk);
    };
    request.on("data", onData);
    request.once("end", () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    request.once("error", fail);
  });
}

/** Reads and drops the rest of a refused request, so that the client sees the response, not a reset. */
export async function discardBody(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  let left = 1024 * 1024;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, 300);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    request.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) done();
    });
    request.once("end", done).once("close", done).once("error", done);
  });
  request.pause();
}

/** Creates the `json()` of a `Call`: parses on first use and caches the value. */
export function lazyJson(contentType: string | undefined, body: Buffer): () => unknown {
  let parsed: { value: unknown } | undefined;
  return () => {
    if (parsed) return parsed.value;
    const text = body.toString("utf8");
    if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType ?? "")) {
      // The service treats another content type as bytes, not as an object: observed-service.md 1.
      throw refuseBody([
        {
          type: "model_attributes_type",
          loc: ["body"],
          msg: "Input should be a valid dictionary or object to extract fields from",
          input: text,
        },
      ]);
    }
    try {
      parsed = { value: JSON.parse(text) };
    } catch {
      throw refuseBody([
        { type: "json_invalid", loc: ["body"], msg: "JSON decode error", input: {} },
      ]);
    }
    return parsed.value;
  };
}

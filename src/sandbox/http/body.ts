import type { IncomingMessage, ServerResponse } from "node:http";
import { detail, invalidRequest } from "./validation.ts";

/** Maximum of request body bytes in memory, over all connections. */
const totalLimitBytes = 160 * 1024 * 1024;
let heldBytes = 0;

/** Subtracts the bytes that `readBody` counted. */
export function releaseBody(body: Buffer): void {
  heldBytes -= body.length;
}

/**
 * Reads a request body of at most `limitBytes`; asks for it first if the client waits. Throws a
 * refusal: 413 if the body is larger, announced or sent, 503 if the bodies of all connections need
 * too much memory. Rejects if the client disconnects. The caller must call `releaseBody`.
 */
export async function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  limitBytes: number,
): Promise<Buffer> {
  const tooLarge = () => detail(413, `Request body is larger than ${limitBytes} bytes`);
  if (Number(incoming.headers["content-length"] ?? 0) > limitBytes) throw tooLarge();
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  const chunks: Buffer[] = [];
  let size = 0;
  // Events, not `for await`: leaving that loop early would destroy the socket before the response.
  return await new Promise<Buffer>((resolve, reject) => {
    const fail = (error: Error): void => {
      incoming.off("data", onData).pause();
      heldBytes -= size;
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      heldBytes += chunk.length;
      if (size > limitBytes) return fail(tooLarge());
      if (heldBytes > totalLimitBytes) return fail(detail(503, "Too much at once"));
      chunks.push(chunk);
    };
    incoming.on("data", onData);
    incoming.once("end", () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    incoming.once("error", fail);
  });
}

/** Reads and drops the rest of a refused request, so that the client sees the response, not a reset. */
export async function discardBody(incoming: IncomingMessage): Promise<void> {
  let left = 1024 * 1024;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, 300);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    incoming.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) done();
    });
    incoming.once("end", done).once("close", done).once("error", done);
  });
  incoming.pause();
}

const problem = (message: string) => ({ code: "custom", path: [], message, input: null });

/** Creates the `json` of a call: parses on first use and caches the value. */
export function lazyJson(contentType: string | undefined, body: Buffer): () => unknown {
  let parsed: { value: unknown } | undefined;
  return () => {
    if (parsed) return parsed.value;
    // The service treats another content type as bytes, not as an object: observed-service.md 1.
    if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType ?? "")) {
      throw invalidRequest("body", [problem("The content type must be application/json")]);
    }
    try {
      parsed = { value: JSON.parse(body.toString("utf8")) };
    } catch {
      throw invalidRequest("body", [problem("Not valid JSON")]);
    }
    return parsed.value;
  };
}

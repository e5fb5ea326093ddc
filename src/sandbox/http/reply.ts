import type { ServerResponse } from "node:http";

export type DialectName = "standard" | "onyx";

/** The response of a handler. An iterable body is streamed piece by piece. */
export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array | AsyncIterable<string | Uint8Array>;
}

/** Thrown by a handler that refuses the request; contains the whole response. */
export class Refusal extends Error {
  readonly reply: Reply;
  constructor(reply: Reply) {
    super(`refused with ${reply.status}`);
    this.name = "Refusal";
    this.reply = reply;
  }
}

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(value),
  };
}

/** The classic error body; observed-service.md 6.2. */
export function detail(status: number, text: string): Reply {
  return json(status, { detail: text });
}

/** An error with its own code in the `onyx` dialect, else the classic body. */
export function problem(dialect: DialectName, status: number, code: string, text: string): Reply {
  return dialect === "onyx"
    ? json(status, { error_code: code, detail: text })
    : detail(status, text);
}

export const notFound = (): Reply => detail(404, "404: Not Found");

async function drained(response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}

/**
 * Sends a reply. If the client disconnects early, ends the body's iterator, so that
 * its `finally` can store the result so far.
 */
export async function writeReply(response: ServerResponse, reply: Reply): Promise<void> {
  const { body, status, headers } = reply;
  if (typeof body === "string" || body instanceof Uint8Array) {
    response.writeHead(status, {
      ...headers,
      "content-length": String(Buffer.byteLength(body)),
    });
    response.end(body);
    return;
  }
  response.writeHead(status, headers);
  response.flushHeaders();
  for await (const piece of body) {
    if (response.destroyed) break;
    if (!response.write(piece)) await drained(response);
  }
  response.end();
}

import type { ServerResponse } from "node:http";
import type { Clock } from "../clock.ts";
import type { FaultPlan } from "./faults.ts";
import { json, type Reply, writeReply } from "./reply.ts";

/** The response of a fault, which replaces the real one. */
export function faultyReply(plan: FaultPlan): Reply | undefined {
  if (plan.redirect !== undefined) {
    return {
      status: plan.status ?? 302,
      headers: { location: plan.redirect, ...plan.headers },
      body: "",
    };
  }
  if (plan.status === undefined && plan.body === undefined) return undefined;
  const { status = 200, headers = {}, body = "" } = plan;
  return typeof body === "string" || body instanceof Uint8Array
    ? { status, headers, body }
    : json(status, body, headers);
}

/** Resets a connection: the client sees ECONNRESET. */
export function reset(response: ServerResponse): void {
  const { socket } = response;
  if (socket) socket.resetAndDestroy();
  else response.destroy();
}

async function* bytesOf(body: Reply["body"]): AsyncGenerator<Uint8Array> {
  if (typeof body === "string") yield Buffer.from(body);
  else if (body instanceof Uint8Array) yield body;
  else for await (const piece of body) yield Buffer.from(piece);
}

async function writeAndFlush(response: ServerResponse, piece: Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => response.write(piece, () => resolve()));
}

/** Sends a reply with the faults of the plan. */
export async function deliver(
  response: ServerResponse,
  reply: Reply,
  plan: FaultPlan,
  clock: Clock,
  gone: AbortSignal,
): Promise<void> {
  if (plan.reset === "after") return reset(response);
  const { cutAfterBytes, dripMs, chunkBytes } = plan;
  if (cutAfterBytes === undefined && dripMs === undefined) return await writeReply(response, reply);
  const { status, headers, body } = reply;
  const length =
    typeof body === "string" || body instanceof Uint8Array
      ? { "content-length": String(Buffer.byteLength(body)) }
      : {};
  response.writeHead(status, { ...headers, ...length });
  response.flushHeaders();
  let left = cutAfterBytes ?? Number.POSITIVE_INFINITY;
  for await (const bytes of bytesOf(body)) {
    const step = dripMs === undefined ? bytes.length : (chunkBytes ?? 1);
    for (let at = 0; at < bytes.length && left > 0 && !gone.aborted; at += step) {
      // A client that disconnects ends the sleep early.
      if (dripMs) await clock.sleep(dripMs, gone).catch(() => undefined);
      const piece = bytes.subarray(at, Math.min(at + step, bytes.length)).subarray(0, left);
      await writeAndFlush(response, piece);
      left -= piece.length;
    }
    if (left <= 0 || gone.aborted) break;
  }
  if (cutAfterBytes === undefined) response.end();
  else reset(response);
}

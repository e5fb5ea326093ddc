import type { IncomingMessage, ServerResponse } from "node:http";
import { messageOf } from "../../errors.ts";
import type { Clock } from "../clock.ts";
import { anonymousCaller } from "../store/access.ts";
import type { LedgerWriter } from "../store/ledger.ts";
import { discardBody } from "./body.ts";
import { type App, type Call, goneSignal } from "./call.ts";
import { type FaultPlan, replacementOf } from "./faults.ts";
import { pathOf } from "./guard.ts";

/** On each response, so that nobody takes results of the sandbox for those of an assistant. */
const sandboxHeader = "x-knowctl-sandbox";

const noBody = Buffer.alloc(0);

/**
 * What hono reads of a request: a whole one would cost more than most handlers. Handlers read the
 * headers and the body, also that of a GET, from the socket's own request.
 */
function requestOf({ method = "GET", url = "/" }: IncomingMessage): Request {
  // No endpoint has the method HEAD, which hono would answer as GET.
  const named = method === "HEAD" ? "OPTIONS" : method;
  return { method: named, url: `http://sandbox${url}` } as Request;
}

/** What is sent: whole bodies have a length, others are sent piece by piece. */
interface Reply {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array | AsyncIterable<Uint8Array>;
}

async function replyOf(response: Response): Promise<Reply> {
  const { status, body } = response;
  const headers = Object.fromEntries(response.headers);
  if (body && headers["content-type"]?.startsWith("text/event-stream")) {
    return { status, headers, body: body as AsyncIterable<Uint8Array> };
  }
  return { status, headers, body: new Uint8Array(await response.arrayBuffer()) };
}

/** Resets a connection: the client sees ECONNRESET. */
function reset(outgoing: ServerResponse): void {
  if (outgoing.socket) outgoing.socket.resetAndDestroy();
  else outgoing.destroy();
}

/** Writes a piece, and waits until it has left or the client has gone. */
async function written(outgoing: ServerResponse, piece: Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      outgoing.off("close", done);
      resolve();
    };
    // A write to a closed socket calls nobody back.
    outgoing.once("close", done);
    outgoing.write(piece, done);
  });
}

/** Sends pieces that a fault cuts or delays. */
async function sendFaulty(
  outgoing: ServerResponse,
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { cutAfterBytes, dripMs, chunkBytes = 1 }: FaultPlan,
  clock: Clock,
): Promise<void> {
  const gone = goneSignal(outgoing);
  outgoing.flushHeaders();
  let left = cutAfterBytes ?? Number.POSITIVE_INFINITY;
  for await (const bytes of body) {
    const step = dripMs === undefined ? bytes.length : chunkBytes;
    for (let at = 0; at < bytes.length && left > 0 && !gone.aborted; at += step) {
      // A client that disconnects ends the sleep early.
      if (dripMs) await clock.sleep(dripMs, gone).catch(() => undefined);
      const piece = bytes.subarray(at, Math.min(at + step, bytes.length)).subarray(0, left);
      await written(outgoing, piece);
      left -= piece.length;
    }
    if (left <= 0 || gone.aborted) break;
  }
  if (cutAfterBytes === undefined) outgoing.end();
  else reset(outgoing);
}

/**
 * Sends a reply. If the client disconnects early, ends the body's iterator, so that its `finally`
 * can store the result so far.
 */
async function send(
  outgoing: ServerResponse,
  { status, headers, body }: Reply,
  plan: FaultPlan,
  clock: Clock,
): Promise<void> {
  const isWhole = body instanceof Uint8Array;
  outgoing.writeHead(status, {
    ...headers,
    ...(isWhole ? { "content-length": String(body.length) } : {}),
  });
  if (plan.cutAfterBytes !== undefined || plan.dripMs !== undefined) {
    return await sendFaulty(outgoing, isWhole ? [body] : body, plan, clock);
  }
  if (isWhole) return void outgoing.end(body);
  outgoing.flushHeaders();
  for await (const piece of body) {
    if (outgoing.destroyed) break;
    await written(outgoing, piece);
  }
  outgoing.end();
}

/** Handles one request from its head to the end of its response. Never rejects. */
export function createServing(
  app: App,
  ledger: LedgerWriter,
  clock: Clock,
  log: (line: string) => void,
) {
  let inFlight = 0;

  const respond = async (env: Call["env"]): Promise<number> => {
    const { incoming, outgoing } = env;
    const response = await app.fetch(requestOf(incoming), env);
    const { plan } = env;
    if (plan.reset) {
      reset(outgoing);
      return 0;
    }
    const reply: Reply = replacementOf(plan) ?? (await replyOf(response));
    if (outgoing.destroyed) return reply.status;
    if (!incoming.complete) {
      await discardBody(incoming);
      // The unread rest of the body would be parsed as the next request.
      reply.headers["connection"] = "close";
    }
    await send(outgoing, reply, plan, clock);
    return reply.status;
  };

  return async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const started = performance.now();
    outgoing.setHeader(sandboxHeader, "1");
    const { method = "", url = "/", headers } = incoming;
    const entry = ledger.request(method, url, headers);
    inFlight += 1;
    ledger.ledger.maxInFlight = Math.max(ledger.ledger.maxInFlight, inFlight);
    try {
      entry.status = await respond({
        incoming,
        outgoing,
        entry,
        path: pathOf(url),
        plan: {},
        caller: anonymousCaller,
        body: noBody,
        json: () => undefined,
      });
    } catch (error) {
      // A stream that failed after its head ends without a last piece.
      if (!outgoing.destroyed) log(`internal error: ${messageOf(error)}`);
      entry.status = 500;
      outgoing.destroy();
    } finally {
      inFlight -= 1;
      // The page asks for its state every other second, which would hide the other lines.
      if (url !== "/sandbox/state") {
        const ms = Math.round(performance.now() - started);
        const calls = entry.modelCalls ? `, ${entry.modelCalls} model calls` : "";
        log(`${method} ${url} ${entry.status} ${ms} ms${calls}`);
      }
    }
  };
}

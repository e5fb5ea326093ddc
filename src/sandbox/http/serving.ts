import type { IncomingMessage, ServerResponse } from "node:http";
import { messageOf } from "../../errors.ts";
import type { Admitted } from "./admission.ts";
import { type Call, checkLength, discardBody, lazyJson, readBody, releaseBody } from "./call.ts";
import type { Clock } from "../clock.ts";
import { deliver, faultyReply, reset } from "./delivery.ts";
import type { FaultPlan, FaultSubject } from "./faults.ts";
import type { LedgerRequest, LedgerWriter } from "../store/ledger.ts";
import { detail, Refusal, type Reply, writeReply } from "./reply.ts";
import type { Route } from "./routes.ts";

/** On each response, so that nobody takes results of the sandbox for those of an assistant. */
const sandboxHeader = "x-knowctl-sandbox";

export interface ServingOptions {
  admit(request: IncomingMessage, path: string): Admitted;
  faults: (subject: FaultSubject) => FaultPlan;
  ledger: LedgerWriter;
  clock: Clock;
  log(line: string): void;
}

/** Splits path and query. Not with `new URL`, which would resolve `..` silently. */
function splitTarget(target: string): [path: string, query: URLSearchParams] {
  if (!target.startsWith("/")) throw new Refusal(detail(400, "Absolute addresses are refused"));
  const at = target.indexOf("?");
  return at < 0
    ? [target, new URLSearchParams()]
    : [target.slice(0, at), new URLSearchParams(target.slice(at))];
}

/** `document.id` of an ingestion, "" without one; undefined for other requests. */
function documentIdOf(call: Call): string | undefined {
  if (call.method !== "POST" || !call.path.endsWith("-api/ingestion")) return undefined;
  try {
    const { document } = call.json() as { document?: { id?: unknown } };
    return typeof document?.id === "string" ? document.id : "";
  } catch {
    return "";
  }
}

const bearerOf = ({ headers }: Call): string =>
  (headers.authorization ?? "").replace(/^Bearer /, "");

async function handle(route: Route, call: Call): Promise<Reply> {
  try {
    return await route.handle(call);
  } catch (error) {
    if (error instanceof Refusal) return error.reply;
    throw error;
  }
}

/** Waits until the client disconnects. */
async function waitForAbort(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }
  throw signal.reason;
}

interface Outcome {
  reply: Reply;
  plan: FaultPlan;
}

async function answer(options: ServingOptions, route: Route, call: Call): Promise<Outcome> {
  const { ledger, clock, faults } = options;
  const id = documentIdOf(call);
  if (id !== undefined) ledger.attempted(id);
  const { method, path } = call;
  const plan = faults({ method, path, documentId: () => id, key: bearerOf(call) });
  if (plan.delayMs) await clock.sleep(plan.delayMs, call.signal);
  if (plan.hang) await waitForAbort(call.signal);
  const instead = plan.reset === "before" ? detail(500, "reset") : faultyReply(plan);
  call.indexFault = plan.index;
  return { reply: instead ?? (await handle(route, call)), plan };
}

async function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): Promise<void> {
  if (response.destroyed || response.headersSent) return void response.destroy();
  await discardBody(request);
  const { status, headers, body } =
    error instanceof Refusal
      ? error.reply
      : // With its cause: whoever runs the sandbox is its only administrator.
        detail(500, `Internal error of the sandbox: ${messageOf(error)}`);
  // The unread rest of the body would be parsed as the next request.
  const reply = { status, body, headers: { ...headers, connection: "close" } };
  await writeReply(response, reply);
}

/** Handles one request from its head to the end of its response. Never rejects. */
export function createServing(options: ServingOptions) {
  const { ledger, clock } = options;
  let inFlight = 0;

  const respond = async (
    request: IncomingMessage,
    response: ServerResponse,
    entry: LedgerRequest,
    signal: AbortSignal,
  ): Promise<number> => {
    const [path, query] = splitTarget(request.url ?? "/");
    const { route, parameters, caller } = options.admit(request, path);
    const { method = "", headers } = request;
    const limit = route.bodyLimit ?? 0;
    checkLength(request, limit);
    if (headers.expect !== undefined) response.writeContinue();
    const body = await readBody(request, limit);
    try {
      const json = lazyJson(headers["content-type"], body);
      const parts = { method, path, parameters, query, headers, body, json, signal, caller };
      const call: Call = { ...parts, entry };
      const { reply, plan } = await answer(options, route, call);
      if (plan.reset === "before") reset(response);
      else await deliver(response, reply, plan, clock, signal);
      return plan.reset ? 0 : reply.status;
    } finally {
      releaseBody(body);
    }
  };

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const started = performance.now();
    response.setHeader(sandboxHeader, "1");
    const entry = ledger.request(request.method ?? "", request.url ?? "/", request.headers);
    inFlight += 1;
    ledger.ledger.maxInFlight = Math.max(ledger.ledger.maxInFlight, inFlight);
    // Not AbortSignal.any with a signal of the whole server, which would leak memory.
    const disconnected = new AbortController();
    response.once("close", () => disconnected.abort());
    try {
      entry.status = await respond(request, response, entry, disconnected.signal);
    } catch (error) {
      const known = error instanceof Refusal;
      if (!known && !disconnected.signal.aborted)
        options.log(`internal error: ${messageOf(error)}`);
      entry.status = known ? error.reply.status : 500;
      await refuse(request, response, error).catch(() => response.destroy());
    } finally {
      inFlight -= 1;
      // The page asks for its state every other second, which would hide the other lines.
      if (entry.path !== "/sandbox/state") {
        const ms = Math.round(performance.now() - started);
        const calls = entry.modelCalls ? `, ${entry.modelCalls} model calls` : "";
        options.log(`${entry.method} ${entry.path} ${entry.status} ${ms} ms${calls}`);
      }
    }
  };
}

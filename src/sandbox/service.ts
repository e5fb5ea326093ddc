import type { IncomingMessage, ServerResponse } from "node:http";
import { discardBody, lazyJson, readBody, releaseBody, type Call } from "./call.ts";
import { catalogRoutes } from "./catalog.ts";
import { chatRoutes } from "./chat.ts";
import type { Clock } from "./clock.ts";
import { createCommits } from "./commits.ts";
import { defaultPairs } from "./connectors.ts";
import { openSandboxDatabase } from "./database.ts";
import { deliver, faultyReply, reset } from "./delivery.ts";
import { createDocumentStore } from "./documents.ts";
import { createFaults, type FaultPlan } from "./faults.ts";
import { createFiles } from "./files.ts";
import { createGuard, createKeyCheck, denied } from "./guard.ts";
import { createIndexer } from "./indexer.ts";
import { ingestionRoutes } from "./ingestion-routes.ts";
import { createLedger, type Ledger, type LedgerRequest } from "./ledger.ts";
import { detail, notFound, Refusal, type Reply } from "./reply.ts";
import { createRouter, type Route, segmentsOf } from "./routes.ts";
import type { SandboxOptions } from "./server.ts";
import { createSessions } from "./sessions.ts";

export interface Service {
  ledger: Ledger;
  /** Handles one request to its end; never rejects. */
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Tells the port, which the guard needs. */
  listening(port: number): void;
  idle(): Promise<void>;
  close(): void;
}

type ServiceOptions = SandboxOptions & { host: string; clock: Clock };

const defaultModels = { sandbox: ["extractive"] };
const defaultSets = { Handbook: [2] };

function splitTarget(target: string): [path: string, query: URLSearchParams] {
  const at = target.indexOf("?");
  return at < 0
    ? [target, new URLSearchParams()]
    : [target.slice(0, at), new URLSearchParams(target.slice(at))];
}

/** Opens the database and puts the parts together. The caller closes it. */
export async function openService(options: ServiceOptions): Promise<Service> {
  const { clock, dialect = "standard", pairs = defaultPairs } = options;
  const database = await openSandboxDatabase(options.dataFolder);
  const documents = createDocumentStore(database);
  const commits = createCommits(database);
  const indexer = createIndexer(database);
  const files = createFiles(database, clock.now);
  const sessions = createSessions(database, clock.now);
  const ledger = createLedger(options.ledger ?? "full");
  const runs = new Map<string, AbortController>();
  const models = options.models ?? defaultModels;
  const documentSets = options.documentSets ?? defaultSets;
  const framing = options.framing ?? (dialect === "onyx" ? "ndjson" : "sse");
  const routes: Route[] = [
    ...ingestionRoutes({
      dialect,
      documents,
      commits,
      indexer,
      files,
      ledger,
      clock,
      pairs: new Set(pairs.map((pair) => pair.cc_pair_id)),
    }),
    ...chatRoutes({
      dialect,
      framing,
      database,
      documents,
      sessions,
      files,
      ledger,
      clock,
      tokenDelayMs: options.tokenDelayMs ?? 0,
      models,
      documentSets,
      runs,
    }),
    ...catalogRoutes({ dialect, pairs, models, documentSets }),
  ];
  // Documents that an earlier run did not get to.
  indexer.notify();
  const closing = new AbortController();
  const faults = createFaults(options.faults ?? {}, clock);
  const router = createRouter(routes, dialect);
  const hasKey = createKeyCheck(options.key, dialect);
  let guard: ReturnType<typeof createGuard> = () => detail(503, "Starting");
  let inFlight = 0;

  /** Everything that is decided before a byte of the body is read. */
  const admit = (request: IncomingMessage, path: string): { route: Route; parameters: Record<string, string> } => {
    const refusal = guard(request);
    if (refusal) throw new Refusal(refusal);
    const segments = segmentsOf(path);
    if (!segments) throw new Refusal(detail(400, "Malformed path"));
    const match = router(request.method ?? "", segments);
    const open = match.kind === "route" ? match.route.open === true : !path.startsWith("/api/");
    if (!open && !hasKey(request)) throw new Refusal(denied(dialect));
    if (match.kind === "wrong-method") throw new Refusal(detail(405, "Method Not Allowed"));
    if (match.kind === "none") throw new Refusal(notFound());
    return match;
  };

  const documentIdOf = (call: Call): string | undefined => {
    if (!call.path.endsWith("/ingestion") || call.method !== "POST") return undefined;
    try {
      const { document } = call.json() as { document?: { id?: unknown } };
      return typeof document?.id === "string" ? document.id : "";
    } catch {
      return "";
    }
  };

  const answer = async (
    request: IncomingMessage,
    response: ServerResponse,
    gone: AbortSignal,
    path: string,
    query: URLSearchParams,
  ): Promise<{ reply: Reply; plan: FaultPlan; body: Buffer }> => {
    const { route, parameters } = admit(request, path);
    if (request.headers.expect !== undefined) response.writeContinue();
    const body = await readBody(request, route.bodyLimit ?? 0);
    const call: Call = {
      method: request.method ?? "",
      path,
      parameters,
      query,
      headers: request.headers,
      body,
      json: lazyJson(request.headers["content-type"], body),
      signal: gone,
    };
    const id = documentIdOf(call);
    if (id !== undefined) ledger.attempted(id);
    const plan = faults({ method: call.method, path, documentId: () => id });
    if (plan.delayMs) await clock.sleep(plan.delayMs, gone);
    if (plan.hang) await clock.sleep(2 ** 31 - 1, gone);
    if (plan.reset === "before") return { reply: notFound(), plan, body };
    return { reply: faultyReply(plan) ?? (await handled(route, call)), plan, body };
  };

  const handled = async (route: Route, call: Call): Promise<Reply> => {
    try {
      return await route.handle(call);
    } catch (error) {
      if (error instanceof Refusal) return error.reply;
      throw error;
    }
  };

  const refuse = async (request: IncomingMessage, response: ServerResponse, error: unknown): Promise<void> => {
    if (response.destroyed || response.headersSent) return void response.destroy();
    await discardBody(request);
    const reply = error instanceof Refusal ? error.reply : detail(500, "Internal error of the sandbox");
    if (!(error instanceof Refusal)) options.onLog?.(`internal error: ${String(error)}`);
    await deliver(response, { ...reply, headers: { ...reply.headers, connection: "close" } }, {}, clock, closing.signal);
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const started = clock.now();
    const target = request.url ?? "/";
    const entry: LedgerRequest = ledger.request(request.method ?? "", target, request.headers);
    inFlight += 1;
    ledger.ledger.maxInFlight = Math.max(ledger.ledger.maxInFlight, inFlight);
    const left = new AbortController();
    response.once("close", () => left.abort());
    const gone = AbortSignal.any([left.signal, closing.signal]);
    let held: Buffer | undefined;
    try {
      if (!target.startsWith("/")) throw new Refusal(detail(400, "Absolute addresses are refused"));
      // Not `new URL`: it would resolve `..` away instead of showing it.
      const [path, query] = splitTarget(target);
      const { reply, plan, body } = await answer(request, response, gone, path, query);
      held = body;
      entry.status = plan.reset ? 0 : reply.status;
      if (plan.reset === "before") reset(response);
      else await deliver(response, reply, plan, clock, gone);
    } catch (error) {
      entry.status = error instanceof Refusal ? error.reply.status : 500;
      await refuse(request, response, error).catch(() => response.destroy());
    } finally {
      inFlight -= 1;
      if (held) releaseBody(held);
      options.onLog?.(`${request.method} ${target} ${entry.status} ${clock.now() - started} ms`);
    }
  };

  return {
    ledger: ledger.ledger,
    serve,
    listening: (port) => {
      guard = createGuard(options.host, port);
    },
    async idle() {
      commits.flush();
      await indexer.idle();
    },
    close() {
      closing.abort();
      commits.flush();
      indexer.stop();
      database.close();
    },
  };
}

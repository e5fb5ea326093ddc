import { type IncomingMessage, type ServerResponse, createServer, type Server } from "node:http";
import { messageOf, CliError, codeOf } from "../../errors.ts";
import type { Clock } from "../clock.ts";
import {
  anonymousCaller,
  adminCaller,
  type Caller,
  readerCaller,
  scopedCaller,
} from "../store/access.ts";
import type { LedgerWriter, Ledger } from "../store/ledger.ts";
import { discardBody } from "./body.ts";
import { type App, type Call, goneSignal } from "./call.ts";
import { type FaultPlan, replacementOf } from "./faults.ts";
import { pathOf, createCallerLookup, createGuard, isLoopback } from "./guard.ts";
import type { AddressInfo } from "node:net";
import { defaultHost, publicKey, type SandboxOptions } from "../options.ts";
import { openService, type Service } from "../service.ts";
import { createApp, createRoutes, hasPath } from "./app.ts";

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
function createServing(app: App, ledger: LedgerWriter, clock: Clock, log: (line: string) => void) {
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

export interface Sandbox {
  /** `http://127.0.0.1:PORT`, no trailing slash. */
  url: string;
  port: number;
  ledger: Ledger;
  /** Resolves when every accepted document is indexed. */
  idle: () => Promise<void>;
  /** Ends open streams, stores pending data and closes the database. Idempotent. */
  close: () => Promise<void>;
}

/** Limits for slow senders: seconds for the head, minutes for the body. Node checks every second. */
const limits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 120_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
};

function createHttpServer(
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const server = createServer(limits, onRequest);
  // Request the body only after the head is admitted: no key, no 100 Continue.
  server.on("checkContinue", onRequest);
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable) return socket.destroy();
    const overflow = error.code === "HPE_HEADER_OVERFLOW";
    const status = overflow ? "431 Request Header Fields Too Large" : "400 Bad Request";
    socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  });
  return server;
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      const isTaken = codeOf(error) === "EADDRINUSE";
      const why = isTaken ? "the port is in use" : messageOf(error);
      reject(
        new CliError("local", `cannot listen on ${host}:${port}: ${why}`, {
          cause: error,
          hints: isTaken
            ? [
                "choose another port with --port N, or 0 for any free one",
                "check whether a sandbox is running already",
              ]
            : ["choose another --host or --port"],
        }),
      );
    });
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Closes all connections, which ends the open responses. */
async function closeConnections(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function urlOf(host: string, port: number): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

function checkKey(host: string, key: string): void {
  if (key !== "" && (isLoopback(host) || key !== publicKey)) return;
  throw new CliError("usage", `the sandbox on ${host} needs a key of its own`, {
    hints: ["set KNOWCTL_SANDBOX_KEY to a secret, or leave --host out"],
  });
}

const chatScopes = ["read:chat", "write:chat", "read:search"];

/** The callers by key. */
function callersOf(options: SandboxOptions) {
  const { key, readers = [{ key: `${key}-reader` }] } = options;
  const { tokens = [{ key: `${key}-scoped`, scopes: chatScopes }] } = options;
  const callers = new Map<string, Caller>();
  for (const token of tokens) callers.set(token.key, scopedCaller(token.scopes));
  for (const reader of readers) callers.set(reader.key, readerCaller(reader.groups));
  return callers.set(key, adminCaller);
}

/** Throws CliError `usage` if a path of `deny` or `missing` is no endpoint of either dialect. */
function checkFaultPaths(service: Service): void {
  const { denied = [], missing = [] } = service.faults;
  const named = [...denied, ...missing];
  if (named.length === 0) return;
  const apps = (["standard", "onyx"] as const).map((dialect) =>
    createRoutes({ ...service, dialect }),
  );
  for (const path of named) {
    const known = pathOf(`/api${path}`);
    if (known !== undefined && !path.includes("?") && apps.some((app) => hasPath(app, known))) {
      continue;
    }
    throw new CliError("usage", `--fault: the sandbox has no endpoint /api${path}`, {
      hints: ["name the whole path after /api, for example missing=/chat/send-chat-message"],
    });
  }
}

/** Serves the app until it is closed; `close` waits for the requests in progress. */
async function serveApp(service: Service, options: SandboxOptions, host: string) {
  // Requests in progress; the database closes after them.
  const running = new Set<Promise<void>>();
  let serve: ReturnType<typeof createServing> | undefined;
  const server = createHttpServer((incoming, outgoing) => {
    const done = serve!(incoming, outgoing).finally(() => running.delete(done));
    running.add(done);
  });
  const port = await listen(server, host, options.port);
  const app = createApp(service, createGuard(host, port), createCallerLookup(callersOf(options)));
  serve = createServing(app, service.ledger, service.clock, service.log);
  return {
    port,
    async close() {
      await closeConnections(server);
      await Promise.all(running);
      await service.close();
    },
  };
}

/**
 * Starts the local service. It listens when the promise resolves; the caller closes it.
 * Throws CliError `local` if the port is in use or the data folder is unusable, `usage` for
 * the default key on an address that others can reach.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const host = options.host ?? defaultHost;
  checkKey(host, options.key);
  const service = await openService(options);
  try {
    checkFaultPaths(service);
    const { port, close } = await serveApp(service, options, host);
    let closed: Promise<void> | undefined;
    return {
      url: urlOf(host, port),
      port,
      ledger: service.ledger.ledger,
      idle: service.idle,
      close: () => (closed ??= close()),
    };
  } catch (error) {
    await service.close();
    throw error;
  }
}

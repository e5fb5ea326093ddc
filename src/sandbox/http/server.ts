import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CliError, codeOf, messageOf } from "../../errors.ts";
import { publicKey, type SandboxOptions } from "../options.ts";
import { openService, type Service } from "../service.ts";
import { adminCaller, type Caller, readerCaller, scopedCaller } from "../store/access.ts";
import type { Ledger } from "../store/ledger.ts";
import { createApp, createRoutes, hasPath } from "./app.ts";
import { createCallerLookup, createGuard, isLoopback, pathOf } from "./guard.ts";
import { createServing } from "./serving.ts";

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
  const host = options.host ?? "127.0.0.1";
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

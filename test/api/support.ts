import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createNetServer, type AddressInfo, type Socket } from "node:net";
import { createClient, type Client, type ClientOptions } from "../../src/api/client.ts";
import type { Headers } from "../../src/api/transport/headers.ts";
import type { Redactor } from "../../src/api/answers/redaction.ts";
import type { Clock } from "../../src/api/retry/timing.ts";

/** For what runs without secrets. */
const noSecrets: Redactor = {
  redact: (text) => text,
  redactLast: (text) => text,
  mayHold: () => false,
  openTail: () => 0,
  redactAll: (value) => value,
};

/** Headers as undici hands them over. */
export function rawHeaders(headers: Record<string, string>): Headers {
  return Object.entries(headers)
    .flat()
    .map((text) => Buffer.from(text, "latin1"));
}

export interface TestClock extends Clock {
  /** Every wait that was asked for, in ms. */
  readonly sleeps: number[];
  advance(ms: number): void;
  /** Sets the wall clock on, or back, by `ms`: no time has passed. */
  set(ms: number): void;
}

/** A clock whose waits end at once and move it on; `random` always gives the same. */
export function createTestClock(random = 0.5): TestClock {
  let time = Date.UTC(2026, 0, 1);
  let set = 0;
  const sleeps: number[] = [];
  return {
    sleeps,
    set: (ms) => void (set += ms),
    now: () => time + set,
    elapsed: () => time,
    random: () => random,
    advance: (ms) => void (time += ms),
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      sleeps.push(ms);
      time += ms;
      // A turn of the event loop, as a real timer gives: promises settle meanwhile.
      await new Promise<void>((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    },
  };
}

const opened: (() => Promise<void>)[] = [];

/** For `afterEach`: closes every server and client of the test. */
export async function closeAll(): Promise<void> {
  for (const close of opened.splice(0).toReversed()) await close();
}

async function listen(server: Server | ReturnType<typeof createNetServer>): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return (server.address() as AddressInfo).port;
}

export interface TestServer {
  url: string;
  port: number;
  /** Every request that came, as `METHOD path`. */
  seen: string[];
}

/** An HTTP server on loopback. */
export async function startHttp(listener: RequestListener): Promise<TestServer> {
  const seen: string[] = [];
  const server = createServer({ keepAliveTimeout: 10_000 }, (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    listener(request, response);
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}`, port, seen };
}

/** A TCP server that plays `answer` once a whole request has come. */
export async function startRaw(
  answer: (socket: Socket, request: string, number: number) => void,
): Promise<TestServer> {
  const seen: string[] = [];
  const server = createNetServer((socket) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (text.length < end + 4 + length) return;
      const request = text;
      text = "";
      seen.push(request.split(" ").slice(0, 2).join(" "));
      answer(socket, request, seen.length);
    });
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}`, port, seen };
}

export interface TestClient extends Client {
  clock: TestClock;
}

export function openClient(baseUrl: string, options: Partial<ClientOptions> = {}): TestClient {
  const clock = (options.clock as TestClock | undefined) ?? createTestClock();
  const client = createClient({
    baseUrl,
    dialect: "standard",
    accessToken: "CANARY-access",
    apiKey: "CANARY-api",
    secrets: noSecrets,
    signal: new AbortController().signal,
    ...options,
    clock,
  });
  opened.push(() => client.close());
  return { ...client, clock };
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** The error that `promise` rejects with; fails the test when it resolves. */
export async function errorOf(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error("expected a rejection");
}

export function httpText(
  status: string,
  headers: Record<string, string | number>,
  body: string,
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join("")}\r\n${body}`;
}

export function jsonText(value: unknown, status = "200 OK"): string {
  const body = JSON.stringify(value);
  return httpText(
    status,
    { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    body,
  );
}

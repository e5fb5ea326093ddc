import { CliError } from "../errors.ts";
import { judgeHead, readAnswer, type Question, type Result } from "./answers/answers.ts";
import type { Shape } from "./answers/words.ts";
import { run } from "./transport/attempt.ts";
import { urlOf, type Call, type ClientOptions, type Wire } from "./call.ts";
import type { ConnectorOptions } from "./transport/connector.ts";
import { dialects, type Dialect } from "./dialects.ts";
import { readErrorBody, type Answer, type StreamedAnswer } from "./transport/exchange.ts";
import { proxyFor } from "./transport/tunnel.ts";
import type { Redactor } from "./answers/redaction.ts";
import { createTransport } from "./transport/transport.ts";

export type { Call, ClientOptions, RequestTrace } from "./call.ts";

export interface Client {
  readonly dialect: Dialect;
  readonly secrets: Redactor;
  /** Sends with the retries of the policy, and returns the response that `shape` accepts. Throws ApiError. */
  call<T>(call: Call, shape: Shape<T>): Promise<T>;
  /** The same for a streamed response. `accepts` matches its content type. */
  open(call: Call, accepts: RegExp): Promise<AsyncGenerator<Uint8Array>>;
  /**
   * Sends any request. Returns a 2xx response with its head and throws for any other status.
   * `onRefused` first receives each response with another status.
   */
  raw(call: Call, onRefused?: (answer: Answer) => void): Promise<StreamedAnswer>;
  /**
   * Whether the service calls itself the sandbox of this tool, as far as its responses say. Only for
   * a caveat: any service may say so.
   */
  isSandbox(): boolean;
  /** The address of a path, for messages. */
  url(path: string): string;
  /** Closes every connection; requests in flight fail. */
  close(): Promise<void>;
}

/** Splits a checked base URL. Paths are appended as strings: `new URL` would drop the prefix. */
function splitBase(baseUrl: string): { origin: string; prefix: string } {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (
    !url ||
    (url.protocol !== "http:" && url.protocol !== "https:") ||
    url.username + url.password + url.search + url.hash !== ""
  ) {
    throw new CliError("not-configured", "the base URL is not a plain http or https address", {
      hints: ["write it as https://host, without name, password, query or fragment"],
    });
  }
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, "") };
}

/** Judges the head of a streamed response. Reads the body only of a failure. */
async function readHead(
  question: Question,
  answer: StreamedAnswer,
  accepts: RegExp,
  now: number,
  secrets: Redactor,
): Promise<Result<AsyncGenerator<Uint8Array>>> {
  const isOk = answer.status === 200;
  const judged = isOk ? { ...answer, body: Buffer.alloc(0) } : await readErrorBody(answer, secrets);
  const failure = judgeHead(question, judged, now, accepts);
  if (!failure) return { ok: true, value: answer.body };
  await answer.body.return(undefined);
  return { ok: false, failure };
}

/** How to open connections to the service: proxy and certificates. */
export function connectorOptionsOf(options: ClientOptions): ConnectorOptions & { origin: string } {
  const { origin } = splitBase(options.baseUrl);
  return {
    origin,
    secrets: options.secrets,
    proxy: proxyFor(origin, options.proxy, options.noProxy),
    ca: options.ca,
    client: options.client,
    allowInsecureTls: options.allowInsecureTls,
  };
}

/** The state that calls of a client share. Throws CliError `not-configured` as createClient does. */
export function createWire(options: ClientOptions): Wire {
  const { origin, prefix } = splitBase(options.baseUrl);
  const transport = createTransport({
    ...connectorOptionsOf(options),
    connections: options.connections ?? 8,
    signal: options.signal,
  });
  return {
    options,
    dialect: dialects[options.dialect],
    transport,
    origin,
    prefix,
    checkedPath: "",
  };
}

/**
 * The client of one service. Opens nothing until the first call; the caller
 * closes it. Throws CliError `not-configured` for an unusable base URL or proxy.
 */
export function createClient(options: ClientOptions): Client {
  const wire = createWire(options);
  const { transport } = wire;
  const { clock, secrets } = options;
  return {
    dialect: wire.dialect,
    secrets,
    isSandbox: () => wire.isSandbox === true,
    url: (path) => urlOf(wire, path),
    call: (call, shape) =>
      run(
        wire,
        call,
        (exchange) => transport.send(exchange),
        (question, answer) => {
          call.onHeaders?.(answer.headers);
          return readAnswer(question, answer, shape, clock.now());
        },
      ),
    open: (call, accepts) =>
      run(
        wire,
        call,
        (exchange) => transport.open(exchange),
        (question, answer) => readHead(question, answer, accepts, clock.now(), secrets),
      ),
    raw: async (call, onRefused) => {
      const { readRaw } = await import("./raw.ts");
      return await run(
        wire,
        call,
        (exchange) => transport.open(exchange),
        (question, answer) => readRaw(question, answer, { now: clock.now(), secrets, onRefused }),
      );
    },
    close: () => transport.close(),
  };
}

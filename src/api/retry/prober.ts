import { failureOfFault, type Question } from "../answers/answers.ts";
import type { ClientOptions } from "../call.ts";
import { createWire } from "../client.ts";
import { isUnsent } from "../transport/connector.ts";
import type { Answer } from "../transport/exchange.ts";
import { header } from "../transport/headers.ts";
import type { ApiError } from "../../errors.ts";

/** A request without retries, whose response is inspected whatever it is. */
export interface Probe {
  /** For messages: `list connectors`. */
  what: string;
  method: "GET" | "POST";
  /** Absolute path at the origin; contains the prefix of the base URL if that is wanted. */
  path: string;
  /** Absent: the request carries no key. */
  key?: "accessToken" | "apiKey" | undefined;
  /** JSON. */
  body?: string | undefined;
  /** Maximum size of the response (default 1 MiB). */
  mostBytes?: number | undefined;
}

export type Probed = {
  question: Question;
  /** Milliseconds from the request to the end of its response. */
  ms: number;
} & ({ answer: Answer; error?: never } | { answer?: never; error: ApiError });

/** Record of one request, without its key. */
export interface ProbeTrace {
  method: string;
  url: string;
  key: "accessToken" | "apiKey" | "none";
  status?: number;
  code?: string;
  contentType?: string;
  server?: string;
  ms: number;
}

export interface Prober {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path of the base URL, without a trailing slash. */
  readonly prefix: string;
  /** Sends one request. Throws only on an abort; a fault is returned as `error`. */
  ask(probe: Probe): Promise<Probed>;
  /** All requests so far, in order. */
  readonly traces: readonly ProbeTrace[];
  close(): Promise<void>;
}

function toTrace(probe: Probe, { question, ms, answer, error }: Probed): ProbeTrace {
  const contentType = answer && header(answer.headers, "content-type");
  const server = answer && header(answer.headers, "server");
  return {
    method: question.method,
    url: question.url,
    key: probe.key ?? "none",
    ...(answer ? { status: answer.status } : {}),
    ...(error?.code === undefined ? {} : { code: error.code }),
    ...(contentType === undefined ? {} : { contentType }),
    ...(server === undefined ? {} : { server }),
    ms: Math.round(ms),
  };
}

/**
 * Sends requests without retries and without judging the responses, over the same kind of
 * connection as the client. `limitMs` is the timeout of each request. The caller closes
 * the prober. Throws CliError `not-configured` as createClient does.
 */
export function createProber(options: ClientOptions, limitMs: number): Prober {
  const wire = createWire(options);
  const { transport, origin, prefix } = wire;
  const isShared = options.accessToken === options.apiKey;
  const traces: ProbeTrace[] = [];
  const send = async (probe: Probe, question: Question): Promise<Probed> => {
    const { method, path, key, body, mostBytes = 1024 * 1024 } = probe;
    const headers: Record<string, string> = {
      accept: "application/json",
      "accept-encoding": "identity",
      "user-agent": "knowctl",
      ...options.headers,
      ...(key === undefined ? {} : { authorization: `Bearer ${options[key]}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const begun = performance.now();
    const took = (): number => performance.now() - begun;
    try {
      const answer = await transport.send({
        method,
        path,
        headers,
        body: body === undefined ? undefined : Buffer.from(body),
        headersMs: limitMs,
        idleMs: limitMs,
        totalMs: limitMs,
        responseBytes: mostBytes,
        // The server may close a kept-alive connection at this moment, which would look like a fault.
        fresh: true,
      });
      return { question, ms: took(), answer };
    } catch (error) {
      if (options.signal.aborted) throw error;
      return {
        question,
        ms: took(),
        error: failureOfFault(question, error, isUnsent(error)).error,
      };
    }
  };
  return {
    origin,
    prefix,
    traces,
    async ask(probe) {
      const { what, method, path, key = "accessToken" } = probe;
      const url = origin + path;
      // The second guard, as in call.ts: no path may change the origin that receives the key.
      if (!path.startsWith("/") || new URL(url).origin !== origin) {
        throw new Error(`path leaves the base URL: ${path.slice(0, 80)}`);
      }
      const keyOrigin = options.keyOrigins?.[key];
      const question: Question = { what, method, url, key: isShared ? "shared" : key, keyOrigin };
      const probed = await send(probe, question);
      const trace = toTrace(probe, probed);
      traces.push(trace);
      const { onTrace } = options;
      onTrace?.({ ...trace, attempt: 1, headers: { request: {}, response: {} } });
      return probed;
    },
    close: () => transport.close(),
  };
}

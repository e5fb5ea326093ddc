import type Pool from "undici/lib/dispatcher/pool.js";
import type { DispatchOptions } from "undici/lib/dispatcher/pool.js";
import { createConnector, type ConnectorOptions } from "./connector.ts";
import {
  streamedAnswer,
  wholeAnswer,
  type Answer,
  type Means,
  type Start,
  type StreamedAnswer,
} from "./exchange.ts";
import type { Exchange, Watch } from "./watch.ts";

export interface TransportOptions extends ConnectorOptions {
  /** Scheme, host and port. */
  origin: string;
  connections: number;
  /** Aborts every exchange that is not detached, with its reason. */
  signal: AbortSignal;
}

export interface Transport {
  /** Sends and reads the whole response. Throws the transport's errors (faults.ts reads them). */
  send(exchange: Exchange): Promise<Answer>;
  /** Sends and streams the response body. */
  open(exchange: Exchange): Promise<StreamedAnswer>;
  close(): Promise<void>;
}

/**
 * Prevents V8 from optimising the WebAssembly HTTP parser. Optimising costs 60 ms CPU, more
 * than a short command, and delays the exit; an upload profits only beyond 60,000 documents.
 * Only Node 20 needs this; a language feature of Node 22 tells them apart.
 */
async function skipParserOptimisation(): Promise<void> {
  if ("withResolvers" in Promise) return;
  const { setFlagsFromString } = await import("node:v8");
  setFlagsFromString("--liftoff-only");
}

interface Pools {
  make(connections: number): Pool;
  /** Aborts connections that are still opening. */
  abandon(): void;
}

async function openPools(options: TransportOptions): Promise<Pools> {
  await skipParserOptimisation();
  const { default: PoolOfConnections } = await import("undici/lib/dispatcher/pool.js");
  const { connect, abandon } = await createConnector(options);
  const make = (connections: number): Pool =>
    new PoolOfConnections(options.origin, {
      connections,
      pipelining: 1,
      connect,
      keepAliveTimeout: 4000,
      keepAliveMaxTimeout: 4000,
      // Set explicitly: undici would load node:http only to read this default.
      maxHeaderSize: 16_384,
      // Disabled, watch.ts has its own timeouts: undici's also run while a body is sent.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  return { make, abandon };
}

// The progress of a body in one piece is invisible, so a large body is sent in pieces.
const pieceBytes = 64 * 1024;
const wholeBytes = 4 * pieceBytes;

async function* piecesOf(body: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += pieceBytes) yield body.subarray(at, at + pieceBytes);
}

function toRequest(exchange: Exchange): DispatchOptions {
  const { method, path, body, fresh } = exchange;
  if (body instanceof Uint8Array && body.length > wholeBytes) {
    const headers = { ...exchange.headers, "content-length": String(body.length) };
    return toRequest({ ...exchange, headers, body: () => piecesOf(body) });
  }
  const { headers } = exchange;
  return {
    method,
    path,
    headers,
    body: typeof body === "function" ? body() : (body ?? null),
    headersTimeout: 0,
    bodyTimeout: 0,
    reset: fresh ? true : null,
  };
}

/** Opens no connection yet: the first exchange loads undici and creates the pool. */
export function createTransport(options: TransportOptions): Transport {
  const { signal, secrets } = options;
  let opening: Promise<Pools> | undefined;
  let pools: Pools | undefined;
  let shared: Pool | undefined;
  const inFlight: Watch[] = [];
  const endRunning = (): void => {
    const ended = inFlight.filter(({ detached }) => !detached);
    for (const { abort } of ended) abort(signal.reason as Error);
  };
  signal.addEventListener("abort", endRunning, { once: true });

  const starter = (exchange: Exchange, { make }: Pools): Start => {
    return (watch) => {
      const pool = exchange.fresh ? make(1) : (shared ??= make(options.connections));
      pool.dispatch(toRequest(exchange), watch.handler);
      return () => {
        if (exchange.fresh) void pool.destroy();
      };
    };
  };
  /** Sends at once if the pools exist: in a bulk upload every additional promise costs time. */
  const begin = <A>(
    exchange: Exchange,
    send: (exchange: Exchange, means: Means) => Promise<A>,
  ): Promise<A> => {
    if (!pools) {
      opening ??= openPools(options);
      return opening.then((opened) => {
        pools = opened;
        return begin(exchange, send);
      });
    }
    if (signal.aborted && !exchange.detached) return Promise.reject(signal.reason as Error);
    return send(exchange, { start: starter(exchange, pools), inFlight, secrets });
  };
  return {
    send: (exchange) => begin(exchange, wholeAnswer),
    open: (exchange) => begin(exchange, streamedAnswer),
    async close() {
      signal.removeEventListener("abort", endRunning);
      pools?.abandon();
      await shared?.destroy();
      shared = undefined;
    },
  };
}

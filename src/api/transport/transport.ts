import type Pool from "undici/lib/dispatcher/pool.js";
import type { DispatchOptions } from "undici/lib/dispatcher/pool.js";
import { createConnector, type ConnectorOptions } from "./connector.ts";
import { createDeadlines } from "./deadlines.ts";
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
  /** Ends every exchange that is not detached, with its reason. */
  signal: AbortSignal;
}

export interface Transport {
  /** Sends and reads the whole answer. Throws the transport's own errors (faults.ts reads them). */
  send(exchange: Exchange): Promise<Answer>;
  /** Sends and gives the body as it comes. */
  open(exchange: Exchange): Promise<StreamedAnswer>;
  close(): Promise<void>;
}

/**
 * Keeps V8 from optimising the WebAssembly HTTP parser, which would cost more
 * than a short command takes (+60 ms CPU, and the exit waits for it), and in an
 * upload pays only beyond 60,000 documents. Only the V8 of Node 20 gains,
 * recognised by a language feature that came with 22.
 */
async function skipParserOptimisation(): Promise<void> {
  if ("withResolvers" in Promise) return;
  const { setFlagsFromString } = await import("node:v8");
  setFlagsFromString("--liftoff-only");
}

interface Pools {
  make(connections: number): Pool;
  /** Gives up the connections that are being opened. */
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
      // Named so that undici need not load node:http to ask for the default.
      maxHeaderSize: 16_384,
      // Own timers: undici's also run while a body is being sent.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  return { make, abandon };
}

// A body in one piece moves unseen: a large one goes out in pieces, as the connection takes them.
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

/** Opens nothing yet: undici is loaded and the pool made with the first exchange. */
export function createTransport(options: TransportOptions): Transport {
  const { signal, secrets } = options;
  let opening: Promise<Pools> | undefined;
  let pools: Pools | undefined;
  let shared: Pool | undefined;
  const deadlines = createDeadlines<Watch>();
  const endRunning = (): void => {
    for (const watch of deadlines.all()) {
      if (!watch.detached) watch.abort(signal.reason as Error);
    }
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
  /** With the pools at hand the request goes out at once; each promise less counts in bulk. */
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
    return send(exchange, { start: starter(exchange, pools), deadlines, secrets });
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

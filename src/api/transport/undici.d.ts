/**
 * The two undici files that are loaded by path: the package has no `exports`
 * map, and its index would also load fetch, WebSocket, cache and mocks (73 ms
 * and a second undici inside Node; performance.md A3). The version is pinned, and a
 * test loads both files.
 */
declare module "undici/lib/dispatcher/pool.js" {
  import type { Readable } from "node:stream";
  import type { Connector } from "undici/lib/core/connect.js";

  /**
   * The kind of handler that undici 7 itself passes to `dispatch` (lib/api). undici calls it
   * directly; handlers of the newer interface need a wrapper per request.
   */
  export interface Handler {
    onConnect(abort: (reason: Error) => void): void;
    /** A piece of the body was written to the socket, which had capacity for it. */
    onBodySent(chunk: Uint8Array): void;
    /** Names and values alternate. False pauses the sender until `resume` is called. */
    onHeaders(status: number, headers: Buffer[], resume: () => void): boolean;
    /** False as in onHeaders. */
    onData(chunk: Buffer): boolean;
    onComplete(trailers: Buffer[]): void;
    onError(error: Error): void;
  }

  export interface DispatchOptions {
    method: string;
    path: string;
    headers: Record<string, string>;
    body?: Uint8Array | AsyncIterable<Uint8Array> | Readable | null;
    reset?: boolean | null;
    headersTimeout: number;
    bodyTimeout: number;
  }

  export interface PoolOptions {
    connections: number;
    pipelining: number;
    connect: Connector;
    keepAliveTimeout: number;
    keepAliveMaxTimeout: number;
    maxHeaderSize: number;
    headersTimeout: number;
    bodyTimeout: number;
  }

  export default class Pool {
    constructor(origin: string, options: PoolOptions);
    dispatch(options: DispatchOptions, handler: Handler): boolean;
    close(): Promise<void>;
    destroy(error?: Error): Promise<void>;
  }
}

declare module "undici/lib/core/connect.js" {
  import type { Socket } from "node:net";
  import type { SecureContext } from "node:tls";

  export interface ConnectTarget {
    hostname: string;
    host?: string;
    protocol: string;
    port: string;
    servername?: string | null;
    localAddress?: string | null;
    /** An open connection to speak TLS over, e.g. a proxy's tunnel. */
    httpSocket?: Socket;
  }
  export type Connected = (error: Error | null, socket?: Socket) => void;
  export type Connector = (target: ConnectTarget, callback: Connected) => void;

  export interface TlsOptions {
    secureContext?: SecureContext;
    cert?: string;
    key?: string;
    passphrase?: string | undefined;
    rejectUnauthorized?: boolean;
  }
  export interface ConnectorOptions extends TlsOptions {
    timeout?: number;
    autoSelectFamily?: boolean;
    autoSelectFamilyAttemptTimeout?: number;
  }
  /** The created function returns the socket, which is still opening. */
  export default function buildConnector(
    options: ConnectorOptions,
  ): (target: ConnectTarget, callback: Connected) => Socket;
}

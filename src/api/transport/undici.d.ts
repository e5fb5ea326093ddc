/**
 * The two undici files that are loaded by path: the package has no `exports`
 * map, and its index would bring fetch, WebSocket, cache and mocks along (73 ms
 * and a second undici inside Node; performance.md A3). Version pinned, and a
 * test loads both.
 */
declare module "undici/lib/dispatcher/pool.js" {
  import type { Readable } from "node:stream";
  import type { Connector } from "undici/lib/core/connect.js";

  /**
   * What the calls of undici 7 itself hand to `dispatch` (lib/api): it is called as
   * it is, the newer interface through a wrapper for each request.
   */
  export interface Handler {
    onConnect(abort: (reason: Error) => void): void;
    /** A piece of the body was handed to the socket, which had room for it. */
    onBodySent(chunk: Uint8Array): void;
    /** Names and values in turn. False holds the sender back until `resume` is called. */
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

  export interface ConnectorOptions {
    timeout?: number;
    ca?: string[];
    cert?: string;
    key?: string;
    passphrase?: string | undefined;
    rejectUnauthorized?: boolean;
    autoSelectFamily?: boolean;
    autoSelectFamilyAttemptTimeout?: number;
  }
  /** The function that it makes returns the socket that is being opened. */
  export default function buildConnector(
    options: ConnectorOptions,
  ): (target: ConnectTarget, callback: Connected) => Socket;
}

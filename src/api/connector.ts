import type { Socket } from "node:net";
import type { Connected, ConnectTarget, Connector } from "undici/lib/core/connect.js";
import { isCertificateFault } from "./faults.ts";
import { addressAttemptMs, connectMs } from "./policy.ts";
import type { Proxy } from "./proxy.ts";

export interface ConnectorOptions {
  proxy?: Proxy | undefined;
  /** PEM certificates trusted beside the built-in roots. */
  ca?: string | undefined;
  allowInsecureTls?: boolean | undefined;
  /** Longest wait for a connection, its tunnel and its TLS handshake each. */
  connectMs?: number | undefined;
}

/** Faults of opening a connection: nothing of a request can have been sent. */
const unsentErrors = new WeakSet<Error>();

/** For an exchange that was given up before it had a connection. */
export function markUnsent(error: Error): void {
  unsentErrors.add(error);
}

export function isUnsent(error: unknown): boolean {
  return error instanceof Error && unsentErrors.has(error);
}

/** A proxy that does not give a tunnel; `code` is `PROXY_…`. The message names no credentials. */
function proxyError(proxy: Proxy, code: string, reason: string, cause?: unknown): Error {
  const where = `${proxy.hostname}:${proxy.port}`;
  return Object.assign(new Error(`proxy ${where}: ${reason}`, { cause }), { code });
}

function tunnelRefused(proxy: Proxy, status: number, phrase: string): Error {
  const words = `answered ${status} ${phrase}`.trim();
  return status === 407
    ? proxyError(proxy, "PROXY_AUTH", `${words}: it wants a name and password`)
    : proxyError(proxy, "PROXY_REFUSED", `${words} to CONNECT`);
}

function tunnelFailed(proxy: Proxy, error: Error & { code?: string }): Error {
  const { code = "no connection" } = error;
  if (code.startsWith("PROXY_")) return error;
  // A certificate fault keeps its code: it is never retried.
  if (isCertificateFault(code)) return proxyError(proxy, code, error.message, error);
  const reason = code === "ECONNRESET" ? "closed the connection" : code;
  return proxyError(proxy, "PROXY_UNREACHABLE", reason, error);
}

function authority(target: ConnectTarget): string {
  const port = target.port || (target.protocol === "https:" ? "443" : "80");
  return `${target.hostname.includes(":") ? `[${target.hostname}]` : target.hostname}:${port}`;
}

/** Roots for TLS: giving `ca` replaces the built-in ones, so they are named again. */
async function rootsWith(ca: string | undefined): Promise<string[] | undefined> {
  if (ca === undefined) return undefined;
  const { rootCertificates } = await import("node:tls");
  return [...rootCertificates, ca];
}

/**
 * Opens a tunnel with CONNECT. Our own and not undici's ProxyAgent, whose
 * retries never end when a proxy drops the connection (undici #3897).
 */
async function openTunnel(
  proxy: Proxy,
  target: ConnectTarget,
  tls: { ca?: string[]; rejectUnauthorized: boolean },
  limitMs: number,
  opening: Set<Opening>,
): Promise<Socket> {
  const { request } =
    proxy.protocol === "https:" ? await import("node:https") : await import("node:http");
  const host = authority(target);
  const headers: Record<string, string> = { host };
  if (proxy.authorization !== undefined) headers["proxy-authorization"] = proxy.authorization;
  return new Promise((resolve, reject) => {
    const options = {
      method: "CONNECT",
      host: proxy.hostname.replace(/^\[|\]$/g, ""),
      port: proxy.port,
      path: host,
      headers,
      agent: false as const,
      autoSelectFamilyAttemptTimeout: addressAttemptMs,
      ...tls,
    };
    const attempt = request(options);
    opening.add(attempt);
    const timer = setTimeout(() => {
      attempt.destroy(proxyError(proxy, "PROXY_TIMEOUT", "no answer in time to CONNECT"));
    }, limitMs);
    const settle = (): void => {
      clearTimeout(timer);
      opening.delete(attempt);
    };
    attempt.once("connect", (answer, socket, head) => {
      settle();
      const status = answer.statusCode ?? 0;
      if (status >= 200 && status < 300) {
        if (head.length > 0) socket.unshift(head);
        resolve(socket as Socket);
        return;
      }
      socket.on("error", () => {}).destroy();
      reject(tunnelRefused(proxy, status, answer.statusMessage ?? ""));
    });
    attempt.once("error", (error: Error & { code?: string }) => {
      settle();
      reject(tunnelFailed(proxy, error));
    });
    attempt.end();
  });
}

/** A socket or tunnel on its way. */
interface Opening {
  destroy(error: Error): unknown;
}

export interface Connections {
  connect: Connector;
  /** Gives up what is still being opened: each would hold the process until its own time limit. */
  abandon(): void;
}

/**
 * The function with which undici's Pool opens its connections: direct or
 * through a proxy's tunnel, with the same certificates for both. Its errors are
 * known to `isUnsent`.
 */
export async function createConnector(options: ConnectorOptions): Promise<Connections> {
  const { default: buildConnector } = await import("undici/lib/core/connect.js");
  const roots = await rootsWith(options.ca);
  const limitMs = options.connectMs ?? connectMs;
  const tls = {
    rejectUnauthorized: options.allowInsecureTls !== true,
    ...(roots === undefined ? {} : { ca: roots }),
  };
  const open = buildConnector({
    timeout: limitMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: addressAttemptMs,
    ...tls,
  });
  const opening = new Set<Opening>();
  const openFollowed: Connector = (target, callback) => {
    const socket = open(target, (error, opened) => {
      opening.delete(socket);
      callback(error, opened);
    });
    opening.add(socket);
  };
  const { proxy } = options;
  const connect: Connector = (target, callback) => {
    const marked: Connected = (error, socket) => {
      if (error) unsentErrors.add(error);
      callback(error, socket);
    };
    if (proxy === undefined) return openFollowed(target, marked);
    openTunnel(proxy, target, tls, limitMs, opening).then(
      (socket) => {
        if (target.protocol !== "https:") return marked(null, socket.setNoDelay(true));
        openFollowed({ ...target, httpSocket: socket }, marked);
      },
      (error: Error) => marked(error),
    );
  };
  return {
    connect,
    abandon() {
      for (const each of opening) each.destroy(new Error("given up"));
    },
  };
}

import type { Socket } from "node:net";
import type { Connected, Connector } from "undici/lib/core/connect.js";
import { addressAttemptMs, connectMs } from "../retry/policy.ts";
import type { Proxy } from "./proxy.ts";
import type { Redactor } from "../answers/redaction.ts";
import { openTunnel, throughTunnel, type Opening } from "./tunnel.ts";

export interface ClientCertificate {
  cert: string;
  key: string;
  passphrase?: string | undefined;
}

export interface ConnectorOptions {
  proxy?: Proxy | undefined;
  /** Takes secrets out of what the proxy answers. */
  secrets: Redactor;
  /** PEM certificates trusted beside the built-in roots. */
  ca?: string | undefined;
  /** What this side shows to the service, never to a proxy. PEM. */
  client?: ClientCertificate | undefined;
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

/**
 * Roots for TLS: giving `ca` replaces those that Node would take, so they are
 * named again, with the system's and NODE_EXTRA_CA_CERTS where this Node can
 * tell (22.15 on; `ca` has the latter's before that).
 */
async function rootsWith(ca: string | undefined): Promise<string[] | undefined> {
  if (ca === undefined) return undefined;
  const tls = await import("node:tls");
  const { getCACertificates } = tls as { getCACertificates?: (kind: string) => string[] };
  return [...(getCACertificates?.("default") ?? tls.rootCertificates), ca];
}

/**
 * An alert of TLS that comes after the handshake (a client certificate that is
 * missing or refused, in TLS 1.3) leaves the socket open; its end follows, and
 * undici would tell that alone.
 */
function endWithAlert(socket: Socket): void {
  socket.once("error", (error: Error & { code?: string }) => {
    if (error.code?.startsWith("ERR_SSL_")) socket.destroy(error);
  });
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
    ...options.client,
  });
  const opening = new Set<Opening>();
  const openFollowed: Connector = (target, callback) => {
    const socket = open(target, (error, opened) => {
      opening.delete(socket);
      if (opened) endWithAlert(opened);
      callback(error, opened);
    });
    opening.add(socket);
  };
  const { proxy, secrets } = options;
  const connect: Connector = (target, callback) => {
    const marked: Connected = (error, socket) => {
      if (error) unsentErrors.add(error);
      callback(error, socket);
    };
    if (proxy === undefined) return openFollowed(target, marked);
    openTunnel({ proxy, secrets, target, tls, limitMs, opening }).then(
      (httpSocket) => {
        if (target.protocol !== "https:") return marked(null, httpSocket.setNoDelay(true));
        openFollowed({ ...target, httpSocket }, (error, socket) =>
          marked(error && throughTunnel(proxy, error), socket),
        );
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

import type { Socket } from "node:net";
import type { Connected, Connector, TlsOptions } from "undici/lib/core/connect.js";
import { addressAttemptMs, connectMs } from "../retry/policy.ts";
import { type Proxy, openTunnel, throughTunnel, type Opening } from "./tunnel.ts";
import type { Redactor } from "../answers/redaction.ts";

export interface ClientCertificate {
  cert: string;
  key: string;
  passphrase?: string | undefined;
}

export interface ConnectorOptions {
  proxy?: Proxy | undefined;
  /** Redacts secrets in responses of the proxy. */
  secrets: Redactor;
  /** PEM certificates trusted beside the built-in roots. */
  ca?: string | undefined;
  /** Client certificate for the service, never for a proxy. PEM. */
  client?: ClientCertificate | undefined;
  allowInsecureTls?: boolean | undefined;
  /** Timeout of the connection, its tunnel and its TLS handshake each. */
  connectMs?: number | undefined;
}

/** Errors from opening a connection: nothing of a request was sent. */
const unsentErrors = new WeakSet<Error>();

/** Marks the error of an exchange that was aborted before it had a connection. */
export function markUnsent(error: Error): void {
  unsentErrors.add(error);
}

export function isUnsent(error: unknown): boolean {
  return error instanceof Error && unsentErrors.has(error);
}

/**
 * What TLS trusts and shows. The option `ca` replaces Node's default roots, so its list repeats them, with
 * those of the system and NODE_EXTRA_CA_CERTS where this Node can list them (since 22.15; before that, `ca`
 * contains NODE_EXTRA_CA_CERTS). They are read once here: that takes longer than a handshake.
 */
async function securedBy(ca: string | undefined, client?: ClientCertificate): Promise<TlsOptions> {
  if (ca === undefined) return client ?? {};
  const tls = await import("node:tls");
  const { getCACertificates } = tls as { getCACertificates?: (kind: string) => string[] };
  const roots = getCACertificates?.("default") ?? tls.rootCertificates;
  return { secureContext: tls.createSecureContext({ ca: [...roots, ca], ...client }) };
}

/**
 * Ends a socket after a TLS alert that follows the handshake: in TLS 1.3, a missing or
 * refused client certificate. The alert leaves the socket open; its end follows later, and
 * undici would report only that end.
 */
function endWithAlert(socket: Socket): void {
  socket.once("error", (error: Error & { code?: string }) => {
    if (error.code?.startsWith("ERR_SSL_")) socket.destroy(error);
  });
}

export interface Connections {
  connect: Connector;
  /** Aborts connections that are still opening: each would keep the process alive until its timeout. */
  abandon(): void;
}

/**
 * The function with which undici's Pool opens connections: directly or through a proxy's
 * tunnel, with the same certificates for both. `isUnsent` recognises its errors.
 */
export async function createConnector(options: ConnectorOptions): Promise<Connections> {
  const { default: buildConnector } = await import("undici/lib/core/connect.js");
  const { ca, client, proxy, secrets } = options;
  const limitMs = options.connectMs ?? connectMs;
  const rejectUnauthorized = options.allowInsecureTls !== true;
  const open = buildConnector({
    timeout: limitMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: addressAttemptMs,
    rejectUnauthorized,
    ...(await securedBy(ca, client)),
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
  const isSecureProxy = proxy?.protocol === "https:";
  const tls = { rejectUnauthorized, ...(isSecureProxy ? await securedBy(ca) : {}) };
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

import type { Socket } from "node:net";
import type { SecureContext, SecureContextOptions } from "node:tls";
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
  /** Scheme, host and port of the service, where all connections lead to one. */
  origin?: string;
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
 * Root certificates for TLS. The option `ca` replaces Node's default roots, so this list
 * repeats them, with those of the system and NODE_EXTRA_CA_CERTS where this Node can list
 * them (since 22.15; before that, `ca` contains NODE_EXTRA_CA_CERTS).
 */
async function rootsWith(ca: string | undefined): Promise<string[] | undefined> {
  if (ca === undefined) return undefined;
  const tls = await import("node:tls");
  const { getCACertificates } = tls as { getCACertificates?: (kind: string) => string[] };
  return [...(getCACertificates?.("default") ?? tls.rootCertificates), ca];
}

/** The last context without a client certificate: to read more than a hundred roots takes longer than a handshake. */
let last: { ca: string | undefined; context: SecureContext } | undefined;

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
  const { client } = options;
  const { proxy, secrets } = options;
  const ca = await rootsWith(options.ca);
  // Not loaded where nothing is encrypted: that takes a twentieth of a short command.
  const isPlain = options.origin?.startsWith("http:") === true && proxy?.protocol !== "https:";
  const tls = isPlain ? undefined : await import("node:tls");
  const contextOf = (files: SecureContextOptions): SecureContext => {
    if (!tls) throw new Error(`no TLS for ${options.origin}`);
    return tls.createSecureContext(files);
  };
  const limitMs = options.connectMs ?? connectMs;
  const rejectUnauthorized = options.allowInsecureTls !== true;
  const trusting = (): SecureContext => {
    if (last?.ca !== options.ca) last = undefined;
    last ??= { ca: options.ca, context: contextOf({ ca }) };
    return last.context;
  };
  const own = () => (client ? contextOf({ ca, ...client }) : trusting());
  const build = (secured: TlsOptions) =>
    buildConnector({
      timeout: limitMs,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: addressAttemptMs,
      ...secured,
    });
  const plain = build({});
  let secure: typeof plain | undefined;
  const opening = new Set<Opening>();
  const openFollowed: Connector = (target, callback) => {
    const isTls = target.protocol === "https:";
    if (isTls) secure ??= build({ rejectUnauthorized, secureContext: own() });
    const socket = (isTls && secure ? secure : plain)(target, (error, opened) => {
      opening.delete(socket);
      if (opened) endWithAlert(opened);
      callback(error, opened);
    });
    opening.add(socket);
  };
  const connect: Connector = (target, callback) => {
    const marked: Connected = (error, socket) => {
      if (error) unsentErrors.add(error);
      callback(error, socket);
    };
    if (proxy === undefined) return openFollowed(target, marked);
    const secured = () => ({ rejectUnauthorized, secureContext: trusting() });
    openTunnel({ proxy, secrets, target, tls: secured, limitMs, opening }).then(
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

import type { PeerCertificate, TLSSocket } from "node:tls";
import type { ClientOptions } from "../call.ts";
import { connectorOptionsOf } from "../client.ts";
import { createConnector } from "./connector.ts";

/** What a TLS handshake shows of a server, before any request is sent. */
export interface Handshake {
  /** `TLSv1.3` */
  protocol: string;
  /** OpenSSL's or Node's name of the first problem (`CERT_HAS_EXPIRED`); absent without one. */
  problem?: string;
  /** Host names of the certificate. */
  names: string[];
  /** Its issuer, in one line. */
  issuer: string;
  /** Milliseconds since the epoch. */
  validFrom: number;
  validTo: number;
  /** Whether the certificate is valid for the requested host. */
  fitsHost: boolean;
  /** Number of certificates, sent or known, from the server's own to the root. */
  chainLength: number;
}

function nameOf(who: PeerCertificate["subject"] | undefined): string {
  const { O: organisation, CN: name } = (who ?? {}) as Record<
    string,
    string | string[] | undefined
  >;
  const words = [organisation, name].flat().filter((word) => word !== undefined);
  return [...new Set(words)].join(", ") || "nobody";
}

function lengthOf(certificate: PeerCertificate): number {
  const seen = new Set<string>();
  let at = certificate as { fingerprint256?: string; issuerCertificate?: unknown } | undefined;
  // A root is its own issuer; a hostile chain may contain a cycle.
  while (at?.fingerprint256 !== undefined && !seen.has(at.fingerprint256) && seen.size < 20) {
    seen.add(at.fingerprint256);
    at = at.issuerCertificate as typeof at;
  }
  return seen.size;
}

function read(socket: TLSSocket, fits: (certificate: PeerCertificate) => boolean): Handshake {
  const certificate = socket.getPeerCertificate(true);
  const names = (certificate.subjectaltname ?? "")
    .split(/,\s*/)
    .map((entry) => entry.replace(/^(?:DNS|IP Address):/, ""))
    .filter((entry) => entry !== "");
  const problem = socket.authorizationError as Error | string | null | undefined;
  return {
    protocol: socket.getProtocol() ?? "TLS",
    ...(socket.authorized || !problem ? {} : { problem: String(problem) }),
    names: names.length > 0 ? names : [nameOf(certificate.subject)],
    issuer: nameOf(certificate.issuer),
    validFrom: Date.parse(certificate.valid_from),
    validTo: Date.parse(certificate.valid_to),
    fitsHost: fits(certificate),
    chainLength: lengthOf(certificate),
  };
}

/**
 * Performs a TLS handshake with the same proxy and certificate authorities as requests, but
 * accepts every certificate, so that all its problems can be reported. Sends nothing over
 * the connection. Throws the transport's errors (faults.ts reads them), and the signal's
 * reason.
 */
export async function shakeHands(
  options: ClientOptions,
  limitMs: number,
  signal: AbortSignal,
): Promise<Handshake> {
  const { origin, ...rest } = connectorOptionsOf(options);
  const { hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, "");
  const { checkServerIdentity } = await import("node:tls");
  const fits = (certificate: PeerCertificate): boolean =>
    checkServerIdentity(host, certificate) === undefined;
  const connector = await createConnector({ ...rest, allowInsecureTls: true, connectMs: limitMs });
  return await new Promise<Handshake>((resolve, reject) => {
    const stop = (): void => {
      connector.abandon();
      reject(signal.reason as Error);
    };
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    const target = { hostname: host, protocol: "https:", port: port || "443" };
    connector.connect(target, (error, socket) => {
      signal.removeEventListener("abort", stop);
      if (error || !socket) return reject(error ?? new Error("no socket"));
      socket.on("error", () => {});
      try {
        resolve(read(socket as TLSSocket, fits));
      } catch (failure) {
        reject(failure as Error);
      }
      socket.destroy();
    });
  });
}

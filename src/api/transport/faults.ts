import { codeOf, messageOf, openFilesHint, type ExitName } from "../../errors.ts";
import type { FaultKind } from "../retry/policy.ts";
import { lookup } from "node:dns/promises";
import { connect, isIP } from "node:net";

/** Meaning of a transport error: for the retry table, the exit code and the user. */
interface Fault {
  kind: Exclude<FaultKind, "status" | "shape">;
  exit: ExitName;
  code: string;
  words: string;
  hints: string[];
}

const caHint =
  "if your company signs its own certificates, add its CA with --ca-file or NODE_EXTRA_CA_CERTS";

const certificateFaults: Record<string, { words: string; hint?: string }> = {
  CERT_HAS_EXPIRED: {
    words: "the server's certificate has expired",
    hint: "check the clock of this machine, or have the certificate renewed",
  },
  CERT_NOT_YET_VALID: {
    words: "the server's certificate is not valid yet",
    hint: "check the clock of this machine",
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    words: "the server's certificate is for another host name",
    hint: "use the host name of the certificate in baseUrl",
  },
  HOSTNAME_MISMATCH: { words: "the server's certificate is for another host name" },
  DEPTH_ZERO_SELF_SIGNED_CERT: { words: "the server's certificate is self-signed" },
  SELF_SIGNED_CERT_IN_CHAIN: { words: "the server's certificate is signed by an unknown CA" },
  UNABLE_TO_GET_ISSUER_CERT: { words: "the server's certificate is signed by an unknown CA" },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: {
    words: "the server's certificate is signed by an unknown CA",
  },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: {
    words: "the server's certificate is signed by an unknown CA, or its chain is not complete",
  },
  CERT_UNTRUSTED: { words: "the server's certificate is not trusted" },
  CERT_REJECTED: { words: "the server's certificate is rejected" },
  CERT_REVOKED: { words: "the server's certificate has been revoked" },
  CERT_SIGNATURE_FAILURE: { words: "the server's certificate has a wrong signature" },
  CERT_CHAIN_TOO_LONG: { words: "the server's certificate chain is too long" },
  INVALID_CA: { words: "the server's certificate is signed by something that is not a CA" },
  INVALID_PURPOSE: { words: "the server's certificate is not for servers" },
};

/** Whether TLS refused the peer's certificate: a retry would get the same certificate. */
export function isCertificateFault(code: string): boolean {
  return Object.hasOwn(certificateFaults, code);
}

interface KnownFault {
  kind: "connection" | "timeout" | "fatal";
  exit: ExitName;
  words: string;
  hint?: string;
}

const checkAddress = "check the base URL, and that the service runs and is reachable from here";

function unreachable(words: string, hint = checkAddress): KnownFault {
  return { kind: "connection", exit: "unreachable", words, hint };
}

/** The time for a connection is fixed: only the other timeouts follow --timeout. */
function timedOut(words: string, hint = "a longer --timeout may help"): KnownFault {
  return { kind: "timeout", exit: "timeout", words, hint };
}

function invalidResponse(words: string): KnownFault {
  return { kind: "connection", exit: "server-error", words, hint: "check the base URL" };
}

const outOfFiles: KnownFault = {
  kind: "fatal",
  exit: "local",
  words: "too many open files",
  hint: openFilesHint,
};

const knownFaults: Record<string, KnownFault> = {
  ECONNREFUSED: unreachable("connection refused"),
  ENOTFOUND: unreachable("host not found", "check the host name in the base URL"),
  EAI_AGAIN: unreachable("the name server does not answer", "check the network connection"),
  ENETUNREACH: unreachable("no route to the network", "check the network connection"),
  ENETDOWN: unreachable("the network is down", "check the network connection"),
  EHOSTUNREACH: unreachable("no route to the host", "check the network connection"),
  EADDRNOTAVAIL: unreachable("no local address is free for a connection"),
  ECONNRESET: unreachable("the connection was reset"),
  EPIPE: unreachable("the connection was closed"),
  UND_ERR_SOCKET: unreachable("the connection was closed before the response was complete"),
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: invalidResponse(
    "the length of the response differs from its content-length",
  ),
  UND_ERR_HEADERS_OVERFLOW: invalidResponse("the response header is too large"),
  UND_ERR_HTTP_PARSER: invalidResponse("the response is not HTTP"),
  ETIMEDOUT: timedOut("the connection timed out", checkAddress),
  UND_ERR_CONNECT_TIMEOUT: timedOut("no connection in time", checkAddress),
  HEADERS_TIMEOUT: timedOut("no response in time"),
  IDLE_TIMEOUT: timedOut("the response stopped arriving"),
  TOTAL_TIMEOUT: timedOut("not complete in time"),
  // A retry would find no free file descriptor either.
  EMFILE: outOfFiles,
  ENFILE: outOfFiles,
  ANSWER_TOO_LARGE: {
    kind: "fatal",
    exit: "server-error",
    words: "the response is larger than this call allows",
    hint: "check the base URL",
  },
};

/** Refusals that a proxy would repeat. */
const finalProxyFaults = new Set(["PROXY_AUTH", "PROXY_DENIED", "PROXY_NO_TLS"]);

function hintsOf(error: unknown): string[] {
  return (error as { hints?: string[] }).hints ?? [];
}

function proxyFault(code: string, error: unknown): Fault {
  return {
    kind: finalProxyFaults.has(code) ? "fatal" : "unsent",
    exit: code === "PROXY_TIMEOUT" ? "timeout" : "unreachable",
    code,
    words: messageOf(error),
    hints: hintsOf(error),
  };
}

/** The server requires a client certificate, or another one (OpenSSL's names of TLS alerts). */
const clientCertificateFaults: Readonly<Record<string, string>> = {
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: "the server requires a client certificate",
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: "the server does not know the CA of the client certificate",
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: "the server refuses the client certificate",
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: "the server refuses the client certificate",
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    "the server reports that the client certificate has expired",
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED:
    "the server reports that the client certificate is revoked",
};
const clientHint = "name the certificate for this service with --client-cert and --client-key";

/** Normalises the code of parser errors: undici uses the parser's own code, or none. */
function faultCodeOf(error: unknown): string | undefined {
  // undici asserts what a server must send, for example a status of 100 or more.
  if (codeOf(error) === "ERR_ASSERTION") return "UND_ERR_HTTP_PARSER";
  const isParserError = error instanceof Error && error.name === "HTTPParserError";
  // A cut on a connection that was to close after this response; undici sets no code here.
  if (isParserError && error.message.includes("(Invalid EOF state)")) return "UND_ERR_SOCKET";
  return isParserError ? "UND_ERR_HTTP_PARSER" : codeOf(error);
}

/**
 * Reads an error of the transport. `unsent`: it occurred before anything of the request
 * could be sent. Undefined for an error that is no transport fault: a bug or the reason
 * of an abort.
 */
export function readFault(error: unknown, unsent: boolean): Fault | undefined {
  const code = faultCodeOf(error);
  if (code === undefined) return undefined;
  const proxied = messageOf(error).startsWith("proxy ");
  if (code.startsWith("PROXY_")) return proxyFault(code, error);
  if (isCertificateFault(code)) {
    const { words, hint } = certificateFaults[code] ?? { words: code };
    const hints = [...(hint === undefined ? [] : [hint]), caHint, ...hintsOf(error)];
    return {
      kind: "fatal",
      exit: "unreachable",
      code,
      words: proxied ? `proxy: ${words}` : words,
      hints,
    };
  }
  const refused = clientCertificateFaults[code];
  if (refused !== undefined) {
    return { kind: "fatal", exit: "unreachable", code, words: refused, hints: [clientHint] };
  }
  if (code === "EPROTO" || code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_")) {
    // Up to TLS 1.2, a server reports a missing client certificate only this way.
    // ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE; Node 24 says ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE.
    const isHandshake = code.endsWith("_ALERT_HANDSHAKE_FAILURE");
    const schemeHint = "check whether the base URL should begin with http:// or https://";
    const hints = [
      isHandshake ? `the server may require a client certificate: ${clientHint}` : schemeHint,
    ];
    return { kind: "fatal", exit: "unreachable", code, words: `TLS failed (${code})`, hints };
  }
  const known = knownFaults[code];
  if (!known) {
    if (!(error instanceof Error) || !("syscall" in error)) return undefined;
    return {
      kind: unsent ? "unsent" : "connection",
      exit: "unreachable",
      code,
      words: code,
      hints: [checkAddress],
    };
  }
  return {
    kind: unsent && known.kind !== "fatal" ? "unsent" : known.kind,
    exit: known.exit,
    code,
    words: known.words,
    hints: known.hint === undefined ? [] : [known.hint],
  };
}

/** The result of connecting to one address of a host. */
export interface Knock {
  address: string;
  family: 4 | 6;
  /** Milliseconds until the connection was open; absent if it failed. */
  ms?: number;
  /** Error code of a failed connection: `ECONNREFUSED`, `ETIMEDOUT`. */
  code?: string;
}

export interface Address {
  address: string;
  family: 4 | 6;
}

const plainHost = (host: string): string => host.replace(/^\[|\]$/g, "");

/** The family of a host that is an IP address; undefined for a name. */
export function familyOf(host: string): 4 | 6 | undefined {
  const family = isIP(plainHost(host));
  return family === 4 || family === 6 ? family : undefined;
}

/**
 * All addresses of a host, in the order of the system resolver (hosts file included), which
 * is the order of connection attempts. Throws Node's error (`ENOTFOUND`). Cannot be aborted.
 */
export async function lookUp(host: string): Promise<Address[]> {
  const all = await lookup(plainHost(host), { all: true, verbatim: true });
  return all.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

/** Opens a connection to one address and closes it; sends nothing. Rejects only on an abort. */
export function knock(
  { address, family }: Address,
  port: number,
  limitMs: number,
  signal: AbortSignal,
): Promise<Knock> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const begun = performance.now();
    const socket = connect({ host: address, port, family });
    const timer = setTimeout(() => settle({ code: "ETIMEDOUT" }), limitMs);
    const stop = (): void => {
      reject(signal.reason as Error);
      settle({ code: "ABORTED" });
    };
    const settle = (result: Pick<Knock, "ms" | "code">): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      socket.destroy();
      resolve({ address, family, ...result });
    };
    signal.addEventListener("abort", stop, { once: true });
    socket.once("connect", () => settle({ ms: performance.now() - begun }));
    socket.on("error", (error) => settle({ code: codeOf(error) ?? "unknown failure" }));
  });
}

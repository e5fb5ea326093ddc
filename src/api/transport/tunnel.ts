import { BlockList, isIP, type Socket } from "node:net";
import { CliError } from "../../errors.ts";
import type { IncomingMessage } from "node:http";
import type { ConnectTarget, TlsOptions } from "undici/lib/core/connect.js";
import { isCertificateFault } from "./faults.ts";
import { addressAttemptMs } from "../retry/policy.ts";
import type { Redactor } from "../answers/redaction.ts";

/** A proxy to tunnel through. */
export interface Proxy {
  protocol: "http:" | "https:";
  hostname: string;
  port: number;
  /** Value of `Proxy-Authorization`, if the address contains a name and password. */
  authorization?: string;
}

/** The IPv4 address in `::ffff:7f00:1`, which is how a URL spells `::ffff:127.0.0.1`. */
function unmapped(host: string): string {
  const match = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host);
  if (!match) return host.replace(/^::ffff:(?=\d+\.)/, "");
  const [high = 0, low = 0] = [match[1], match[2]].map((part) => Number.parseInt(part ?? "0", 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** The host in lower case, without brackets, final dot, or IPv6 wrapping of an IPv4 address. */
function plainHost(host: string): string {
  return unmapped(
    host
      .toLowerCase()
      .replace(/^\[|\]$/g, "")
      .replace(/\.$/, ""),
  );
}

/** Whether a host name means this machine, judged by its spelling; names are not resolved. */
export function isLoopbackHost(host: string): boolean {
  const name = plainHost(host);
  if (name === "localhost" || name.endsWith(".localhost") || name === "::1") return true;
  return isIP(name) === 4 && name.startsWith("127.");
}

function inSubnet(host: string, network: string, bits: number): boolean {
  const family = isIP(host);
  if (family === 0 || family !== isIP(network)) return false;
  if (!(bits >= 0 && bits <= (family === 4 ? 32 : 128))) return false;
  const kind = family === 4 ? "ipv4" : "ipv6";
  const block = new BlockList();
  block.addSubnet(network, bits, kind);
  return block.check(host, kind);
}

function splitPort(entry: string): { pattern: string; port: string | undefined } {
  const bracketed = /^\[([^\]]*)\](?::(\d+))?$/.exec(entry);
  if (bracketed) return { pattern: bracketed[1] ?? "", port: bracketed[2] };
  const named = /^([^:]*):(\d+)$/.exec(entry);
  return named ? { pattern: named[1] ?? "", port: named[2] } : { pattern: entry, port: undefined };
}

function entryMatches(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  const network = /^(.+)\/(\d{1,3})$/.exec(entry);
  if (network) return inSubnet(host, plainHost(network[1] ?? ""), Number(network[2]));
  const { pattern, port: wanted } = splitPort(entry);
  if (pattern === "" || (wanted !== undefined && wanted !== port)) return false;
  if (pattern.startsWith("*.")) return host.endsWith(pattern.slice(1));
  if (pattern.startsWith(".")) return host.endsWith(pattern);
  if (pattern.endsWith(".*")) return host.startsWith(pattern.slice(0, -1));
  const name = plainHost(pattern);
  return host === name || (isIP(host) === 0 && host.endsWith(`.${name}`));
}

function portOf(url: URL): string {
  return url.port || (url.protocol === "https:" ? "443" : "80");
}

/**
 * Whether a request to `url` bypasses a configured proxy. Loopback always does.
 * `noProxy` is a list separated by commas or white space:
 *
 * | entry            | goes direct                                  |
 * |------------------|----------------------------------------------|
 * | `*`              | everything                                   |
 * | `a.example`      | that host and every host below it            |
 * | `.example`       | every host below it (not `example` itself)   |
 * | `*.example`      | the same                                     |
 * | `a.example:8443` | that host on that port; also with `.example` |
 * | `10.1.2.3`       | that address; also IPv6, bare or in brackets |
 * | `10.0.0.0/8`     | addresses of that network (IPv4 and IPv6)    |
 * | `127.*`          | hosts that begin with `127.`                 |
 *
 * curl and Go read it that way; for `.example` this follows Go. An IPv4 address written
 * as IPv6 (`::ffff:10.1.2.3`) is that IPv4 address. Names are compared as written, never
 * resolved.
 */
export function goesDirect(url: string, noProxy: string | undefined): boolean {
  const target = new URL(url);
  const host = plainHost(target.hostname);
  if (isLoopbackHost(host)) return true;
  const entries = (noProxy ?? "")
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "");
  return entries.some((entry) => entryMatches(entry, host, portOf(target)));
}

/**
 * Parses a proxy address; one without a scheme is http. `name` is the source of the
 * address in the message, which never repeats the address: it may hold a password.
 */
export function parseProxy(value: string, name = "the proxy address"): Proxy {
  const text = value.includes("://") ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const protocol = url?.protocol;
  if (!url || url.hostname === "" || (protocol !== "http:" && protocol !== "https:")) {
    throw new CliError("not-configured", `${name} is not the address of an http or https proxy`, {
      hints: ["write it as http://host:port or http://name:password@host:port"],
    });
  }
  const proxy: Proxy = { protocol, hostname: url.hostname, port: Number(portOf(url)) };
  if (url.username === "" && url.password === "") return proxy;
  const pair = `${decode(url.username)}:${decode(url.password)}`;
  return { ...proxy, authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The proxy for requests to `url`; undefined for direct requests. */
export function proxyFor(
  url: string,
  proxy: string | undefined,
  noProxy: string | undefined,
): Proxy | undefined {
  if (proxy === undefined || proxy === "" || goesDirect(url, noProxy)) return undefined;
  return parseProxy(proxy);
}

/** A socket or tunnel that is still opening. */
export interface Opening {
  destroy(error: Error): unknown;
}

interface TunnelOptions {
  proxy: Proxy;
  /** Redacts secrets in responses of the proxy. */
  secrets: Redactor;
  target: ConnectTarget;
  /** For a proxy with TLS. A client certificate is for the service, not for the proxy. */
  tls: TlsOptions;
  limitMs: number;
  opening: Set<Opening>;
}

/** A proxy that opens no tunnel; `code` is `PROXY_…`. The message contains no credentials. */
interface ProxyError extends Error {
  code: string;
  hints: string[];
}

const proxyHint = "check --proxy, or HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY";

/** `host:port`, an IPv6 address in brackets. */
function addressOf(proxy: Proxy): string {
  return `${proxy.hostname}:${proxy.port}`;
}

function proxyError(
  proxy: Proxy,
  code: string,
  reason: string,
  options: { hints?: readonly string[]; cause?: unknown } = {},
): ProxyError {
  const error = new Error(`proxy ${addressOf(proxy)}: ${reason}`, { cause: options.cause });
  return Object.assign(error, { code, hints: [...(options.hints ?? []), proxyHint] });
}

function authority(target: ConnectTarget): string {
  const port = target.port || (target.protocol === "https:" ? "443" : "80");
  return `${target.hostname.includes(":") ? `[${target.hostname}]` : target.hostname}:${port}`;
}

/** The schemes of `Proxy-Authenticate`, a header that may be repeated (RFC 9110, 11.7.1). */
function schemesOf(answer: IncomingMessage): string[] {
  const header = answer.headers["proxy-authenticate"] ?? [];
  const words = [header].flat().join(",").slice(0, 4096).split(",");
  const known = ["Basic", "Digest", "NTLM", "Negotiate", "Kerberos", "Bearer"];
  const offered = new Set(words.map((word) => word.trim().split(" ", 1)[0]?.toLowerCase()));
  return known.filter((scheme) => offered.has(scheme.toLowerCase()));
}

function loginHint(proxy: Proxy, schemes: readonly string[]): string {
  if (schemes.length > 0 && !schemes.includes("Basic")) {
    return `it accepts ${schemes.join(" or ")}, this tool supports only Basic: run a relay such as cntlm or px on this machine, and use the relay as the proxy`;
  }
  return proxy.authorization === undefined
    ? "add them to the proxy's address: http://NAME:PASSWORD@host:port, special characters percent-encoded (@ is %40)"
    : "check the name and password in the proxy's address; special characters are percent-encoded (@ is %40)";
}

function tunnelRefused(
  { proxy, target, secrets }: TunnelOptions,
  answer: IncomingMessage,
): ProxyError {
  const { statusCode: status = 0, statusMessage = "" } = answer;
  // Redact before cutting: redaction would not find a part of a secret.
  const words = `answered ${status} ${secrets.redact(statusMessage).slice(0, 100)}`.trim();
  const place = authority(target);
  if (status === 407) {
    const refused = proxy.authorization === undefined ? "requires a" : "rejects this";
    const hints = [loginHint(proxy, schemesOf(answer))];
    return proxyError(proxy, "PROXY_AUTH", `${words}: it ${refused} name and password`, { hints });
  }
  const isDenied = status >= 400 && status < 500 && ![408, 425, 429].includes(status);
  const port = place.endsWith(":443") ? "" : "; many proxies open port 443 only";
  const hints = isDenied
    ? [
        `ask for ${place} to be allowed on the proxy${port}`,
        `if ${target.hostname} is reachable directly, add it to NO_PROXY`,
      ]
    : [`the proxy cannot reach ${place}: add a host inside the company to NO_PROXY`];
  const code = isDenied || status < 300 ? "PROXY_DENIED" : "PROXY_REFUSED";
  return proxyError(proxy, code, `${words} to CONNECT ${place}`, { hints });
}

const reasons: Readonly<Record<string, string>> = {
  ECONNRESET: "closed the connection",
  ECONNREFUSED: "ECONNREFUSED, nothing listens there",
  ENOTFOUND: "ENOTFOUND, unknown host name",
  EAI_AGAIN: "EAI_AGAIN, the name server does not answer",
};

function tunnelFailed(proxy: Proxy, error: Error & { code?: string }): Error {
  const { code = "no connection" } = error;
  if (code.startsWith("PROXY_")) return error;
  // A certificate fault keeps its code: it is never retried.
  if (isCertificateFault(code)) {
    return Object.assign(proxyError(proxy, code, error.message, { cause: error }), { hints: [] });
  }
  if (code.startsWith("HPE_")) {
    const hints = ["check its port; write a proxy with TLS as https://host:port"];
    return proxyError(proxy, "PROXY_NOT_HTTP", "does not respond like a proxy", {
      hints,
      cause: error,
    });
  }
  if (code === "EPROTO" || code.startsWith("ERR_SSL_")) {
    const hints = ["write a proxy without TLS as http://host:port"];
    return proxyError(proxy, "PROXY_NOT_HTTP", `TLS with the proxy failed (${code})`, {
      hints,
      cause: error,
    });
  }
  return proxyError(proxy, "PROXY_UNREACHABLE", reasons[code] ?? code, { cause: error });
}

/** The CONNECT request. It carries the credentials of the proxy, never those of the service. */
async function requestFor({ proxy, target, tls }: TunnelOptions) {
  const { request } =
    proxy.protocol === "https:" ? await import("node:https") : await import("node:http");
  const { isIP } = await import("node:net");
  const place = authority(target);
  const host = proxy.hostname.replace(/^\[|\]$/g, "");
  const headers: Record<string, string> = { host: place };
  if (proxy.authorization !== undefined) headers["proxy-authorization"] = proxy.authorization;
  const options = {
    method: "CONNECT",
    host,
    port: proxy.port,
    path: place,
    headers,
    agent: false as const,
    autoSelectFamilyAttemptTimeout: addressAttemptMs,
    // Otherwise Node checks the proxy's certificate against the Host header, which names the service.
    servername: isIP(host) === 0 ? host : "",
    ...tls,
  };
  return request(options);
}

/**
 * Opens a tunnel with CONNECT. Does not use undici's ProxyAgent, whose retries
 * never end if a proxy drops the connection (undici #3897). Throws
 * ProxyError, or a certificate fault of the proxy.
 */
export async function openTunnel(options: TunnelOptions): Promise<Socket> {
  const { proxy, target, limitMs, opening } = options;
  const attempt = await requestFor(options);
  return await new Promise((resolve, reject) => {
    opening.add(attempt);
    const timer = setTimeout(() => {
      const reason = `no response to CONNECT ${authority(target)} in ${limitMs / 1000} s`;
      attempt.destroy(proxyError(proxy, "PROXY_TIMEOUT", reason));
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
      reject(tunnelRefused(options, answer));
    });
    attempt.once("error", (error: Error & { code?: string }) => {
      settle();
      reject(tunnelFailed(proxy, error));
    });
    attempt.end();
  });
}

/** Explains the proxy's part in a TLS failure with the service inside a tunnel. */
export function throughTunnel(proxy: Proxy, error: Error & { code?: string }): Error {
  const { code = "" } = error;
  if (isCertificateFault(code)) {
    const hint = `the proxy ${addressOf(proxy)} may intercept TLS to inspect it: then add the CA of the proxy`;
    return Object.assign(error, { hints: [hint] });
  }
  const isNoTls = code === "EPROTO" || /WRONG_VERSION|PACKET_LENGTH|UNKNOWN_PROTOCOL/.test(code);
  if (!isNoTls) return error;
  const reason = `opened a tunnel, but the response in it is not TLS (${code})`;
  const hints = ["check that this is the address of a proxy, not of a login page of the network"];
  return proxyError(proxy, "PROXY_NO_TLS", reason, { hints, cause: error });
}

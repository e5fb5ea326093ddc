import { BlockList, isIP } from "node:net";
import { CliError } from "../../errors.ts";

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

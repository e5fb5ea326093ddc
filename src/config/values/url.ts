/** Why an address cannot be used; never repeats the address, which may hold a password. */
export class AddressProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = "AddressProblem";
  }
}

/** A checked address of the service. */
export interface BaseUrl {
  /** Origin and optional path prefix, without a trailing slash or `/api`. */
  baseUrl: string;
  origin: string;
  hostname: string;
  isHttps: boolean;
}

function parse(text: string, kind: string): URL {
  // The URL parser silently drops tabs and line breaks and turns `\` into `/`.
  if (/[\s\u0000-\u001f\u007f\\]/.test(text)) {
    throw new AddressProblem(`${kind} may not hold spaces, control characters or backslashes`);
  }
  try {
    return new URL(text);
  } catch {
    throw new AddressProblem(`${kind} is not a valid URL`);
  }
}

/**
 * Checks and normalises the address of a service, given with or without a
 * trailing `/` or `/api`. A path prefix is kept. Credentials, query and fragment
 * are refused. Throws AddressProblem.
 */
export function parseBaseUrl(given: string): BaseUrl {
  const text = given.trim();
  if (text === "") throw new AddressProblem("the base URL is empty");
  if (!/^https?:\/\/[^/]/i.test(text)) {
    throw new AddressProblem("the base URL must begin with https:// (or http://)");
  }
  const url = parse(text, "the base URL");
  if (url.username || url.password || /^[^/]*\/\/[^/?#]*@/.test(text)) {
    throw new AddressProblem("the base URL may not hold a user name or password");
  }
  if (text.includes("?")) throw new AddressProblem("the base URL may not have a query (?…)");
  if (text.includes("#")) throw new AddressProblem("the base URL may not have a fragment (#…)");
  const path = url.pathname
    .replace(/\/+$/, "")
    .replace(/\/api$/, "")
    .replace(/\/+$/, "");
  return {
    baseUrl: url.origin + path,
    origin: url.origin,
    hostname: url.hostname,
    isHttps: url.protocol === "https:",
  };
}

/** How to write an address that parseBaseUrl refuses. Repeats only an address of this machine. */
export function addressHint(given: string): string {
  const here = /^(?:localhost|127(?:\.\d{1,3}){3})(?::\d{1,5})?\/?$/.exec(given.trim())?.[0];
  return `write it as ${here === undefined ? "https://assistant.example.com" : `http://${here}`}`;
}

/**
 * Whether a host is this machine: 127.0.0.0/8, ::1 or localhost, but no similar name
 * (127.0.0.1.nip.io). `hostname` as the URL parser writes it.
 */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/**
 * Checks a proxy address. An address without a scheme means `http://`, as in curl;
 * only http and https proxies are supported. Throws AddressProblem.
 */
export function parseProxy(given: string): string {
  const text = given.trim();
  const url = parse(
    /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`,
    "the proxy address",
  );
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new AddressProblem("only http:// and https:// proxies are supported");
  }
  if (url.hostname === "") throw new AddressProblem("the proxy address has no host");
  if (url.pathname.length > 1 || text.includes("?") || text.includes("#")) {
    throw new AddressProblem("the proxy address may not have a path, query or fragment");
  }
  return url.href.replace(/\/$/, "");
}

/**
 * An address for display, also an invalid one: without user name and password, and with `***`
 * in place of query and fragment.
 */
export function withoutCredentials(address: string): string {
  // A password with a slash makes the URL invalid: then all text before the last @ may be secret.
  const login = URL.canParse(address)
    ? /^([a-z][a-z0-9+.-]*:\/+)?[^/?#]*@/i
    : /^([a-z][a-z0-9+.-]*:\/+)?[^]*@/i;
  return address.replace(login, "$1").replace(/([?#])[^]+$/, "$1***");
}

/** What is wrong with an address of a profile, or undefined. */
export function addressProblem(
  member: "baseUrl" | "proxy",
  address: string | undefined,
): string | undefined {
  try {
    if (address !== undefined) (member === "proxy" ? parseProxy : parseBaseUrl)(address);
    return undefined;
  } catch (error) {
    if (error instanceof AddressProblem) return error.message;
    throw error;
  }
}

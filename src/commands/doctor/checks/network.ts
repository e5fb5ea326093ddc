import { goesDirect, parseProxy } from "../../../api/transport/tunnel.ts";
import { familyOf, knock, lookUp, type Knock, readFault } from "../../../api/transport/faults.ts";
import { proxyVariables } from "../../../config/values/connection.ts";
import { codeOf, messageOf } from "../../../errors.ts";
import {
  failure,
  need,
  ok,
  warning,
  type Check,
  type Examination,
  type Verdict,
  skipped,
} from "../check.ts";
import { isLoopback } from "../../../config/values/url.ts";
import { shakeHands, type Handshake } from "../../../api/transport/handshake.ts";

type Env = Examination["context"]["env"];

const firstSet = (env: Env, names: readonly string[]): string | undefined =>
  names.find((name) => env[name]);

/** Proxy variables that are set but have no effect on this address. */
function unused(env: Env, isHttps: boolean): string[] {
  const [own, other] = isHttps ? ["HTTPS_PROXY", "HTTP_PROXY"] : ["HTTP_PROXY", "HTTPS_PROXY"];
  const wrong = firstSet(env, [other.toLowerCase(), other]);
  if (firstSet(env, proxyVariables(isHttps)) || !wrong) return [];
  return [`${wrong} is set, but ${isHttps ? "https" : "http"} addresses use ${own}`];
}

/** The reason why a request bypasses the proxy. */
function bypassReason(url: string, noProxy: string | undefined): string {
  if (goesDirect(url, undefined)) return "the service is on this machine";
  const entries = (noProxy ?? "").split(/[\s,]+/).filter((entry) => entry !== "");
  return `NO_PROXY has ${entries.find((entry) => goesDirect(url, entry)) ?? noProxy}`;
}

function examineProxy(examination: Examination): Verdict {
  const { connection, config } = need(examination, "connected");
  const { baseUrl, proxy, noProxy } = connection;
  const { env } = examination.context;
  const isHttps = baseUrl.startsWith("https:");
  const set = firstSet(env, proxyVariables(isHttps));
  if (proxy === undefined) {
    const message = set
      ? `bypassed: ${set} is set, but the service is on this machine`
      : "none is set: connections go direct";
    return ok(message, unused(env, isHttps));
  }
  if (goesDirect(baseUrl, noProxy)) return ok(`bypassed: ${bypassReason(baseUrl, noProxy)}`);
  const where = config.origins.get("proxy")?.where ?? set ?? "the environment";
  const { protocol, hostname, port, authorization } = parseProxy(proxy, where);
  examination.facts.hop = { what: "proxy", host: hostname, port };
  const login = authorization === undefined ? "" : ", with a name and password";
  return ok(
    `used: ${protocol}//${hostname}:${port} (${where})${login}`,
    noProxy === undefined ? [] : ["NO_PROXY is set, but does not match this address"],
  );
}

/** The fix for a hop that cannot be resolved or reached. */
function hopFix(examination: Examination): string {
  const { what, host } = need(examination, "hop");
  if (what === "proxy") return "check --proxy, or HTTPS_PROXY, HTTP_PROXY and NO_PROXY";
  const { config } = need(examination, "connected");
  const where = config.origins.get("baseUrl")?.where ?? "the base URL";
  return `check the host "${host}" in the base URL (${where}), and whether it needs a VPN`;
}

async function examineDns(examination: Examination): Promise<Verdict> {
  const { facts } = examination;
  const { what, host } = need(examination, "hop");
  const family = familyOf(host);
  if (family !== undefined) {
    facts.addresses = [{ address: host.replace(/^\[|\]$/g, ""), family }];
    return ok(`${host} is already an IP address`);
  }
  const begun = performance.now();
  try {
    facts.addresses = await lookUp(host);
  } catch (error) {
    const fault = error instanceof Error ? readFault(error, true) : undefined;
    const code = codeOf(error);
    const message = `the ${what} ${host}: ${fault?.words ?? messageOf(error)} (${code ?? "unknown"})`;
    const more = code === "EAI_AGAIN" ? (fault?.hints ?? []) : [];
    return failure("unreachable", message, [hopFix(examination), ...more]);
  }
  const ms = Math.round(performance.now() - begun);
  const list = facts.addresses.map(({ address }) => address).join(", ");
  const message = `${what === "proxy" ? "the proxy " : ""}${host} is ${list} (${ms} ms)`;
  const details = what === "proxy" ? ["the proxy itself resolves the name of the service"] : [];
  const slow = "the name server is slow: check the order of name servers in the network settings";
  return ms > 3000 ? warning(message, [slow], details) : ok(message, details);
}

const maxAddresses = 8;

function describeKnock({ address, ms, code }: Knock, port: number): string {
  const place = address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
  return `${place} ${ms === undefined ? `fails: ${code}` : `answers in ${Math.round(ms)} ms`}`;
}

function reachFix(codes: ReadonlySet<string | undefined>, what: string, port: number): string {
  if (codes.has("ECONNREFUSED")) {
    return `nothing listens on port ${port}: check the port, and that the ${what} runs`;
  }
  return codes.has("ETIMEDOUT")
    ? "a firewall may block the connection, or the host is off: ask the network's operator"
    : "there is no route to it from here: check the network connection";
}

function noneReachable(examination: Examination, knocks: readonly Knock[]): Verdict {
  const { what, port } = need(examination, "hop");
  const { baseUrl } = need(examination, "connected").connection;
  const codes = new Set(knocks.map(({ code }) => code));
  const late = !codes.has("ECONNREFUSED") && codes.has("ETIMEDOUT");
  const isHere = goesDirect(baseUrl, undefined);
  return failure(
    late ? "timeout" : "unreachable",
    `no address of the ${what} accepts a connection: ${knocks.map((each) => describeKnock(each, port)).join(", ")}`,
    [
      reachFix(codes, what, port),
      isHere ? "start a service on this machine: knowctl sandbox" : hopFix(examination),
    ],
  );
}

async function examineTcp(examination: Examination, signal: AbortSignal): Promise<Verdict> {
  const { host, port } = need(examination, "hop");
  const addresses = need(examination, "addresses").slice(0, maxAddresses);
  const knocks = await Promise.all(
    addresses.map((address) => knock(address, port, examination.limitMs, signal)),
  );
  const bad = knocks.filter(({ code }) => code !== undefined);
  if (bad.length === knocks.length) return noneReachable(examination, knocks);
  const message = knocks.map((each) => describeKnock(each, port)).join(", ");
  // Local servers rarely listen on both addresses of localhost.
  if (bad.length === 0 || host === "localhost") return ok(message);
  const dead = [4, 6].find((family) => {
    const own = knocks.filter((each) => each.family === family);
    return own.length > 0 && own.every(({ code }) => code !== undefined);
  });
  return warning(message, [
    dead === undefined
      ? "connections start slower while some addresses fail: inform the service's operator"
      : `IPv${dead} does not reach ${host}: fix it, or remove this address from DNS; connections start up to 2 s later`,
  ]);
}

/** The route of a connection: proxy, name, address. */
export const networkChecks: readonly Check[] = [
  { name: "proxy", needs: ["connection"], run: examineProxy },
  { name: "dns", needs: ["proxy"], run: examineDns },
  { name: "tcp", needs: ["dns"], run: examineTcp },
];

const dayMs = 86_400_000;
/** A certificate that expires within these days is a warning. */
const warningDays = 14;

const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const daysBetween = (from: number, to: number): string => {
  const days = Math.floor((to - from) / dayMs);
  return days === 1 ? "1 day" : `${days} days`;
};

interface Problem {
  message: string;
  fixes: string[];
}

const caFix =
  "if your company signs its own certificates, set its CA with --ca-file (caFile) or NODE_EXTRA_CA_CERTS";

const unknownIssuers = new Set([
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_UNTRUSTED",
]);

/** Problems of a certificate's time, name and issuer, as far as they are known. */
function ownProblems(shown: Handshake, host: string, now: number): Problem[] {
  const clock = `if the clock of this machine is wrong (it says ${day(now)}), set it`;
  const { problem, validFrom, validTo, names } = shown;
  const found: Problem[] = [];
  if (validTo < now) {
    found.push({
      message: `the certificate expired on ${day(validTo)}, ${daysBetween(validTo, now)} ago`,
      fixes: ["have the certificate of the service renewed", clock],
    });
  } else if (validFrom > now) {
    found.push({
      message: `the certificate is not valid before ${day(validFrom)}`,
      fixes: [clock, "else ask the service's operator for a valid certificate"],
    });
  }
  if (!shown.fitsHost) {
    found.push({
      message: `the certificate is for another host: ${names.slice(0, 5).join(", ")}, not ${host}`,
      fixes: [
        `use a name of the certificate in the base URL, or get a certificate for ${host}`,
        "a captive portal or a proxy may respond instead of the service",
      ],
    });
  }
  if (problem === "DEPTH_ZERO_SELF_SIGNED_CERT") {
    const fix = "if this is intended, set the certificate itself with --ca-file (caFile)";
    found.push({ message: "the certificate is self-signed", fixes: [fix] });
  } else if (problem !== undefined && unknownIssuers.has(problem)) {
    const chain = "or the server does not send its intermediate certificates: complete its chain";
    found.push({
      message: `the certificate is signed by an unknown authority: ${shown.issuer}`,
      fixes: shown.chainLength > 1 ? [caFix] : [caFix, chain],
    });
  }
  return found;
}

/** All problems of a certificate; the handshake reports only the first. */
function certificateProblems(shown: Handshake, host: string, now: number): Problem[] {
  const { problem } = shown;
  const found = ownProblems(shown, host, now);
  if (found.length > 0 || problem === undefined) return found;
  if (problem === "CERT_HAS_EXPIRED") {
    const message = "a certificate in the chain has expired, though the server's own has not";
    return [{ message, fixes: ["have the chain of the service renewed", caFix] }];
  }
  const fault = readFault(Object.assign(new Error(problem), { code: problem }), true);
  return [{ message: fault?.words ?? problem, fixes: fault?.hints ?? [caFix] }];
}

/** Judges a handshake. `now` is in milliseconds since the epoch. */
export function judgeHandshake(
  shown: Handshake,
  host: string,
  now: number,
  isUnchecked: boolean,
): Verdict {
  const problems = certificateProblems(shown, host, now);
  const facts = `${shown.protocol}, signed by ${shown.issuer}, for ${shown.names.slice(0, 5).join(", ")}`;
  if (problems.length > 0) {
    const message = problems.map((each) => each.message).join("; and ");
    const fixes = [...new Set(problems.flatMap((each) => each.fixes))];
    return isUnchecked
      ? warning(message, fixes, [facts, "accepted: certificates are not checked"])
      : failure("unreachable", message, fixes, [facts]);
  }
  const left = daysBetween(now, shown.validTo);
  if (shown.validTo - now > warningDays * dayMs) {
    return ok(`${shown.protocol}, signed by ${shown.issuer}, ${left} left`, [facts]);
  }
  return warning(
    `the certificate expires in ${left}, on ${day(shown.validTo)}`,
    ["renew it, or check why its automatic renewal does not run"],
    [facts],
  );
}

/** Error codes of a port that responds without TLS. */
const noTls =
  /WRONG_VERSION_NUMBER|PACKET_LENGTH|UNKNOWN_PROTOCOL|HTTP_REQUEST|ERR_SSL_RECORD|UNEXPECTED_MESSAGE/;

function handshakeFailed(error: unknown, origin: string): Verdict {
  const code = codeOf(error) ?? "";
  const isOwn = !code.startsWith("PROXY_");
  if (isOwn && (noTls.test(code) || (code === "EPROTO" && noTls.test(String(error))))) {
    return failure("unreachable", `the port of ${origin} does not use TLS (${code})`, [
      "if the service uses plain http, write http:// in the base URL (only on a safe network)",
      "else check the port",
    ]);
  }
  const fault = error instanceof Error ? readFault(error, true) : undefined;
  if (!fault) throw error;
  const shown = fault.words.includes(code) ? "" : ` (${code})`;
  return failure(fault.exit, `no TLS connection to ${origin}: ${fault.words}${shown}`, fault.hints);
}

async function examineTls(examination: Examination, signal: AbortSignal): Promise<Verdict> {
  const { options, connection } = need(examination, "connected");
  const { origin, protocol, hostname } = new URL(connection.baseUrl);
  if (protocol !== "https:") {
    const isHere = need(examination, "hop").what === "service" && isLoopback(hostname);
    if (isHere) return skipped("not used: http on this machine");
    const message = `not used: all data, including keys, is sent to ${origin} unencrypted`;
    return warning(message, ["use https:// in the base URL"]);
  }
  let shown: Handshake;
  try {
    shown = await shakeHands(options, examination.limitMs, signal);
  } catch (error) {
    signal.throwIfAborted();
    return handshakeFailed(error, origin);
  }
  const now = examination.context.now();
  return judgeHandshake(shown, hostname, now, connection.allowInsecureTls);
}

export const checkTls: Check = { name: "tls", needs: ["tcp"], run: examineTls };

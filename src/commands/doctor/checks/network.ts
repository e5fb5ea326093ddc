import { goesDirect, parseProxy } from "../../../api/transport/proxy.ts";
import { familyOf, knock, lookUp, type Knock } from "../../../api/transport/reach.ts";
import { readFault } from "../../../api/transport/faults.ts";
import { proxyVariables } from "../../../config/values/network.ts";
import { codeOf, messageOf } from "../../../errors.ts";
import { need, type Check, type Examination, type Verdict } from "../check.ts";

type Env = Examination["context"]["env"];

const firstSet = (env: Env, names: readonly string[]): string | undefined =>
  names.find((name) => env[name]);

const proxyOfEnv = (env: Env, isHttps: boolean): string | undefined =>
  firstSet(env, proxyVariables(isHttps));

/** What is set in the environment and does not count for this address. */
function unused(env: Env, isHttps: boolean): string[] {
  const own = isHttps ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy", "HTTP_PROXY"];
  const other = isHttps ? ["http_proxy", "HTTP_PROXY"] : ["https_proxy", "HTTPS_PROXY"];
  const wrong = firstSet(env, other);
  if (proxyOfEnv(env, isHttps) || !wrong) return [];
  return [`${wrong} is set, but for ${isHttps ? "https" : "http"} addresses ${own[1]} counts`];
}

/** The entry of NO_PROXY that lets a request go direct. */
function bypass(url: string, noProxy: string | undefined): string {
  if (goesDirect(url, undefined)) return "the service is on this machine";
  const entries = (noProxy ?? "").split(/[\s,]+/).filter((entry) => entry !== "");
  return `NO_PROXY has ${entries.find((entry) => goesDirect(url, entry)) ?? noProxy}`;
}

function examineProxy(examination: Examination): Verdict {
  const { context, facts } = examination;
  const { connection, config } = need(examination, "connected");
  const { baseUrl, proxy, noProxy } = connection;
  const { env } = context;
  const isHttps = baseUrl.startsWith("https:");
  if (proxy === undefined) {
    const set = proxyOfEnv(env, isHttps);
    const message = set
      ? `bypassed: ${set} is set, but the service is on this machine`
      : "none is set: connections go direct";
    return { status: "ok", message, details: unused(env, isHttps) };
  }
  const origin = config.origins.get("proxy")?.where;
  const where = origin ?? proxyOfEnv(env, isHttps) ?? "the environment";
  if (goesDirect(baseUrl, noProxy)) {
    return { status: "ok", message: `bypassed: ${bypass(baseUrl, noProxy)}` };
  }
  const { protocol, hostname, port, authorization } = parseProxy(proxy, where);
  facts.hop = { what: "proxy", host: hostname, port };
  const login = authorization === undefined ? "" : ", with a name and password";
  return {
    status: "ok",
    message: `used: ${protocol}//${hostname}:${port} (${where})${login}`,
    details: noProxy === undefined ? [] : ["NO_PROXY is set, and names nothing of this address"],
  };
}

/** What to look at when the hop cannot be found or reached. */
function hopFix(examination: Examination): string {
  const { what, host } = need(examination, "hop");
  if (what === "proxy") return "check --proxy, or HTTPS_PROXY, HTTP_PROXY and NO_PROXY";
  const { config } = need(examination, "connected");
  const where = config.origins.get("baseUrl")?.where ?? "the base URL";
  return `check the host "${host}" in the base URL (${where}), and whether it needs a VPN`;
}

async function examineDns(examination: Examination, signal: AbortSignal): Promise<Verdict> {
  const { facts } = examination;
  const { what, host } = need(examination, "hop");
  const family = familyOf(host);
  if (family !== undefined) {
    facts.addresses = [{ address: host.replace(/^\[|\]$/g, ""), family }];
    return { status: "ok", message: `${host} is an address already` };
  }
  const begun = performance.now();
  try {
    facts.addresses = await lookUp(host, signal);
  } catch (error) {
    signal.throwIfAborted();
    const fault = error instanceof Error ? readFault(error, true) : undefined;
    return {
      status: "failure",
      exit: "unreachable",
      message: `the ${what} ${host}: ${fault?.words ?? messageOf(error)} (${codeOf(error) ?? "unknown"})`,
      fixes: [hopFix(examination), ...(codeOf(error) === "EAI_AGAIN" ? (fault?.hints ?? []) : [])],
    };
  }
  const ms = Math.round(performance.now() - begun);
  const list = facts.addresses.map(({ address }) => address).join(", ");
  const slow = ms > 3000;
  return {
    status: slow ? "warning" : "ok",
    message: `${what === "proxy" ? "the proxy " : ""}${host} is ${list} (${ms} ms)`,
    fixes: slow ? ["the name server is slow: check the first ones in the network settings"] : [],
    details: what === "proxy" ? ["the proxy looks up the name of the service itself"] : [],
  };
}

const mostAddresses = 8;

function describeKnock({ address, ms, code }: Knock, port: number): string {
  const place = address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
  return `${place} ${ms === undefined ? `fails: ${code}` : `answers in ${Math.round(ms)} ms`}`;
}

function whyNobody(codes: ReadonlySet<string | undefined>, what: string, port: number): string {
  if (codes.has("ECONNREFUSED")) {
    return `nothing listens on port ${port}: check the port, and that the ${what} runs`;
  }
  return codes.has("ETIMEDOUT")
    ? "a firewall may be in the way, or the host is off: ask who runs the network"
    : "there is no way to it from here: check the network connection";
}

function nobodyAnswers(examination: Examination, knocks: readonly Knock[]): Verdict {
  const { what, port } = need(examination, "hop");
  const { baseUrl } = need(examination, "connected").connection;
  const codes = new Set(knocks.map(({ code }) => code));
  const late = !codes.has("ECONNREFUSED") && codes.has("ETIMEDOUT");
  const isHere = goesDirect(baseUrl, undefined);
  return {
    status: "failure",
    exit: late ? "timeout" : "unreachable",
    message: `nobody answers at the ${what}: ${knocks.map((each) => describeKnock(each, port)).join(", ")}`,
    fixes: [
      whyNobody(codes, what, port),
      isHere ? "on this machine `knowctl sandbox` starts a service" : hopFix(examination),
    ],
  };
}

async function examineTcp(examination: Examination, signal: AbortSignal): Promise<Verdict> {
  const { host, port } = need(examination, "hop");
  const addresses = need(examination, "addresses").slice(0, mostAddresses);
  const knocks = await Promise.all(
    addresses.map((address) => knock(address, port, examination.limitMs, signal)),
  );
  const bad = knocks.filter(({ code }) => code !== undefined);
  if (bad.length === knocks.length) return nobodyAnswers(examination, knocks);
  const message = knocks.map((each) => describeKnock(each, port)).join(", ");
  // Servers of one's own rarely listen on both addresses of localhost.
  if (bad.length === 0 || host === "localhost") return { status: "ok", message };
  const families = new Set(bad.map(({ family }) => family));
  const whole = [4, 6].find(
    (family) =>
      families.has(family as 4 | 6) &&
      !knocks.some((each) => each.family === family && each.ms !== undefined),
  );
  return {
    status: "warning",
    message,
    fixes: [
      whole === undefined
        ? "connections begin slower while some addresses fail: tell who runs the service"
        : `IPv${whole} does not work on the way to ${host}: mend it, or have that address removed from DNS; connections begin up to 2 s later`,
    ],
  };
}

/** How a connection is opened: through what, to where. */
export const networkChecks: readonly Check[] = [
  { name: "proxy", needs: ["connection"], run: examineProxy },
  { name: "dns", needs: ["proxy"], run: examineDns },
  { name: "tcp", needs: ["dns"], run: examineTcp },
];

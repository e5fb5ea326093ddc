import { header } from "../../../api/transport/headers.ts";
import { shakeHands } from "../../../api/transport/handshake.ts";
import type { Prober } from "../../../api/retry/prober.ts";
import { parseHttpDate } from "../../../api/retry/timing.ts";
import {
  failure,
  need,
  ok,
  skipped,
  warning,
  type Check,
  type Examination,
  type Verdict,
} from "../check.ts";
import { readVersion } from "./dialect.ts";
import { judgeAnswer } from "./page.ts";

const probe = { what: "look at the service", method: "GET" } as const;

/**
 * Other prefixes where the service may be, nearest first: the path with one more
 * segment removed each time, so first without a doubled /api.
 */
export function otherPrefixes(prefix: string): string[] {
  const found: string[] = [];
  for (let at = prefix; at !== "" && found.length < 4;) {
    at = at.slice(0, at.lastIndexOf("/"));
    found.push(at);
  }
  return found;
}

/** The fix that names the prefix where the service is. */
function useBase({ origin, prefix }: Prober, other: string): string {
  const doubled = prefix.endsWith("/api") ? " (/api is doubled: the tool adds it itself)" : "";
  return `the service answers at ${origin}${other}: use this as the base URL${doubled}`;
}

/** Requests the same listing under other prefixes of the host. Sends no key. */
async function findService(prober: Prober, path: string): Promise<string[]> {
  const { origin, prefix } = prober;
  const isService = async (at: string): Promise<boolean> => {
    const { answer, question } = await prober.ask({ ...probe, path: at });
    return answer !== undefined && judgeAnswer(answer, question.url).who === "service";
  };
  for (const other of otherPrefixes(prefix)) {
    if (await isService(other + path)) return [useBase(prober, other)];
  }
  if (!(await isService(prefix + path.replace(/^\/api/, "")))) return [];
  return [
    `the service answers at ${origin}${prefix} without /api: this is its internal address; use the address of the proxy in front of it, which has /api`,
  ];
}

/**
 * The shorter prefix where the service is, if the base URL leads below it: a service, or a gateway,
 * that checks the key before the path refuses every path alike. Sends the key only if no version
 * tells.
 */
async function findAbove(prober: Prober, path: string): Promise<string | undefined> {
  const { prefix } = prober;
  const others = otherPrefixes(prefix);
  const hasVersion = async (base: string): Promise<boolean> =>
    typeof (await readVersion(prober, base)) === "object";
  if (others.length === 0 || (await hasVersion(prefix))) return undefined;
  for (const other of others) if (await hasVersion(other)) return other;
  const statusBelow = async (base: string): Promise<number | undefined> => {
    const mostBytes = 64 * 1024 * 1024;
    const asked = { ...probe, path: base + path, key: "accessToken", mostBytes } as const;
    return (await prober.ask(asked)).answer?.status;
  };
  const own = await statusBelow(prefix);
  if (own !== 404 && own !== 405) return undefined;
  for (const other of others) if ((await statusBelow(other)) === 200) return other;
  return undefined;
}

/** Whether the port of an http:// base URL uses TLS. */
async function usesTls(examination: Examination, signal: AbortSignal): Promise<boolean> {
  const { options } = need(examination, "connected");
  const baseUrl = options.baseUrl.replace(/^http:/, "https:");
  try {
    await shakeHands({ ...options, baseUrl }, examination.limitMs, signal);
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

async function examineAnswer(examination: Examination, signal: AbortSignal): Promise<Verdict> {
  const { facts, context } = examination;
  const prober = need(examination, "prober");
  const { client, connection } = need(examination, "connected");
  const path = client.dialect.paths.connectorStatus;
  const begun = context.now();
  // Sent without a key: first identify who responds.
  const asked = await prober.ask({ ...probe, path: prober.prefix + path });
  const { answer, error, question, ms } = asked;
  if (!answer) {
    const isPlain = connection.baseUrl.startsWith("http:");
    if (!isPlain || !(await usesTls(examination, signal))) throw error;
    const message = "the port expects TLS, but the base URL has http://";
    return failure("unreachable", message, ["write https:// in the base URL"]);
  }
  facts.answer = answer;
  facts.answeredAt = begun + ms / 2;
  const { who, words, fixes } = judgeAnswer(answer, question.url);
  if (who !== "service") {
    const all = [...(who === "other" ? [] : await findService(prober, path)), ...fixes];
    const base = "check the base URL: it must be the address of the service itself";
    const exit = who === "missing" ? "not-found" : "server-error";
    return failure(exit, words, all.length > 0 ? all : [base]);
  }
  const above = await findAbove(prober, path);
  if (above !== undefined) {
    const message = `the service is at ${prober.origin}${above}, not at ${prober.origin}${prober.prefix}`;
    return failure("not-found", message, [useBase(prober, above)]);
  }
  const message = `${words}, in ${Math.round(ms)} ms`;
  const [api] = /\/api(?=\/|$).*/.exec(prober.prefix) ?? [];
  if (api !== undefined) {
    // A service that checks the key before the path refuses every path, so this one proves nothing.
    const base = prober.origin + prober.prefix.slice(0, -api.length);
    return warning(
      `${message}, but ${api === "/api" ? "/api is doubled" : `${api} stands`} in the base URL`,
      [`the tool adds /api itself: write ${base} in the base URL`],
      [question.url],
    );
  }
  if (answer.status !== 200) return ok(message, [question.url]);
  const open = "the service lists its connectors without a key, to anyone";
  return warning(open, ["have the administrator turn authentication on"], [question.url]);
}

const mostSkewMs = 120_000;

function describeSkew(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} minutes`;
  return seconds < 172_800
    ? `${Math.round(seconds / 3600)} hours`
    : `${Math.round(seconds / 86_400)} days`;
}

function examineClock(examination: Examination): Verdict {
  const { headers } = need(examination, "answer");
  const date = parseHttpDate(header(headers, "date") ?? "");
  if (date === undefined) return skipped("the service does not report its time (no Date header)");
  const age = Number(header(headers, "age") ?? 0) || 0;
  // A Date header is truncated to whole seconds; add the mean error.
  const skew = need(examination, "answeredAt") - (date + 500 + age * 1000);
  const words = `${describeSkew(skew)} ${skew < 0 ? "behind" : "ahead of"} the service`;
  if (Math.abs(skew) <= mostSkewMs) {
    return ok(Math.abs(skew) < 1500 ? "same as the service" : words);
  }
  return warning(`the clock of this machine is ${words}`, [
    "synchronise it over the network (timedatectl set-ntp true, w32tm /resync); if it is right, inform the service's operator",
    "certificates, document dates and their order depend on it",
  ]);
}

/** Who responds, and the service's clock. */
export const answerChecks: readonly Check[] = [
  { name: "answer", needs: ["tls"], run: examineAnswer },
  { name: "clock", needs: ["answer"], run: examineClock },
];

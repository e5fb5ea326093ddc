import { CliError } from "../../errors.ts";
import type { Clock } from "../clock.ts";

/** What happens to a document although its upload is answered with 200: observed-service.md 3.7. */
export interface IndexFault {
  /**
   * `nothing`: neither row nor text is stored, so an earlier version stays. `row`: the row is
   * stored, the text is not. `old`: an update is lost, a new document is stored.
   */
  keeps?: "nothing" | "row" | "old";
  /** Moves the document to a private pair of somebody else. */
  private?: boolean;
  /** Hides the document from every caller, except in the administrators' search. */
  hidden?: boolean;
  /** Leaves the document out of the listings. */
  unlisted?: boolean;
  /** The text becomes visible after this time, or after this many look-ups. */
  delayMs?: number;
  delayRequests?: number;
}

/** Changes to one response. Members combine: a delay, another response, a cut. */
interface FaultAnswer {
  /** Responds with this status instead, before anything is stored. */
  status?: number;
  headers?: Record<string, string>;
  /** Text and bytes are sent unchanged, any other value as JSON. */
  body?: unknown;
  /** Responds with a redirect (302 unless `status` is set). */
  redirect?: string;
  /** Waits before the request is handled. */
  delayMs?: number;
  /** Resets the connection after this many bytes of the body. */
  cutAfterBytes?: number;
  /** Sends the body in pieces of `chunkBytes` (default 1), with this pause before each piece. */
  dripMs?: number;
  chunkBytes?: number;
  /** Only for uploads. */
  index?: IndexFault;
}

export type FaultAction =
  | FaultAnswer
  /** Resets the connection, before the request is handled or after it was stored. */
  | "reset-before-store"
  | "reset-after-store"
  /** A web page with status 200, as from a wrong address or a proxy. */
  | "html"
  /** Never responds. */
  | "hang";

export interface FaultRule {
  /** All members must match. Without members, every request below /api matches. */
  when?: {
    method?: string;
    /** Beginning of the path. */
    path?: string;
    /** `document.id` of an ingestion, as the client sends it. */
    documentId?: string;
    /** Only requests with this key. */
    key?: string;
    /** Only these matching requests, counted from 1. */
    nth?: number | readonly number[];
    /** Only the first N matching requests. */
    first?: number;
    /** Only matching requests after the first N. */
    after?: number;
  };
  do: FaultAction;
}

/** Probabilities per request between 0 and 1, and a latency for all requests. */
export interface FaultRates {
  latencyMs?: number;
  /** By HTTP status. */
  statuses?: Record<number, number>;
  cut?: number;
  reset?: number;
  html?: number;
  hang?: number;
}

/** Probabilities per upload, and a delay for all uploads. */
export interface IndexRates {
  swallow?: number;
  swallowRow?: number;
  oldVersion?: number;
  private?: number;
  hidden?: number;
  unlisted?: number;
  delayMs?: number;
  delayRequests?: number;
}

export interface FaultSpec {
  rules?: readonly FaultRule[];
  rates?: FaultRates;
  index?: IndexRates;
  /** Paths below /api that every key is refused (403), or that do not exist (404). */
  denied?: readonly string[];
  missing?: readonly string[];
  /** Makes the rates repeatable. */
  seed?: number;
}

/** The faults of one request; without members there are none. */
export interface FaultPlan extends FaultAnswer {
  reset?: "before" | "after";
  hang?: boolean;
}

export interface FaultSubject {
  method: string;
  path: string;
  documentId(): string | undefined;
  /** The key of the request. */
  key?: string;
}

const htmlPage =
  "<!doctype html><html><head><title>Sign in</title></head><body>Sign in</body></html>";

function planOf(action: FaultAction): FaultPlan {
  if (action === "reset-before-store") return { reset: "before" };
  if (action === "reset-after-store") return { reset: "after" };
  if (action === "hang") return { hang: true };
  if (action === "html") {
    return { status: 200, headers: { "content-type": "text/html; charset=utf-8" }, body: htmlPage };
  }
  return action;
}

/** A seeded random generator (mulberry32), for repeatable faults. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function draw(rates: FaultRates, random: () => number): FaultPlan {
  const plan: FaultPlan = rates.latencyMs ? { delayMs: rates.latencyMs } : {};
  let dice = random();
  const hit = (probability = 0): boolean => (dice -= probability) < 0;
  for (const [status, probability] of Object.entries(rates.statuses ?? {})) {
    if (!hit(probability)) continue;
    const headers = status === "429" || status === "503" ? { "retry-after": "1" } : {};
    const body = { detail: `Injected fault ${status}` };
    return { ...plan, status: Number(status), headers, body };
  }
  if (hit(rates.cut)) return { ...plan, cutAfterBytes: Math.floor(random() * 200) };
  if (hit(rates.reset)) return { ...plan, reset: random() < 0.5 ? "before" : "after" };
  if (hit(rates.html)) return { ...plan, ...planOf("html") };
  if (hit(rates.hang)) return { ...plan, hang: true };
  return plan;
}

function drawIndexFault(rates: IndexRates, random: () => number): IndexFault {
  const { delayMs, delayRequests } = rates;
  const fault: IndexFault = {
    ...(delayMs === undefined ? {} : { delayMs }),
    ...(delayRequests === undefined ? {} : { delayRequests }),
  };
  let dice = random();
  const hit = (probability = 0): boolean => (dice -= probability) < 0;
  if (hit(rates.swallow)) return { ...fault, keeps: "nothing" };
  if (hit(rates.swallowRow)) return { ...fault, keeps: "row" };
  if (hit(rates.oldVersion)) return { ...fault, keeps: "old" };
  for (const name of ["private", "hidden", "unlisted"] as const) {
    if (hit(rates[name])) return { ...fault, [name]: true };
  }
  return fault;
}

/** The plan of the whole spec, without its rules. */
function drawPlan(spec: FaultSpec, subject: FaultSubject, random: () => number): FaultPlan {
  const at = subject.path.slice("/api".length);
  if (spec.missing?.includes(at)) return { status: 404, body: { detail: "Not Found" } };
  if (spec.denied?.includes(at)) {
    const text = "You do not have the required permissions for this action.";
    return { status: 403, body: { error_code: "INSUFFICIENT_PERMISSIONS", detail: text } };
  }
  const plan = spec.rates ? draw(spec.rates, random) : {};
  if (!spec.index || subject.documentId() === undefined) return plan;
  return { ...plan, index: drawIndexFault(spec.index, random) };
}

function matches(rule: FaultRule, subject: FaultSubject): boolean {
  const { method, path, documentId, key } = rule.when ?? {};
  return (
    (key === undefined || key === subject.key) &&
    (method === undefined || method === subject.method) &&
    (path === undefined || subject.path.startsWith(path)) &&
    (documentId === undefined || documentId === subject.documentId())
  );
}

function applies(rule: FaultRule, count: number): boolean {
  const { nth, first, after } = rule.when ?? {};
  return (
    (nth === undefined || [nth].flat().includes(count)) &&
    (first === undefined || count <= first) &&
    (after === undefined || count > after)
  );
}

/** Whether a fault takes the place of the response. */
export const isReplaced = ({ reset, redirect, status, body }: FaultPlan): boolean =>
  reset === "before" || redirect !== undefined || status !== undefined || body !== undefined;

/** The response of a fault, which replaces the real one. */
export function replacementOf(
  plan: FaultPlan,
): { status: number; headers: Record<string, string>; body: Uint8Array } | undefined {
  const { redirect, status = redirect === undefined ? 200 : 302, body = "" } = plan;
  if (!isReplaced(plan)) return undefined;
  const isJson = typeof body !== "string" && !(body instanceof Uint8Array);
  const headers = {
    ...(redirect === undefined ? {} : { location: redirect }),
    ...(isJson ? { "content-type": "application/json" } : {}),
    ...plan.headers,
  };
  return { status, headers, body: Buffer.from(isJson ? JSON.stringify(body) : body) };
}

/** Decides the faults of each request below /api. */
export function createFaults(spec: FaultSpec, clock: Clock): (subject: FaultSubject) => FaultPlan {
  const random = spec.seed === undefined ? () => clock.random() : seeded(spec.seed);
  const counts = new Map<FaultRule, number>();
  return (subject) => {
    if (!subject.path.startsWith("/api/")) return {};
    let plan = drawPlan(spec, subject, random);
    for (const rule of spec.rules ?? []) {
      if (!matches(rule, subject)) continue;
      const count = (counts.get(rule) ?? 0) + 1;
      counts.set(rule, count);
      if (applies(rule, count)) plan = { ...plan, ...planOf(rule.do) };
    }
    return plan;
  };
}

const example = "for example --fault latency=200ms,429=0.1,500=0.05,cut=0.02";

const indexNames: Record<string, keyof IndexRates> = {
  swallow: "swallow",
  "swallow-row": "swallowRow",
  "old-version": "oldVersion",
  private: "private",
  hidden: "hidden",
  unlisted: "unlisted",
};
const known =
  "latency, 400 to 599, cut, reset, html, hang, swallow, swallow-row, old-version, private, " +
  "hidden, unlisted, index-delay, deny, missing, seed";

const wrong = (part: string, why: string): CliError =>
  new CliError("usage", `--fault: ${part}: ${why}`, { hints: [example, `the faults: ${known}`] });

/** A fault with an amount: a probability, a time, a number of requests or a seed. */
function addAmount(spec: FaultSpec, part: string): void {
  const [, name, amount, unit] =
    /^([a-z-]+|[45]\d\d)=(\d+(?:\.\d+)?|\.\d+)(ms|s)?$/.exec(part) ?? [];
  if (name === undefined) throw wrong(part || "(empty)", "is not NAME=NUMBER");
  const value = Number(amount);
  const ms = unit === "s" ? value * 1000 : value;
  const rates: FaultRates = (spec.rates ??= {});
  if (name === "latency") {
    rates.latencyMs = ms;
    return;
  }
  if (name === "index-delay") {
    spec.index = { ...spec.index, [unit === undefined ? "delayRequests" : "delayMs"]: ms };
    return;
  }
  if (unit !== undefined) throw wrong(part, "only latency and index-delay have a unit");
  if (name === "seed") {
    spec.seed = value;
    return;
  }
  if (value > 1) throw wrong(part, "a probability is between 0 and 1");
  const index = Object.hasOwn(indexNames, name) ? indexNames[name] : undefined;
  if (/^\d/.test(name)) rates.statuses = { ...rates.statuses, [Number(name)]: value };
  else if (index !== undefined) spec.index = { ...spec.index, [index]: value };
  else if (name === "cut" || name === "reset" || name === "html" || name === "hang") {
    rates[name] = value;
  } else throw wrong(part, "unknown fault");
}

/**
 * Parses `latency=200ms,429=0.1,500=0.05,cut=0.02,reset=0.01,html=0.01,seed=7`, faults of the
 * index (`swallow=0.01,index-delay=5s`) and paths (`deny=/admin/search`, `missing=/search`).
 * Throws CliError `usage` for any other text.
 */
export function parseFaults(text: string): FaultSpec {
  const spec: FaultSpec = { rates: {} };
  const amounts = new Set<string>();
  for (const part of text.split(",").map((piece) => piece.trim())) {
    const [, name, path] = /^(deny|missing)=(\/\S+)$/.exec(part) ?? [];
    if (path === undefined) {
      const [fault = ""] = part.split("=");
      if (amounts.has(fault)) throw wrong(part, `${fault} has another amount before it`);
      amounts.add(fault);
      addAmount(spec, part);
    } else if (name === "deny") spec.denied = [...(spec.denied ?? []), path];
    else spec.missing = [...(spec.missing ?? []), path];
  }
  return spec;
}

import { CliError } from "../../errors.ts";
import type { Clock } from "../clock.ts";

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
}

type FaultAction =
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

export interface FaultSpec {
  rules?: readonly FaultRule[];
  rates?: FaultRates;
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

function matches(rule: FaultRule, subject: FaultSubject): boolean {
  const { method, path, documentId } = rule.when ?? {};
  return (
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

/** Decides the faults of each request below /api. */
export function createFaults(spec: FaultSpec, clock: Clock): (subject: FaultSubject) => FaultPlan {
  const random = spec.seed === undefined ? () => clock.random() : seeded(spec.seed);
  const counts = new Map<FaultRule, number>();
  return (subject) => {
    if (!subject.path.startsWith("/api/")) return {};
    let plan = spec.rates ? draw(spec.rates, random) : {};
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

/**
 * Parses `latency=200ms,429=0.1,500=0.05,cut=0.02,reset=0.01,html=0.01,seed=7`.
 * Throws CliError `usage` for any other text.
 */
export function parseFaults(text: string): FaultSpec {
  const rates: FaultRates = {};
  const spec: FaultSpec = { rates };
  const wrong = (part: string, why: string): CliError =>
    new CliError("usage", `--fault: ${part}: ${why}`, { hints: [example] });
  for (const part of text.split(",").map((piece) => piece.trim())) {
    const [, name, amount, unit] =
      /^([a-z]+|[45]\d\d)=(\d+(?:\.\d+)?|\.\d+)(ms|s)?$/.exec(part) ?? [];
    if (name === undefined) throw wrong(part || "(empty)", "is not NAME=NUMBER");
    const value = Number(amount);
    if (name === "latency") {
      rates.latencyMs = unit === "s" ? value * 1000 : value;
      continue;
    }
    if (unit !== undefined) throw wrong(part, "only latency has a unit");
    if (name === "seed") {
      spec.seed = value;
      continue;
    }
    if (value > 1) throw wrong(part, "a probability is between 0 and 1");
    if (/^\d/.test(name)) rates.statuses = { ...rates.statuses, [Number(name)]: value };
    else if (name === "cut" || name === "reset" || name === "html" || name === "hang") {
      rates[name] = value;
    } else
      throw wrong(part, "unknown fault; known: latency, 400 to 599, cut, reset, html, hang, seed");
  }
  return spec;
}

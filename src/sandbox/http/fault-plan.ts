import type { Clock } from "../clock.ts";
import type {
  FaultAction,
  FaultPlan,
  FaultRates,
  FaultRule,
  FaultSpec,
  FaultSubject,
  IndexFault,
  IndexRates,
} from "./faults.ts";

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

import { CliError } from "../../errors.ts";
import type { FaultRates, FaultSpec, IndexRates } from "./faults.ts";
import { createRouter, segmentsOf, type Route } from "./routes.ts";

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
  new CliError("usage", `--fault: ${part}: ${why}`, { hints: [example] });

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
  } else throw wrong(part, `unknown fault; known: ${known}`);
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

/** Throws CliError `usage` if a path of `deny` or `missing` is no endpoint of either dialect. */
export function checkFaultPaths(
  { denied = [], missing = [] }: FaultSpec,
  routes: readonly Route[],
): void {
  const routers = [createRouter(routes, "standard"), createRouter(routes, "onyx")];
  for (const path of [...denied, ...missing]) {
    const segments = segmentsOf(`/api${path}`) ?? [];
    if (routers.some((match) => match("GET", segments).kind !== "none")) continue;
    throw new CliError("usage", `--fault: the sandbox has no endpoint /api${path}`, {
      hints: ["name the whole path after /api, for example missing=/chat/send-chat-message"],
    });
  }
}

import type { Address } from "../../api/transport/faults.ts";
import type { DialectName } from "../../api/dialects.ts";
import type { Answer } from "../../api/transport/exchange.ts";
import type { Probed, Prober } from "../../api/retry/prober.ts";
import type { Config } from "../../config/load.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError, messageOf, type ExitName } from "../../errors.ts";
import type { Finding, FindingStatus } from "../../output/findings.ts";
import type { Output } from "../../output/terminal/output.ts";
import { whileWaiting } from "../../output/terminal/spinner.ts";
import type { FailureCount } from "../../sync/state/look-ups.ts";
import type { Connected } from "../connect.ts";
import { untilAborted } from "../concurrency.ts";

/** Bytes of the longest listing: one of many connectors is no smaller without a key. */
export const listBytes = 64 * 1024 * 1024;

export interface DoctorOptions extends GlobalFlags {
  bundle?: string;
  streamTest?: boolean;
}

/** Target of the first connection: the service, or the proxy in front of it. */
interface Hop {
  /** For messages. */
  what: "service" | "proxy";
  host: string;
  port: number;
}

/** Results of checks that later checks use. */
export interface Facts {
  /** Warnings of the configuration that are not yet reported. */
  warnings: string[];
  config?: Config;
  /** Recorded failures of uploads from here. */
  failures?: FailureCount[];
  connected?: Connected;
  prober?: Prober;
  hop?: Hop;
  addresses?: Address[];
  /** Response to the first request, which had no key. */
  answer?: Answer;
  /** Milliseconds since the epoch, in the middle of that request. */
  answeredAt?: number;
  /** Version from `/version`, if the service has this path. */
  serviceVersion?: string;
  /** Detected dialect of the service, else the dialect of the profile. */
  dialect?: DialectName;
  /** Keys that the service does not know. */
  unknownKeys?: ReadonlySet<"accessToken" | "apiKey">;
  /** Response of each dialect's ingestion path to a body that it must refuse. */
  ingestion?: Record<DialectName, Probed>;
}

export interface Examination {
  context: Context;
  options: DoctorOptions;
  output: Output;
  /** Timeout of one request, in ms. */
  limitMs: number;
  facts: Facts;
}

type Lines = readonly string[];

export interface Verdict {
  status: FindingStatus;
  message: string;
  fixes?: Lines | undefined;
  details?: Lines | undefined;
  /** For a skipped check: the failed check whose cause is the same. */
  because?: string | undefined;
  /** Exit name of a failure (default `failure`). */
  exit?: ExitName | undefined;
}

export const ok = (message: string, details: Lines = []): Verdict => ({
  status: "ok",
  message,
  details,
});

export const skipped = (message: string, details: Lines = []): Verdict => ({
  status: "skipped",
  message,
  details,
});

export const warning = (message: string, fixes: Lines = [], details: Lines = []): Verdict => ({
  status: "warning",
  message,
  fixes,
  details,
});

export const failure = (
  exit: ExitName,
  message: string,
  fixes: Lines = [],
  details: Lines = [],
): Verdict => ({ status: "failure", exit, message, fixes, details });

/** The verdict on a check that depends on a failed one. */
export const dependent = (cause: string): Verdict => ({
  ...skipped(`depends on ${cause}, which failed`),
  because: cause,
});

export interface Check {
  name: string;
  /** Checks that this check depends on: if one fails, this check is skipped. */
  needs: Lines;
  /** The key that this check sends: the check is skipped if the service does not know the key. */
  key?: "accessToken" | "apiKey";
  /** Time limit of the whole check, in ms; default: four request timeouts. */
  limitMs?: number;
  /** A thrown CliError becomes a failure with its message and hints. */
  run(examination: Examination, signal: AbortSignal): Promise<Verdict> | Verdict;
}

/** A fact that an earlier check must have set. */
export function need<Name extends keyof Facts>(
  { facts }: Examination,
  name: Name,
): NonNullable<Facts[Name]> {
  const fact = facts[name];
  if (fact === undefined) throw new Error(`doctor: ${name} is not known yet`);
  return fact as NonNullable<Facts[Name]>;
}

export interface Examined {
  findings: Finding[];
  /** The first failed check and its exit name; undefined if none failed. */
  failed: { finding: Finding; exit: ExitName } | undefined;
}

/** Runs one check within its time limit. Throws the reason of the user's interrupt. */
async function runOne(check: Check, examination: Examination): Promise<Verdict> {
  const { context } = examination;
  const limitMs = check.limitMs ?? examination.limitMs * 4;
  const timeout = AbortSignal.timeout(limitMs);
  const signal = AbortSignal.any([context.signal, timeout]);
  const ended = untilAborted(signal);
  const running = (async () => check.run(examination, signal))();
  // Abandoned after the time limit: some operations (a DNS look-up) cannot be aborted.
  running.catch(() => {});
  try {
    return await Promise.race([running, ended]);
  } catch (error) {
    context.signal.throwIfAborted();
    if (timeout.aborted) {
      const late = `not finished within ${Math.ceil(limitMs / 1000)} s`;
      return failure("timeout", late, ["try a longer --timeout"]);
    }
    if (error instanceof CliError) {
      return failure(error.exit, error.message, error.hints, error.details);
    }
    const fix = "this is a bug in knowctl; please report it";
    return failure("failure", `unexpected: ${messageOf(error)}`, [fix]);
  }
}

/**
 * Runs checks in order. A check that depends on a failed one is skipped. `write` gets each
 * finding at once. Throws the reason of an interrupt.
 */
export async function runChecks(
  checks: readonly Check[],
  examination: Examination,
  write: (finding: Finding) => Promise<void>,
): Promise<Examined> {
  const findings: Finding[] = [];
  let failed: Examined["failed"];
  /** For each failed or skipped check, the failed check that caused it. */
  const causes = new Map<string, string>();
  for (const check of checks) {
    examination.context.signal.throwIfAborted();
    const { unknownKeys } = examination.facts;
    const isUnknown = check.key !== undefined && unknownKeys?.has(check.key);
    const needed = check.needs.map((name) => causes.get(name)).find(Boolean);
    const cause = needed ?? (isUnknown ? "access-token" : undefined);
    const begun = performance.now();
    const run = () => runOne(check, examination);
    const verdict = cause
      ? dependent(cause)
      : await whileWaiting(examination.output, `checking ${check.name}`, run);
    const { status, message, fixes = [], details = [], because } = verdict;
    const finding: Finding = {
      check: check.name,
      status,
      message,
      fixes: [...fixes],
      details: [...details],
      ...(because === undefined ? {} : { because }),
      ms: Math.round(performance.now() - begun),
    };
    if (because !== undefined) causes.set(check.name, because);
    if (status === "failure") {
      causes.set(check.name, check.name);
      failed ??= { finding, exit: verdict.exit ?? "failure" };
    }
    findings.push(finding);
    await write(finding);
  }
  return { findings, failed };
}

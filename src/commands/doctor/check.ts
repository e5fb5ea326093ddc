import type { Address } from "../../api/transport/reach.ts";
import type { DialectName } from "../../api/dialects.ts";
import type { Answer } from "../../api/transport/exchange.ts";
import type { Probed, Prober } from "../../api/retry/prober.ts";
import type { Config } from "../../config/load.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import type { ExitName } from "../../errors.ts";
import type { FindingStatus } from "../../output/findings.ts";
import type { Output } from "../../output/terminal/output.ts";
import type { FailureCount } from "../../sync/state/failure-counts.ts";
import type { Connected } from "../connect.ts";

export interface DoctorOptions extends GlobalFlags {
  bundle?: string;
  streamTest?: boolean;
}

/** Where the first connection goes: the service, or the proxy in front of it. */
export interface Hop {
  /** For messages. */
  what: "service" | "proxy";
  host: string;
  port: number;
}

/** What checks find out for those after them. */
export interface Facts {
  /** Of the configuration, not yet told. */
  warnings: string[];
  config?: Config;
  /** Of the uploads from here, as recorded. */
  failures?: FailureCount[];
  connected?: Connected;
  prober?: Prober;
  hop?: Hop;
  addresses?: Address[];
  /** Of the first request, which carried no key. */
  answer?: Answer;
  /** Milliseconds since the epoch, in the middle of that request. */
  answeredAt?: number;
  /** What `/version` says, where it answers. */
  serviceVersion?: string;
  /** What the service speaks, where that can be told; else what the profile says. */
  dialect?: DialectName;
  /** The answers of each dialect's ingestion to a body that it must refuse. */
  ingestion?: Record<DialectName, Probed>;
}

export interface Examination {
  context: Context;
  options: DoctorOptions;
  output: Output;
  /** Longest wait for one answer. */
  limitMs: number;
  facts: Facts;
}

export interface Verdict {
  status: FindingStatus;
  message: string;
  fixes?: readonly string[] | undefined;
  details?: readonly string[] | undefined;
  /** What a failure is to a script (default `failure`). */
  exit?: ExitName | undefined;
}

export interface Check {
  name: string;
  /** Checks without which this one says nothing. */
  needs: readonly string[];
  /** Longest time of the whole check, in ms; default four times the wait for one answer. */
  limitMs?: number;
  /** Throws CliError for a failure whose words and hints say it already. */
  run(examination: Examination, signal: AbortSignal): Promise<Verdict> | Verdict;
}

/** A fact that a check before this one must have left. */
export function need<Name extends keyof Facts>(
  { facts }: Examination,
  name: Name,
): NonNullable<Facts[Name]> {
  const fact = facts[name];
  if (fact === undefined) throw new Error(`doctor: ${name} is not known yet`);
  return fact as NonNullable<Facts[Name]>;
}

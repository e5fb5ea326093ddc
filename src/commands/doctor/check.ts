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

/** Target of the first connection: the service, or the proxy in front of it. */
export interface Hop {
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

export interface Verdict {
  status: FindingStatus;
  message: string;
  fixes?: readonly string[] | undefined;
  details?: readonly string[] | undefined;
  /** For a skipped check: the failed check whose cause is the same. */
  because?: string | undefined;
  /** Exit name of a failure (default `failure`). */
  exit?: ExitName | undefined;
}

export interface Check {
  name: string;
  /** Checks that this check depends on: if one fails, this check is skipped. */
  needs: readonly string[];
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

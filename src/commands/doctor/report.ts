import type { ProbeTrace } from "../../api/retry/prober.ts";
import { exitCodes, type ExitName } from "../../errors.ts";
import type { Finding, FindingStatus } from "../../output/findings.ts";
import { tool } from "../../output/report/tool.ts";
import type { FailureCount } from "../../sync/state/failure-counts.ts";
import { valueRows, type ValueRow } from "../config/values.ts";
import type { Examination } from "./check.ts";
import { describeSystem } from "./checks/local.ts";
import type { Examined } from "./runner.ts";

/** The whole result, for `--output json` and the bundle. */
export interface DoctorReport {
  version: 1;
  /** ISO 8601, UTC. */
  at: string;
  tool: { name: string; version: string };
  node: string;
  system: string;
  status: "ok" | "warning" | "failure";
  exit: { name: ExitName; code: number };
  counts: Record<FindingStatus, number>;
  service: { baseUrl: string | null; dialect: string | null; version: string | null };
  checks: Finding[];
  /** Every value in effect with its origin, secrets masked. */
  configuration: ValueRow[];
  /** Recorded upload failures from here, by kind. */
  failures: FailureCount[];
  /** Each request, without key and body. */
  requests: ProbeTrace[];
}

function countsOf(findings: readonly Finding[]): Record<FindingStatus, number> {
  const counts = { ok: 0, warning: 0, failure: 0, skipped: 0 };
  for (const { status } of findings) counts[status] += 1;
  return counts;
}

/** `12 ok, 1 warning, 1 failure, 3 skipped`, without zero counts. */
export function describeCounts(counts: Record<FindingStatus, number>): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some
    .map(([status, count]) => {
      const plural = count > 1 && (status === "warning" || status === "failure") ? "s" : "";
      return `${count} ${status}${plural}`;
    })
    .join(", ");
}

/** The report as plain data. */
export function reportOf(
  { context, facts }: Examination,
  { findings, failed }: Examined,
): DoctorReport {
  const { config, connected, serviceVersion, prober } = facts;
  const counts = countsOf(findings);
  const name = failed?.exit ?? "ok";
  return {
    version: 1,
    at: new Date(context.now()).toISOString(),
    tool,
    node: context.nodeVersion,
    system: describeSystem(),
    status: failed ? "failure" : counts.warning > 0 ? "warning" : "ok",
    exit: { name, code: exitCodes[name].code },
    counts,
    service: {
      baseUrl: connected?.connection.baseUrl ?? null,
      dialect: config?.dialect ?? null,
      version: serviceVersion ?? null,
    },
    checks: findings,
    configuration: config ? valueRows(config) : [],
    failures: facts.failures ?? [],
    requests: [...(prober?.traces ?? [])],
  };
}

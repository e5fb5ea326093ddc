import type { RunStatus } from "../../../output/ingest.ts";
import type { Report, Traffic } from "./report.ts";

const worst: readonly RunStatus[] = ["ok", "partial", "interrupted", "error"];

/** One report of several uploads after each other: its end is told once, by end(). */
export interface GatheredReport extends Report {
  /** Tells the end, unless an upload that was stopped has told it. */
  end(): Promise<void>;
}

/** Gathers the ends of several uploads: the worst status, and the sum of their traffic. */
export function gatherReport(report: Report): GatheredReport {
  let status: RunStatus = "ok";
  let isTold = false;
  const sum: Traffic = { requests: 0, retries: 0, throttled: 0 };
  return {
    ...report,
    async finish(ended, traffic, error) {
      for (const name of ["requests", "retries", "throttled"] as const) sum[name] += traffic[name];
      if (worst.indexOf(ended) > worst.indexOf(status)) status = ended;
      if (ended !== "error" && ended !== "interrupted") return;
      isTold = true;
      await report.finish(ended, sum, error);
    },
    async end() {
      if (!isTold) await report.finish(status, sum);
    },
  };
}

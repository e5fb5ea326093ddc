import type { RunStatus } from "../../../output/report/stored/record.ts";
import { worstStatus } from "../../../output/report/text.ts";
import type { Report, Traffic } from "./report.ts";

/** One report for several consecutive uploads; end() finishes it once. */
export interface GatheredReport extends Report {
  /** Finishes the report, unless a stopped upload has finished it. */
  end(): Promise<void>;
}

/** Combines the ends of several uploads: the worst status, and the sum of their traffic. */
export function gatherReport(report: Report): GatheredReport {
  let status: RunStatus = "ok";
  let isFinished = false;
  const sum: Traffic = { requests: 0, retries: 0, throttled: 0 };
  return {
    ...report,
    async finish(ended, traffic, error) {
      for (const name of ["requests", "retries", "throttled"] as const) sum[name] += traffic[name];
      status = worstStatus([status, ended]);
      if (ended !== "error" && ended !== "interrupted") return;
      isFinished = true;
      await report.finish(ended, sum, error);
    },
    async end() {
      if (!isFinished) await report.finish(status, sum);
    },
  };
}

import { statSync } from "node:fs";
import { join } from "node:path";
import type { Gate } from "../../api/retry/gate.ts";
import type { Traffic } from "../../output/report/stored/collector.ts";

/** The requests that a gate admitted, for a report. */
export function trafficOf(gate: Gate): Traffic {
  const { requests, retries, throttled, statuses, waitedMs } = gate.state();
  return {
    requests,
    retries,
    throttled,
    statuses: { ...statuses },
    waitedSeconds: waitedMs / 1000,
  };
}

/**
 * When the oldest of these files changed, in milliseconds since the epoch: since then the service
 * lacks its text. Undefined without a file that exists. A checkout gives files the time of the
 * checkout. `paths` are relative to `root`; `stdin` and the like are no files.
 */
export function oldestChange(root: string, paths: Iterable<string>): number | undefined {
  let oldest: number | undefined;
  for (const path of paths) {
    if (path === "") continue;
    const stats = statSync(join(root, path), { throwIfNoEntry: false });
    if (stats?.isFile() && stats.mtimeMs < (oldest ?? Infinity)) oldest = Math.floor(stats.mtimeMs);
  }
  return oldest;
}

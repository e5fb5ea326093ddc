import { spawnSync } from "node:child_process";
import { join } from "node:path";

// Node 20 parses NODE_EXTRA_CA_CERTS at every start, which would flatter every ratio.
const { NODE_EXTRA_CA_CERTS: _certificates, ...plainEnvironment } = process.env;
export { plainEnvironment };

const preload = join(import.meta.dirname, "usage.cjs");

/**
 * One run of a command as a whole process: wall-clock milliseconds and, where
 * Node runs it, CPU milliseconds and peak memory in MB. `before` prepares it and
 * is not measured. Throws when the command ends with another code than `codes`.
 */
export function runOnce({ command, args, env = {}, cwd, before, codes = [0] }, withUsage = false) {
  before?.();
  const isNode = command === undefined;
  const preloaded = isNode && withUsage ? ["--require", preload] : [];
  const startedAt = process.hrtime.bigint();
  const result = spawnSync(command ?? process.execPath, [...preloaded, ...args], {
    cwd,
    env: { ...plainEnvironment, ...env },
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const ms = Number(process.hrtime.bigint() - startedAt) / 1e6;
  if (!codes.includes(result.status)) {
    throw new Error(
      `${command ?? "node"} ${args.join(" ")} ended with ${result.status}: ${String(result.stderr)}`,
    );
  }
  if (preloaded.length === 0) return { ms };
  const { cpuUs, peakKib } = JSON.parse(String(result.output[3]));
  return { ms, cpuMs: cpuUs / 1000, megabytes: peakKib / 1024 };
}

function summarise(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return { min: sorted[0], median: sorted[Math.floor(sorted.length / 2)], max: sorted.at(-1) };
}

/**
 * Runs a subject and what it is measured against in turn (A B A B …) after one
 * warm-up of each. Gives for each member of what `runOnce` measures (`ms`, …)
 * the medians of both and of the ratio, taken pair by pair.
 */
export function measurePair(subject, against, runs, { withUsage = false, warmUp = true } = {}) {
  if (warmUp) for (const each of [subject, against]) runOnce(each, withUsage);
  const pairs = Array.from({ length: runs }, () => [
    runOnce(subject, withUsage),
    runOnce(against, withUsage),
  ]);
  return (member) => ({
    subject: summarise(pairs.map(([a]) => a[member])),
    against: summarise(pairs.map(([, b]) => b[member])),
    ratio: summarise(pairs.map(([a, b]) => a[member] / b[member])),
    inverse: summarise(pairs.map(([a, b]) => b[member] / a[member])),
  });
}

/** `median (minimum–maximum)` with so many digits. */
export const figure = ({ min, median, max }, digits) =>
  `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;

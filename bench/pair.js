import { spawnSync } from "node:child_process";

// Node 20 parses NODE_EXTRA_CA_CERTS at every start, which would flatter every ratio.
const { NODE_EXTRA_CA_CERTS: _certificates, ...plainEnvironment } = process.env;

/** Wall-clock milliseconds of one run of a command as a whole process; throws when it fails. */
export function timeOnce({ command = process.execPath, args, env = {}, cwd }) {
  const startedAt = process.hrtime.bigint();
  const result = spawnSync(command, args, {
    cwd,
    env: { ...plainEnvironment, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ms = Number(process.hrtime.bigint() - startedAt) / 1e6;
  if (result.status !== 0) {
    throw new Error(
      `${command} ${args.join(" ")} ended with ${result.status}: ${String(result.stderr)}`,
    );
  }
  return ms;
}

function summarise(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return { min: sorted[0], median: sorted[Math.floor(sorted.length / 2)], max: sorted.at(-1) };
}

/**
 * Runs a subject and what it is measured against in turn (A B A B …) after one
 * warm-up of each, and gives the ratio pair by pair.
 */
export function measurePair(subject, against, runs) {
  timeOnce(subject);
  timeOnce(against);
  const pairs = Array.from({ length: runs }, () => [timeOnce(subject), timeOnce(against)]);
  return {
    subject: summarise(pairs.map(([ms]) => ms)),
    against: summarise(pairs.map(([, ms]) => ms)),
    ratio: summarise(pairs.map(([a, b]) => a / b)),
  };
}

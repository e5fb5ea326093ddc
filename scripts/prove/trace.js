// Disturbs single system calls of a command, by strace's fault injection (Linux).
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeWorld, scenarios } from "./scenarios.js";

const calls = "openat mkdir write pwrite64 fsync fdatasync ftruncate fchmod rename unlink".split(
  " ",
);

/** Why no process can be traced here; undefined where strace works. */
export function traceProblem() {
  const { error, status, stderr } = spawnSync("strace", ["-f", "true"], { encoding: "utf8" });
  if (error) return "strace is not installed (Debian: apt install strace)";
  return status === 0 ? undefined : `strace cannot trace here: ${stderr.trim().split("\n").at(-1)}`;
}

/** Runs a command traced; with `inject` (`fsync:error=EIO:when=3`) disturbed. The log comes along. */
export async function runTraced(world, args, inject) {
  const folder = mkdtempSync(join(tmpdir(), "prove-trace-"));
  const log = join(folder, "log");
  const traced = inject === undefined ? calls.join(",") : inject.split(":")[0];
  const command = ["strace", "-f", "-qq", "-y", "-o", log, "-e", `trace=${traced}`];
  if (inject !== undefined) command.push("-e", `inject=${inject}`);
  // The faster way, by which no signal is sent (strace 6.1).
  if (!inject?.includes("signal=")) command.push("--seccomp-bpf");
  try {
    const ran = await world.run(args, { command });
    return { ...ran, log: readFileSync(log, "utf8") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The calls of the main thread that write below `folder`: { call, at }, the at-th of its name from 1.
 * strace counts the calls of each thread by themselves.
 */
function savingCalls(log, folder) {
  const lines = log.split("\n").map((line) => line.replaceAll(/AT_FDCWD<[^>]*>/g, ""));
  const [main] = /^\d+/.exec(log) ?? [];
  const counts = new Map();
  return lines.flatMap((line) => {
    const [, thread, call] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
    if (call === undefined || thread !== main) return [];
    const at = (counts.get(call) ?? 0) + 1;
    counts.set(call, at);
    const reads = call === "openat" && line.includes("O_RDONLY");
    // What a write writes may name the folder as well.
    const subject = /write/.test(call) ? line.slice(0, line.indexOf(">")) : line;
    return subject.includes(folder) && !reads ? [{ call, at }] : [];
  });
}

/** The calls by which an undisturbed command of a scenario saves. */
export async function savingPlaces(name, random) {
  const scenario = scenarios[name];
  const world = await makeWorld(random);
  try {
    const { log } = await runTraced(world, await scenario.prepare(world));
    return savingCalls(log, join(world.place.home, scenario.save));
  } finally {
    world.close();
  }
}

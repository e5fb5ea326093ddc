// A sandbox for scripts, in a folder that they remove at the end.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { projectFolder } from "./install.js";

const binary = join(projectFolder, "bin", "knowctl.cjs");

/** The environment without anything that could steer a trial elsewhere; the user's files lie in `folder`. */
export function trialEnvironment(folder, extra = {}) {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("KNOWCTL_")),
  );
  for (const name of ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"]) {
    env[name] = join(folder, name.toLowerCase());
  }
  return { ...env, ...extra };
}

/** Starts a sandbox that keeps its documents in `folder`, on a free port; with `dialect` of this dialect. */
export async function startSandbox(folder, dialect = "standard") {
  const data = join(folder, `data-${dialect}`);
  const args = [binary, "sandbox", "--port", "0", "--data", data, "--dialect", dialect];
  const child = spawn(process.execPath, args, {
    cwd: projectFolder,
    env: trialEnvironment(folder),
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  for await (const line of createInterface({ input: child.stderr })) {
    said += `${line}\n`;
    const url = line.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0];
    if (url) {
      child.stderr.resume();
      return { child, url };
    }
  }
  throw new Error(`the sandbox did not start:\n${said}`);
}

export async function endSandbox(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}

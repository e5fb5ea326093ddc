import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A sandbox in a process of its own, with the environment that points the tool at it. */
export async function startSandboxProcess(binary, folder) {
  const home = {
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, "config"),
    XDG_STATE_HOME: join(folder, "state"),
  };
  const args = [binary, "sandbox", "--port", "0", "--data", join(folder, "data")];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, ...home },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exited = new Promise((done) => child.once("exit", done));
  for await (const line of createInterface({ input: child.stderr })) {
    const url = line.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0];
    if (!url) continue;
    child.stderr.resume();
    return {
      folder,
      url,
      env: { ...home, KNOWCTL_BASE_URL: url, KNOWCTL_API_KEY: "sandbox" },
      async stop() {
        child.kill("SIGTERM");
        await exited;
      },
    };
  }
  throw new Error("the sandbox did not start");
}

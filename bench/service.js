import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Starts a server in a process of its own that prints its address; gives how to reach and stop it. */
async function startServer(args, folder) {
  const home = {
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, "config"),
    XDG_STATE_HOME: join(folder, "state"),
  };
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, ...home },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exited = new Promise((done) => {
    child.once("exit", done);
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = line.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0];
    if (!url) continue;
    return {
      folder,
      env: { ...home, KNOWCTL_BASE_URL: url, KNOWCTL_API_KEY: "sandbox" },
      async stop() {
        child.kill("SIGTERM");
        await exited;
      },
    };
  }
  throw new Error(`${args.join(" ")} did not start`);
}

/** A sandbox. */
export function startSandboxProcess(binary, folder) {
  return startServer(
    [binary, "sandbox", "--quiet", "--port", "0", "--data", join(folder, "data")],
    folder,
  );
}

/** A server that answers the connector listing with 50 constant records. */
export function startReceiver(folder) {
  return startServer([join(import.meta.dirname, "receiver.js")], folder);
}

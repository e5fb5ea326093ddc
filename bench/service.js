import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { plainEnvironment } from "./pair.js";

/**
 * Starts a server in a process of its own that prints its address; gives how to
 * reach and stop it. `onLine` gets what it prints later.
 */
async function startServer(args, folder) {
  const home = {
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, "config"),
    XDG_STATE_HOME: join(folder, "state"),
  };
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...plainEnvironment, ...home },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exited = new Promise((done) => {
    child.once("exit", done);
  });
  const lines = createInterface({ input: child.stdout });
  const url = await new Promise((found, fail) => {
    lines.on("line", (line) => {
      const match = line.match(/http:\/\/127\.0\.0\.1:\d+/);
      if (match) found(match[0]);
    });
    lines.once("close", () => fail(new Error(`${args.join(" ")} did not start`)));
  });
  return {
    folder,
    url,
    env: { ...home, KNOWCTL_BASE_URL: url, KNOWCTL_API_KEY: "sandbox" },
    onLine: (listener) => lines.on("line", listener),
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** A sandbox. */
export function startSandboxProcess(binary, folder) {
  return startServer(
    [binary, "sandbox", "--quiet", "--port", "0", "--data", join(folder, "data")],
    folder,
  );
}

/** A server that answers every request with a listing of 50 connectors. */
export function startListingReceiver(folder) {
  return startServer([join(import.meta.dirname, "listing-receiver.js")], folder);
}

/** A server that answers every question with a short stream. */
export function startChatReceiver(folder) {
  return startServer([join(import.meta.dirname, "chat-receiver.js")], folder);
}

/** A server that answers every upload with one constant result, after so many milliseconds. */
export function startIngestionReceiver(folder, latencyMs = 0) {
  const args = [join(import.meta.dirname, "ingestion-receiver.js"), String(latencyMs)];
  return startServer(args, folder);
}

/** A server of uploads that throttles; `mode`: see throttling-receiver.js. */
export function startThrottlingReceiver(folder, mode) {
  return startServer([join(import.meta.dirname, "throttling-receiver.js"), mode], folder);
}

/** Starts a service, hands it to `use`, and stops it in any case. */
export async function withService(starting, use) {
  const service = await starting;
  try {
    return await use(service);
  } finally {
    await service.stop();
  }
}

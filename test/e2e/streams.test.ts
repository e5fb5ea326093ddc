import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { patienceMs } from "../patience.ts";
import { follow, lineOf, type Followed } from "../ran.ts";
import { cleanEnvironment, projectFolder, temporaryFolder } from "../support.ts";

/** Lines of some 20 MB, far beyond what any buffer on the way holds. */
const huge = 20_000;
/** Lines of some 500 KB, more than a pipe holds. */
const large = 500;

function listing(count: number): string {
  const pair = (id: number) => ({
    cc_pair_id: id,
    name: `${"n".repeat(800)} ${id}`,
    access_type: "public",
    groups: [],
    connector: { id, name: "c", source: "web" },
    credential: { id, credential_json: {} },
  });
  return JSON.stringify(Array.from({ length: count }, (_, id) => pair(id)));
}

async function startService(count = large): Promise<Record<string, string>> {
  const body = listing(count);
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(body);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return cleanEnvironment(temporaryFolder(), {
    KNOWCTL_BASE_URL: `http://127.0.0.1:${port}`,
    KNOWCTL_API_KEY: "CANARY-streams",
  });
}

const binary = join(projectFolder, "bin", "knowctl.cjs");

/** Starts the tool; `except` names the stream that the test reads itself. */
function start(
  args: string[],
  env: Record<string, string>,
  stdio: StdioOptions,
  except?: "stdout" | "stderr",
): { child: ChildProcess; ended: Followed["ended"] } {
  const folder = env["HOME"]!;
  const child = spawn(process.execPath, [binary, "connectors", ...args], {
    cwd: folder,
    env,
    stdio,
    timeout: patienceMs,
    killSignal: "SIGKILL",
  });
  const { ended } = follow(child, lineOf(["knowctl", "connectors", ...args]), folder, except);
  return { child, ended };
}

/** Runs the tool as a shell does, with `redirection` for its stdout. */
async function underShell(args: string[], redirection: string): Followed["ended"] {
  const env = await startService();
  // Something follows, so that the shell stays the parent.
  const script = `"$0" "$@" ${redirection}; exit $?`;
  const folder = env["HOME"]!;
  const child = spawn("sh", ["-c", script, process.execPath, binary, ...args], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: patienceMs,
    killSignal: "SIGKILL",
  });
  return follow(child, `${lineOf(["knowctl", ...args])} ${redirection}`, folder).ended;
}

describe("stdout", () => {
  it.each([
    ["json", huge, (text: string) => (JSON.parse(text) as unknown[]).length],
    ["ndjson", large, (text: string) => text.split("\n").length - 1],
    ["tsv", large, (text: string) => text.split("\n").length - 1],
  ])("as %s arrives whole at a slow reader", async (format, count, length) => {
    const env = await startService(count);
    const stdio = ["ignore", "pipe", "pipe"] as const;
    const { child, ended } = start(["list", "--output", format], env, [...stdio], "stdout");
    const parts: Buffer[] = [];
    for await (const part of child.stdout ?? []) {
      parts.push(part as Buffer);
      await new Promise((resume) => setImmediate(resume));
    }
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
    expect(length(Buffer.concat(parts).toString())).toBe(count);
  });

  it("whose reader has gone ends the listing quietly", async () => {
    const env = await startService();
    const { child, ended } = start(["list", "--json"], env, ["ignore", "pipe", "pipe"]);
    child.stdout?.once("data", () => child.stdout?.destroy());
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
  });

  it.runIf(process.platform === "linux")("that cannot be written is exit 14", async () => {
    const full = openSync("/dev/full", "w");
    onTestFinished(() => closeSync(full));
    const env = await startService();
    const { code, stderr } = await start(["list", "--json"], env, ["ignore", full, "pipe"]).ended;
    expect(code).toBe(14);
    expect(stderr).toMatch(/^error: cannot write the output: the disk is full\n/);
  });

  const closed: [string, string[]][] = [
    ["connectors list", ["connectors", "list"]],
    ["config path", ["config", "path"]],
    ["chat, which asks nothing", ["chat", "hi"]],
    ["--version", ["--version"]],
    ["--help", ["ingest", "--help"]],
  ];
  it.runIf(process.platform === "linux").each(closed)(
    "that is closed from the start: %s is exit 14",
    async (_name, args) => {
      const { code, stderr } = await underShell(args, ">&-");
      expect(code).toBe(14);
      expect(stderr).toMatch(/^error: cannot write the output: stdout is closed\n/);
    },
  );

  it("that is closed matters only to what writes to it", async () => {
    const { code, stderr } = await underShell(["config", "validate", "--quiet"], ">&-");
    expect(code, stderr).toBe(0);
  });

  it.each([">/dev/null", "| true"])("that is discarded by %s is exit 0", async (to) => {
    expect(await underShell(["connectors", "list"], to)).toMatchObject({ code: 0 });
  });

  it("that the program which starts it discards is exit 0", async () => {
    const env = await startService();
    const { ended } = start(["list"], env, ["ignore", "ignore", "pipe"]);
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("stderr", () => {
  it("that cannot be written leaves the exit code as it is", async () => {
    const env = await startService();
    const stdio = ["ignore", "pipe", "pipe"] as const;
    const { child, ended } = start(["find", "zzz"], env, [...stdio], "stderr");
    child.stderr?.destroy();
    expect((await ended).code).toBe(9);
  });
});

describe("--jq", () => {
  it("is interrupted by the first Ctrl-C", async () => {
    const env = await startService();
    const words = ["list", "--jq", "[range(1e12)]", "--verbose"];
    const { child, ended } = start(words, env, ["ignore", "pipe", "pipe"]);
    // The trace of the request: from here on there is only the expression.
    child.stderr?.once("data", () => child.kill("SIGINT"));
    expect((await ended).code).toBe(130);
  });
});

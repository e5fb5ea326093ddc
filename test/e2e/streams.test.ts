import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { cleanEnvironment, projectFolder, temporaryFolder } from "../support.ts";

const count = 20_000;

/** A listing of some 20 MB, far beyond what any pipe holds. */
function bigListing(): string {
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

async function startService(): Promise<Record<string, string>> {
  const body = bigListing();
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

function start(args: string[], env: Record<string, string>, stdio: StdioOptions): ChildProcess {
  const binary = join(projectFolder, "bin", "knowctl.cjs");
  const child = spawn(process.execPath, [binary, "connectors", ...args], {
    cwd: env["HOME"],
    env,
    stdio,
    timeout: 50_000,
    killSignal: "SIGKILL",
  });
  return child;
}

/** Runs the tool as a shell does, with `redirection` for its stdout. */
async function underShell(
  args: string[],
  redirection: string,
): Promise<{ code: number | null; stderr: string }> {
  const env = await startService();
  const binary = join(projectFolder, "bin", "knowctl.cjs");
  // Something follows, so that the shell stays the parent.
  const script = `"$0" "$@" ${redirection}; exit $?`;
  return ended(
    spawn("sh", ["-c", script, process.execPath, binary, ...args], {
      cwd: env["HOME"],
      env,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 50_000,
      killSignal: "SIGKILL",
    }),
  );
}

async function ended(child: ChildProcess): Promise<{ code: number | null; stderr: string }> {
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const code = await new Promise<number | null>((done) => child.on("close", done));
  return { code, stderr };
}

describe("stdout", () => {
  it.each([
    ["json", (text: string) => (JSON.parse(text) as unknown[]).length],
    ["ndjson", (text: string) => text.split("\n").length - 1],
    ["tsv", (text: string) => text.split("\n").length - 1],
  ])("as %s arrives whole at a slow reader", async (format, length) => {
    const child = start(["list", "--output", format], await startService(), [
      "ignore",
      "pipe",
      "pipe",
    ]);
    const end = ended(child);
    const parts: Buffer[] = [];
    for await (const part of child.stdout ?? []) {
      parts.push(part as Buffer);
      await new Promise((resume) => setImmediate(resume));
    }
    expect(await end).toEqual({ code: 0, stderr: "" });
    expect(length(Buffer.concat(parts).toString())).toBe(count);
  });

  it("whose reader has gone ends the listing quietly", async () => {
    const child = start(["list", "--json"], await startService(), ["ignore", "pipe", "pipe"]);
    const end = ended(child);
    child.stdout?.once("data", () => child.stdout?.destroy());
    expect(await end).toEqual({ code: 0, stderr: "" });
  });

  it.runIf(process.platform === "linux")("that cannot be written is exit 14", async () => {
    const full = openSync("/dev/full", "w");
    onTestFinished(() => closeSync(full));
    const { code, stderr } = await ended(
      start(["list", "--json"], await startService(), ["ignore", full, "pipe"]),
    );
    expect(code).toBe(14);
    expect(stderr).toMatch(/^error: cannot write the output: ENOSPC\n/);
  });

  const closed: [string, string[]][] = [
    ["connectors list", ["connectors", "list"]],
    ["config path", ["config", "path"]],
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
    const child = start(["list"], env, ["ignore", "ignore", "pipe"]);
    expect(await ended(child)).toEqual({ code: 0, stderr: "" });
  });
});

describe("stderr", () => {
  it("that cannot be written leaves the exit code as it is", async () => {
    const child = start(["find", "zzz"], await startService(), ["ignore", "pipe", "pipe"]);
    child.stderr?.destroy();
    const code = await new Promise((done) => child.on("close", done));
    expect(code).toBe(9);
  });
});

describe("--jq", () => {
  it("is interrupted by the first Ctrl-C", async () => {
    const env = await startService();
    const child = start(["list", "--jq", "[range(1e12)]", "--verbose"], env, [
      "ignore",
      "pipe",
      "pipe",
    ]);
    const end = ended(child);
    // The trace of the request: from here on there is only the expression.
    child.stderr?.once("data", () => child.kill("SIGINT"));
    expect((await end).code).toBe(130);
  });
});

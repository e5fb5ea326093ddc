import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runSandbox, type SandboxFlags } from "../../src/commands/sandbox/sandbox.ts";
import { SignalReceived } from "../../src/context.ts";
import { main } from "../main.ts";
import { keepContext } from "../ran.ts";
import { cleanEnvironment, createTestContext, runCli, temporaryFolder } from "../support.ts";

const interrupted = new SignalReceived("SIGINT", "interrupted");

/** Runs the command until it has said its address; `stop` interrupts it. */
async function run(flags: SandboxFlags, env: Record<string, string> = {}, isTTY = false) {
  const home = temporaryFolder();
  const context = createTestContext({ cwd: home, env: cleanEnvironment(home, env), isTTY });
  const kept = keepContext(context, `sandbox(${JSON.stringify(flags)})`);
  const done = runSandbox(kept, [], { port: 0, ...flags });
  const stop = async (): Promise<void> => {
    context.abort(interrupted);
    await expect(done).rejects.toBe(interrupted);
  };
  let ended = false;
  const failed = done.catch((error: unknown) => error).finally(() => (ended = true));
  while (!ended && !context.stderrText().includes("connectors list --base-url http")) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(context.stderrText())?.[0] ?? "";
  return { context, home, stop, url, failed };
}

const statusOf = async (url: string, key: string): Promise<number> => {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${url}/api/tool`, { headers })).status;
};

describe("knowctl sandbox", () => {
  it("says what it is, how to use it, and ends with the signal", async () => {
    const { context, home, stop, url } = await run({});
    const said = context.stderrText();
    expect(said).toContain(`KNOWCTL_API_KEY=sandbox knowctl connectors list --base-url ${url}\n`);
    expect(said).toContain(join(home, "data", "knowctl", "sandbox"));
    expect(context.stdoutText()).toBe(`${url}\n`);
    expect([await statusOf(url, "sandbox"), await statusOf(url, "other")]).toEqual([200, 401]);
    await stop();
    await expect(fetch(url)).rejects.toThrow();
  });

  it("refuses a data folder that another sandbox uses, and not one of a sandbox that ended", async () => {
    const data = join(temporaryFolder(), "data");
    const { stop } = await run({ data });
    const second = await run({ data });
    expect(await second.failed).toMatchObject({
      exit: "local",
      message: `another sandbox uses the data folder ${data}`,
    });
    await stop();
    const third = await run({ data });
    await third.stop();
  });

  it("leaves no lock where it was killed", async () => {
    const home = temporaryFolder();
    const data = join(home, "data");
    const args = ["sandbox", "--port", "0", "--data", data];
    const env = cleanEnvironment(home);
    let inner: { code: number; stderr: string } | undefined;
    const killed = await runCli(args, {
      cwd: home,
      env,
      onStart: (child) =>
        child.stdout?.once("data", () => {
          void runCli(args, { cwd: home, env }).then((result) => {
            inner = { code: result.code ?? -1, stderr: result.stderr };
            child.kill("SIGKILL");
          });
        }),
    });
    expect(inner).toMatchObject({ code: 14, stderr: expect.stringContaining("another sandbox") });
    expect(killed.signal).toBe("SIGKILL");
    const { stop } = await run({ data });
    await stop();
  });

  it("leaves stdout alone on a terminal", async () => {
    const { context, stop } = await run({}, {}, true);
    expect(context.stdoutText()).toBe("");
    await stop();
  });

  it("speaks the other dialect, with faults", async () => {
    const { context, stop, url } = await run({ dialect: "onyx", fault: "418=1" });
    expect(context.stderrText()).toContain(`--base-url ${url} --dialect onyx\n`);
    expect(context.stderrText()).toContain("418=1");
    expect(await statusOf(url, "sandbox")).toBe(418);
    await stop();
  });

  it("never says a key of one's own", async () => {
    const key = "CANARY-sandbox-key";
    const { context, stop, url } = await run({ verbose: true }, { KNOWCTL_SANDBOX_KEY: key });
    expect([await statusOf(url, key), await statusOf(url, "sandbox")]).toEqual([200, 401]);
    await stop();
    const said = context.stderrText() + context.stdoutText();
    expect(said).toContain('KNOWCTL_API_KEY="$KNOWCTL_SANDBOX_KEY" knowctl');
    expect(said).toContain("GET /api/tool 200");
    expect(said).not.toContain(key);
  });

  it.each([
    ["a folder of one's own", { data: "mine" }, {}, "mine"],
    [
      "a relative XDG folder counts as none",
      {},
      { XDG_DATA_HOME: "x" },
      ".local/share/knowctl/sandbox",
    ],
  ])("keeps its data in %s", async (_, flags, env, folder) => {
    const { context, home, stop } = await run(flags, env);
    expect(context.stderrText()).toContain(join(home, folder));
    await stop();
  });

  it("keeps the documents from one run to the next", async () => {
    const data = temporaryFolder();
    const post = async (url: string): Promise<unknown> => {
      const document = {
        semantic_identifier: "A",
        sections: [{ text: "x" }],
        source: "file",
        metadata: {},
      };
      const response = await fetch(`${url}/api/svc-api/ingestion`, {
        method: "POST",
        headers: { authorization: "Bearer sandbox", "content-type": "application/json" },
        body: JSON.stringify({ document, cc_pair_id: 2 }),
      });
      return await response.json();
    };
    const first = await run({ data });
    expect(await post(first.url)).toMatchObject({ already_existed: false });
    await first.stop();
    const second = await run({ data });
    expect(await post(second.url)).toMatchObject({ already_existed: true });
    await second.stop();
  });

  it("refuses another host without a key, and warns with one", async () => {
    const refused = await run({ host: "0.0.0.0" });
    expect(await refused.failed).toMatchObject({ exit: "usage" });
    const { context, stop } = await run(
      { host: "0.0.0.0" },
      { KNOWCTL_SANDBOX_KEY: "secret-of-mine" },
    );
    expect(context.stderrText()).toContain("warning: 0.0.0.0 can be reached from other machines");
    await stop();
  });

  it("says what to do when the port that --port names is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void other.close());
    await expect.poll(() => other.listening).toBe(true);
    const { port } = other.address() as { port: number };
    const home = temporaryFolder();
    const context = createTestContext({ cwd: home, env: cleanEnvironment(home) });
    expect(await main(["sandbox", "--port", String(port)], context)).toBe(14);
    expect(context.stderrText()).toMatch(
      new RegExp(`^error: cannot listen on 127\\.0\\.0\\.1:${port}: the port is in use\n.*--port`),
    );
  });

  it("says which folder it cannot use", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "file"), "");
    const inFile = await run({ data: join(folder, "file", "data") });
    expect(await inFile.failed).toMatchObject({
      exit: "local",
      message: expect.stringContaining("file/data"),
    });
    mkdirSync(join(folder, "broken"));
    writeFileSync(join(folder, "broken", "sandbox.sqlite"), "no database".repeat(1_000));
    const broken = await run({ data: join(folder, "broken") });
    expect(await broken.failed).toMatchObject({
      exit: "local",
      message: expect.stringContaining("sandbox.sqlite"),
    });
  });

  it("refuses faults that it does not know, before anything is opened", async () => {
    const { failed } = await run({ fault: "slow=1" });
    expect(await failed).toMatchObject({
      exit: "usage",
      message: expect.stringContaining("slow=1"),
    });
  });
});

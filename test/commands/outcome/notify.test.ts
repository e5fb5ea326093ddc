import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { SignalReceived } from "../../../src/context.ts";
import { main, runHere } from "../../main.ts";
import { schemaOf } from "../../schemas.ts";
import { startTestService, testKey, writeFiles, type TestService } from "../../service.ts";
import { createTestContext } from "../../support.ts";

const token = "T0KEN-9d2c4f7a81";
const files = { "docs/a.md": "# A\n\nText.\n" };
const broken = "---\ntitle: [unclosed\n---\ntext\n";
const upload = ["ingest", "docs", "--cc-pair-id", "2"];

interface Told {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

interface Hook {
  url: string;
  told: Told[];
}

/** A web hook on this machine. `headers` of a redirect, or nothing; status 0 never responds. */
async function startHook(status = 200, headers: Record<string, string> = {}): Promise<Hook> {
  const told: Told[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (part: Buffer) => (text += part.toString()));
    request.on("end", () => {
      const body = JSON.parse(text) as Record<string, unknown>;
      told.push({ path: request.url ?? "", headers: request.headers, body });
      if (status === 0) request.socket.destroy();
      else response.writeHead(status, headers).end(`no: ${request.url}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/services/${token}?key=${token}-query`, told };
}

async function run(
  { folder, env }: TestService,
  args: readonly string[],
  more: Record<string, string> = {},
) {
  return await runHere(args, { cwd: folder, env: { ...env, ...more } });
}

/** Writes the project file with `notify`. */
const configure = ({ folder }: TestService, notify: object[]): void =>
  writeFiles(folder, { ".cliconfig.json": JSON.stringify({ notify }) });

const trusted = { KNOWCTL_TRUST_PROJECT: "1" };
const occasions = ({ told }: Hook): unknown[] => told.map(({ body }) => body["occasion"]);

describe("--notify URL", () => {
  it("sends one POST with the summary of the run, without key and documents", async () => {
    const service = await startTestService({ files });
    const hook = await startHook();
    writeFiles(service.folder, { "docs/b.md": broken });
    const { code, stdout, stderr } = await run(service, [...upload, "--notify", hook.url]);
    expect(code).toBe(10);
    expect(hook.told).toHaveLength(1);
    const [{ path, headers, body } = {} as Told] = hook.told;
    expect(path).toBe(`/services/${token}?key=${token}-query`);
    expect(headers).toMatchObject({ "content-type": "application/json" });
    expect(headers["authorization"]).toBe(undefined);
    expect(schemaOf("notification").safeParse(body).error).toBe(undefined);
    expect(body).toMatchObject({
      command: "ingest",
      occasion: "failure",
      last: null,
      exit: { code: 10, name: "partial" },
      reason: "1 document failed; the others were sent",
      counts: { created: 1, failed: 1 },
      host: "host-of-the-test",
    });
    expect(body["text"]).toContain("knowctl ingest failed on host-of-the-test");
    expect(JSON.stringify(body)).not.toContain("docs/b.md");
    for (const text of [JSON.stringify(body) + JSON.stringify(headers)]) {
      expect(text).not.toContain(testKey);
    }
    expect(stdout + stderr).not.toContain(token);
  });

  it.each([
    ["refuses", 500, {}, "status 500"],
    ["hangs up", 0, {}, "no notification to"],
    [
      "redirects",
      302,
      { location: "http://127.0.0.1:1/elsewhere" },
      "a redirect, which is not followed",
    ],
  ] as const)(
    "that %s changes no exit code, and is said once",
    async (_, status, headers, words) => {
      const service = await startTestService({ files });
      const hook = await startHook(status, headers);
      const { code, stderr } = await run(service, [...upload, "--debug", "--notify", hook.url]);
      expect(code).toBe(0);
      expect(hook.told).toHaveLength(1);
      expect(stderr).toContain(words);
      expect(stderr).toContain(`no notification to ${new URL(hook.url).origin}`);
      expect(stderr).not.toContain(token);
    },
  );

  it.each([
    [`http://hooks.example.com/${token}`, "plain http"],
    [`ftp://hooks.example.com/${token}`, "only http and https"],
    [`https://user:${token}@hooks.example.com/`, "a user name or password"],
    [`https://hooks example/${token}`, "not a valid address"],
  ])("refuses %s before anything is sent, and does not repeat it", async (url, words) => {
    const service = await startTestService({ files });
    const { code, stderr } = await run(service, [...upload, "--notify", url]);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain(token);
    expect(service.sandbox.ledger.requests).toHaveLength(0);
  });

  it("hides the parts of its address, whoever repeats them", async () => {
    const service = await startTestService({ files });
    const hook = await startHook();
    writeFiles(service.folder, { [`docs/${token}.md`]: broken });
    const { code, stderr } = await run(service, [...upload, "--notify", hook.url]);
    expect([code, stderr]).toEqual([10, expect.stringContaining("***")]);
    expect(stderr + JSON.stringify(hook.told[0]?.body)).not.toContain(token);
  });

  it("is told of an interrupt, and of a run that ended before it began", async () => {
    const service = await startTestService({ files });
    const hook = await startHook();
    const context = createTestContext({ cwd: service.folder, env: service.env });
    context.abort(new SignalReceived("SIGTERM", "terminated"));
    expect(await main([...upload, "--notify", hook.url], context)).toBe(143);
    writeFiles(service.folder, { ".cliconfig.json": "{" });
    expect((await run(service, [...upload, "--notify", hook.url])).code).toBe(3);
    expect(hook.told.map(({ body }) => body["exit"])).toEqual([
      { code: 143, name: "terminated" },
      { code: 3, name: "not-configured" },
    ]);
  });

  it("tells nothing of a dry run, and refuses to be given to it", async () => {
    const service = await startTestService({ files });
    const hook = await startHook();
    configure(service, [{ url: hook.url, on: "always" }]);
    expect((await run(service, [...upload, "--dry-run"], trusted)).code).toBe(0);
    expect((await run(service, [...upload, "--dry-run", "--notify", hook.url])).code).toBe(2);
    expect(hook.told).toEqual([]);
  });
});

describe("--notify COMMAND", () => {
  it("reads the summary from stdin; its output is no output of the run", async () => {
    const service = await startTestService({ files });
    const command = "cat > told.json; env > env.txt; echo spoken";
    const { code, stdout } = await run(service, [...upload, "--notify", command]);
    expect(code).toBe(0);
    expect(stdout).not.toContain("spoken");
    const told = JSON.parse(readFileSync(join(service.folder, "told.json"), "utf8")) as object;
    expect(told).toMatchObject({ type: "notification", occasion: "success", exit: { code: 0 } });
    expect(readFileSync(join(service.folder, "env.txt"), "utf8")).not.toContain(testKey);
  });

  it.each([
    ["exit 7", "exit code 7"],
    ["echo 'no mail here' >&2; exit 1", "exit code 1: no mail here"],
    ["no-such-program", "exit code 127"],
  ])("that fails (%s) is said, and changes no exit code", async (command, words) => {
    const service = await startTestService({ files });
    const { code, stderr } = await run(service, [...upload, "--notify", command]);
    expect(code).toBe(0);
    expect(stderr).toContain(words);
  });

  it("shows only its program: an address in it may hold a token", async () => {
    const service = await startTestService({ files });
    const command = `false https://hooks.example.com/${token}`;
    const { stderr } = await run(service, [...upload, "--notify", command]);
    expect(stderr).toContain("no notification to command false: exit code 1");
    expect(stderr).not.toContain(token);
  });
});

describe("notify of the configuration", () => {
  it("tells of failure, recovery, change and every end, by how the last run ended", async () => {
    const service = await startTestService({ files });
    const hooks = { failure: [], recovery: [], change: [], always: [] } as Record<
      string,
      unknown[]
    >;
    const started = new Map<string, Hook>();
    for (const on of Object.keys(hooks)) started.set(on, await startHook());
    configure(
      service,
      [...started].map(([on, { url }]) => ({ url, ...(on === "failure" ? {} : { on }) })),
    );
    for (const text of ["# A\n", broken, broken, "# A, mended\n", "# A again\n"]) {
      writeFiles(service.folder, { "docs/a.md": text });
      await run(service, upload, trusted);
    }
    for (const [on, hook] of started) hooks[on] = occasions(hook);
    expect(hooks).toEqual({
      failure: ["failure", "failure"],
      recovery: ["recovery"],
      change: ["failure", "recovery"],
      always: ["success", "failure", "failure", "recovery", "success"],
    });
  });

  it("counts only in a trusted file, and stops what sends from another", async () => {
    const service = await startTestService({ files });
    const hook = await startHook();
    configure(service, [{ url: hook.url, on: "always" }]);
    const untrusted = await run(service, upload);
    expect(untrusted.code).toBe(3);
    expect(untrusted.stderr).toContain(`notifies ${new URL(hook.url).origin}`);
    expect(untrusted.stderr).not.toContain(token);
    expect(service.sandbox.ledger.requests).toHaveLength(0);
    expect((await run(service, ["lint", "docs"])).stderr).toContain("ignored: notify");
    expect(hook.told).toEqual([]);
  });

  it("has commands in the user file alone, and a flag in its place", async () => {
    const service = await startTestService({ files });
    const command = ["sh", "-c", "cat > told.json"];
    configure(service, [{ command, on: "always" }]);
    const refused = await run(service, upload, trusted);
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining("user file only")]);
    writeFiles(service.folder, { ".cliconfig.json": "{}" });
    const notify = [{ command, on: "always" }];
    writeFiles(service.folder, { "../config/knowctl/config.json": JSON.stringify({ notify }) });
    expect((await run(service, [...upload, "--notify", "cat > flag.json"])).code).toBe(0);
    expect(existsSync(join(service.folder, "told.json"))).toBe(false);
    expect(existsSync(join(service.folder, "flag.json"))).toBe(true);
    expect((await run(service, upload)).code).toBe(0);
    expect(existsSync(join(service.folder, "told.json"))).toBe(true);
  });

  it("reads an address from a variable, and shows none of it", async () => {
    const service = await startTestService({ files });
    const hook = await startHook();
    configure(service, [{ url: { env: "TEAM_HOOK" } }, { url: hook.url, on: "always" }]);
    const env = { ...trusted, TEAM_HOOK: hook.url };
    const missing = await run(service, upload, trusted);
    expect([missing.code, missing.stderr]).toEqual([3, expect.stringContaining("TEAM_HOOK")]);
    expect((await run(service, upload, env)).code).toBe(0);
    expect(hook.told).toHaveLength(1);
    const shown = await run(service, ["config", "show", "--json"], env);
    const trust = await run(service, ["config", "trust", "--no-input"], env);
    expect(shown.stdout + shown.stderr + trust.stdout + trust.stderr).not.toContain(token);
  });

  it("tells of other commands: verify, retry and eval", async () => {
    const service = await startTestService({ files, dialect: "onyx" });
    const hook = await startHook();
    configure(service, [{ url: hook.url, on: "always" }]);
    const cases = [{ id: "a", question: "text of a", must_retrieve: ["docs/a.md"] }];
    writeFiles(service.folder, { "suite.json": JSON.stringify({ version: 1, cases }) });
    const lines = [upload, ["retry"], ["verify"], ["eval", "retrieval", "suite.json"]];
    for (const line of lines) expect((await run(service, line, trusted)).code, line[0]).toBe(0);
    const commands = hook.told.map(({ body }) => body["command"]);
    expect(commands).toEqual(["ingest", "retry", "verify", "eval retrieval"]);
  });
});

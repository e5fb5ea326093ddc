import { describe, expect, it } from "vitest";
import { SignalReceived } from "../../../src/context.ts";
import { main } from "../../main.ts";
import { startTestService, testKey, writeFiles } from "../../service.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../../support.ts";
import { aimAt, runDoctor, serve } from "./support.ts";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hostname } from "node:os";
import { rootCertificates } from "node:tls";

describe("doctor", () => {
  const names = [
    "tool",
    "configuration",
    "trust",
    "state",
    "connection",
    "proxy",
    "dns",
    "tcp",
    "tls",
    "answer",
    "clock",
    "dialect",
    "version",
    "access-token",
    "account",
    "api-key",
    "chat",
    "streaming",
  ];

  describe.each(["standard", "onyx"] as const)("a sandbox of the %s dialect:", (dialect) => {
    it("nothing is wrong, and nothing is written", async () => {
      const { sandbox, folder, env } = await startTestService({ dialect });
      const { code, findings, statuses } = await runDoctor({ cwd: folder, env });
      expect(code).toBe(0);
      expect(Object.keys(findings)).toEqual(names);
      expect(new Set(Object.values(statuses))).toEqual(new Set(["ok", "skipped"]));
      const skipped = names.filter((name) => statuses[name] === "skipped");
      expect(skipped).toEqual(
        dialect === "onyx" ? ["tls", "streaming"] : ["tls", "version", "account", "streaming"],
      );
      const { ledger } = sandbox;
      expect(ledger.documents.size).toBe(0);
      expect(
        ledger.requests.filter(({ status }) => status === 200).map(({ path }) => path),
      ).toEqual(
        dialect === "onyx"
          ? ["/api/version", "/api/manage/admin/connector/status", "/api/me", "/api/me/permissions"]
          : ["/api/manage/admin/connector/status"],
      );
      for (const { method, status } of ledger.requests) {
        if (method !== "GET") expect([401, 403, 404, 422]).toContain(status);
      }
    });

    it("a wrong key is told once, with the variable that it comes from", async () => {
      const { folder, env } = await startTestService({ dialect });
      const wrong = { ...env, KNOWCTL_API_KEY: "CANARY-wrong-key" };
      const { code, findings, statuses } = await runDoctor({ cwd: folder, env: wrong });
      expect(code).toBe(4);
      expect(names.filter((name) => statuses[name] === "failure")).toEqual(["access-token"]);
      for (const name of ["api-key", "chat"]) {
        expect(findings[name]).toMatchObject({ status: "skipped", because: "access-token" });
      }
      const { message, fixes } = findings["access-token"]!;
      expect(message).toContain("the service does not accept the key from KNOWCTL_API_KEY: 40");
      expect(fixes).toEqual([
        "set KNOWCTL_API_KEY to another, or unset it to use a stored one (`knowctl login`)",
      ]);
      expect(JSON.stringify(findings)).not.toContain("CANARY");
    });

    it("a profile of the other dialect is told, with the way to mend it", async () => {
      const { folder, env } = await startTestService({ dialect });
      const other = dialect === "onyx" ? "standard" : "onyx";
      const { code, findings } = await runDoctor({
        cwd: folder,
        env: { ...env, KNOWCTL_DIALECT: other },
      });
      expect(code).toBe(3);
      expect(findings["dialect"]).toMatchObject({
        status: "failure",
        message: expect.stringContaining(`the service has dialect ${dialect}`),
      });
      expect(findings["dialect"]?.fixes[0]).toBe(`set KNOWCTL_DIALECT=${dialect}`);
      // What follows is looked at as the service speaks.
      expect(findings["api-key"]?.status).toBe("ok");
      expect(findings["chat"]?.status).toBe("ok");
      expect(findings["streaming"]).toMatchObject({ status: "skipped", because: "dialect" });
    });

    it("the stream is looked at only when that is asked for", async () => {
      const { sandbox, folder, env } = await startTestService({
        dialect,
        sandbox: { tokenDelayMs: 5 },
      });
      expect((await runDoctor({ cwd: folder, env })).statuses["streaming"]).toBe("skipped");
      const asked = () =>
        sandbox.ledger.requests.filter(({ path, status }) => {
          return path.endsWith("/send-chat-message") && status === 200;
        }).length;
      expect(asked()).toBe(0);
      const { code, findings } = await runDoctor({ cwd: folder, env }, "--stream-test");
      expect(code).toBe(0);
      expect(asked()).toBe(1);
      expect(findings["streaming"]?.message).toMatch(/\d+ messages/);
      expect(findings["streaming"]?.details[0]).toContain(
        dialect === "onyx" ? "was deleted" : "cannot delete sessions",
      );
    });
  });

  describe("an address below that of a service which looks at the key before the path:", () => {
    const paths = ["/api/api", "/api/v2", "/api/manage/admin"];

    it.each(paths)("%s: the base URL is named, and nothing else is judged", async (path) => {
      const { folder, env } = await startTestService();
      const base = env["KNOWCTL_BASE_URL"]!;
      const below = { ...env, KNOWCTL_BASE_URL: base + path };
      const { code, findings, statuses } = await runDoctor({ cwd: folder, env: below });
      expect(code).toBe(9);
      expect(findings["answer"]).toMatchObject({
        status: "failure",
        message: expect.stringContaining(`the service is at ${base}, not at ${base}/`),
        fixes: [
          expect.stringContaining(`the service answers at ${base}: use this as the base URL`),
        ],
      });
      expect([statuses["dialect"], statuses["chat"]]).toEqual(["skipped", "skipped"]);
    });

    it.each(["/api/api", "/api/v2"])("%s with a wrong key: a warning names it", async (path) => {
      const { folder, env } = await startTestService();
      const base = env["KNOWCTL_BASE_URL"]!;
      const wrong = { ...env, KNOWCTL_BASE_URL: base + path, KNOWCTL_API_KEY: "CANARY-wrong-key" };
      const { findings } = await runDoctor({ cwd: folder, env: wrong });
      expect(findings["answer"]).toMatchObject({
        status: "warning",
        fixes: [`the tool adds /api itself: write ${base} in the base URL`],
      });
    });
  });

  describe.each([401, 403])("a gateway that answers %i to everything", (status) => {
    const refuse = () =>
      serve((_request, response) => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end('{"detail":"no"}');
      });

    it.each(["standard", "onyx"])("does not speak against a profile of %s", async (dialect) => {
      const { url } = await refuse();
      const { code, findings, stderr } = await runDoctor(aimAt(url, { KNOWCTL_DIALECT: dialect }));
      expect(code).toBe(4);
      expect(findings["dialect"]).toMatchObject({
        status: "warning",
        message: expect.stringContaining("cannot detect the dialect"),
      });
      expect(JSON.stringify(findings) + stderr).not.toMatch(/--dialect|KNOWCTL_DIALECT=/);
    });

    it("is no reason for config init to save a dialect", async () => {
      const list = await serve((request, response) => {
        const isList = request.url?.endsWith("/connector/status") === true;
        response.writeHead(isList ? 200 : status, { "content-type": "application/json" });
        response.end(isList ? "[]" : '{"detail":"no"}');
      });
      const aim = aimAt(list.url);
      const context = createTestContext(aim);
      expect(await main(["config", "init"], context)).toBe(4);
      expect(context.stderrText()).toContain("cannot detect the dialect");
      expect(context.stderrText()).toContain("--dialect standard");
      const given = createTestContext(aim);
      expect(await main(["config", "init", "--dialect", "onyx"], given)).toBe(0);
    });
  });

  it("a service that takes a wrong key for nobody's", async () => {
    const { folder, env } = await startTestService({
      dialect: "onyx",
      sandbox: { anonymous: true },
    });
    const wrong = { ...env, KNOWCTL_API_KEY: "CANARY-wrong-key" };
    const { code, findings } = await runDoctor({ cwd: folder, env: wrong });
    expect(code).toBe(4);
    expect(findings["account"]).toMatchObject({
      status: "failure",
      message: expect.stringContaining("treats it as anonymous"),
    });
  });

  it("a token whose scopes are narrower than its account", async () => {
    const { folder, env } = await startTestService({ dialect: "onyx" });
    const scoped = { ...env, KNOWCTL_API_KEY: `${testKey}-scoped` };
    const { code, findings } = await runDoctor({ cwd: folder, env: scoped });
    expect(code).toBe(4);
    expect(findings["account"]?.message).toContain("this token's scopes are narrower");
    const context = createTestContext({ cwd: folder, env: scoped });
    expect(await main(["connectors", "list"], context)).toBe(4);
    expect(context.stderrText()).toContain("this token's scopes are narrower than your account");
    expect(context.stderrText()).not.toContain("administrator");
  });

  it("an interrupt ends it at once", async () => {
    const context = createTestContext(
      aimAt(
        (
          await serve(() => {
            context.abort(new SignalReceived("SIGINT", "interrupted"));
          })
        ).url,
      ),
    );
    expect(await main(["doctor"], context)).toBe(130);
    expect(context.stderrText()).toBe("interrupted by SIGINT\n");
  });

  it("a flag that picks wrongly is told before anything is asked", async () => {
    const { url, seen } = await serve((_request, response) => void response.end());
    const { code, stderr } = await runDoctor(aimAt(url), "--filter", "nonsense=1");
    expect([code, seen]).toEqual([2, []]);
    expect(stderr).toContain("unknown field nonsense");
  });

  describe("without a service:", () => {
    it("nothing is configured: exit 3, with the ways to begin", async () => {
      const cwd = temporaryFolder();
      const { code, findings, statuses, stderr } = await runDoctor({
        cwd,
        env: cleanEnvironment(cwd),
      });
      expect(code).toBe(3);
      expect(stderr).toBe("error: doctor: connection: no service is configured yet\n");
      expect(findings["connection"]?.fixes).toHaveLength(3);
      expect(statuses["state"]).toBe("ok");
      expect(findings["streaming"]?.because).toBe("connection");
    });

    it.each([
      ["nobody listens", "http://127.0.0.1:1", 5, "tcp", "ECONNREFUSED"],
      ["no such host", "https://service.invalid", 5, "dns", "service.invalid"],
      ["no address", "not-an-address", 3, "connection", "must begin with"],
      ["plain http", "http://service.invalid", 3, "connection", "plain http"],
    ])("%s", async (_name, url, exit, check, words) => {
      const { code, findings, stderr } = await runDoctor(aimAt(url));
      expect(findings[check]).toMatchObject({
        status: "failure",
        message: expect.stringContaining(words),
      });
      expect(findings[check]?.fixes.length).toBeGreaterThan(0);
      expect(code).toBe(exit);
      expect(stderr).toMatch(new RegExp(`^error: doctor: ${check}: .*\n$`));
    });
  });

  describe("forms:", () => {
    const run = async (...args: string[]) => {
      const { folder, env } = await startTestService();
      const context = createTestContext({ cwd: folder, env });
      expect(await main(["doctor", ...args], context)).toBe(0);
      return context.stdoutText();
    };

    it("text, which is a few lines where all is well", async () => {
      const text = await run();
      expect(text.split("\n").length).toBeLessThan(9);
      for (const name of names) expect(text).toContain(name);
      expect(text).toContain(`${names.length - 4} ok, 4 skipped\n-v shows`);
    });

    it("text with -v, a line for each check, whose first word is its status", async () => {
      const lines = (await run("-v")).split("\n").filter((line) => /^\S/.test(line));
      expect(lines.slice(0, -1).map((line) => line.split(/ +/)[1])).toEqual(names);
      expect(lines.at(-1)).toBe(`${names.length - 4} ok, 4 skipped`);
    });

    it("ndjson, the last line of which is the result", async () => {
      const events = (await run("-o", "ndjson"))
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(events.slice(0, -1).map(({ check }) => check)).toEqual(names);
      expect(events.at(-1)).toMatchObject({
        type: "result",
        version: 1,
        status: "ok",
        exit: { name: "ok", code: 0 },
      });
    });

    it("rows by --filter and --fields, and --jq over the report", async () => {
      expect(await run("--filter", "status=skipped", "--fields", "check")).toBe(
        "tls\nversion\naccount\nstreaming\n",
      );
      expect(await run("--jq", ".counts.ok")).toBe(`${names.length - 4}\n`);
    });

    it("the key stands nowhere", async () => {
      for (const args of [[], ["--json"], ["-v"], ["--debug"]]) {
        expect(await run(...args)).not.toContain(testKey);
      }
    });
  });
});

describe("trust:", () => {
  const aimed = { profiles: { a: { baseUrl: "https://a.invalid", apiKey: { env: "A" } } } };
  // A variable counts before an untrusted file: without one the file is needed.
  const unset = { KNOWCTL_BASE_URL: "", KNOWCTL_API_KEY: "" };
  it.each([
    ["nothing to trust", undefined, {}, "ok", "no project file"],
    ["settings alone", { ingest: { source: "web" } }, {}, "ok", "needs no trust"],
    ["settings that do not count", { ingest: { tags: ["x"] } }, {}, "warning", "ingest.tags"],
    ["an id prefix", { ingest: { idPrefix: "x/" } }, {}, "failure", "is not trusted"],
    ["addresses and keys", aimed, unset, "failure", "is not trusted"],
    [
      "addresses and keys that variables replace",
      aimed,
      {},
      "warning",
      "profiles.a.baseUrl, profiles.a.apiKey in it is ignored",
    ],
    ["the same in a pipeline", aimed, { KNOWCTL_TRUST_PROJECT: "1" }, "ok", "is trusted"],
  ])("%s", async (_name, content, extra, status, words) => {
    const { folder, env } = await startTestService();
    if (content) writeFiles(folder, { ".cliconfig.json": JSON.stringify(content) });
    const { findings } = await runDoctor({ cwd: folder, env: { ...env, ...extra } });
    expect(findings["trust"]).toMatchObject({ status, message: expect.stringContaining(words) });
    if (status !== "ok") expect(findings["trust"]?.fixes.join()).toContain("knowctl config trust");
  });

  it("asks nothing on a terminal", async () => {
    const { folder, env } = await startTestService();
    writeFiles(folder, { ".cliconfig.json": JSON.stringify(aimed) });
    const context = createTestContext({
      cwd: folder,
      env: { ...env, ...unset },
      isTTY: true,
      columns: 400,
    });
    expect(await main(["doctor"], context)).toBe(3);
    expect(context.stdoutText()).toContain("is not trusted");
  });
});

describe("--quiet", () => {
  it("prints nothing of a healthy connection, and what is wrong of another", async () => {
    const { folder: cwd, env } = await startTestService({ dialect: "onyx" });
    const healthy = createTestContext({ cwd, env, isTTY: true });
    expect(await main(["doctor", "-q"], healthy)).toBe(0);
    expect(healthy.stdoutText() + healthy.stderrText()).toBe("");
    const wrongKey = { ...env, KNOWCTL_API_KEY: "wrong-key-of-mine" };
    const broken = createTestContext({ cwd, env: wrongKey, isTTY: true });
    expect(await main(["doctor", "-q"], broken)).toBe(4);
    expect(broken.stdoutText()).toContain("access-token");
    expect(broken.stdoutText()).not.toMatch(/^ok /m);
  });
});

describe("a terminal:", () => {
  async function onTerminal(args: string[], more: Record<string, string> = {}) {
    const { folder, env } = await startTestService({ dialect: "onyx" });
    const context = createTestContext({
      cwd: folder,
      env: { ...env, ...more },
      isTTY: true,
      columns: 80,
    });
    const code = await main(["doctor", ...args], context);
    return { code, text: context.stdoutText().replace(/\u001b\[[\d;]*[A-Za-z]/g, "") };
  }

  it("fits a few lines where nothing is wrong, with the service and the key", async () => {
    const { code, text } = await onTerminal([]);
    expect({ code, text }).toEqual({
      code: 0,
      text: expect.stringMatching(
        /^ok       connection {5}http[^]*\nok       tool, configuration, trust, [^]*, chat\nskipped  tls, streaming\n16 ok, 2 skipped\n-v shows what each check found\n$/,
      ),
    });
    expect(text.split("\n").length).toBeLessThanOrEqual(10);
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  it("shows what is wrong in full, and the other checks by name", async () => {
    const { code, text } = await onTerminal([], { KNOWCTL_API_KEY: "another-key" });
    expect(code).toBe(4);
    expect(text).toMatch(/^failure  access-token /m);
    expect(text).toMatch(/→ .+/);
    expect(text).toMatch(/^ok       tool, /m);
    expect(text).not.toContain("-v shows");
  });

  it("shows each check with --verbose", async () => {
    const { text } = await onTerminal(["--verbose"]);
    expect(text.match(/^(?:ok|skipped) /gm)).toHaveLength(18);
  });
});

describe("configuration:", () => {
  it("names file, line and column of what is wrong", async () => {
    const { folder, env } = await startTestService();
    writeFiles(folder, { ".cliconfig.json": '{\n  "profils": {}\n}\n' });
    const { code, findings } = await runDoctor({ cwd: folder, env });
    expect(code).toBe(3);
    expect(findings["configuration"]?.message).toContain(".cliconfig.json:2:3");
    expect(findings["answer"]).toMatchObject({ because: "configuration" });
  });

  it.skipIf(process.platform === "win32")("a key that others can read is a warning", async () => {
    const { folder, env } = await startTestService();
    const path = join(env["XDG_CONFIG_HOME"] ?? "", "knowctl", "config.json");
    mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
    const profile = { baseUrl: "https://a.invalid", apiKey: "CANARY-in-the-file" };
    writeFileSync(path, JSON.stringify({ profiles: { default: profile } }));
    chmodSync(path, 0o644);
    const { code, findings } = await runDoctor({ cwd: folder, env });
    expect(code).toBe(0);
    expect(findings["configuration"]).toMatchObject({
      status: "warning",
      message: expect.stringContaining("chmod 600"),
    });
    const details = findings["configuration"]?.details.join("\n");
    expect(details).toMatch(/baseUrl = \S+ \(KNOWCTL_BASE_URL, over .*config\.json:1\)/);
    expect(details).not.toContain("CANARY");
  });
});

describe("state:", () => {
  it("a broken one is told, and left as it is", async () => {
    const { folder, env } = await startTestService();
    writeFiles(folder, { ".knowctl/state.db": "no database, but long enough to be looked at" });
    const { code, findings } = await runDoctor({ cwd: folder, env });
    expect(code).toBe(14);
    expect(findings["state"]).toMatchObject({ status: "failure" });
    expect(findings["access-token"]?.status).toBe("ok");
    expect(readFileSync(join(folder, ".knowctl", "state.db"), "utf8")).toContain("no database");
  });

  it("uploads that failed are counted, without a name", async () => {
    const { folder, env } = await startTestService({
      faults: { rules: [{ when: { documentId: "b.md" }, do: { status: 413 } }] },
      files: { "a.md": "# A\n\nText.\n", "b.md": "# B\n\nText.\n" },
    });
    await main(["ingest", ".", "--cc-pair-id", "2"], createTestContext({ cwd: folder, env }));
    const { findings } = await runDoctor({ cwd: folder, env });
    expect(findings["state"]).toMatchObject({
      status: "ok",
      details: [expect.stringMatching(/^1 document failed with 413 \(need a fix\), last 2/)],
    });
  });
});

describe("bundle", () => {
  const canaries = {
    storedKey: "CANARY-stored-key-3f9a",
    variableKey: "CANARY-variable-key-77b1",
    foreign: "CANARY-foreign-password-5c",
    proxyPassword: "CANARY-proxy-0d41",
    metadata: "CANARY-metadata-value",
    text: "CANARY-document-text",
    user: "canaryperson",
  };

  /** A home with a configuration that holds everything that may not get out. */
  function prepareHome(url: string) {
    const home = join(temporaryFolder(), canaries.user);
    const work = join(home, "work space", "project");
    mkdirSync(join(work, ".git"), { recursive: true });
    mkdirSync(join(home, "config", "knowctl"), { recursive: true });
    const profile = {
      baseUrl: url,
      accessToken: canaries.storedKey,
      apiKey: { env: "MY_KEY" },
      proxy: `http://me:${canaries.proxyPassword}@p.example.com:1`,
      caFile: `${home}/ca.pem`,
      ingest: { metadata: { secret: canaries.metadata }, tags: [canaries.metadata] },
    };
    writeFileSync(
      join(home, "config", "knowctl", "config.json"),
      JSON.stringify({ profiles: { default: profile } }),
      { mode: 0o600 },
    );
    writeFileSync(join(home, "ca.pem"), rootCertificates[0]!);
    const env = cleanEnvironment(home, {
      MY_KEY: canaries.variableKey,
      DATABASE_PASSWORD: canaries.foreign,
      HTTPS_PROXY: `http://me:${canaries.proxyPassword}@p.example.com:1`,
      USER: canaries.user,
      KNOWCTL_ROOT: work,
    });
    return { home, work, env };
  }

  describe.each(["ticket.txt", "ticket.json", "ticket.JSON"])("%s", (name) => {
    it("holds no key, no home, no name and no text of a document", async () => {
      // A service that says everything it hears, and more.
      const { url } = await serve((request, response) => {
        const { authorization = "" } = request.headers;
        const detail = `${authorization} ${Buffer.from(authorization).toString("base64")} /home/${canaries.user}/x ${canaries.foreign}`;
        const echo = {
          status_code: 422,
          message: `1 validation error: {'type': 'missing', 'loc': ('body',), 'msg': 'Field required', 'input': {'text': '${canaries.text}'}}`,
        };
        const isWrite = request.method === "POST";
        response.writeHead(isWrite ? 422 : 403, { "content-type": "application/json" });
        response.end(JSON.stringify(isWrite ? echo : { detail, text: canaries.text }));
      });
      const { home, work, env } = prepareHome(url);
      const context = createTestContext({ cwd: work, env });
      const code = await main(["doctor", "--bundle", name], context);
      expect(code).toBe(4);
      const text = readFileSync(join(work, name), "utf8");
      for (const [kind, canary] of Object.entries(canaries)) {
        for (const spelt of [
          canary,
          encodeURIComponent(canary),
          Buffer.from(canary).toString("base64").slice(0, -4),
        ]) {
          expect(text.toLowerCase(), kind).not.toContain(spelt.toLowerCase());
        }
      }
      expect(text).not.toContain(home);
      expect(text).not.toContain(encodeURI(home));
      if (hostname().length > 2) expect(text).not.toContain(hostname());
      // What support needs is there.
      for (const word of [
        url,
        "checks",
        "access-token",
        "~/",
        "<user>",
        "MY_KEY",
        "/api/manage/admin/connector/status",
      ]) {
        expect(text, word).toContain(word);
      }
      expect(statSync(join(work, name)).mode & 0o777).toBe(0o600);
      expect(context.stderrText()).toContain("read it before you share it");
      if (!name.endsWith("txt"))
        expect(JSON.parse(text)).toMatchObject({ version: 1, exit: { code: 4 } });
    });
  });

  it.each([
    "https://a.example/x?token=CANARY-in-query",
    "https://a.example/x#CANARY-in-fragment",
    "https://me:CANARY-password@a.example",
    "https://me:CANARY/password@a.example",
  ])("holds nothing secret of the base URL %s", async (baseUrl) => {
    const cwd = temporaryFolder();
    const proxy = "me:CANARY-proxy@p.example?CANARY=CANARY-x";
    const env = cleanEnvironment(cwd, { KNOWCTL_API_KEY: "some-key-of-mine" });
    const flags = ["--base-url", baseUrl, "--proxy", proxy];
    for (const args of [
      ["doctor", "--bundle", "b.txt"],
      ["doctor", "--bundle", "b.json", "--json"],
      ["config", "show", "--json"],
      ["config", "show", "--origin"],
      ["config", "list"],
      ["connectors", "list"],
    ]) {
      const context = createTestContext({ cwd, env });
      expect(await main([...args, ...flags], context)).toBeLessThan(4);
      const file = args[1] === "--bundle" ? readFileSync(join(cwd, args[2] ?? ""), "utf8") : "";
      expect(file + context.stdoutText() + context.stderrText()).not.toContain("CANARY");
    }
  });

  it("is written where nothing is configured, too", async () => {
    const cwd = temporaryFolder();
    const context = createTestContext({ cwd, env: cleanEnvironment(cwd) });
    expect(await main(["doctor", "--bundle", "b.txt", "--quiet"], context)).toBe(3);
    expect(readFileSync(join(cwd, "b.txt"), "utf8")).toContain("no service is configured yet");
  });

  it.each([
    ["", 2, "--bundle"],
    ["-", 2, "not a file name"],
    [".", 2, "is a folder"],
    ["/dev/null", 2, "is not a regular file"],
    ["x".repeat(256), 2, "cannot be written: its name is too long"],
    ["missing/b.txt", 2, "cannot be written: its folder does not exist"],
  ])("refuses %s before anything is asked", async (path, exit, words) => {
    const { url, seen } = await serve((_request, response) => void response.end());
    const cwd = temporaryFolder();
    const env = cleanEnvironment(cwd, { KNOWCTL_BASE_URL: url, KNOWCTL_API_KEY: "some-key" });
    const context = createTestContext({ cwd, env });
    expect(await main(["doctor", "--bundle", path], context)).toBe(exit);
    expect(context.stderrText()).toContain(words);
    expect(seen).toEqual([]);
  });
});

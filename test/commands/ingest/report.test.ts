import type { IngestOptions } from "../../../src/commands/ingest/ingest-options.ts";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { schemaOf } from "../../schemas.ts";
import { htmlReport } from "../../../src/output/report/html.ts";
import { parseReport } from "../../../src/output/report/stored/read.ts";
import type { RunReport } from "../../../src/output/report/stored/record.ts";
import { startSocket } from "../../file-system.ts";
import { type TestService, startTestService, testKey, writeFiles } from "../../service.ts";
import { createTestContext, temporaryFolder } from "../../support.ts";
import { lintOf } from "../../output/report/sample.ts";
import { acceptedIds, ingest } from "./support.ts";
import { runHere } from "../../main.ts";
import { expectRun, runIn } from "../state/support.ts";
import {
  type Moment,
  createIdleCount,
  whySlow,
} from "../../../src/commands/ingest/upload/sender.ts";

describe("report", () => {
  const files = {
    "docs/a.md": "# A\n\nText.\n",
    "docs/b.md": "# B\n\nText.\n",
    "docs/broken.md": "---\ntitle: [unclosed\n---\ntext\n",
    "docs/empty.md": "",
  };

  interface Ran {
    stdout: string;
    stderr: string;
    /** Exit name of the error, "ok" without one. */
    exit: string;
  }

  async function run(
    service: TestService,
    options: IngestOptions,
    env: Record<string, string> = {},
    prepare: (context: ReturnType<typeof createTestContext>) => void = () => {},
  ): Promise<Ran> {
    const context = createTestContext({ cwd: service.folder, env: { ...service.env, ...env } });
    prepare(context);
    const exit = await ingest(context, ["docs"], { ccPairId: 2, ...options }).then(
      () => "ok",
      (error: unknown) => (error as { exit?: string }).exit ?? String(error),
    );
    return { stdout: context.stdoutText(), stderr: context.stderrText(), exit };
  }

  function readJson(service: TestService, name: string): RunReport {
    return parseReport(readFileSync(join(service.folder, name), "utf8"), name);
  }

  describe("--report", () => {
    it("writes the run in every form named, failures of the plan and of the run included", async () => {
      const service = await startTestService({
        files: { ...files, "docs/same.md": "# S\n\nText.\n" },
      });
      await run(service, {});
      writeFileSync(join(service.folder, "docs/a.md"), "# A\n\nChanged.\n");
      const report = ["out/run.json", "out/run.xml", "run.html"];
      const options = { report, gitlabReport: "quality.json" };
      const { exit } = await run(service, options, { CI_COMMIT_SHA: "a1b2c3" });
      expect(exit).toBe("partial");
      expect(readJson(service, "out/run.json")).toMatchObject({
        status: "partial",
        commit: "a1b2c3",
        target: { baseUrl: service.sandbox.url, ccPairId: 2 },
        paths: ["docs"],
        shard: null,
        counts: { created: 0, updated: 1, unchanged: 2, skipped: 1, failed: 1, renamed: 0 },
        planned: 1,
        requests: 1,
        retries: 0,
        throttled: 0,
        slowest: [{ path: "docs/a.md", id: "docs/a.md" }],
        skipped: [{ count: 1 }],
        failures: [{ path: "docs/broken.md", line: 3, retryable: false }],
      });
      expect(readJson(service, "out/run.json").sentBytes).toBeGreaterThan(100);
      expect(readFileSync(join(service.folder, "out/run.xml"), "utf8")).toContain("docs/broken.md");
      expect(readFileSync(join(service.folder, "run.html"), "utf8")).toMatch(/^<!doctype html>/i);
      expect(JSON.parse(readFileSync(join(service.folder, "quality.json"), "utf8"))).toMatchObject([
        { location: { path: "docs/broken.md", lines: { begin: 3 } } },
      ]);
    });

    it("is written when the run stops, with why", async () => {
      const service = await startTestService({ files });
      const { exit } = await run(
        service,
        { report: ["run.json"] },
        { KNOWCTL_API_KEY: "wrong-key" },
      );
      expect(exit).toBe("auth");
      expect(readJson(service, "run.json")).toMatchObject({
        status: "error",
        error: expect.stringMatching(/401|key/),
        counts: { created: 0 },
      });
      expect(readFileSync(join(service.folder, "run.json"), "utf8")).not.toContain("wrong-key");
    });

    const unopened: [string, IngestOptions, Record<string, string>, RegExp][] = [
      ["without a key", { ccPairId: 2 }, { KNOWCTL_API_KEY: "" }, /no key for/],
      ["for an unknown connector", { connector: "Nope" }, {}, /"Nope"/],
      ["without its state", { ccPairId: 2, state: "docs/a.md/state" }, {}, /use the state/],
      [
        "without its shared record",
        { ccPairId: 2, sharedState: "postgres://user@127.0.0.1:1/none", stateProject: "p" },
        {},
        /shared record at 127\.0\.0\.1:1.*cannot be reached/,
      ],
    ];
    it.each(unopened)(
      "is written when the run cannot begin: %s",
      async (_name, options, env, why) => {
        const service = await startTestService({ dialect: "onyx", files });
        const report = ["run.json", "run.prom"];
        for (const name of report) writeFileSync(join(service.folder, name), "of an earlier run");
        const context = createTestContext({ cwd: service.folder, env: { ...service.env, ...env } });
        const ended = ingest(context, ["docs"], { ...options, report });
        await expect(ended).rejects.toThrow(why);
        expect(readJson(service, "run.json")).toMatchObject({
          status: "error",
          error: expect.stringMatching(why),
          target: { baseUrl: service.sandbox.url, ccPairId: options.ccPairId ?? null },
        });
        const numbers = readFileSync(join(service.folder, "run.prom"), "utf8");
        expect(numbers).toContain('knowctl_run_success{report="run",command="ingest"} 0');
      },
    );

    it("is written when two files have one id", async () => {
      const same = "---\nid: same\n---\nText\n";
      const service = await startTestService({ files: { "docs/a.md": same, "docs/b.md": same } });
      expect((await run(service, { report: ["run.json"] })).exit).toBe("usage");
      expect(readJson(service, "run.json").error).toContain("same: docs/a.md and docs/b.md");
    });

    it("is written when the run is interrupted", async () => {
      const service = await startTestService({ files });
      const stopped = await run(
        service,
        { report: ["run.json"], output: "ndjson" },
        {},
        (context) => {
          const write = context.stdout.write.bind(context.stdout);
          context.stdout.write = (part) => {
            context.abort(new Error("by a signal"));
            return write(part);
          };
        },
      );
      expect(stopped.exit).toContain("by a signal");
      expect(readJson(service, "run.json").status).toBe("interrupted");
    });

    const refused: [string, IngestOptions, RegExp][] = [
      ["another extension", { report: ["run.txt"] }, /run\.txt: unsupported report format/],
      ["one file twice", { report: ["run.json", "./run.json"] }, /two reports name the same file/],
      ["a folder", { report: ["dir.json"] }, /dir\.json: it is a folder/],
      ["a socket", { report: ["socket.json"] }, /socket\.json: it is not a regular file/],
      ["a socket", { gitlabReport: "socket.json" }, /socket\.json: it is not a regular file/],
      ["a folder that cannot be", { report: ["docs/a.md/run.json"] }, /folder cannot be written/],
      ["a missing folder elsewhere", { report: ["../none/run.json"] }, /there is no folder .*none/],
      [
        "a reserved key",
        { metadata: ["__proto__=v"] },
        /--metadata __proto__: the key is reserved/,
      ],
    ];
    it.each(refused)("is refused before anything is sent: %s", async (_name, options, message) => {
      const service = await startTestService({ files });
      mkdirSync(join(service.folder, "dir.json"));
      await startSocket(join(service.folder, "socket.json"));
      const context = createTestContext({ cwd: service.folder, env: service.env });
      const failure = ingest(context, ["docs"], { ccPairId: 2, ...options });
      await expect(failure).rejects.toMatchObject({
        exit: "usage",
        message: expect.stringMatching(message),
      });
      expect(service.sandbox.ledger.requestCount).toBe(0);
    });

    it("of an earlier run is no document, whatever the next run is told", async () => {
      const service = await startTestService({ files: { "docs/a.md": "# A\n\nText.\n" } });
      const report = ["docs/run.html", "docs/run.xml", "docs/run.json"];
      await run(service, { report });
      const { stderr } = await run(service, { include: ["**/*"] });
      expect([...service.sandbox.ledger.documents.keys()]).toEqual(["docs/a.md"]);
      expect(stderr).toContain("a report of knowctl");
    });

    it("among the documents is none itself", async () => {
      const service = await startTestService({ files: { "docs/a.md": "# A\n\nText.\n" } });
      await run(service, { report: ["docs/run.html"] });
      await run(service, { report: ["docs/run.html"] });
      expect([...service.sandbox.ledger.documents.keys()]).toEqual(["docs/a.md"]);
      expect(readdirSync(join(service.folder, "docs")).toSorted()).toEqual(["a.md", "run.html"]);
    });

    it.each(["lint", "verify", "eval answers", "status"])(
      "of %s among the documents is none itself",
      async (command) => {
        const report = [...htmlReport({ ...lintOf([]), command })].join("");
        const json = JSON.stringify({ version: 1, command, status: "failed", text: "Text." });
        const files = {
          "docs/a.md": "# A\n\nText.\n",
          "docs/report.html": report,
          "docs/report.json": `${json}\n`,
        };
        const service = await startTestService({ files });
        await run(service, { include: ["**/*"] });
        expect([...service.sandbox.ledger.documents.keys()]).toEqual(["docs/a.md"]);
      },
    );

    it("that cannot be written is exit local, unless the run itself failed", async () => {
      const service = await startTestService({ files: { "docs/a.md": "# A\n\nText.\n" } });
      const context = createTestContext({ cwd: service.folder, env: service.env });
      let calls = 0;
      context.now = () => {
        // A folder takes its place while the run goes on.
        if (++calls > 1) mkdirSync(join(service.folder, "run.json", "x"), { recursive: true });
        return Date.now();
      };
      await expect(
        ingest(context, ["docs"], { ccPairId: 2, report: ["run.json"] }),
      ).rejects.toMatchObject({ exit: "local", message: expect.stringContaining("run.json") });
      expect(context.stderrText()).toContain("1 created");
    });
  });

  describe("in GitHub Actions", () => {
    it("annotations and the job summary tell of failures; elsewhere neither does", async () => {
      const service = await startTestService({ files });
      const summary = join(service.folder, "summary.md");
      const env = { GITHUB_STEP_SUMMARY: summary, GITHUB_WORKSPACE: service.folder };
      expect((await run(service, {}, env)).stderr).not.toContain("::error");
      expect(existsSync(summary)).toBe(false);
      const { stderr } = await run(service, { force: true }, { ...env, GITHUB_ACTIONS: "true" });
      expect(stderr).toMatch(/^::error file=docs\/broken\.md,line=3,/m);
      expect(readFileSync(summary, "utf8")).toContain("docs/broken.md");
    });
  });

  describe("--output", () => {
    const schema = schemaOf("ingest-events");

    it("ndjson: every line is as the schema says", async () => {
      const rows = "id,title,text\n1,One,Text\n2,,\n";
      const service = await startTestService({ files: { ...files, "docs/rows.csv": rows } });
      const lines: unknown[] = [];
      for (const options of [{}, { metadata: ["a=b"] }]) {
        const { stdout } = await run(service, { output: "ndjson", ...options });
        lines.push(
          ...stdout
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line) as unknown),
        );
      }
      for (const line of lines)
        expect(schema.safeParse(line).error, JSON.stringify(line)).toBe(undefined);
      expect(lines.at(-1)).toMatchObject({
        type: "result",
        counts: { updated: 2, failed: 1 },
        failures: [{ path: "docs/broken.md", line: 3 }],
      });
      expect(schema.safeParse({ version: 1, type: "document" }).success).toBe(false);
    });

    it("json: the result with every failure, however many", async () => {
      const many = Array.from({ length: 600 }, (_, number) => [
        `docs/${String(number).padStart(3, "0")}.md`,
        "---\ntitle: [unclosed\n---\ntext\n",
      ]);
      const service = await startTestService({ files: Object.fromEntries(many) });
      const { stdout, stderr } = await run(service, { output: "json" });
      const result = JSON.parse(stdout) as { failures: { path: string }[] };
      expect(schema.safeParse(result).error).toBe(undefined);
      expect(result.failures.map(({ path }) => path)).toEqual(many.map(([path]) => path));
      expect(stderr.match(/^failed /gm)).toHaveLength(50);
      expect(stderr).toContain("… and 550 more");
      expect(stdout + stderr).not.toContain(testKey);
    });
  });
});

describe("an unchanged run", () => {
  it("names the formats that are not supported only with -v, a changed one always", async () => {
    const service = await startTestService({ files: { "docs/a.md": "# A\n", "docs/b.xyz": "x" } });
    const { folder: cwd, env } = service;
    const formats = "format not supported: .xyz";
    const upload = async (...more: string[]) =>
      (await runHere(["ingest", "docs", "--cc-pair-id", "2", ...more], { cwd, env })).stderr;
    expect(await upload()).toContain(formats);
    const again = await upload();
    expect(again).not.toContain(formats);
    expect(again).toContain("1 unchanged, 1 skipped");
    expect(await upload("-v")).toContain(formats);
    writeFiles(cwd, { "docs/a.md": "# A\n\nMore.\n" });
    expect(await upload()).toContain(formats);
  });
});

describe("dry run", () => {
  const files = {
    "docs/a.md": "# A\n\nText.\n",
    "docs/bad.md": "---\ntitle: [\n---\n# B\n",
    "docs/one.xyz": "x",
    "docs/two.xyz": "x",
  };

  describe("a dry run for a pull request", () => {
    it("shows changes, and counts what is skipped; -v lists it", async () => {
      const { folder: cwd, env } = await startTestService({ files });
      const { stdout, stderr } = await runHere(["ingest", "docs", "--dry-run"], { cwd, env });
      expect(stdout).toContain("create\tdocs/a.md");
      expect(stdout).not.toContain(".xyz");
      expect(stderr).toContain("skipped 2: format not supported: .xyz");
      const all = await runHere(["ingest", "docs", "--dry-run", "-v"], { cwd, env });
      expect(all.stdout).toContain("docs/one.xyz");
    });

    it("writes reports, annotations and the job summary as an upload does", async () => {
      const { folder: cwd, env } = await startTestService({ files });
      const out = temporaryFolder();
      const reports = ["json", "xml", "html"].flatMap((each) => [
        "--report",
        join(out, `r.${each}`),
      ]);
      const gitlab = ["--gitlab-report", join(out, "gl.json")];
      const summary = join(out, "summary.md");
      const github = { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary };
      const line = ["ingest", "docs", "--dry-run", "--exit-code", ...reports, ...gitlab];
      const { code, stderr } = await runHere(line, { cwd, env: { ...env, ...github } });
      expect(code).toBe(10);
      expect(stderr).toMatch(/::error file=docs\/bad\.md,line=\d/);
      expect(JSON.parse(readFileSync(join(out, "r.json"), "utf8"))).toMatchObject({
        type: "ingest-report",
        dryRun: true,
        status: "partial",
        planned: 1,
        requests: 0,
        counts: { created: 1, updated: 0, failed: 1 },
        failures: [{ path: "docs/bad.md", line: expect.any(Number) as number }],
      });
      expect(readFileSync(join(out, "r.xml"), "utf8")).toContain("docs/bad.md");
      expect(readFileSync(join(out, "r.html"), "utf8")).toContain("Dry run, with failures");
      expect(readFileSync(join(out, "gl.json"), "utf8")).toContain("docs/bad.md");
      expect(readFileSync(summary, "utf8")).toContain("Dry run, with failures");
    });

    it("does not call a page new where nothing is recorded", async () => {
      const { folder: cwd, env } = await startTestService({
        files: { "docs/a.md": files["docs/a.md"] },
      });
      const line = ["ingest", "docs", "--dry-run", "--no-state", "--cc-pair-id", "2"];
      const { stdout, stderr } = await runHere(line, { cwd, env });
      expect(stdout).toContain("send\tdocs/a.md");
      expect(stderr).toContain("dry run, nothing was sent: 1 to send");
    });
  });

  describe("what a dry run says of changes", () => {
    const page = (title: string, text: string): string =>
      `---\ntitle: ${title}\nowner: a@b.c\n---\n# ${title}\n\n${text}\n`;

    it("lists changes first with their fields, then failures, and counts the rest", async () => {
      const { folder: cwd, env } = await startTestService({
        files: {
          "docs/b.md": page("B", "Text of b."),
          "docs/c.md": page("C", "Text of c."),
          "docs/same.md": "Same.\n",
          "docs/gone.md": "Gone.\n",
        },
      });
      const line = ["ingest", "docs", "--cc-pair-id", "2"];
      await runHere(line, { cwd, env });
      rmSync(join(cwd, "docs/gone.md"));
      writeFiles(cwd, {
        "docs/a.md": files["docs/bad.md"],
        "docs/b.md": page("B", "Other text of b."),
        "docs/c.md": page("Other", "Text of c."),
        "docs/new.md": "New.\n",
        "docs/x.xyz": "x",
      });
      const { code, stdout, stderr } = await runHere([...line, "--dry-run"], { cwd, env });
      expect(code).toBe(10);
      const lines = stdout.trimEnd().split("\n");
      expect(lines.slice(0, 3)).toEqual([
        "update\tdocs/b.md\tdocs/b.md\ttext or link",
        "update\tdocs/c.md\tdocs/c.md\ttext or link, title",
        "create\tdocs/new.md\tdocs/new.md\t",
      ]);
      expect(lines[3]).toMatch(/^failed\tdocs\/a\.md\t\t3:1: /);
      expect(lines).toHaveLength(4);
      expect(stderr).toContain(
        "1 to create, 2 to update, 1 failed, 1 unchanged, 1 skipped, 1 gone",
      );
      expect(stderr).toContain("what is gone stays in the service: `knowctl status` lists it");
      expect(stderr).toMatch(
        /to send: \d+ characters, about \d+ tokens in 3 chunks \(estimate: 4 /,
      );
      const all = await runHere([...line, "--dry-run", "-v"], { cwd, env });
      expect(all.stdout).toContain("gone\tdocs/gone.md");
      const quiet = await runHere([...line, "--dry-run", "-q"], { cwd, env });
      expect(quiet.stdout).toBe(`${lines[3]}\n`);
      expect(quiet.stderr).toMatch(
        /^dry run, nothing was sent: .*\nerror: 1 document would fail\n/,
      );
    });

    it("counts characters, tokens and chunks of what would be sent, also of stdin", async () => {
      const text = "x".repeat(4000);
      const { folder: cwd, env } = await startTestService({ files: { "docs/a.md": text } });
      const line = ["--dry-run", "--output", "json", "--cc-pair-id", "2"];
      const size = { characters: 4000, tokens: 1000, chunks: 2 };
      const { stdout } = await runHere(["ingest", "docs", ...line], { cwd, env });
      expect(JSON.parse(stdout)).toMatchObject({ size });
      const document = { id: "a", semantic_identifier: "A", sections: [{ text }] };
      const piped = await runHere(["ingest", "-", ...line], {
        cwd,
        env,
        stdin: `${JSON.stringify(document)}\n`,
      });
      expect(JSON.parse(piped.stdout)).toMatchObject({ size });
    });

    it("records options and commit in its report, which nothing takes for an upload's", async () => {
      const { folder: cwd, env } = await startTestService({ files });
      const report = join(temporaryFolder(), "r.json");
      const line = ["ingest", "docs", "--dry-run", "--id-prefix", "kb/", "--report", report];
      await runHere(line, { cwd, env: { ...env, GITHUB_SHA: "abc" } });
      expect(JSON.parse(readFileSync(report, "utf8"))).toMatchObject({
        commit: "abc",
        options: [{ settings: { flags: { idPrefix: "kb/" } } }],
      });
      for (const command of [
        ["retry", report],
        ["report", "merge", report],
      ]) {
        const { code, stderr } = await runHere(command, { cwd, env });
        expect(code).toBe(2);
        expect(stderr).toContain("the report of a dry run: nothing was sent");
      }
      const { stdout } = await runHere(["report", "summary", report], { cwd, env });
      expect(stdout).toMatch(/^ingest --dry-run\tpartial\t1 to create, /);
    });
  });
});

describe("lint before upload", () => {
  const comment = "<!-- knowctl-disable-next-line no-such-rule -->\nText.\n";
  const files = { "docs/bad.md": `# Bad\n\n${comment}`, "docs/good.md": "# Good\n\nText.\n" };
  const line = "ingest docs --cc-pair-id 2";
  const refused =
    'docs/bad.md:3:32: unknown rule "no-such-rule" (disable-comment); change the document, or send it with --no-lint';

  /** A service and a trusted configuration in which the rule is an error. */
  async function start(
    lint: object = { rules: { "disable-comment": "error" } },
  ): Promise<TestService> {
    const service = await startTestService({ files });
    service.env["KNOWCTL_TRUST_PROJECT"] = "1";
    writeFiles(service.folder, { ".cliconfig.json": JSON.stringify({ lint }) });
    return service;
  }

  describe("an upload", () => {
    it("sends documents with warnings", async () => {
      const service = await start({});
      await expectRun(service, line, 0);
      expect(acceptedIds(service)).toEqual(["docs/bad.md", "docs/good.md"]);
    });

    it("fails a document with a finding of level error, and sends the rest", async () => {
      const service = await start();
      await expectRun(service, line, 10, refused);
      expect(acceptedIds(service)).toEqual(["docs/good.md"]);
      const retry = await runIn(service, "retry");
      expect([retry.code, retry.stderr]).toEqual([10, expect.stringContaining(refused)]);
      await expectRun(service, "retry --no-lint", 0);
      expect(acceptedIds(service)).toEqual(["docs/bad.md", "docs/good.md"]);
    });

    it("sends it with --no-lint", async () => {
      const service = await start();
      await expectRun(service, `${line} --no-lint`, 0);
    });

    it("sends it where the configuration has another severity for its path", async () => {
      const rules = { "disable-comment": "error" };
      const overrides = [{ paths: ["docs/bad.md"], rules: { "disable-comment": "note" } }];
      const service = await start({ rules, overrides });
      await expectRun(service, line, 0);
    });

    it("shows the finding in the plan, in explain and in the documents", async () => {
      const service = await start();
      const plan = await runIn(service, `${line} --dry-run -o ndjson`);
      expect(plan.stdout).toContain(JSON.stringify(refused));
      const explained = await runIn(service, "explain docs/bad.md --json");
      expect(JSON.parse(explained.stdout)).toMatchObject({ isIncluded: false, reason: refused });
      const documents = await runIn(service, "convert docs");
      expect([documents.code, documents.stderr]).toEqual([10, expect.stringContaining(refused)]);
      expect(documents.stdout).not.toContain("docs/bad.md");
    });

    it("checks the one document of stdin", async () => {
      const service = await start();
      const ran = await runIn(service, "ingest - --cc-pair-id 2 --format markdown --id x", {
        stdin: files["docs/bad.md"],
      });
      expect([ran.code, ran.stderr]).toEqual([
        10,
        expect.stringContaining('stdin:3:32: unknown rule "no-such-rule" (disable-comment)'),
      ]);
    });

    it("stops for an unknown rule, and for severities in a file without trust", async () => {
      const service = await start({ rules: { "disable-coment": "error" } });
      await expectRun(service, line, 3, 'did you mean "disable-comment"');
      writeFiles(service.folder, {
        ".cliconfig.json": JSON.stringify({ lint: { rules: { "disable-comment": "off" } } }),
      });
      const untrusted = await runIn(
        { ...service, env: { ...service.env, KNOWCTL_TRUST_PROJECT: "" } },
        line,
      );
      expect([untrusted.code, untrusted.stderr]).toEqual([
        3,
        expect.stringContaining("lint.rules: disable-comment"),
      ]);
    });
  });
});

describe("why slow", () => {
  const now = 1_700_000_000_000;
  const gate: Moment["gate"] = {
    inFlight: 8,
    limit: 8,
    waiting: 0,
    pausedUntil: 0,
    retries: 0,
    throttled: 0,
    breakerOpen: false,
    isHeldByRate: false,
    isHeldByLease: false,
    permittedPerSecond: undefined,
    isHeldByLatency: false,
    latencyMs: 40,
    answeredAt: now - 20,
  };
  const rest = { now, ceiling: 8, rate: undefined, sending: 8, idleMoments: 0 };

  describe("why an upload is slow", () => {
    const cases: [string, Partial<Moment["gate"]>, Partial<Moment>, string | undefined][] = [
      ["nothing", {}, {}, undefined],
      [
        "Retry-After",
        { pausedUntil: now + 11_500, throttled: 1, limit: 4 },
        {},
        "pausing 12 s: the service asks for it",
      ],
      [
        "an open breaker",
        { pausedUntil: now + 30_000, breakerOpen: true },
        {},
        "pausing 30 s: the service does not answer",
      ],
      [
        "its probe",
        { pausedUntil: now - 1, breakerOpen: true, limit: 1, inFlight: 1 },
        {},
        "checking whether the service responds again",
      ],
      ["silence", { answeredAt: now - 9000 }, {}, "no response for 9 s"],
      [
        "silence with nothing asked",
        { answeredAt: now - 9000, inFlight: 0 },
        { sending: 0 },
        undefined,
      ],
      ["back-off", { inFlight: 0, retries: 3 }, { sending: 2 }, "waiting to retry failed requests"],
      ["the lease", { isHeldByLease: true }, {}, "waiting for the shared record"],
      ["--rate", { isHeldByRate: true, inFlight: 1 }, { rate: 5 }, "limited to 5/s by --rate"],
      ["429", { throttled: 3, limit: 2, inFlight: 2 }, {}, "throttled to 2 at once"],
      [
        "a learned rate",
        { throttled: 3, permittedPerSecond: 97.8 },
        {},
        "throttled to 98/s by the service",
      ],
      [
        "a slow one",
        { throttled: 3, permittedPerSecond: 0.48 },
        {},
        "throttled to 0.5/s by the service",
      ],
      ["429, got over", { throttled: 3 }, {}, undefined],
      [
        "latency that rose with the load",
        { isHeldByLatency: true, limit: 3, latencyMs: 300 },
        {},
        "limited to 3 at once: the service needs 0.3s per document",
      ],
      ["latency, at the ceiling", { isHeldByLatency: true }, {}, undefined],
      ["latency", { latencyMs: 2345 }, {}, "the service needs 2.3s per document"],
      [
        "latency that held the limit down",
        { latencyMs: 2345, limit: 3, inFlight: 3 },
        {},
        "the service needs 2.3s per document",
      ],
      [
        "reading",
        { inFlight: 1 },
        { sending: 1, idleMoments: 5 },
        "reading files is the bottleneck",
      ],
      ["reading, for a moment", { inFlight: 0 }, { sending: 0, idleMoments: 4 }, undefined],
    ];
    it.each(cases)("%s", (_name, ofGate, ofRun, text) => {
      expect(whySlow({ gate: { ...gate, ...ofGate }, ...rest, ...ofRun })).toBe(text);
    });
  });

  it("counts moments with next to nothing on its way", () => {
    const idleFor = createIdleCount();
    expect([0, 2, 1, 3, 0].map((sending) => idleFor(sending, 8, undefined))).toEqual([
      1, 2, 3, 0, 1,
    ]);
    // The last documents are on their way: no file is waited for.
    expect([idleFor(1, 8, 1), idleFor(1, 8, 0), idleFor(0, 8, undefined)]).toEqual([2, 0, 1]);
  });
});

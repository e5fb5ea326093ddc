import type { IngestOptions } from "../../../src/commands/ingest/ingest-options.ts";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { IngestEvents } from "../../../src/output/schemas/upload.ts";
import { htmlReport } from "../../../src/output/report/html.ts";
import { parseReport } from "../../../src/output/report/stored/read.ts";
import type { RunReport } from "../../../src/output/report/stored/record.ts";
import { startSocket } from "../../file-system.ts";
import { startTestService, testKey, type TestService } from "../../service.ts";
import { createTestContext } from "../../support.ts";
import { lintOf } from "../../output/report/sample.ts";
import { ingest } from "./support.ts";

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
    const { exit } = await run(service, { report: ["run.json"] }, { KNOWCTL_API_KEY: "wrong-key" });
    expect(exit).toBe("auth");
    expect(readJson(service, "run.json")).toMatchObject({
      status: "error",
      error: expect.stringMatching(/401|key/),
      counts: { created: 0 },
    });
    expect(readFileSync(join(service.folder, "run.json"), "utf8")).not.toContain("wrong-key");
  });

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
    ["a reserved key", { metadata: ["__proto__=v"] }, /--metadata __proto__: the key is reserved/],
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
  const schema = IngestEvents;

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

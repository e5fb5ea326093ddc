import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseExposition, type Family } from "../../output/report/exposition.ts";
import { runHere } from "../../main.ts";
import { schemaOf } from "../../schemas.ts";
import { startTestService, testKey, writeFiles, type TestService } from "../../service.ts";

const files = { "docs/a.md": "# A\n\nText.\n", "docs/b.md": "# B\n\nText.\n" };
const broken = "---\ntitle: [unclosed\n---\ntext\n";

async function run(
  { folder, env }: TestService,
  line: string,
  more: Record<string, string> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  return await runHere(line.split(" "), { cwd: folder, env: { ...env, ...more } });
}

const textIn = ({ folder }: TestService, name: string): string =>
  readFileSync(join(folder, name), "utf8");

const jsonIn = (service: TestService, name: string) =>
  JSON.parse(textIn(service, name)) as Record<string, unknown>;

const familiesIn = (service: TestService, name: string): Map<string, Family> =>
  parseExposition(textIn(service, name));

function valueOf(families: Map<string, Family>, name: string, labels = {}): number | undefined {
  const samples = families.get(`knowctl_${name}`)?.samples ?? [];
  const has = (own: Record<string, string>): boolean =>
    Object.entries(labels).every(([key, value]) => own[key] === value);
  return samples.find((each) => has(each.labels))?.value;
}

const upload = "ingest docs --cc-pair-id 2";

describe("--report FILE.prom", () => {
  it("counts requests by status, retries and waits, and names no document and no key", async () => {
    const rules = [{ when: { documentId: "docs/a.md", first: 1 }, do: { status: 503 } }];
    const service = await startTestService({ files, faults: { rules } });
    expect((await run(service, `${upload} --report night.prom`)).code).toBe(0);
    const families = familiesIn(service, "night.prom");
    const own = { report: "night", command: "ingest" };
    expect(valueOf(families, "documents", { ...own, result: "created" })).toBe(2);
    expect(valueOf(families, "requests", { status: "200" })).toBe(2);
    expect(valueOf(families, "requests", { status: "503" })).toBe(1);
    expect(valueOf(families, "retries")).toBe(1);
    expect(valueOf(families, "retry_wait_seconds")).toBeGreaterThan(0);
    expect(valueOf(families, "sent_bytes")).toBeGreaterThan(0);
    expect(valueOf(families, "run_success")).toBe(1);
    expect(families.has("knowctl_oldest_unsent_timestamp_seconds")).toBe(false);
    const text = textIn(service, "night.prom");
    for (const secret of [testKey, "docs/a.md", service.folder]) expect(text).not.toContain(secret);
  });

  it("keeps the last success over a run that failed, and tells of the oldest unsent file", async () => {
    const service = await startTestService({ files });
    const line = `${upload} --report night.prom`;
    await run(service, line);
    const success = valueOf(familiesIn(service, "night.prom"), "last_success_timestamp_seconds");
    expect(success).toBeGreaterThan(1e9);
    writeFiles(service.folder, { "docs/b.md": broken });
    for (let round = 0; round < 2; round++) {
      expect((await run(service, line)).code).toBe(10);
      const families = familiesIn(service, "night.prom");
      expect(valueOf(families, "run_success")).toBe(0);
      expect(valueOf(families, "last_success_timestamp_seconds")).toBe(success);
      expect(valueOf(families, "oldest_unsent_timestamp_seconds")).toBeGreaterThanOrEqual(
        Math.floor(success!) - 60,
      );
    }
    // Another command line has a success of its own.
    await run(service, "ingest docs/b.md --cc-pair-id 2 --report other.prom");
    const other = familiesIn(service, "other.prom");
    expect(valueOf(other, "last_success_timestamp_seconds")).toBe(0);
  });

  it.each(["{", '{"version":1,"runs":{"a":1}}', "x".repeat(2_000_000)])(
    "begins again where what is remembered is damaged",
    async (text) => {
      const service = await startTestService({ files });
      const line = `${upload} --report night.prom`;
      await run(service, line);
      const path = join(service.folder, ".knowctl", "results.json");
      writeFileSync(path, text);
      writeFiles(service.folder, { "docs/b.md": broken });
      expect((await run(service, line)).code).toBe(10);
      const families = familiesIn(service, "night.prom");
      expect(valueOf(families, "last_success_timestamp_seconds")).toBe(0);
      expect(readFileSync(path, "utf8").length).toBeLessThan(1000);
    },
  );

  it("remembers nothing without a state folder, and makes none", async () => {
    const service = await startTestService({ files });
    await run(service, `${upload} --no-state --report night.prom`);
    expect((await run(service, "lint docs --report lint.prom")).code).toBe(0);
    expect(valueOf(familiesIn(service, "lint.prom"), "findings", { result: "errors" })).toBe(0);
    expect(existsSync(join(service.folder, ".knowctl"))).toBe(false);
  });

  it("has the requests of a check, and of questions", async () => {
    const service = await startTestService({ files, dialect: "onyx" });
    await run(service, upload);
    await run(service, "verify --report v.prom");
    const checked = familiesIn(service, "v.prom");
    expect(valueOf(checked, "documents", { result: "current" })).toBe(2);
    expect(valueOf(checked, "requests", { status: "200" })).toBeGreaterThanOrEqual(4);
    const cases = [{ id: "a", question: "text of a", must_retrieve: ["docs/a.md"] }];
    writeFiles(service.folder, { "suite.json": JSON.stringify({ version: 1, cases }) });
    await run(service, "eval retrieval suite.json --report e.prom");
    const asked = familiesIn(service, "e.prom");
    expect(valueOf(asked, "cases", { result: "passed" })).toBe(1);
    expect(valueOf(asked, "requests", { status: "200" })).toBeGreaterThanOrEqual(1);
  });
});

describe("the reports of status and prune", () => {
  it("count what differs, and what was removed", async () => {
    const service = await startTestService({ files, dialect: "onyx" });
    await run(service, `${upload} --report up.prom`);
    writeFiles(service.folder, { "docs/a.md": "# A, changed\n", "docs/c.md": "# C\n" });
    rmSync(join(service.folder, "docs/b.md"));
    const reports = "--report s.prom --report s.json --report s.xml --report s.html";
    expect((await run(service, `status docs ${reports}`)).code).toBe(0);
    const differing = familiesIn(service, "s.prom");
    const counts = { unchanged: 0, new: 1, changed: 1, gone: 1, "failed-last-time": 0 };
    for (const [result, count] of Object.entries(counts)) {
      expect(valueOf(differing, "documents", { command: "status", result }), result).toBe(count);
    }
    expect(valueOf(differing, "oldest_unsent_timestamp_seconds")).toBeGreaterThan(1e9);
    expect(schemaOf("status").safeParse(jsonIn(service, "s.json")).error).toBe(undefined);
    expect(jsonIn(service, "s.json")).toMatchObject({ host: "host-of-the-test" });
    expect(textIn(service, "s.xml")).toContain('name="docs/b.md"');
    expect(textIn(service, "s.html")).toContain("docs/b.md");
    const line = "prune docs --cc-pair-id 2 --yes --max-delete 100%";
    expect((await run(service, `${line} --report p.prom --report p.json`)).code).toBe(0);
    const removed = familiesIn(service, "p.prom");
    expect(valueOf(removed, "documents", { command: "prune", result: "removed" })).toBe(1);
    expect(valueOf(removed, "requests", { status: "200" })).toBe(1);
    expect(valueOf(removed, "run_success")).toBe(1);
    const report = jsonIn(service, "p.json");
    expect(schemaOf("prune").safeParse(report).error).toBe(undefined);
    expect(report).toMatchObject({
      status: "ok",
      summary: { removed: 1, failed: 0, kept: 0, left: 0 },
      documents: [{ path: "docs/b.md", status: "deleted" }],
    });
  });

  it("tells of a removal that failed", async () => {
    const rules = [{ when: { method: "DELETE" }, do: { status: 403, body: { detail: "no" } } }];
    const service = await startTestService({ files, dialect: "onyx", faults: { rules } });
    await run(service, upload);
    rmSync(join(service.folder, "docs/b.md"));
    const line = "prune docs --cc-pair-id 2 --yes --max-delete 100% --report p.prom";
    expect((await run(service, line)).code).not.toBe(0);
    const families = familiesIn(service, "p.prom");
    expect(valueOf(families, "run_success")).toBe(0);
    expect(valueOf(families, "requests", { status: "403" })).toBe(1);
    expect(valueOf(families, "documents", { result: "removed" })).toBe(0);
  });
});

describe("run, host and commit", () => {
  const job = { CI_PIPELINE_ID: "4711", CI_COMMIT_SHA: "c0ffee" };

  it("stand in the JSON of every command that sends or checks", async () => {
    const service = await startTestService({ files, dialect: "onyx" });
    const about = { run: "4711", host: "host-of-the-test", commit: "c0ffee" };
    writeFiles(service.folder, { "docs/b.md": broken });
    await run(service, `${upload} --report ingest.json`, job);
    await run(service, "retry --report retry.json", job);
    await run(service, "verify --report verify.json", job);
    await run(service, "lint docs --report lint.json", job);
    const cases = [{ id: "a", question: "text of a", must_retrieve: ["docs/a.md"] }];
    writeFiles(service.folder, { "suite.json": JSON.stringify({ version: 1, cases }) });
    await run(service, "eval retrieval suite.json --report eval.json", job);
    for (const name of ["ingest", "retry", "verify", "lint", "eval"]) {
      expect(jsonIn(service, `${name}.json`), name).toMatchObject(about);
    }
    const { stdout } = await run(service, `${upload} --output json`, job);
    expect(JSON.parse(stdout)).toMatchObject(about);
  });

  it("are joined: the run and the commit that all have, each host of its own", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `docs/${index}.md`);
    const many = Object.fromEntries(names.map((name) => [name, `# ${name}\n\nText.\n`]));
    const service = await startTestService({ files: many });
    await run(service, `${upload} --shard 1/2 --report one.json`, job);
    await run(service, `${upload} --shard 2/2 --report two.json`, { ...job, CI_COMMIT_SHA: "f00" });
    expect((await run(service, "report merge one.json two.json --report all.json")).code).toBe(0);
    const all = jsonIn(service, "all.json");
    expect(all).toMatchObject({ run: "4711", host: "host-of-the-test" });
    expect(all["commit"]).toBe(undefined);
    const { runs } = all["merged"] as { runs: object[] };
    expect(runs).toMatchObject([{ commit: "c0ffee" }, { commit: "f00" }]);
    const { statuses, requests } = all as { statuses: Record<string, number>; requests: number };
    expect(requests).toBe(12);
    expect(statuses).toEqual({ 200: 12 });
    await run(service, "report merge one.json two.json --report all.prom");
    expect(valueOf(familiesIn(service, "all.prom"), "requests", { status: "200" })).toBe(requests);
  });

  it("outside CI are a new name, and the commit of the work tree where a report asks", async () => {
    const service = await startTestService({ files });
    rmSync(join(service.folder, ".git"), { recursive: true });
    const { execFileSync } = await import("node:child_process");
    const git = (...args: string[]): string =>
      execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", ...args], {
        cwd: service.folder,
        encoding: "utf8",
      }).trim();
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "x");
    await run(service, `${upload} --report run.json`);
    const report = jsonIn(service, "run.json");
    expect(report["commit"]).toBe(git("rev-parse", "HEAD"));
    expect(report["run"]).toMatch(/^\d{8}T\d{6}-[\da-f]{6}$/);
  });
});

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../../main.ts";
import { startTestService, writeFiles } from "../../service.ts";
import { temporaryFolder } from "../../support.ts";

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
    const reports = ["json", "xml", "html"].flatMap((each) => ["--report", join(out, `r.${each}`)]);
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
    expect(lines[3]).toMatch(/^failed\tdocs\/a\.md\t\tdocs\/a\.md:3:1: /);
    expect(lines).toHaveLength(4);
    expect(stderr).toContain("1 to create, 2 to update, 1 failed, 1 unchanged, 1 skipped, 1 gone");
    expect(stderr).toContain("what is gone stays in the service: `knowctl status` lists it");
    expect(stderr).toMatch(/to send: \d+ characters, about \d+ tokens in 3 chunks \(estimate: 4 /);
    const all = await runHere([...line, "--dry-run", "-v"], { cwd, env });
    expect(all.stdout).toContain("gone\tdocs/gone.md");
    const quiet = await runHere([...line, "--dry-run", "-q"], { cwd, env });
    expect(quiet.stdout).toBe(`${lines[3]}\n`);
    expect(quiet.stderr).toMatch(/^dry run, nothing was sent: .*\nerror: 1 document would fail\n/);
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

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../../main.ts";
import { startTestService } from "../../service.ts";
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

import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createOutput } from "../../../../src/output/terminal/output.ts";
import { ciPrefix, tellGithub } from "../../../../src/output/report/ci/ci.ts";
import { createTestContext, temporaryFolder } from "../../../support.ts";
import { sampleRun } from "../sample.ts";

async function tell(root: string, env: Record<string, string>): Promise<string> {
  const context = createTestContext({ cwd: root, env });
  const { head, failures } = sampleRun({ failed: [["a.md", "a.md:3:5: bad CANARY|0123"]] });
  const output = createOutput(context);
  output.secrets.add("CANARY|0123");
  await tellGithub(output, env, { head, failures: () => failures, root });
  expect(context.stdoutText()).toBe("");
  return context.stderrText();
}

describe("in GitHub Actions", () => {
  it("a run is told by annotations and in the job summary", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "docs"));
    symlinkSync(folder, join(folder, "linked"));
    const summary = join(folder, "summary.md");
    const env = { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary };
    const workspace = { GITHUB_WORKSPACE: join(folder, "linked") };
    expect(await tell(join(folder, "docs"), { ...env, ...workspace })).toBe(
      "::error file=docs/a.md,line=3,col=5,title=Not uploaded::bad ***\n",
    );
    expect(readFileSync(summary, "utf8")).toContain("| 1 | bad &#42;&#42;&#42; |");
  });

  it("the job summary keeps what earlier steps wrote, and has no secrets", async () => {
    const folder = temporaryFolder();
    const summary = join(folder, "summary.md");
    const env = { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary };
    await tell(folder, env);
    await tell(folder, env);
    const text = readFileSync(summary, "utf8");
    expect(text.match(/^## knowctl ingest/gm)).toHaveLength(2);
    expect(text).not.toContain("CANARY");
  });

  it("a summary that cannot be written is a warning", async () => {
    const folder = temporaryFolder();
    const env = { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: folder };
    expect(await tell(folder, env)).toBe(
      `::error title=Not uploaded::a.md:3:5: bad ***\nwarning: cannot write the job summary ${folder}: it is a folder\n`,
    );
  });
});

it("elsewhere nothing is told", async () => {
  const folder = temporaryFolder();
  expect(await tell(folder, { CI: "true", GITHUB_STEP_SUMMARY: join(folder, "x") })).toBe("");
});

it("GitLab's checkout counts as the repository as well", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "docs"));
  expect(ciPrefix({ root: join(folder, "docs") }, { CI_PROJECT_DIR: folder })).toBe("docs/");
  expect(ciPrefix({ root: folder }, {})).toBe(undefined);
  // A repository that was checked out below the workspace.
  const nested = { root: join(folder, "docs"), gitRoot: join(folder, "docs") };
  expect(ciPrefix(nested, { GITHUB_WORKSPACE: folder })).toBe("");
});

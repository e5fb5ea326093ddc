import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { main } from "../../../main.ts";
import { pathsFrom, shownText } from "../../../../src/output/paths.ts";
import { startTestService, writeFiles, type TestService } from "../../../service.ts";
import { createTestContext } from "../../../support.ts";

const files = {
  "docs/a.md": "# A\n",
  "docs/bad.md": "---\nupdated: yesterday\n---\n# B\n",
  "docs/warned.md": "---\nlink: ../x\n---\n# C\n",
  "notes/n.md": "# N\n",
  "notes/utf.md": new Uint8Array([0xff, 0x00, 0xff]),
};

let service: TestService;

beforeEach(async () => {
  service = await startTestService({ files, dialect: "onyx" });
});

/** Runs a command line in `docs`, whose root is the folder above. */
async function run(args: string, more: { isTTY?: boolean; env?: Record<string, string> } = {}) {
  const { isTTY = false, env = {} } = more;
  const cwd = join(service.folder, "docs");
  const context = createTestContext({ cwd, env: { ...service.env, ...env }, isTTY, columns: 200 });
  const code = await main(args.split(" "), context);
  return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
}

describe("text for people names files as a terminal opens them", () => {
  it("in what is said once for all documents", async () => {
    writeFiles(service.folder, { "docs/p.md": "---\nprivate: true\n---\n# P\n" });
    const { stderr } = await run("ingest p.md --dry-run --cc-pair-id 2");
    expect(stderr).toContain("(private; first: p.md)");
  });

  it("in the plan, which names them from the root as JSON", async () => {
    const plan = "ingest . ../notes --dry-run --cc-pair-id 2";
    const { stdout, stderr } = await run(plan);
    expect(stdout).toMatch(/^create\ta\.md\tdocs\/a\.md\t/m);
    expect(stdout).toMatch(/^failed\tbad\.md\t\tbad\.md:\d/m);
    expect(stdout).toMatch(/^create\t\.\.\/notes\/n\.md\tnotes\/n\.md\t/m);
    expect(stderr).toContain("warning: 1 document has no link (first: warned.md): ");
    const lines = (await run(`${plan} --output ndjson`)).stdout.trim().split("\n");
    const paths = lines.flatMap((line) => (JSON.parse(line) as { path?: string }).path ?? []);
    expect(paths).toEqual([
      "docs/a.md",
      "docs/warned.md",
      "notes/n.md",
      "docs/bad.md",
      "notes/utf.md",
    ]);
  });

  it("in the summary, warnings, retry and state list", async () => {
    const { stderr } = await run("ingest . ../notes --cc-pair-id 2 --report run.json");
    expect(stderr).toMatch(/^failed bad\.md:\d/m);
    expect(stderr).toMatch(/^failed \.\.\/notes\/utf\.md:/m);
    expect(stderr).toContain("warning: 1 document has no link (first: warned.md): ");
    const report = readFileSync(join(service.folder, "docs/run.json"), "utf8");
    expect(report).toContain('"docs/bad.md"');
    const list = await run("state list --status failed", { isTTY: true });
    expect(list.stdout).toMatch(/ bad\.md /);
    expect(list.stdout).toMatch(/ \.\.\/notes\/utf\.md /);
    const data = await run("state list --status failed");
    expect(data.stdout).toMatch(/\tdocs\/bad\.md\t/);
    rmSync(join(service.folder, "docs/bad.md"));
    expect((await run("retry --cc-pair-id 2")).stderr).toContain("bad.md: the file is gone");
  });

  it("in orphans, explain and documents", async () => {
    await run("ingest a.md ../notes/n.md --cc-pair-id 2");
    rmSync(join(service.folder, "docs/a.md"));
    rmSync(join(service.folder, "notes/n.md"));
    const orphans = "prune . ../notes --cc-pair-id 2 --tombstone --dry-run --max-delete 100%";
    const table = await run(orphans, { isTTY: true });
    expect(table.stdout).toMatch(/^gone +a\.md +docs\/a\.md/m);
    expect(table.stdout).toMatch(/^gone +\.\.\/notes\/n\.md +notes\/n\.md/m);
    expect((await run(orphans)).stdout).toMatch(/^gone\tdocs\/a\.md\t/m);
    expect((await run("explain warned.md", { isTTY: true })).stdout).toMatch(/^\S*warned\.md/m);
    const documents = await run("convert . ../notes");
    expect(documents.stderr).toMatch(/^error: \.\.\/notes\/utf\.md/m);
    expect(documents.stderr).toMatch(/^error: bad\.md:/m);
  });

  it("where two files give one id", async () => {
    const twin = "---\nid: x\n---\n# X\n";
    writeFiles(service.folder, { "docs/x.md": twin, "notes/y.md": twin });
    const { code, stderr } = await run("ingest x.md ../notes/y.md --cc-pair-id 2");
    expect(code).toBe(2);
    expect(stderr).toContain("x: x.md and ../notes/y.md");
  });
});

it("annotations name files from the git root, whatever the working directory", async () => {
  const env = { GITHUB_ACTIONS: "true", GITHUB_WORKSPACE: "/somewhere" };
  const { stderr } = await run("ingest bad.md --root . --cc-pair-id 2", { env });
  expect(stderr).toContain("::error file=docs/bad.md,");
  await run("ingest bad.md --root . --cc-pair-id 2 --gitlab-report quality.json");
  const quality = readFileSync(join(service.folder, "docs/quality.json"), "utf8");
  expect(quality).toContain('"path":"docs/bad.md"');
});

it("a path is turned, and a text only where it begins with it", () => {
  const shown = pathsFrom("/p/docs", "/p");
  expect([shown("docs/a.md"), shown("n/b.md"), shown("docs"), shown("")]).toEqual([
    "a.md",
    "../n/b.md",
    ".",
    "..",
  ]);
  expect(pathsFrom("/", "/p")("a.md")).toBe("p/a.md");
  expect(pathsFrom("/p", "/p")("a.md")).toBe("a.md");
  expect(shownText("docs/a.md", "docs/a.md:3:1: bad", shown)).toBe("a.md:3:1: bad");
  expect(shownText("docs/a.md", "bad docs/a.md", shown)).toBe("bad docs/a.md");
  expect(shownText("", "anything", shown)).toBe("anything");
});

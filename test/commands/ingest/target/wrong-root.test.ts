import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../../../service.ts";
import { runIn } from "../../state/support.ts";

const broken = "---\nupdated: yesterday\n---\n# B\n";
const prune = "--cc-pair-id 2 --yes --max-delete 100%";

/** The same service for a folder beside the one of `service`, which is a repository as well. */
function beside(service: TestService, files: Record<string, string>): TestService {
  const folder = join(service.folder, "..", "other");
  mkdirSync(join(folder, ".git"), { recursive: true });
  writeFiles(folder, files);
  return { ...service, folder };
}

describe("with a state that belongs to another root", () => {
  it("prune removes nothing, though a file is found", async () => {
    const service = await startTestService({ files: { "only.md": "# X\n" }, dialect: "onyx" });
    const line = "ingest . --cc-pair-id 2 --state ../st";
    expect(await runIn(service, line)).toMatchObject({ code: 0 });
    const other = beside(service, { "o.md": "# O\n" });
    for (const removal of [prune, `${prune} --tombstone`]) {
      const ran = await runIn(other, `prune . --state ../st ${removal}`);
      expect(ran).toMatchObject({ code: 2 });
      expect(ran.stderr).toContain("none of the recorded files exists under this root");
      expect(ran.stderr).toContain("--root DIR");
    }
    expect(await runIn(service, line)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("1 unchanged"),
    });
  });

  it("prune does not call files gone that exist under the other root", async () => {
    const service = await startTestService({ files: { "only.md": "# X\n" }, dialect: "onyx" });
    const line = "ingest . --cc-pair-id 2 --state ../st";
    expect(await runIn(service, line)).toMatchObject({ code: 0 });
    const other = beside(service, { "o.md": "# O\n" });
    for (const line of ["prune . --dry-run", "prune . --class excluded --dry-run"]) {
      const ran = await runIn(other, `${line} --state ../st`);
      expect(ran.stderr).toContain("none of the recorded files exists under this root");
      expect(ran.code).toBe(2);
    }
    const status = await runIn(other, "status . --state ../st");
    expect(status.stderr).toContain("none of the files recorded");
  });

  it("retry does not take failed files for deleted ones, and forgets no failure", async () => {
    const service = await startTestService({ files: { "docs/g.md": broken } });
    const ran = await runIn(service, "ingest . --cc-pair-id 2 --state ../st");
    expect(ran).toMatchObject({ code: 10 });
    expect(ran.stderr).toContain("run `knowctl retry --state ../st` or the same command");
    writeFiles(service.folder, { "docs/g.md": "# Good\n" });
    const elsewhere = await runIn(beside(service, {}), "retry --state ../st");
    expect(elsewhere).toMatchObject({ code: 2 });
    expect(elsewhere.stderr).toContain("none of the failed files exists under");
    expect(await runIn(service, "retry --state ../st")).toMatchObject({ code: 0 });
    expect([...service.sandbox.ledger.documents.keys()]).toEqual(["docs/g.md"]);
  });
});

it("the advised retry names the root where that is another one", async () => {
  const service = await startTestService({ files: { "docs/g.md": broken } });
  const other = beside(service, {});
  const ran = await runIn(other, "ingest ../work/docs --cc-pair-id 2");
  expect(ran).toMatchObject({ code: 10 });
  expect(ran.stderr).toContain(`run \`knowctl retry\` in ${service.folder} or`);
});

describe("orphans of a folder", () => {
  it("keeps a document whose id another folder may have now", async () => {
    const files = {
      "docs/a.md": "---\nid: x\n---\n# A\n",
      "docs/b.md": "# B\n",
      "other/c.md": "# C\n",
    };
    const service = await startTestService({ files, dialect: "onyx" });
    expect(await runIn(service, "ingest . --cc-pair-id 2")).toMatchObject({ code: 0 });
    renameSync(join(service.folder, "docs/a.md"), join(service.folder, "other/a.md"));
    const ran = await runIn(service, `prune docs ${prune}`);
    expect(ran).toMatchObject({ code: 2 });
    expect(ran.stderr).toContain("the id x is not made of its path");
    for (const line of [`prune . ${prune}`, `prune ${prune}`]) {
      expect(await runIn(service, line)).toMatchObject({
        code: 0,
        stderr: "nothing to remove\n",
      });
    }
    rmSync(join(service.folder, "other/a.md"));
    expect(await runIn(service, `prune ${prune}`)).toMatchObject({ code: 0 });
  });
});

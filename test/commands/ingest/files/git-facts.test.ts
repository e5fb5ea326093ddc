import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { explain as explainFile } from "../../../../src/commands/explain/explain.ts";
import { startTestService, writeFiles } from "../../../service.ts";
import { keepContext } from "../../../ran.ts";
import { createTestContext } from "../../../support.ts";
import { lastAccepted, runIngest, startGitService } from "../support.ts";

const files = {
  ".gitignore": ".knowctl\n",
  "docs/a.md": "# A\n\nText a.\n",
  "docs/dated.md": "---\nupdated: 2019-05-01\nowner: Ann\n---\nText.\n",
  CODEOWNERS: "docs/ @org/docs ann@example.com\n",
};

describe("--updated-at git", () => {
  it("gives the date of the last commit where front matter gives none", async () => {
    const service = await startGitService({ files });
    await runIngest(service, ["docs"], { updatedAt: "git" });
    expect(lastAccepted(service, "docs/a.md")?.doc_updated_at).toBe("2020-01-01T00:00:00Z");
    expect(lastAccepted(service, "docs/dated.md")?.doc_updated_at).toBe("2019-05-01T00:00:00Z");
  });

  it("notices another date behind the same bytes, and nothing else", async () => {
    const service = await startGitService({ files });
    await runIngest(service, ["docs"], { updatedAt: "git" });
    writeFiles(service.folder, { "docs/a.md": "another\n" });
    service.commit("2021-02-03T04:05:06Z");
    writeFiles(service.folder, { "docs/a.md": files["docs/a.md"] });
    service.commit("2022-02-03T04:05:06Z");
    const second = await runIngest(service, ["docs"], { updatedAt: "git" });
    expect(second.stderr).toContain("1 updated, 1 unchanged");
    expect(lastAccepted(service, "docs/a.md")?.doc_updated_at).toBe("2022-02-03T04:05:06Z");
    const third = await runIngest(service, ["docs"], { updatedAt: "git", dryRun: true });
    expect(third.stderr).toContain("2 unchanged");
  });

  it("warns once of a shallow history and leaves the dates out", async () => {
    const service = await startGitService({ files });
    service.commit("2021-01-01T00:00:00Z");
    const clone = await startTestService();
    rmSync(clone.folder, { recursive: true });
    service.git("clone", "-q", "--depth", "1", `file://${service.folder}`, clone.folder);
    const { stderr, error } = await runIngest(clone, ["docs"], { updatedAt: "git" });
    expect(error).toBeUndefined();
    expect(stderr.match(/shallow clone/g)).toHaveLength(1);
    expect(stderr).toContain("2 files");
    expect(lastAccepted(clone, "docs/a.md")).not.toHaveProperty("doc_updated_at");
  });

  it("is refused outside git", async () => {
    const service = await startTestService({ files });
    const { error } = await runIngest(service, ["docs"], { updatedAt: "git" });
    expect(error).toMatchObject({ exit: "usage" });
    expect(error?.message).toContain("is not in a git repository");
  });
});

describe("--meta-commit", () => {
  it("adds the commit that last touched the file; another commit sends nothing again", async () => {
    const service = await startGitService({ files });
    const first = service.git("rev-parse", "HEAD").trim();
    await runIngest(service, ["docs"], { metaCommit: true });
    expect(lastAccepted(service, "docs/a.md")?.metadata).toEqual({ source_commit: first });
    writeFiles(service.folder, { "docs/dated.md": "Other.\n" });
    const second = service.commit();
    const again = await runIngest(service, ["docs"], { metaCommit: true });
    expect(again.stderr).toContain("1 updated, 1 unchanged");
    expect(lastAccepted(service, "docs/dated.md")?.metadata).toEqual({ source_commit: second });
  });

  it("gives way to front matter of the same name", async () => {
    const service = await startGitService({
      files: { "docs/a.md": "---\nsource_commit: own\n---\nText.\n" },
    });
    await runIngest(service, ["docs"], { metaCommit: true });
    expect(lastAccepted(service, "docs/a.md")?.metadata).toEqual({ source_commit: "own" });
  });
});

describe("--owners codeowners", () => {
  it("gives primary owners where front matter gives none", async () => {
    const service = await startGitService({ files });
    await runIngest(service, ["docs"], { owners: "codeowners" });
    expect(lastAccepted(service, "docs/a.md")?.primary_owners).toEqual([
      { display_name: "@org/docs" },
      { email: "ann@example.com" },
    ]);
    expect(lastAccepted(service, "docs/dated.md")?.primary_owners).toEqual([
      { display_name: "Ann" },
    ]);
  });

  it("notices a change of the owners behind the same files, and warns of bad lines", async () => {
    const service = await startTestService({ files });
    await runIngest(service, ["docs"], { owners: "codeowners" });
    writeFiles(service.folder, { CODEOWNERS: "docs/ @org/docs\n!docs/a.md @x\n" });
    const { stderr } = await runIngest(service, ["docs"], { owners: "codeowners" });
    expect(stderr).toContain("CODEOWNERS:2: ");
    expect(stderr).toContain("1 updated, 1 unchanged");
  });

  it("warns where there is no such file", async () => {
    const service = await startTestService({ files: { "docs/a.md": "x\n" } });
    const { stderr, error } = await runIngest(service, ["docs"], { owners: "codeowners" });
    expect(error).toBeUndefined();
    expect(stderr).toContain("no CODEOWNERS");
  });
});

it("explain names the commit, the owners' file, and the state", async () => {
  const service = await startGitService({ files });
  const flags = { updatedAt: "git", metaCommit: true, owners: "codeowners" } as const;
  await runIngest(service, ["docs"], flags);
  const context = createTestContext({ cwd: service.folder, env: service.env });
  await explainFile(keepContext(context, "explain"), ["docs/a.md"], { ...flags, json: true });
  const commit = service.git("rev-parse", "--short=7", "HEAD").trim();
  const result = JSON.parse(context.stdoutText()) as { fields: unknown[]; state: string };
  expect(result.fields).toContainEqual({
    name: "doc_updated_at",
    value: "2020-01-01T00:00:00Z",
    origin: `git commit ${commit}`,
  });
  expect(result.fields).toContainEqual(
    expect.objectContaining({ name: "metadata.source_commit", origin: `git commit ${commit}` }),
  );
  expect(result.fields).toContainEqual(
    expect.objectContaining({ name: "primary_owners", origin: "CODEOWNERS" }),
  );
  expect(result.state).toContain("unchanged since it was last read");
});

import { renameSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { explain as explainFile } from "../../../../src/commands/convert/explain.ts";
import { startTestService, writeFiles } from "../../../service.ts";
import { keepContext } from "../../../ran.ts";
import { createTestContext } from "../../../support.ts";
import {
  type GitService,
  acceptedIds,
  lastAccepted,
  runIngest,
  startGitService,
} from "../support.ts";
import { join } from "node:path";
import { headOf } from "../../../repository.ts";

describe("git facts", () => {
  const files = {
    ".gitignore": ".knowctl\n",
    "docs/a.md": "# A\n\nText a.\n",
    "docs/dated.md": "---\nupdated: 2019-05-01\nowner: Ann\n---\nText.\n",
    CODEOWNERS: "docs/ @org/docs ann@example.com\n",
  };

  it("gives date, commit and owners where front matter gives none, and explain names their origin", async () => {
    const own = { "docs/own.md": "---\nsource_commit: own\n---\nText.\n" };
    const service = await startGitService({ files: { ...files, ...own } });
    const flags = { updatedAt: "git", metaCommit: true, owners: "codeowners" } as const;
    await runIngest(service, ["docs"], flags);
    const head = headOf(service.folder);
    expect(lastAccepted(service, "docs/a.md")).toMatchObject({
      doc_updated_at: "2020-01-01T00:00:00Z",
      metadata: { source_commit: head },
      primary_owners: [{ display_name: "@org/docs" }, { email: "ann@example.com" }],
    });
    expect(lastAccepted(service, "docs/dated.md")).toMatchObject({
      doc_updated_at: "2019-05-01T00:00:00Z",
      primary_owners: [{ display_name: "Ann" }],
    });
    expect(lastAccepted(service, "docs/own.md")?.metadata).toEqual({ source_commit: "own" });
    const context = createTestContext({ cwd: service.folder, env: service.env });
    await explainFile(keepContext(context, "explain"), ["docs/a.md"], { ...flags, json: true });
    const commit = head.slice(0, 7);
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

  it("another commit sends nothing again, another date behind the same bytes does", async () => {
    const service = await startGitService({ files });
    await runIngest(service, ["docs"], { metaCommit: true });
    writeFiles(service.folder, { "docs/dated.md": "Other.\n" });
    const second = service.commit();
    const again = await runIngest(service, ["docs"], { metaCommit: true });
    expect(again.stderr).toContain("1 updated, 1 unchanged");
    expect(lastAccepted(service, "docs/dated.md")?.metadata).toEqual({ source_commit: second });

    await runIngest(service, ["docs"], { updatedAt: "git" });
    writeFiles(service.folder, { "docs/a.md": "another\n" });
    service.commit("2021-02-03T04:05:06Z");
    writeFiles(service.folder, { "docs/a.md": files["docs/a.md"] });
    service.commit("2022-02-03T04:05:06Z");
    const dated = await runIngest(service, ["docs"], { updatedAt: "git" });
    expect(dated.stderr).toContain("1 updated, 1 unchanged");
    expect(lastAccepted(service, "docs/a.md")?.doc_updated_at).toBe("2022-02-03T04:05:06Z");
    const third = await runIngest(service, ["docs"], { updatedAt: "git", dryRun: true });
    expect(third.stderr).toContain("2 unchanged");
  });

  it("a shallow clone leaves dates out with one warning, and cannot tell what changed", async () => {
    const service = await startGitService({ files });
    const first = headOf(service.folder);
    service.commit("2021-01-01T00:00:00Z");
    const clone = await startTestService();
    rmSync(clone.folder, { recursive: true });
    service.git("clone", "-q", "--depth", "1", `file://${service.folder}`, clone.folder);
    const since = await runIngest(clone, ["docs"], { since: first });
    expect(since.error).toMatchObject({ exit: "usage" });
    expect(since.error?.hints.join(" ")).toContain("--unshallow");
    expect(acceptedIds(clone)).toEqual([]);
    const { stderr, error } = await runIngest(clone, ["docs"], { updatedAt: "git" });
    expect(error).toBeUndefined();
    expect(stderr.match(/shallow clone/g)).toHaveLength(1);
    expect(stderr).toContain("2 files");
    expect(lastAccepted(clone, "docs/a.md")).not.toHaveProperty("doc_updated_at");
  });

  describe("--owners codeowners", () => {
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
});

describe("since", () => {
  const files = {
    ".gitignore": ".knowctl\n",
    "docs/a.md": "# A\n\nFirst text of the page a.\n",
    "docs/b.md": "# B\n\nFirst text of the page b.\n",
    "docs/c.md": "# C\n\nFirst text of the page c.\n",
    "docs/old.md": "# Old\n\nA page that gets another name.\n",
  };

  /** One page changed, one new, one deleted, one renamed since the first commit. */
  async function changedService(): Promise<GitService> {
    const service = await startGitService({ files });
    writeFiles(service.folder, {
      "docs/b.md": "# B\n\nSecond text.\n",
      "docs/new.md": "New page.\n",
    });
    rmSync(join(service.folder, "docs/c.md"));
    renameSync(join(service.folder, "docs/old.md"), join(service.folder, "docs/young.md"));
    service.commit();
    return service;
  }

  describe("--since", () => {
    it("takes the documents that show an image which changed", async () => {
      const png = (text: string): Buffer =>
        Buffer.concat([
          Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
          Buffer.from(text),
        ]);
      const service = await startGitService({
        files: { ...files, "docs/a.md": "# A\n\n![x](x.png)\n", "docs/x.png": png("one") },
      });
      const upload = { images: "upload" } as const;
      expect((await runIngest(service, ["docs"], upload)).error).toBeUndefined();
      writeFiles(service.folder, { "docs/x.png": png("two") });
      service.commit();
      const { stderr } = await runIngest(service, ["docs"], { ...upload, since: "HEAD~1" });
      expect(stderr).toContain("1 updated");
      expect(service.sandbox.ledger.documents.get("docs/a.md")).toHaveLength(2);
      expect(service.sandbox.ledger.documents.get("docs/b.md")).toHaveLength(1);
    });

    it("plans and sends what changed since a commit, and counts what is gone", async () => {
      const service = await changedService();
      // Without a state: what is gone or renamed comes from git.
      const planned = await runIngest(service, ["docs"], { since: "HEAD~1", dryRun: true });
      expect(planned.stdout.split("\n").filter(Boolean)).toEqual([
        "update\tdocs/b.md\tdocs/b.md\tchanged since HEAD~1",
        "create\tdocs/new.md\tdocs/new.md\t",
        "create\tdocs/young.md\tdocs/young.md\trenamed from docs/old.md",
        "gone\tdocs/c.md\t\tdeleted since HEAD~1",
        "gone\tdocs/old.md\t\trenamed since HEAD~1 to docs/young.md",
      ]);
      const { stderr, error } = await runIngest(service, ["docs"], { since: "HEAD~1" });
      expect(error).toBeUndefined();
      expect(acceptedIds(service)).toEqual(["docs/b.md", "docs/new.md", "docs/young.md"]);
      expect(stderr).toContain("since HEAD~1: 3 files changed (1 renamed), 1 deleted");
      expect(stderr).toContain("the run removes no document of a deleted or renamed file");
    });

    it("tells what the state knows of the deleted files, and of those alone", async () => {
      const service = await startGitService({ files });
      await runIngest(service, ["docs"]);
      // Gone, but in the commit as well: not a change since it.
      rmSync(join(service.folder, "docs/a.md"));
      service.commit();
      rmSync(join(service.folder, "docs/c.md"));
      service.commit();
      const { stdout } = await runIngest(service, ["docs"], { since: "HEAD~1", dryRun: true });
      expect(stdout).toBe(
        "gone\tdocs/c.md\tdocs/c.md\tthe file is gone; its document was not removed\n",
      );
    });

    it("looks at nothing else, and takes no file outside the given paths", async () => {
      const service = await changedService();
      writeFiles(service.folder, { "other.md": "x\n", "docs/a.md": "---\nbroken: [\n---\n" });
      service.commit();
      writeFiles(service.folder, { "docs/b.md": "# B\n\nThird text.\n", "else.md": "x\n" });
      const { stderr, error } = await runIngest(service, ["docs"], { since: "HEAD" });
      expect(error).toBeUndefined();
      expect(acceptedIds(service)).toEqual(["docs/b.md"]);
      expect(stderr).toContain("since HEAD: 1 file changed\n");
    });

    it("lets no changed file take the id that an unchanged one has", async () => {
      const more = {
        "docs/z.md": "---\nid: own\n---\nText.\n",
        "docs/z.csv": "id,title,text\nr1,T,Text\n",
      };
      const service = await startGitService({ files: { ...files, ...more } });
      const paths = ["docs", "docs/z.csv"];
      // By its path, by its front matter, in a row.
      for (const id of ["docs/a.md", "own", "r1"]) {
        writeFiles(service.folder, { "docs/new.md": `---\nid: ${id}\n---\nOther.\n` });
        for (const options of [{}, { state: false }, { dryRun: true }]) {
          const { error } = await runIngest(service, paths, { since: "HEAD", ...options });
          expect(error, id).toMatchObject({
            exit: "usage",
            message: expect.stringContaining("two files"),
          });
          expect(error?.details.join()).toContain("docs/new.md");
        }
      }
      expect(acceptedIds(service)).toEqual([]);
      rmSync(join(service.folder, "docs/new.md"));
      writeFiles(service.folder, { "docs/fine.md": "Fine.\n" });
      const { stderr } = await runIngest(service, paths, { since: "HEAD" });
      expect(stderr).toContain("done: 1 created in");
    });

    it("leaves two unchanged files with one id to a run over them", async () => {
      const same = "---\nid: same\n---\nText.\n";
      const service = await startGitService({ files: { "docs/a.md": same, "docs/b.md": same } });
      writeFiles(service.folder, { "docs/c.md": "New.\n" });
      for (const options of [{ dryRun: true }, {}]) {
        const { error } = await runIngest(service, ["docs"], { since: "HEAD", ...options });
        expect(error).toBeUndefined();
      }
      expect(acceptedIds(service)).toEqual(["docs/c.md"]);
      const { error } = await runIngest(service, ["docs"]);
      expect(error).toMatchObject({ exit: "usage" });
    });

    it("takes it for no error that nothing changed, but an unknown commit and a folder outside git", async () => {
      const service = await startGitService({ files });
      const same = await runIngest(service, ["docs"], { since: "HEAD" });
      expect(same.error).toBeUndefined();
      expect(same.stderr).toContain("since HEAD: 0 files changed");
      expect(same.stderr).toContain("nothing to do");
      const unknown = await runIngest(service, ["docs"], { since: "nowhere" });
      expect(unknown.error).toMatchObject({ exit: "usage" });
      expect(unknown.error?.message).toContain("--since nowhere: no such commit");
      const outside = await startTestService({ files });
      const { error } = await runIngest(outside, ["docs"], { since: "HEAD" });
      expect(error).toMatchObject({ exit: "usage" });
      expect(error?.message).toContain("--since: ");
      expect(error?.message).toContain("is not in a git repository");
      expect(error?.hints).not.toEqual([]);
      const dated = await runIngest(outside, ["docs"], { updatedAt: "git" });
      expect(dated.error).toMatchObject({ exit: "usage" });
      expect(dated.error?.message).toContain("is not in a git repository");
      expect(acceptedIds(service)).toEqual([]);
    });
  });
});

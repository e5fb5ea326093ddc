import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { temporaryFolder } from "../../support.ts";
import { runIn } from "../state/support.ts";

const git = (folder: string, ...args: string[]): string =>
  execFileSync(
    "git",
    ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always", ...args],
    { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
  );

function commit(folder: string): void {
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "-m", "x");
}

/** A committed project of which all documents were sent, with a submodule `sub`. */
async function startSent(): Promise<TestService> {
  const service = await startTestService({ dialect: "onyx" });
  const { folder } = service;
  const inner = temporaryFolder();
  git(inner, "init", "-q", ".");
  writeFiles(inner, { "s.md": "# S\n\nText.\n", "deep/t.md": "# T\n\nText.\n" });
  commit(inner);
  git(folder, "init", "-q", ".");
  writeFiles(folder, { "docs/a.md": "# A\n\nText.\n", "old/b.md": "# B\n\nText.\n" });
  git(folder, "submodule", "add", "-q", inner, "sub");
  commit(folder);
  expect(await runIn(service, "ingest . --cc-pair-id 2")).toMatchObject({ code: 0 });
  return service;
}

const ids = ({ sandbox }: TestService): string[] => [...sandbox.ledger.documents.keys()].toSorted();

describe("a removal in an incomplete checkout", () => {
  it.each<[string, (folder: string) => void, string]>([
    [
      "sparse",
      (folder) => git(folder, "sparse-checkout", "set", "--skip-checks", "docs", "sub"),
      "sparse-checkout disable",
    ],
    [
      "of a submodule that was not fetched",
      (folder) => git(folder, "submodule", "deinit", "-q", "-f", "sub"),
      "submodule update --init",
    ],
    [
      "of a sparse submodule",
      (folder) => git(join(folder, "sub"), "sparse-checkout", "set", "none"),
      "sparse-checkout disable",
    ],
    [
      "with skip-worktree",
      (folder) => {
        git(folder, "update-index", "--skip-worktree", "old/b.md");
        rmSync(join(folder, "old/b.md"));
      },
      "no-skip-worktree 'old/b.md'",
    ],
    [
      "with assume-unchanged",
      (folder) => {
        git(folder, "update-index", "--assume-unchanged", "old/b.md");
        rmSync(join(folder, "old/b.md"));
      },
      "no-assume-unchanged 'old/b.md'",
    ],
  ])("%s is refused", async (_name, change, hint) => {
    const service = await startSent();
    const before = ids(service);
    change(service.folder);
    for (const line of ["prune", "prune --tombstone"]) {
      const ran = await runIn(service, `${line} --yes --max-delete 100% --cc-pair-id 2`);
      expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("complete checkout") });
      expect(ran.stderr).toContain(hint);
    }
    expect(ids(service)).toEqual(before);
  });

  it("goes on where the user removed the file, with and without a commit", async () => {
    const service = await startSent();
    git(service.folder, "update-index", "--skip-worktree", "docs/a.md");
    rmSync(join(service.folder, "old/b.md"));
    const line = "prune --yes --max-delete 100% --cc-pair-id 2";
    expect(await runIn(service, line)).toMatchObject({ code: 0 });
    writeFiles(service.folder, { "old/c.md": "# C\n\nText.\n" });
    await runIn(service, "ingest . --cc-pair-id 2");
    git(service.folder, "rm", "-q", "--cached", "-r", "old");
    rmSync(join(service.folder, "old"), { recursive: true });
    expect(await runIn(service, line)).toMatchObject({ code: 0 });
    expect((await runIn(service, "state list --json")).stdout).not.toContain("old/");
  });
});

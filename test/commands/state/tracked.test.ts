import { existsSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { runIn } from "./support.ts";

const git = (folder: string, ...args: string[]): string =>
  execFileSync("git", args, { cwd: folder, encoding: "utf8" });

/** A project whose state was committed with `git add -f`. */
async function withTrackedState(): Promise<TestService> {
  const service = await startTestService({ dialect: "onyx" });
  const { folder } = service;
  git(folder, "init", "-q", ".");
  writeFiles(folder, {
    "docs/a.md": "# A\n\nHolidays are 28 days.\n",
    "docs/b.md": "# B\n\nTwo.\n",
  });
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  git(folder, "add", "-f", ".knowctl/state.db");
  return service;
}

describe("a state that git tracks", () => {
  it.each([
    "ingest docs --cc-pair-id 2",
    "ingest docs --cc-pair-id 2 --dry-run",
    "status docs --cc-pair-id 2",
    "prune --dry-run --cc-pair-id 2",
    "retry --cc-pair-id 2",
    "prune --yes --cc-pair-id 2",
    "verify --cc-pair-id 2",
    "explain docs/a.md",
    "state list",
    "state export",
    "state forget --all --yes",
    "ingest docs --cc-pair-id 2 --state .knowctl",
  ])("is refused by %s", async (line) => {
    const service = await withTrackedState();
    const before = service.sandbox.ledger.documents.size;
    for (const env of [{}, { KNOWCTL_TRUST_PROJECT: "1" }]) {
      const ran = await runIn({ ...service, env: { ...service.env, ...env } }, line);
      expect(ran).toMatchObject({
        code: 14,
        stderr: expect.stringContaining("git tracks the state"),
      });
      expect(ran.stderr).toContain("git rm --cached -r .knowctl");
    }
    expect(service.sandbox.ledger.documents.size).toBe(before);
  });

  it("is refused by --state in a folder of the repository, and read again once it is untracked", async () => {
    const service = await withTrackedState();
    const { folder } = service;
    git(folder, "rm", "-q", "--cached", "-r", ".knowctl");
    expect(await runIn(service, "status docs --cc-pair-id 2")).toMatchObject({ code: 0 });
    writeFiles(folder, { "ci/state.db": "" });
    git(folder, "add", "-f", "ci/state.db");
    const ran = await runIn(service, "ingest docs --cc-pair-id 2 --state ci");
    expect(ran).toMatchObject({
      code: 14,
      stderr: expect.stringContaining("git rm --cached ci/state.db"),
    });
  });

  it("is not made where git would track it", async () => {
    const service = await withTrackedState();
    execFileSync("rm", ["-rf", join(service.folder, ".knowctl")]);
    expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 14 });
    expect(existsSync(join(service.folder, ".knowctl"))).toBe(false);
  });

  it.each(["chat --no-input holidays", "search holidays"])(
    "gives no local files to %s, which says so in one line",
    async (line) => {
      const service = await withTrackedState();
      const ran = await runIn(service, line);
      expect(ran.code).toBe(0);
      const lines = ran.stderr.split("\n").filter((each) => each.includes("git tracks the state"));
      expect(lines).toHaveLength(1);
    },
  );
});

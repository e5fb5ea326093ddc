import { expect, it } from "vitest";
import { acceptedIds, lastAccepted, startGitService } from "../../commands/ingest/support.ts";
import { writeFiles } from "../../service.ts";
import { runCli } from "../../support.ts";

it("sends what changed since a commit, with the facts of git, and refuses an unknown one", async () => {
  const files = { "docs/a.md": "# A\n\nText.\n", "docs/b.md": "# B\n\nText.\n" };
  const service = await startGitService({ files });
  writeFiles(service.folder, { "docs/b.md": "# B\n\nOther text.\n" });
  const commit = service.commit("2023-04-05T06:07:08Z");
  const run = (...args: string[]) =>
    runCli(["ingest", "docs", "--cc-pair-id", "2", ...args], {
      cwd: service.folder,
      env: service.env,
    });
  const unknown = await run("--since", "nowhere");
  expect(unknown).toMatchObject({ code: 2, stdout: "" });
  expect(unknown.stderr).toContain("no such commit");
  const facts = ["--updated-at", "git", "--meta-commit"];
  const result = await run("--since", "HEAD~1", ...facts);
  expect(result).toMatchObject({ code: 0, stdout: "" });
  expect(result.stderr).toContain("since HEAD~1: 1 file changed");
  expect(acceptedIds(service)).toEqual(["docs/b.md"]);
  expect(lastAccepted(service, "docs/b.md")).toMatchObject({
    doc_updated_at: "2023-04-05T06:07:08Z",
    metadata: { source_commit: commit },
  });
});

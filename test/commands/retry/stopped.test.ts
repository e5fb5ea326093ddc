import { renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/database.ts";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { runIn } from "../state/support.ts";

const files = Object.fromEntries(
  Array.from({ length: 6 }, (_, index) => [`docs/${index}.md`, `# ${index}\n\nText.\n`]),
);
const upload = "ingest docs --cc-pair-id 2";
const prune = "prune docs --cc-pair-id 2 --yes";
const reason = "the upload of docs stopped before it sent all documents";

/** All sent; then one file is renamed, all change, and the upload is stopped by a refused key. */
async function startStopped(words = upload): Promise<TestService> {
  const service = await startTestService({ files, dialect: "onyx" });
  expect(await runIn(service, upload)).toMatchObject({ code: 0 });
  writeFiles(
    service.folder,
    Object.fromEntries(Object.keys(files).map((name) => [name, "# New\n"])),
  );
  renameSync(join(service.folder, "docs/1.md"), join(service.folder, "docs/renamed.md"));
  const env = { ...service.env, KNOWCTL_API_KEY: "another" };
  expect(await runIn({ ...service, env }, words)).toMatchObject({ code: 4 });
  return service;
}

describe("after an upload that was stopped", () => {
  it("nothing is pruned until it has been repeated", async () => {
    const service = await startStopped();
    const refused = await runIn(service, prune);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain(`${reason}, or is still running; nothing was removed`);
    expect(await runIn(service, upload)).toMatchObject({ code: 0 });
    const pruned = await runIn(service, prune);
    expect(pruned).toMatchObject({ code: 0 });
    expect(pruned.stderr).toContain("1 document deleted");
  });

  it("a retry without a failure is no success, and says what to do", async () => {
    const service = await startStopped();
    const ran = await runIn(service, "retry");
    expect(ran).toMatchObject({ code: 10 });
    expect(ran.stderr).toContain(reason);
    expect(ran.stderr).toContain("run the upload again");
    expect(await runIn(service, upload)).toMatchObject({ code: 0 });
    expect(await runIn(service, "retry")).toMatchObject({ code: 0 });
  });

  it.each([
    ["ingest . --cc-pair-id 2", 0],
    ["ingest docs/2.md --cc-pair-id 2", 2],
    [`${upload} --shard 1/2`, 2],
    ["state forget --failed", 0],
  ])("%s: pruning ends with %i", async (line, code) => {
    const service = await startStopped();
    expect(await runIn(service, line)).toMatchObject({ code: 0 });
    expect(await runIn(service, prune)).toMatchObject({ code });
  });

  it("of which only a shard ran, that shard is repeated", async () => {
    const service = await startStopped(`${upload} --shard 1/2`);
    expect((await runIn(service, prune)).stderr).toContain(
      "the upload of docs (shard 1/2) stopped",
    );
    expect(await runIn(service, `${upload} --shard 2/2`)).toMatchObject({ code: 0 });
    expect(await runIn(service, prune)).toMatchObject({ code: 2 });
    expect(await runIn(service, `${upload} --shard 1/2`)).toMatchObject({ code: 0 });
    expect(await runIn(service, prune)).toMatchObject({ code: 0 });
  });
});

it("a retry sends no file with old options that a stopped upload found unchanged", async () => {
  const service = await startTestService({ files: { "docs/a.md": "# A\n", "docs/b.md": "# B\n" } });
  expect(await runIn(service, upload)).toMatchObject({ code: 0 });
  const database = await openDatabase(join(service.folder, ".knowctl", "state.db"));
  database.exec(`INSERT INTO failures (target, path, part, id, reason, retryable, failed_at, options)
    SELECT target, path, part, 'kb/' || id, 'refused', 1, sent_at - 1, options FROM accepted`);
  database.close();
  writeFiles(service.folder, { "docs/b.md": "# New\n" });
  const wrong = { ...service, env: { ...service.env, KNOWCTL_API_KEY: "another" } };
  expect(await runIn(wrong, upload)).toMatchObject({ code: 4 });
  const { stdout } = await runIn(service, "state list --status failed --fields path -o tsv");
  expect(new Set(stdout.trim().split("\n"))).toEqual(new Set(["docs/b.md"]));
});

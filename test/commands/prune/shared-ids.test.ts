import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService, writeFiles, type TestServiceOptions } from "../../service.ts";
import { storedIn } from "../status/support.ts";
import { runIn } from "../state/support.ts";

const files = Object.fromEntries(
  ["a", "b", "c"].map((name) => [`docs/${name}.md`, `# Page ${name}\n\nThe text of ${name}.\n`]),
);
const removal = "--yes --max-delete 100%";

/** A folder in the pairs 2 and 7, without the file docs/a.md. */
async function startShared(options: TestServiceOptions) {
  const service = await startTestService({ ...options, files });
  expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
  expect((await runIn(service, "ingest docs --cc-pair-id 7")).code).toBe(0);
  rmSync(join(service.folder, "docs/a.md"));
  return service;
}

const warning = (what: string): string =>
  `warning: by the state, cc_pair_id 7 also holds 1 document of these (first: docs/a.md): the service has one document per id, so it is ${what} there too\n`;

it("what is deleted in one pair is recorded in no other", async () => {
  const service = await startShared({ dialect: "onyx" });
  const prune = `ingest orphans docs --cc-pair-id 2 --prune ${removal}`;
  expect((await runIn(service, `${prune} --dry-run`)).stderr).toContain(warning("deleted"));
  const pruned = await runIn(service, prune);
  expect(pruned.stderr).toContain(warning("deleted"));
  expect(pruned.code).toBe(0);
  expect(await storedIn(service, 7)).toEqual(["docs%2Fb.md", "docs%2Fc.md"]);
  const upload = await runIn(service, "ingest docs --cc-pair-id 7");
  expect(upload.stderr).not.toContain("still in the service");
  const listed = await runIn(service, "ingest orphans docs --cc-pair-id 7");
  expect(listed).toMatchObject({ code: 0, stdout: "" });
  await service.sandbox.idle();
  const drift = await runIn(service, "status --remote docs --cc-pair-id 7 --exit-code");
  expect(drift).toMatchObject({ code: 0 });
  expect((await runIn(service, "verify --cc-pair-id 7")).code).toBe(0);
  writeFiles(service.folder, { "docs/a.md": files["docs/a.md"]! });
  expect((await runIn(service, "ingest docs --cc-pair-id 7")).stderr).toContain("done: 1 created");
});

it("a deletion that fails leaves the records of all pairs", async () => {
  const service = await startShared({
    dialect: "onyx",
    faults: {
      rules: [
        { when: { method: "DELETE", first: 1 }, do: { status: 400, body: { detail: "no" } } },
      ],
    },
  });
  const prune = `ingest orphans docs --cc-pair-id 2 --prune ${removal}`;
  expect((await runIn(service, prune)).code).toBe(10);
  for (const pair of [2, 7]) {
    const { stdout } = await runIn(service, `ingest orphans docs --cc-pair-id ${pair}`);
    expect(stdout).toContain("docs/a.md");
  }
});

it("what becomes a removal notice in one pair is sent again to the other", async () => {
  const service = await startShared({});
  const tombstone = `ingest orphans docs --cc-pair-id 2 --tombstone ${removal}`;
  expect((await runIn(service, tombstone)).stderr).toContain(
    warning("replaced with a removal notice"),
  );
  const upload = await runIn(service, "ingest docs --cc-pair-id 7");
  expect(upload.stderr).not.toContain("still in the service");
  const listed = await runIn(service, "ingest orphans docs --cc-pair-id 7");
  expect(listed).toMatchObject({ code: 0, stdout: "" });
  writeFiles(service.folder, { "docs/a.md": files["docs/a.md"]! });
  expect((await runIn(service, "ingest docs --cc-pair-id 7")).stderr).toContain("done: 1 updated");
});

it("a removal notice for a file that another pair still uploads is no notice there", async () => {
  const service = await startTestService({ files, dialect: "onyx" });
  for (const pair of [2, 7]) await runIn(service, `ingest docs --cc-pair-id ${pair}`);
  const options = `--exclude docs/a.md --class excluded ${removal}`;
  const tombstone = `ingest orphans docs --cc-pair-id 2 --tombstone ${options}`;
  expect((await runIn(service, tombstone)).code).toBe(0);
  await service.sandbox.idle();
  expect((await runIn(service, "verify --cc-pair-id 7")).code).toBe(13);
  expect((await runIn(service, "ingest docs --cc-pair-id 7")).stderr).toContain("done: 1 updated");
});

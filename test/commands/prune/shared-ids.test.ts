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

it("what is deleted in one pair is recorded in no other", async () => {
  const service = await startShared({ dialect: "onyx" });
  const prune = `prune docs --cc-pair-id 2 ${removal}`;
  expect(
    (await runIn(service, "prune docs --cc-pair-id 2 --dry-run --max-delete 100%")).stderr,
  ).toContain("by the state, other pairs have 1 document of these: prune keeps it");
  expect(await runIn(service, `${prune} --class shared`)).toMatchObject({ code: 0 });
  expect(await storedIn(service, 7)).toEqual(["docs%2Fb.md", "docs%2Fc.md"]);
  const upload = await runIn(service, "ingest docs --cc-pair-id 7");
  expect(upload.stderr).not.toContain("still in the service");
  const listed = await runIn(service, "prune docs --cc-pair-id 7 --dry-run");
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
  const prune = `prune docs --cc-pair-id 2 --class shared ${removal}`;
  expect((await runIn(service, prune)).code).toBe(10);
  for (const pair of [2, 7]) {
    const { stdout } = await runIn(service, `prune docs --cc-pair-id ${pair} --dry-run`);
    expect(stdout).toContain("docs/a.md");
  }
});

it("what becomes a removal notice in one pair is sent again to the other", async () => {
  const service = await startShared({});
  const tombstone = `prune docs --cc-pair-id 2 --tombstone ${removal}`;
  const kept = await runIn(service, tombstone);
  expect(kept.stderr).toContain("kept: docs/a.md (pair 7 has it too)");
  expect(kept.code).toBe(10);
  expect(await runIn(service, `${tombstone} --class shared`)).toMatchObject({ code: 0 });
  const upload = await runIn(service, "ingest docs --cc-pair-id 7");
  expect(upload.stderr).not.toContain("still in the service");
  const listed = await runIn(service, "prune docs --cc-pair-id 7 --tombstone --dry-run");
  expect(listed).toMatchObject({ code: 0, stdout: "" });
  writeFiles(service.folder, { "docs/a.md": files["docs/a.md"]! });
  expect((await runIn(service, "ingest docs --cc-pair-id 7")).stderr).toContain("done: 1 updated");
});

it("a removal notice for a file that another pair still uploads is no notice there", async () => {
  const service = await startTestService({ files, dialect: "onyx" });
  for (const pair of [2, 7]) await runIn(service, `ingest docs --cc-pair-id ${pair}`);
  writeFiles(service.folder, {
    ".cliconfig.json": JSON.stringify({ ingest: { exclude: ["docs/a.md"] } }),
  });
  service.env["KNOWCTL_TRUST_PROJECT"] = "1";
  const options = `--class excluded --class shared ${removal}`;
  const tombstone = `prune docs --cc-pair-id 2 --tombstone ${options}`;
  expect((await runIn(service, tombstone)).code).toBe(0);
  rmSync(join(service.folder, ".cliconfig.json"));
  await service.sandbox.idle();
  expect((await runIn(service, "verify --cc-pair-id 7")).code).toBe(13);
  expect((await runIn(service, "ingest docs --cc-pair-id 7")).stderr).toContain("done: 1 updated");
});

import { expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { remove, storedIn } from "../status/support.ts";
import { runIndexed } from "./support.ts";

const page = (name: string): string => `# Page ${name}\n\nThe code of ${name} is W${name}X.\n`;
const files = Object.fromEntries(["a", "b", "d"].map((name) => [`docs/${name}.md`, page(name)]));
const config = {
  ingest: { include: ["docs"], ccPairId: 2, rules: [{ match: "docs/d.md", ccPairId: 7 }] },
};

/** A project with documents in the pair of its configuration and in that of a rule. */
async function startByRule(): Promise<TestService> {
  const service = await startTestService({ dialect: "onyx", files });
  writeFiles(service.folder, { ".cliconfig.json": JSON.stringify(config) });
  const trusted = { ...service, env: { ...service.env, KNOWCTL_TRUST_PROJECT: "1" } };
  expect((await runIndexed(trusted, "ingest")).code).toBe(0);
  await service.sandbox.idle();
  return trusted;
}

it("retry --missing sends each document to the pair that it was recorded for", async () => {
  const service = await startByRule();
  expect((await runIndexed(service, "ingest --cc-pair-id 4")).code).toBe(0);
  await service.sandbox.idle();
  for (const name of ["a", "d"]) await remove(service, `docs/${name}.md`);
  expect((await runIndexed(service, "verify")).code).toBe(13);
  const { code, stderr } = await runIndexed(service, "retry --missing");
  expect(stderr).toContain("2 files with documents that verify did not find\n");
  expect(code).toBe(0);
  expect(await storedIn(service, 2)).toEqual(["docs%2Fa.md", "docs%2Fb.md"]);
  expect(await storedIn(service, 7)).toEqual(["docs%2Fd.md"]);
  expect(await storedIn(service, 4)).toEqual(["docs%2Fa.md", "docs%2Fb.md", "docs%2Fd.md"]);
});

it("what a check does not find is missing for each pair with this version", async () => {
  const service = await startTestService({ dialect: "onyx", files });
  const upload = (pair: number) => `ingest docs --cc-pair-id ${pair} --verify --wait 1s`;
  expect((await runIndexed(service, upload(2))).code).toBe(0);
  expect((await runIndexed(service, upload(7))).code).toBe(0);
  await remove(service, "docs/a.md");
  expect((await runIndexed(service, "verify --cc-pair-id 7")).code).toBe(13);
  expect((await runIndexed(service, upload(2))).code).toBe(13);
  expect((await runIndexed(service, "retry --missing --cc-pair-id 2")).code).toBe(0);
  await service.sandbox.idle();
  expect((await runIndexed(service, upload(2))).code).toBe(0);
  // It is not in that pair yet.
  expect((await runIndexed(service, upload(7))).code).toBe(13);
  expect((await runIndexed(service, "retry --missing --cc-pair-id 7")).code).toBe(0);
  await service.sandbox.idle();
  expect((await runIndexed(service, upload(7))).code).toBe(0);
  expect(await storedIn(service, 7)).toContain("docs%2Fa.md");
});

it("a check of another version for another pair says nothing about a run", async () => {
  const service = await startByRule();
  expect((await runIndexed(service, "ingest docs/a.md --cc-pair-id 4")).code).toBe(0);
  writeFiles(service.folder, { "docs/a.md": page("other") });
  await service.sandbox.idle();
  expect((await runIndexed(service, "verify --cc-pair-id 4")).code).toBe(10);
  const { code, stderr } = await runIndexed(service, "ingest --verify --wait 1s");
  expect(stderr).toContain("1 updated");
  expect(code).toBe(0);
});

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../../main.ts";
import { startTestService, type TestService } from "../../service.ts";
import { runCli, type CliResult } from "../../support.ts";

const shardCount = 8;
const shards = Array.from({ length: shardCount }, (_, index) => `${index + 1}/${shardCount}`);

const pages = Array.from(
  { length: 120 },
  (_, number) => [`docs/${number % 7}/page-${number}.md`, `# Page ${number}\n\nText.\n`] as const,
);
const rows = Array.from({ length: 40 }, (_, number) => `r${number},Row ${number},Text ${number}`);
const files = {
  ...Object.fromEntries(pages),
  "docs/rows.csv": `id,title,text\n${rows.join("\n")}\n`,
  "docs/empty.md": "",
};
const documentCount = pages.length + rows.length;

function run({ folder: cwd, env }: TestService, args: string[]): ReturnType<typeof runHere> {
  return runHere(args, { cwd, env });
}

const inputs = ["docs", "docs/rows.csv", "--cc-pair-id", "2"];

function runShards(service: TestService, extra: (index: number) => string[]): Promise<CliResult[]> {
  return Promise.all(
    shards.map((shard, index) =>
      runCli(
        [
          "ingest",
          ...inputs,
          "--shard",
          shard,
          "--report",
          `shard-${index + 1}.json`,
          ...extra(index),
        ],
        { cwd: service.folder, env: service.env },
      ),
    ),
  );
}

function expectEachOnce(service: TestService): void {
  const sent = [...service.sandbox.ledger.documents.values()];
  expect(sent).toHaveLength(documentCount);
  expect(sent.filter((bodies) => bodies.length !== 1)).toEqual([]);
}

async function expectMerged(service: TestService): Promise<void> {
  const names = shards.map((_, index) => `shard-${index + 1}.json`);
  const { code, stdout } = await run(service, ["report", "merge", ...names]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    status: "ok",
    shard: null,
    merged: { shards: shardCount, missing: [] },
    counts: { created: documentCount, updated: 0, unchanged: 0, skipped: 1, failed: 0 },
    planned: documentCount,
    requests: documentCount,
    failures: [],
  });
}

async function expectNothingLeft(service: TestService): Promise<void> {
  const { code, stderr } = await run(service, ["ingest", ...inputs]);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining(`${documentCount} unchanged`),
  });
  expectEachOnce(service);
}

describe("8 shards as processes at once send each document exactly once", () => {
  it("with one state", async () => {
    const service = await startTestService({ files });
    const results = await runShards(service, () => []);
    expect(results.map(({ code, stderr }) => (code === 0 ? code : stderr))).toEqual(
      shards.map(() => 0),
    );
    expectEachOnce(service);
    await expectMerged(service);
    await expectNothingLeft(service);
    expect((await run(service, ["ingest", ...inputs, "--shard", "3/8"])).stderr).toContain(
      "unchanged",
    );
  });

  it("with a state each, as on 8 machines, merged afterwards", async () => {
    const service = await startTestService({ files });
    const state = (index: number): string => join(service.folder, "..", `state-${index + 1}`);
    const results = await runShards(service, (index) => ["--state", state(index)]);
    expect(results.map(({ code }) => code)).toEqual(shards.map(() => 0));
    expectEachOnce(service);
    await expectMerged(service);
    const names = shards.map((_, index) => `../state-${index + 1}.ndjson`);
    for (const [index, name] of names.entries()) {
      const args = ["state", "export", name, "--state", state(index)];
      expect(await run(service, args)).toMatchObject({ code: 0 });
    }
    expect(await run(service, ["state", "import", ...names, "--yes"])).toMatchObject({ code: 0 });
    await expectNothingLeft(service);
  });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../service.ts";
import { pages, run, takenBy } from "./support.ts";

const shards = [1, 2, 3];
const runs = ["Monday", "Tuesday"] as const;

/** All shards, as on a machine each: with a state of its own that it keeps. */
async function uploadShards(service: TestService, day: (typeof runs)[number]): Promise<void> {
  for (const shard of shards) {
    const { code, stderr } = await run(
      service,
      `ingest docs --cc-pair-id 2 --shard ${shard}/3 --state state-${shard} --report ${day}-${shard}.json`,
    );
    expect(code).toBe(0);
    expect(stderr).toMatch(new RegExp(`^shard ${shard}/3: .* left to the other shards$`, "m"));
  }
}

it("a folder that outgrows one machine is sent by shards, and comes back to one", async () => {
  const service = await startTestService({ files: pages(0, 6) });

  // A small folder, one machine, one state.
  const small = await run(service, "ingest docs --cc-pair-id 2");
  expect(small).toMatchObject({ code: 0, stderr: expect.stringContaining("done: 6 created in") });

  // It grows. Each of three machines gets a copy of the state, so that nothing is sent again.
  writeFiles(service.folder, pages(6, 45));
  expect((await run(service, "state export before.ndjson")).code).toBe(0);
  for (const shard of shards) {
    expect(
      (await run(service, `state import before.ndjson --yes --state state-${shard}`)).code,
    ).toBe(0);
  }
  await uploadShards(service, "Monday");
  const everyOnce = Object.fromEntries(Object.keys(pages(0, 45)).map((id) => [id, 1]));
  expect(takenBy(service.sandbox)).toEqual(everyOnce);

  // The reports of the shards are one report.
  const names = shards.map((shard) => `Monday-${shard}.json`).join(" ");
  const merged = await run(service, `report merge ${names} --report monday.json`);
  expect(merged).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("status ok: 39 created"),
  });
  const report = JSON.parse(readFileSync(join(service.folder, "monday.json"), "utf8")) as unknown;
  expect(report).toMatchObject({ status: "ok", merged: { shards: 3, missing: [] } });

  // One page changes: its shard alone sends it. A merge without one of the reports is no success.
  writeFiles(service.folder, { "docs/30.md": "# Page 30\n\nMended.\n" });
  await uploadShards(service, "Tuesday");
  expect(takenBy(service.sandbox)).toEqual({ ...everyOnce, "docs/30.md": 2 });
  const partial = await run(service, "report merge Tuesday-1.json Tuesday-3.json");
  expect(partial).toMatchObject({
    code: 10,
    stderr: expect.stringContaining("shard 2 of 3 is missing"),
  });

  // Back on one machine: the merged states know everything, so nothing is sent.
  for (const shard of shards) {
    const line = `state export state-${shard}.ndjson --state state-${shard}`;
    expect((await run(service, line)).code).toBe(0);
  }
  const states = shards.map((shard) => `state-${shard}.ndjson`).join(" ");
  expect((await run(service, `state import ${states} --yes`)).code).toBe(0);
  const whole = await run(service, "ingest docs --cc-pair-id 2");
  expect(whole.stderr).toMatch(/^done: 45 unchanged in /m);
  expect(takenBy(service.sandbox)).toEqual({ ...everyOnce, "docs/30.md": 2 });
});

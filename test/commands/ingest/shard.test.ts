import type { IngestOptions } from "../../../src/commands/ingest/ingest-options.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseReport } from "../../../src/output/report/stored/read.ts";
import { startTestService, type TestService } from "../../service.ts";
import { createTestContext } from "../../support.ts";
import { ingest } from "./support.ts";

async function run(
  service: TestService,
  index: number,
  count: number,
  options: IngestOptions = {},
) {
  const context = createTestContext({ cwd: service.folder, env: service.env });
  const report = [`shard-${index}.json`];
  const all = { ccPairId: 2, shard: { index, count }, ...(options.dryRun ? {} : { report }) };
  const error = await ingest(context, ["docs"], { ...all, ...options }).then(
    () => undefined,
    (thrown: unknown) => thrown as { exit: string; details: string[] },
  );
  return { error, stderr: context.stderrText(), stdout: context.stdoutText() };
}

function countsOf(service: TestService, index: number) {
  const name = `shard-${index}.json`;
  return parseReport(readFileSync(join(service.folder, name), "utf8"), name).counts;
}

const pages = (count: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, number) => [`docs/${number}.md`, `# ${number}\n\nText.\n`]),
  );

describe("--shard", () => {
  it("finds two files with one id in every shard, also when neither is its own", async () => {
    const same = "---\nid: same\n---\nText\n";
    const files = { ...pages(4), "docs/a.md": same, "docs/b.md": same };
    const service = await startTestService({ files });
    for (const index of [1, 2, 3]) {
      const { error } = await run(service, index, 3);
      expect(error).toMatchObject({ exit: "usage", details: ["same: docs/a.md and docs/b.md"] });
    }
    expect(service.sandbox.ledger.requestCount).toBe(0);
  });

  it("tells what gives no document in one shard only, and says what is left to the others", async () => {
    const broken = "---\nid: x\ntitle: [unclosed\n---\ntext\n";
    const files = { ...pages(12), "docs/broken.md": broken, "docs/empty.md": "" };
    const service = await startTestService({ files });
    const sum = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0, renamed: 0 };
    for (const index of [1, 2, 3, 4]) {
      const { stderr } = await run(service, index, 4);
      expect(stderr).toMatch(new RegExp(`shard ${index}/4: \\d+ documents left to the other`));
      const counts = countsOf(service, index);
      for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += counts[name];
    }
    expect(sum).toEqual({
      created: 12,
      updated: 0,
      unchanged: 0,
      skipped: 1,
      failed: 1,
      renamed: 0,
    });
    const again = await run(service, 1, 4);
    expect(again.stderr).toContain("unchanged");
    expect(countsOf(service, 1)).toMatchObject({ created: 0, updated: 0 });
  });

  it("that has nothing to do is no failure, as long as there are files", async () => {
    const service = await startTestService({ files: pages(1) });
    const results = [];
    for (const index of [1, 2, 3, 4, 5]) results.push(await run(service, index, 5));
    expect(results.map(({ error }) => error)).toEqual(Array(5).fill(undefined));
    expect(service.sandbox.ledger.documents.size).toBe(1);
    const none = await startTestService({ files: { "docs/x.bin": "" } });
    expect((await run(none, 1, 2)).error).toMatchObject({ exit: "usage" });
  });

  it("plans its own part in a dry run", async () => {
    const service = await startTestService({ files: pages(10) });
    const ids = [];
    for (const index of [1, 2, 3]) {
      const { stdout } = await run(service, index, 3, { dryRun: true, output: "json" });
      const plan = JSON.parse(stdout) as { documents: { id: string; action: string }[] };
      ids.push(...plan.documents.map(({ id, action }) => `${action} ${id}`));
    }
    expect(ids.toSorted()).toEqual(
      Object.keys(pages(10))
        .map((id) => `new ${id}`)
        .toSorted(),
    );
  });

  it("1/1 is everything", async () => {
    const service = await startTestService({ files: pages(3) });
    expect((await run(service, 1, 1)).stderr).toContain("3 created");
  });
});

import { utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService, writeFiles } from "../../../service.ts";
import { lastAccepted, runIngest } from "../support.ts";

const dated = (year: number): string => `---\nupdated: ${year}-01-01\n---\n# Dated\n\nText.\n`;
const files = { "docs/dated.md": dated(2024), "docs/plain.md": "# Plain\n\nText.\n" };

it("the time of a file alone sends nothing again, a date that is written does", async () => {
  const service = await startTestService({ files });
  const run = async () => (await runIngest(service, ["docs"], { updatedAt: "mtime" })).stderr;
  expect(await run()).toContain("2 created");
  for (const path of Object.keys(files)) utimesSync(join(service.folder, path), 1e9, 1e9);
  expect(await run()).toContain("2 unchanged");
  writeFiles(service.folder, { "docs/dated.md": dated(2025) });
  expect(await run()).toContain("1 updated, 1 unchanged");
  expect(lastAccepted(service, "docs/dated.md")?.doc_updated_at).toBe("2025-01-01T00:00:00Z");
});

it("taking the time of files, or no more, sends those that have no other date", async () => {
  const service = await startTestService({ files });
  await runIngest(service, ["docs"]);
  const taken = await runIngest(service, ["docs"], { updatedAt: "mtime" });
  expect(taken.stderr).toContain("1 updated, 1 unchanged");
  expect(lastAccepted(service, "docs/plain.md")?.doc_updated_at).toMatch(/Z$/);
  const plan = await runIngest(service, ["docs"], { dryRun: true });
  expect(plan.stdout + plan.stderr).toMatch(/plain\.md.*\bdate/);
  expect((await runIngest(service, ["docs"])).stderr).toContain("1 updated, 1 unchanged");
  expect(lastAccepted(service, "docs/plain.md")).not.toHaveProperty("doc_updated_at");
});

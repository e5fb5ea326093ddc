import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService, type TestServiceOptions } from "../../service.ts";
import { runIn } from "../state/support.ts";

const page = (index: number): string => `# Page ${index}\n\nThe code is W${index}X${index * 13}.\n`;
const files = {
  ...Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`docs/${index}.md`, page(index)])),
  "docs/r.csv": "id,title,text\nr1,One,one text\nr2,Two,two text\n",
};

/** Faults of the first upload of documents only. */
const once = (index: Record<string, object>): NonNullable<TestServiceOptions["faults"]> => ({
  rules: Object.entries(index).map(([documentId, fault]) => ({
    when: { documentId, first: 1 },
    do: { index: fault },
  })),
});

async function verified(faults: NonNullable<TestServiceOptions["faults"]>) {
  const service = await startTestService({ dialect: "onyx", files, faults });
  const options = "--cc-pair-id 2 --id-prefix kb/";
  await runIn(service, `ingest docs docs/r.csv ${options}`);
  await service.sandbox.idle();
  await runIn(service, "verify");
  service.sandbox.ledger.documents.clear();
  return service;
}

// `--missing`
it("sends what verify found missing, listed only or stale, with the recorded options", async () => {
  const service = await verified(
    once({
      "kb/docs/1.md": { keeps: "nothing" },
      "kb/docs/2.md": { keeps: "row" },
      r2: { keeps: "nothing" },
    }),
  );
  const dry = await runIn(service, "ingest retry --missing --dry-run");
  expect(dry.stdout).toContain("docs/1.md");
  expect(dry.stderr).not.toContain("not checked again");
  const { code, stderr } = await runIn(service, "ingest retry --missing");
  expect(stderr).toContain("3 files with documents that verify did not find");
  // Until then the state knows nothing of these documents, and an upload with --verify passes.
  expect(stderr).toContain("not checked again: `knowctl verify` tells");
  expect(code).toBe(0);
  expect([...service.sandbox.ledger.documents.keys()].toSorted()).toEqual([
    "kb/docs/1.md",
    "kb/docs/2.md",
    "r2",
  ]);
  await service.sandbox.idle();
  expect((await runIn(service, "verify")).code).toBe(0);
  const again = await runIn(service, "ingest retry --missing");
  expect(again).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("nothing to send again"),
  });
});

it("never sends a hidden document again", async () => {
  const service = await verified(
    once({ "kb/docs/1.md": { hidden: true }, "kb/docs/2.md": { private: true } }),
  );
  expect(await runIn(service, "ingest retry --missing")).toMatchObject({ code: 0 });
  expect(service.sandbox.ledger.documents.size).toBe(0);
});

it("needs a check, and names a file that is gone", async () => {
  const service = await startTestService({ dialect: "onyx", files });
  await runIn(service, "ingest docs --cc-pair-id 2");
  expect(await runIn(service, "ingest retry --missing")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("knowctl verify"),
  });
  const lost = await verified(once({ "kb/docs/1.md": { keeps: "nothing" } }));
  rmSync(join(lost.folder, "docs/1.md"));
  const { code, stderr } = await runIn(lost, "ingest retry --missing");
  expect(stderr).toContain("docs/1.md: the file is gone");
  expect(stderr).toContain("1 file of missing documents is gone");
  expect(code).toBe(10);
});

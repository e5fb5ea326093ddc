import { expect, it } from "vitest";
import type { FaultRule } from "../../../../src/sandbox/http/faults.ts";
import { startTestService, writeFiles } from "../../../service.ts";
import { runIn } from "../../state/support.ts";

const files = Object.fromEntries(
  Array.from({ length: 40 }, (_, index) => [`docs/${index}.md`, `# Page ${index}\n`]),
);
const line = "ingest docs --cc-pair-id 2";

async function start(flags = "--id-prefix kb/") {
  const service = await startTestService({ files });
  expect(await runIn(service, `${line} ${flags}`)).toMatchObject({ code: 0 });
  return service;
}

it("a forgotten prefix sends nothing, and names both ways on", async () => {
  const service = await start();
  const planned = await runIn(service, `${line} --dry-run`);
  expect(planned.code).toBe(0);
  const text =
    "40 of 40 recorded documents would be sent a second time, under another id (first: kb/docs/0.md → docs/0.md)";
  expect(planned.stderr.match(/^warning: .*/gm)).toEqual([
    `warning: ${text}: the upload is refused; repeat the recorded prefix: --id-prefix kb/; ` +
      "or send them under the new ids with --allow-id-change: the earlier ones stay until " +
      "`knowctl prune --class other-options --class row-gone`",
  ]);
  const ran = await runIn(service, line);
  expect(ran.stderr).toContain(`error: ${text}; nothing was sent`);
  expect(ran.stderr).toContain("repeat the recorded prefix: --id-prefix kb/");
  expect(ran.code).toBe(2);
  expect(service.sandbox.ledger.documents.size).toBe(40);
  expect(await runIn(service, `${line} --id-prefix kb/`)).toMatchObject({ code: 0 });
  expect(await runIn(service, `${line} --allow-id-change`)).toMatchObject({ code: 0 });
  expect(service.sandbox.ledger.documents.size).toBe(80);
});

it("a prefix that is new is a change too, also by a state that another machine brought", async () => {
  const service = await start("--state first");
  await runIn(service, "state export all.ndjson --state first");
  await runIn(service, "state import all.ndjson --yes");
  const ran = await runIn(service, `${line} --id-prefix docs-old/`);
  expect(ran.stderr).toContain('--id-prefix ""');
  expect(ran.code).toBe(2);
});

it("counts only the documents of the run, and a tenth of them", async () => {
  const service = await start("--concurrency 4");
  const own = (names: number[]): Record<string, string> =>
    Object.fromEntries(
      names.map((name) => [`docs/${name}.md`, `---\nid: own-${name}\n---\n# A\n`]),
    );
  writeFiles(service.folder, own([0, 1, 2]));
  expect((await runIn(service, line)).code).toBe(0);
  writeFiles(service.folder, own([3, 4, 5, 6]));
  expect((await runIn(service, line)).code).toBe(2);
  expect((await runIn(service, "ingest docs/3.md --cc-pair-id 2")).code).toBe(0);
  expect((await runIn(service, "ingest docs/4.md docs/5.md --cc-pair-id 2")).code).toBe(2);
});

it("a retry repeats what an upload was allowed to", async () => {
  const rules: FaultRule[] = [];
  const service = await startTestService({ files, faults: { rules } });
  expect(await runIn(service, `${line} --id-prefix kb/`)).toMatchObject({ code: 0 });
  const refused = { status: 400, body: { detail: "refused" } };
  for (const documentId of ["docs/1.md", "docs/2.md", "docs/3.md", "docs/4.md"]) {
    rules.push({ when: { method: "POST", documentId }, do: refused });
  }
  expect(await runIn(service, `${line} --allow-id-change`)).toMatchObject({ code: 10 });
  rules.length = 0;
  const ran = await runIn(service, "retry");
  expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining("4 created") });
  expect(service.sandbox.ledger.documents.size).toBe(80);
});

it("counts the documents of all shards, so that each shard refuses", async () => {
  const service = await start();
  for (let part = 1; part <= 20; part++) {
    const ran = await runIn(service, `${line} --shard ${part}/20`);
    // A shard without a document has nothing to refuse.
    if (!ran.stderr.includes("nothing to do")) expect(ran, ran.stderr).toMatchObject({ code: 2 });
  }
  expect(service.sandbox.ledger.documents.size).toBe(40);
});

it("takes another row at the same place for another row", async () => {
  const csv = (names: string[]): string =>
    ["id,text", ...names.map((each) => `${each},x`)].join("\n");
  const service = await startTestService({ files: { "r.csv": csv(["a", "b", "c"]) } });
  const rows = "ingest r.csv --cc-pair-id 2 --map id=id,title=id,text=text";
  expect(await runIn(service, rows)).toMatchObject({ code: 0 });
  writeFiles(service.folder, { "r.csv": csv(["d", "e", "f"]) });
  expect(await runIn(service, rows)).toMatchObject({ code: 0 });
});

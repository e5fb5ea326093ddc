import { describe, expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { runIn } from "../state/support.ts";

const first = "# A\n\nFirst.\n";

const texts = (service: TestService): (string | undefined)[] =>
  (service.sandbox.ledger.documents.get("docs/a.md") ?? []).map((body) => {
    const [section] = (body as { document: { sections: { text: string }[] } }).document.sections;
    return section?.text;
  });

describe("a request whose answer is lost", () => {
  it("is not taken for one that never arrived, when the file is as before again", async () => {
    const nth = Array.from({ length: 12 }, (_, index) => index + 2);
    const rules = [{ when: { method: "POST", nth }, do: "reset-after-store" as const }];
    const service = await startTestService({ files: { "docs/a.md": first }, faults: { rules } });
    await runIn(service, "ingest docs --cc-pair-id 2");
    writeFiles(service.folder, { "docs/a.md": "# A\n\nSecond.\n" });
    expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).not.toBe(0);
    expect(texts(service).at(-1)).toContain("Second");
    writeFiles(service.folder, { "docs/a.md": first });
    const dry = await runIn(service, "ingest docs --cc-pair-id 2 --dry-run");
    expect(dry.stdout).toContain("its last response was lost");
    let ran = await runIn(service, "ingest docs --cc-pair-id 2");
    for (let run = 0; run < 12 && ran.code !== 0; run++) {
      ran = await runIn(service, "ingest docs --cc-pair-id 2");
    }
    expect(ran.code).toBe(0);
    expect(texts(service).at(-1)).toContain("First");
  });
});

it.each(["standard", "onyx"] as const)("knows that one id is one document: %s", async (dialect) => {
  const service = await startTestService({ files: { "docs/a.md": first }, dialect });
  await runIn(service, "ingest docs --cc-pair-id 2");
  expect(await runIn(service, "ingest docs --cc-pair-id 7 --tag t1")).toMatchObject({ code: 0 });
  const back = await runIn(service, "ingest docs --cc-pair-id 2");
  expect(back).toMatchObject({ code: 0, stderr: expect.stringContaining("1 updated") });
  // The same version under both pairs is no reason to send it again.
  await runIn(service, "ingest docs --cc-pair-id 7");
  const same = await runIn(service, "ingest docs --cc-pair-id 2");
  expect(same).toMatchObject({ code: 0, stderr: expect.stringContaining("1 unchanged") });
});

it("keeps the failure of a table that a later run does not read", async () => {
  const rows = { "docs/r.csv": 'id,title,text\n1,One,one\n2,Two,""\n3,Three\n' };
  const service = await startTestService({ files: { "docs/a.md": first, ...rows } });
  expect((await runIn(service, "ingest docs docs/r.csv --cc-pair-id 2")).code).toBe(10);
  expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
  const { stdout } = await runIn(service, "state list --status failed --fields path -o tsv");
  expect(stdout).toContain("docs/r.csv");
  writeFiles(service.folder, { "docs/r.csv": "id,title,text\n1,One,one\n3,Three,three\n" });
  expect(await runIn(service, "retry")).toMatchObject({ code: 0 });
});

it("knows after a merge of states what another pair overtook", async () => {
  const service = await startTestService({ files: { "docs/a.md": first }, dialect: "onyx" });
  await runIn(service, "ingest docs --cc-pair-id 2");
  await runIn(service, "ingest docs --cc-pair-id 7 --tag t1 --state other --overwrite");
  await runIn(service, "state export other.ndjson --state other");
  expect(await runIn(service, "state import other.ndjson --yes")).toMatchObject({ code: 0 });
  const back = await runIn(service, "ingest docs --cc-pair-id 2");
  expect(back).toMatchObject({ code: 0, stderr: expect.stringContaining("1 updated") });
});

import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { runIn } from "./support.ts";

const files = {
  "docs/a.md": "# A\n\nOne.\n",
  "docs/b.md": "# B\n\nTwo.\n",
  "docs/sub/c.md": "# C\n\nThree.\n",
  "docs/sub-d.md": "# D\n\nFour.\n",
};

/** Four documents sent to pair 2, one of them to pair 1 as well, and one refused. */
async function startUploaded(): Promise<TestService> {
  const service = await startTestService({ files });
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  expect(await runIn(service, "ingest docs/a.md --cc-pair-id 7")).toMatchObject({ code: 0 });
  writeFiles(service.folder, { "docs/bad.md": "---\ntitle: [unclosed\n---\ntext\n" });
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 10 });
  return service;
}

describe("state list", () => {
  it("lists what was sent and what failed", async () => {
    const service = await startUploaded();
    const { code, stdout } = await runIn(service, "state list --json");
    expect(code).toBe(0);
    const rows = JSON.parse(stdout) as Record<string, unknown>[];
    expect(rows.map(({ status, path, ccPairId }) => [status, path, ccPairId])).toEqual([
      ["failed", "docs/bad.md", 2],
      ["sent", "docs/a.md", 2],
      ["sent", "docs/b.md", 2],
      ["sent", "docs/sub-d.md", 2],
      ["sent", "docs/sub/c.md", 2],
      ["sent", "docs/a.md", 7],
    ]);
    expect(rows[0]).toMatchObject({ reason: expect.stringContaining("docs/bad.md:3:1"), id: null });
    expect(rows[1]).toMatchObject({ id: "docs/a.md", time: expect.stringMatching(/Z$/) });
  });

  it.each([
    ["--status failed -o ndjson", 1],
    ["--status sent -o ndjson", 5],
    ["--cc-pair-id 7 -o ndjson", 1],
    ["--limit 2 -o ndjson", 2],
    ["--filter path~docs/sub* --limit 1 -o tsv", 1],
    ["--filter cc_pair_id=7 -o csv", 2],
    ["--cc-pair-id 33 -o ndjson", 0],
  ])("%s", async (flags, lines) => {
    const service = await startUploaded();
    const { code, stdout } = await runIn(service, `state list ${flags}`);
    expect(code).toBe(0);
    expect(stdout.split("\n").filter(Boolean)).toHaveLength(lines);
  });

  it("tells a document whose text a removal notice replaced from one that was sent", async () => {
    const service = await startTestService({ files });
    expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
    rmSync(join(service.folder, "docs/b.md"));
    const notice = "prune --cc-pair-id 2 --tombstone --yes --max-delete 50%";
    expect(await runIn(service, notice)).toMatchObject({ code: 0 });
    expect(await paths(service, "removed")).toEqual(["docs/b.md#2"]);
    expect(await paths(service, "sent")).not.toContain("docs/b.md#2");
  });

  it("says that nothing was uploaded when the state has no records", async () => {
    const service = await startTestService();
    // It opens the state before it reads the file.
    expect(await runIn(service, "state import none.ndjson")).toMatchObject({ code: 2 });
    const where = join(service.folder, ".knowctl");
    const text = `nothing has been uploaded from here yet: the state in ${where} has no records\n`;
    for (const flags of ["", " --status failed"]) {
      expect(await runIn(service, `state list${flags}`)).toMatchObject({ code: 0, stderr: text });
    }
  });

  it("says that no record matches", async () => {
    const service = await startUploaded();
    const { code, stderr } = await runIn(service, "state list --cc-pair-id 33");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "no records match\n" });
  });

  it("says where it looked when there is no state", async () => {
    const service = await startTestService();
    expect(await runIn(service, "state list")).toMatchObject({
      code: 9,
      stderr: expect.stringContaining(".knowctl"),
    });
  });
});

const paths = async (service: TestService, status = "sent"): Promise<string[]> => {
  const line = `state list --status ${status} -o ndjson`;
  const { stdout } = await runIn(service, line);
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((text) => JSON.parse(text) as { path: string; ccPairId: number })
    .map(({ path, ccPairId }) => `${path}#${ccPairId}`);
};

describe("state forget", () => {
  it("forgets a file, and it is sent again", async () => {
    const service = await startUploaded();
    expect(await runIn(service, "state forget docs/b.md")).toMatchObject({
      code: 0,
      stderr: "forgot 1 document\n",
    });
    const again = await runIn(service, "ingest docs --cc-pair-id 2 --exclude bad.md");
    expect(again.stderr).toContain("1 updated, 3 unchanged");
    expect(service.sandbox.ledger.documents.get("docs/b.md")).toHaveLength(2);
  });

  it.each([
    ["docs/a.md", ["docs/b.md#2", "docs/sub-d.md#2", "docs/sub/c.md#2"], "2 documents"],
    ["docs/a.md --cc-pair-id 7", ["docs/a.md#2"], "1 document"],
    ["docs/sub", ["docs/a.md#2", "docs/sub-d.md#2"], "1 document"],
    ["docs/sub docs/sub/c.md docs/sub", ["docs/a.md#2", "docs/sub-d.md#2"], "1 document"],
    ["docs/sub/", ["docs/sub-d.md#2"], "1 document"],
    ["docs --yes", [], "5 documents and 1 failure"],
    ["--failed", ["docs/a.md#7"], "1 failure"],
    ["--all --yes", [], "5 documents and 1 failure"],
    ["--all --yes --cc-pair-id 7", ["docs/a.md#2"], "1 document"],
  ])("%s", async (flags, kept, said) => {
    const service = await startUploaded();
    expect(await runIn(service, `state forget ${flags}`)).toMatchObject({
      code: 0,
      stderr: `forgot ${said}\n`,
    });
    const left = await paths(service);
    expect(left).toEqual(kept.length === 0 ? [] : expect.arrayContaining(kept));
    const sent = 5 - (said === "1 failure" ? 0 : Number(said[0]));
    expect(left).toHaveLength(sent);
  });

  it("takes paths from the working directory as well as from the root", async () => {
    const service = await startUploaded();
    const inside = { folder: `${service.folder}/docs/sub`, env: service.env };
    expect(await runIn(inside, "state forget c.md")).toMatchObject({ code: 0 });
    expect(await paths(service)).not.toContain("docs/sub/c.md#2");
  });

  it.each([
    ["", 2, "no record to forget is named"],
    ["--all", 2, "this would forget 5 documents and 1 failure"],
    ["--all docs", 2, "exclude each other"],
    ["docs/a.md docs/nothing.md", 9, "no record matches docs/nothing.md"],
  ])("refuses: %s", async (flags, code, message) => {
    const service = await startUploaded();
    const ran = await runIn(service, `state forget ${flags}`.trim());
    expect(ran).toMatchObject({ code, stderr: expect.stringContaining(message) });
    expect(await paths(service)).toHaveLength(5);
  });

  it.each([
    ["y\n", 0],
    ["n\n", 5],
  ])("asks on a terminal: %j", async (answer, left) => {
    const service = await startUploaded();
    const { code, stderr } = await runIn(service, "state forget --all", { answer });
    expect(code).toBe(0);
    expect(stderr).toContain("Forget 5 documents and 1 failure?");
    expect(await paths(service)).toHaveLength(left);
  });

  it("does not ask about nothing", async () => {
    const service = await startUploaded();
    const ran = await runIn(service, "state forget --all --cc-pair-id 77");
    expect(ran).toMatchObject({ code: 0, stderr: "nothing is recorded for pair 77\n" });
    expect(await paths(service)).toHaveLength(5);
  });

  it("names the pair in the question", async () => {
    const service = await startUploaded();
    const line = "state forget --all --cc-pair-id 7";
    const { stderr } = await runIn(service, line, { answer: "n\n" });
    expect(stderr).toContain("Forget 1 document of pair 7?");
  });
});

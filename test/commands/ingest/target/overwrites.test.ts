import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FaultSpec } from "../../../../src/sandbox/http/faults.ts";
import { startTestService, writeFiles, type TestServiceOptions } from "../../../service.ts";
import { runIn } from "../../state/support.ts";

const ids = ["1", "2", "3", "4", "5", "6"].map((each) => `docs/${each}.md`);
const filesOf = (text: string): Record<string, string> =>
  Object.fromEntries(ids.map((id) => [id, `# ${text}\n\nText of ${text}.\n`]));

/** A service that another project has filled under the same ids; nothing is recorded here. */
async function startSecond(options: TestServiceOptions = {}) {
  const service = await startTestService({ files: filesOf("first"), ...options });
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  rmSync(join(service.folder, ".knowctl"), { recursive: true });
  writeFiles(service.folder, { ...filesOf("second"), "docs/own.md": "# Own\n" });
  return service;
}

/** A listing of documents that answers with this status. */
function listing(status: number): FaultSpec {
  const when = { method: "GET", path: "/api/onyx-api/ingestion" };
  return { rules: [{ when, do: { status } }] };
}

const told =
  "warning: the service already had 6 documents without a record here (docs/1.md, docs/2.md, docs/3.md, docs/4.md, docs/5.md, …): either the state was lost, or another project has the same ids (use --id-prefix), or it did not index them: `knowctl verify` tells";

describe.each(["standard", "onyx"] as const)("ids that another project uses: %s", (dialect) => {
  it("are named in one line by the first run, and by no later one", async () => {
    const service = await startSecond({ dialect });
    const first = await runIn(service, "ingest docs --cc-pair-id 2 --concurrency 1");
    expect(first.stderr.split("\n").filter((each) => each.startsWith("warning"))).toEqual([told]);
    writeFiles(service.folder, filesOf("third"));
    expect((await runIn(service, "ingest docs --cc-pair-id 2")).stderr).not.toContain("warning");
    const other = await runIn(service, "ingest docs --cc-pair-id 7");
    expect(other.stderr.split("\n").filter((each) => each.startsWith("warning"))).toEqual([
      expect.stringContaining("by the state, cc_pair_id 2 also holds"),
    ]);
  });
});

describe("--no-overwrite", () => {
  it.each([
    "ingest docs",
    "ingest docs --shard 1/1",
    "ingest docs --no-state",
    "ingest docs --force",
  ])("refuses them before anything is sent: %s", async (line) => {
    const service = await startSecond({ dialect: "onyx" });
    const before = service.sandbox.ledger.documents.get("docs/1.md")?.length;
    const ran = await runIn(service, `${line} --cc-pair-id 2 --no-overwrite`);
    expect(ran.stderr).toContain(
      "--no-overwrite: 6 documents are already in the service, but not recorded here; nothing was sent",
    );
    expect(ran.stderr).toContain("docs/1.md, docs/2.md");
    expect(ran.code).toBe(2);
    expect(service.sandbox.ledger.documents.get("docs/1.md")).toHaveLength(before ?? 0);
    expect(service.sandbox.ledger.documents.has("docs/own.md")).toBe(false);
  });

  it("lets through what is recorded here, under any pair, and what is new", async () => {
    const service = await startTestService({ dialect: "onyx", files: filesOf("first") });
    const line = "ingest docs --no-overwrite --cc-pair-id";
    expect(await runIn(service, `${line} 2`)).toMatchObject({ code: 0 });
    writeFiles(service.folder, { ...filesOf("second"), "docs/own page.md": "# Own\n" });
    expect(await runIn(service, `${line} 2`)).toMatchObject({ code: 0 });
    expect(await runIn(service, `${line} 7`)).toMatchObject({ code: 0 });
    expect(await runIn(service, `${line} 2 --id-prefix p/`)).toMatchObject({ code: 0 });
  });

  it("refuses an id that the service stores in the same form", async () => {
    const service = await startTestService({ dialect: "onyx", files: { "docs/a b.md": "# A\n" } });
    await runIn(service, "ingest docs --cc-pair-id 2");
    rmSync(join(service.folder, ".knowctl"), { recursive: true });
    rmSync(join(service.folder, "docs/a b.md"));
    writeFiles(service.folder, { "docs/a_b.md": "# A\n" });
    expect(await runIn(service, "ingest docs --cc-pair-id 2 --no-overwrite")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("1 document is already in the service") as unknown,
    });
  });

  it("fails such lines of stdin, and sends the others", async () => {
    const service = await startSecond({ dialect: "onyx" });
    const lines = ["docs/1.md", "new"].map((id) =>
      JSON.stringify({ id, semantic_identifier: id, sections: [{ text: "x" }] }),
    );
    const ran = await runIn(service, "ingest - --cc-pair-id 2 --no-overwrite", {
      stdin: lines.join("\n"),
    });
    expect(ran.stderr).toContain("stdin:1:1: docs/1.md is already in the service");
    expect(ran.stderr).toContain("1 created, 1 failed");
    expect(ran.code).toBe(10);
  });

  it.each<[string, "standard" | "onyx", FaultSpec | undefined, number]>([
    ["the interface cannot list", "standard", undefined, 9],
    ["the key may not list", "onyx", listing(403), 4],
    ["the listing fails", "onyx", listing(500), 8],
  ])("sends nothing where %s", async (_, dialect, faults, code) => {
    const service = await startTestService({
      dialect,
      files: filesOf("first"),
      ...(faults ? { faults } : {}),
    });
    for (const [line, stdin] of [
      ["ingest docs"],
      ["ingest -", '{"id":"a","title":"A","sections":[{"text":"x"}]}'],
    ] as const) {
      const given = stdin === undefined ? {} : { stdin };
      const ran = await runIn(service, `${line} --cc-pair-id 2 --no-overwrite`, given);
      expect({ code: ran.code, sent: service.sandbox.ledger.documents.size }).toEqual({
        code,
        sent: 0,
      });
      expect(ran.stderr.includes("use --dialect onyx")).toBe(dialect === "standard");
    }
  });

  it("is told by a dry run, which looks nothing up", async () => {
    const service = await startSecond({ dialect: "onyx" });
    const ran = await runIn(service, "ingest docs --cc-pair-id 2 --no-overwrite --dry-run");
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.stderr).toContain("--no-overwrite: the upload checks for existing documents");
  });
});

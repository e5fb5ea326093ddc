import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { expectRun, runIn } from "../state/support.ts";

const files = { "docs/1.md": "# One\n\nText.\n", "docs/2.md": "# Two\n\nText.\n" };

async function startSent(): Promise<TestService> {
  const service = await startTestService({ files });
  await expectRun(service, "ingest docs --cc-pair-id 2", 0);
  return service;
}

/** Neither a key nor an address: nothing can be asked of a service. */
function withoutService({ folder, env }: TestService): Pick<TestService, "folder" | "env"> {
  const { KNOWCTL_API_KEY: _, ...rest } = env;
  return { folder, env: rest };
}

/** A new, a changed and a gone document. */
async function startDiffering(): Promise<TestService> {
  const service = await startSent();
  writeFiles(service.folder, { "docs/new.md": "# New\n", "docs/1.md": "# One\n\nOther.\n" });
  rmSync(join(service.folder, "docs/2.md"));
  return service;
}

describe("status", () => {
  it("compares with the record, without key, request or configuration", async () => {
    const service = await startDiffering();
    const requests = service.sandbox.ledger.requests.length;
    const ran = await expectRun(withoutService(service), "status -o text", 0);
    expect(ran.stdout).toBe(
      "new: 1 document\n  docs/new.md\nchanged: 1 document\n  docs/1.md\ngone: 1 document\n  docs/2.md (gone)\n",
    );
    expect(ran.stderr).toContain("new and changed: `knowctl ingest PATH` sends them");
    // The test service speaks the standard dialect, which cannot delete.
    expect(ran.stderr).toContain("gone: `knowctl prune --tombstone` replaces their text");
    expect(service.sandbox.ledger.requests.length).toBe(requests);
  });

  it("names an upload with the flags that the files had", async () => {
    const service = await startTestService({ files });
    const wordsOf = (command: string): string[] =>
      command.match(/"[^"]*"|\S+/g)?.map((word) => word.replaceAll('"', "")) ?? [];
    const flags = `--id-prefix kb/ --exclude "*.tmp" --metadata "team=A B"`;
    await expectRun(service, wordsOf(`ingest docs --cc-pair-id 2 ${flags}`), 0);
    writeFiles(service.folder, { "docs/new.md": "# New\n\nText.\n" });
    const { stderr } = await runIn(service, "status");
    const [, command = ""] = /^new and changed: `knowctl (.*)` sends them$/m.exec(stderr) ?? [];
    expect(command).toContain("ingest PATH --");
    const again = wordsOf(command.replace("PATH", "docs"));
    await expectRun(service, again, 0, "1 created, 2 unchanged");
    await expectRun(service, "ingest docs/1.md --id-prefix two/ --cc-pair-id 2", 0);
    writeFiles(service.folder, { "docs/new.md": "# New\n\nMore.\n" });
    const several = await runIn(service, "status");
    expect(several.stderr).toContain("`knowctl ingest PATH` with the flags of its upload sends");
  });

  it("compares a folder that was never uploaded, and makes no state", async () => {
    const { folder, env } = await startTestService({ files });
    const { KNOWCTL_API_KEY: _, KNOWCTL_BASE_URL: _2, ...rest } = env;
    const ran = await expectRun({ folder, env: rest }, "status docs --json", 0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ summary: { new: 2 } });
    expect(existsSync(join(folder, ".knowctl"))).toBe(false);
  });

  it("prints json and ndjson with a version", async () => {
    const service = await startDiffering();
    const { stdout } = await runIn(service, "status --json");
    const report = JSON.parse(stdout) as { documents: object[] };
    expect(report).toMatchObject({
      version: 1,
      command: "status",
      summary: { unchanged: 0, new: 1, changed: 1, failed: 0, gone: 1, unreadable: 0 },
    });
    expect(report.documents).toEqual([
      { id: "docs/new.md", path: "docs/new.md", result: "new", class: null, ccPairId: 2 },
      { id: "docs/1.md", path: "docs/1.md", result: "changed", class: null, ccPairId: 2 },
      { id: "docs/2.md", path: "docs/2.md", result: "gone", class: "gone", ccPairId: 2 },
    ]);
    const lines = (await runIn(service, "status -o ndjson")).stdout.trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual([
      "document",
      "document",
      "document",
      "result",
    ]);
  });
});

describe("status --exit-code", () => {
  const draft = "---\ndraft: true\n---\n# One\n\nText.\n";

  it.each<[string, number, (service: TestService) => void]>([
    ["nothing differs", 0, () => {}],
    ["a file is new", 12, ({ folder }) => writeFiles(folder, { "docs/n.md": "# N\n" })],
    ["a file changed", 12, ({ folder }) => writeFiles(folder, { "docs/1.md": "# O\n" })],
    ["a file is gone", 12, ({ folder }) => rmSync(join(folder, "docs/1.md"))],
    // prune keeps these without --class.
    ["a file opted out", 0, ({ folder }) => writeFiles(folder, { "docs/1.md": draft })],
    ["a file is ignored", 0, ({ folder }) => writeFiles(folder, { ".knowctlignore": "1.md\n" })],
    [
      "a file cannot be read",
      10,
      ({ folder }) => writeFiles(folder, { "docs/1.md": new Uint8Array([0xff, 0]) }),
    ],
  ])("%s: %i", async (_name, code, change) => {
    const service = await startSent();
    change(service);
    const ran = await runIn(service, "status --exit-code");
    expect(ran, ran.stderr).toMatchObject({ code });
    const { code: without } = await runIn(service, "status");
    expect(without).toBe(code === 12 ? 0 : code);
  });

  it("is 12 after a failure that retry would send again", async () => {
    const service = await startTestService({ files: { "docs/1.md": new Uint8Array([0xff, 0]) } });
    expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(10);
    writeFiles(service.folder, files);
    const ran = await expectRun(service, "status --exit-code --json", 12);
    const { documents } = JSON.parse(ran.stdout) as { documents: { result: string }[] };
    expect(documents.map(({ result }) => result)).toEqual(["new", "failed"]);
  });
});

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../main.ts";
import { sampleRun, wholeReport, type SampleOptions } from "../output/report/sample.ts";
import { createTestContext, temporaryFolder } from "../support.ts";

/** A folder with a report `shard-N.json` for each run given. */
function folderOf(...runs: SampleOptions[]): string {
  const folder = temporaryFolder();
  for (const [index, run] of runs.entries()) {
    const text = JSON.stringify(wholeReport(sampleRun(run)));
    writeFileSync(join(folder, `shard-${index + 1}.json`), text);
  }
  return folder;
}

async function run(folder: string, ...args: string[]) {
  const context = createTestContext({ cwd: folder });
  const code = await main(["report", "merge", ...args], context);
  return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
}

const shard = (index: number, count: number): SampleOptions => ({ shard: { index, count } });
const both = ["shard-1.json", "shard-2.json"];

describe("report merge", () => {
  it("prints JSON, and what it merged on stderr", async () => {
    const folder = folderOf(shard(1, 2), { ...shard(2, 2), failed: [["a.md", "::bad"]] });
    const { code, stdout, stderr } = await run(folder, ...both);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      type: "ingest-report",
      status: "partial",
      failures: [{ path: "a.md", reason: "::bad" }],
    });
    expect(stderr).toBe(
      "2 reports merged, status partial: 4 created, 2 updated, 1 failed in 0.0s\n",
    );
  });

  it.each(["all.json", "all.xml", "new/all.html"])("writes %s", async (name) => {
    const folder = folderOf(shard(1, 2), shard(2, 2));
    expect(await run(folder, ...both, "--report", name)).toMatchObject({ code: 0, stdout: "" });
    expect(readFileSync(join(folder, name), "utf8")).toMatch(/^(?:\{\n|<\?xml|<!doctype)/);
  });

  it("writes a merged report that it reads again", async () => {
    const folder = folderOf(shard(1, 2), shard(2, 2));
    await run(folder, ...both, "--report", "all.json");
    expect(await run(folder, "all.json", "--jq", ".counts.created")).toMatchObject({
      code: 0,
      stdout: "4\n",
    });
    expect(await run(folder, "all.json", "--fields", "status", "-o", "yaml")).toMatchObject({
      stdout: "status: ok\n",
    });
  });

  it("names missing shards, writes the report, and exits 10", async () => {
    const folder = folderOf(shard(1, 4), shard(3, 4));
    const { code, stderr } = await run(folder, ...both, "--report", "all.json");
    expect(code).toBe(10);
    expect(stderr).toContain("the merged report is incomplete: shards 2 and 4 of 4 are missing");
    expect(JSON.parse(readFileSync(join(folder, "all.json"), "utf8"))).toMatchObject({
      status: "partial",
      merged: { missing: [2, 4] },
    });
  });

  it("warns of shards of different commits", async () => {
    const folder = folderOf({ ...shard(1, 2), commit: "aaa" }, { ...shard(2, 2), commit: "bbb" });
    const { code, stderr } = await run(folder, ...both);
    expect(code).toBe(0);
    expect(stderr).toContain(
      "warning: the shards are from different commits: shard-1.json: aaa, shard-2.json: bbb",
    );
  });

  it.each<[string, string[], number, string]>([
    ["no file", [], 2, "missing required argument 'file'"],
    ["a file twice", ["shard-1.json", "./shard-1.json"], 2, "shard-1.json and ./shard-1.json are"],
    ["no such file", ["no.json"], 2, "no.json: cannot be read: no such file"],
    ["a folder", ["."], 2, ".: cannot be read: it is a folder"],
    [
      "another form",
      [...both, "--report", "a.pdf"],
      2,
      "--report a.pdf: unsupported report format",
    ],
    ["a part as the place", [...both, "--report", "./shard-2.json"], 2, "is one of the reports"],
    ["a filter", [...both, "--filter", "a=b"], 2, "--filter is for lists"],
    ["an unknown format", [...both, "-o", "xml"], 2, "Expected one of table, json"],
    [
      "a folder to write",
      [...both, "--report", "dir.json"],
      2,
      "--report dir.json: it is a folder",
    ],
    ["an unwritable file", [...both, "--report", "shard-1.json/a.json"], 14, "cannot write the"],
  ])("refuses %s", async (_name, args, code, message) => {
    const folder = folderOf(shard(1, 2), shard(2, 2));
    mkdirSync(join(folder, "dir.json"));
    const result = await run(folder, ...args);
    expect(result).toMatchObject({ code, stdout: "" });
    expect(result.stderr).toContain(message);
  });
});

import { execFileSync } from "node:child_process";
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

const marker = "DEEP";
/** Arrays in arrays; written by hand, because JSON.stringify overflows the stack too. */
const deep = (depth: number): string => `${marker}${depth}`;
const textOf = (value: unknown): string =>
  JSON.stringify(value).replace(/"DEEP(\d+)"/, (_, depth) => {
    return "[".repeat(Number(depth)) + "]".repeat(Number(depth));
  });

const shard = (index: number, count: number): SampleOptions => ({ shard: { index, count } });
const both = ["shard-1.json", "shard-2.json"];

describe("report merge", () => {
  it("prints JSON, and what it merged on stderr", async () => {
    const folder = folderOf(shard(1, 2), { ...shard(2, 2), failed: [["a.md", "::bad"]] });
    const { code, stdout, stderr } = await run(folder, ...both);
    expect(code).toBe(10);
    expect(JSON.parse(stdout)).toMatchObject({
      type: "ingest-report",
      status: "partial",
      failures: [{ path: "a.md", reason: "::bad" }],
    });
    expect(stderr).toBe(
      "2 reports merged, status partial: 4 created, 2 updated, 1 failed in 0.0s\n" +
        "error: 1 document failed\n",
    );
  });

  it.each(["all.json", "all.xml", "new/all.html"])("writes %s", async (name) => {
    const folder = folderOf(shard(1, 2), shard(2, 2));
    expect(await run(folder, ...both, "--report", name)).toMatchObject({ code: 0, stdout: "" });
    expect(readFileSync(join(folder, name), "utf8")).toMatch(
      /^(?:\{"version":2,|<\?xml|<!doctype)/,
    );
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

  it("writes each report that is named", async () => {
    const folder = folderOf(shard(1, 2), shard(2, 2));
    const args = [...both, "--report", "all.json", "--report", "all.html"];
    expect(await run(folder, ...args)).toMatchObject({ code: 0, stdout: "" });
    expect((await run(folder, "all.json", "--jq", ".counts.created")).stdout).toBe("4\n");
    expect(readFileSync(join(folder, "all.html"), "utf8")).toMatch(/^<!doctype/);
  });

  it("says why runs stopped that sent nothing", async () => {
    const why = "the pair prunes; nothing was sent";
    const stopped = { status: "error" as const, sent: 0, error: why };
    const folder = folderOf({ ...shard(1, 2), ...stopped }, { ...shard(2, 2), ...stopped });
    const { code, stderr } = await run(folder, ...both);
    expect(code, stderr).toBe(10);
    expect(stderr).toContain("2 reports merged, status error: nothing sent in");
    expect(stderr).toContain(
      "ended well: status error\n  shard 1: the pair prunes; nothing was sent\n",
    );
  });

  it("exits 10 where a run did not end well, or --verify found a document lost", async () => {
    const folder = folderOf(shard(1, 2), { ...shard(2, 2), status: "interrupted" });
    expect(await run(folder, ...both)).toMatchObject({
      code: 10,
      stderr: expect.stringContaining(
        "not all runs ended well: status interrupted\n  shard 2: interrupted\n",
      ),
    });
    const lost = [{ path: "a.md", id: "a.md", result: "missing", reason: "no chunk" }];
    const text = JSON.stringify({ ...wholeReport(sampleRun()), lost });
    writeFileSync(join(folder, "lost.json"), text);
    expect((await run(folder, "lost.json")).code).toBe(10);
  });

  const summary = wholeReport(sampleRun());
  const failures = [{ path: "a.md", reason: "bad", retryable: false }];
  const { counts } = summary;
  const runOf = (more: object) => ({
    shard: null,
    status: "ok",
    startedAt: summary.startedAt,
    seconds: 1,
    counts,
    ...more,
  });
  const merged = (...runs: object[]) => ({ merged: { shards: null, missing: [], runs } });
  it.each<[string, object, string]>([
    [
      "ok with failures",
      { counts: { ...counts, failed: 1 }, failures },
      "the status is ok, and 1 failed",
    ],
    [
      "failures without a count",
      { status: "partial", failures },
      "0 failed, and 1 in its list of failures",
    ],
    [
      "a list of failures that was cut",
      { status: "partial", counts: { ...counts, failed: 2 }, failures },
      "2 failed, and 1 in its list of failures",
    ],
    [
      "another number of failures left out",
      { status: "partial", counts: { ...counts, failed: 2 }, failures, failuresLeftOut: 2 },
      "2 failed, and 1 in its list of failures",
    ],
    ["ok with an error", { error: "401" }, "the status is ok, and an error stopped the run"],
    [
      "ok with a run that failed",
      merged(runOf({ status: "error" })),
      "the status is ok, and that of a run is error",
    ],
    [
      "ok with a missing shard",
      { merged: { shards: 2, missing: [2], runs: [runOf({})] } },
      "the status is ok, and shards are missing",
    ],
    ["other counts than its runs", merged(runOf({}), runOf({})), "2 created, and 4 in its runs"],
  ])("refuses a report that contradicts itself: %s", async (_name, more, words) => {
    const folder = folderOf();
    writeFileSync(join(folder, "r.json"), JSON.stringify({ ...summary, ...more }));
    const { code, stderr, stdout } = await run(folder, "r.json");
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`r.json: the report contradicts itself: ${words}`);
  });

  it.each<[string, () => unknown, string]>([
    [
      "three hundred thousand buckets",
      () => ({
        ...summary,
        throughput: {
          bucketSeconds: 1,
          buckets: Array.from({ length: 300_000 }, () => ({
            second: 0,
            documents: 0,
            failed: 0,
          })),
        },
      }),
      "throughput.buckets: ",
    ],
    [
      "half a million wrong failures",
      () => ({ ...summary, failures: Array.from({ length: 500_000 }, () => 1) }),
      "not a valid report: ",
    ],
    ["deep settings", () => ({ ...summary, options: [{ settings: { a: deep(200_000) } }] }), ""],
    ["a huge count", () => ({ ...summary, planned: 1e300 }), "planned: "],
    ["a negative time", () => ({ ...summary, seconds: -1 }), "seconds: "],
    ["another command's report", () => ({ version: 1, command: "lint" }), "not a report of"],
  ])("refuses a hostile report by its name: %s", async (_name, report, words) => {
    const folder = folderOf();
    writeFileSync(join(folder, "r.json"), textOf(report()));
    const { code, stderr } = await run(folder, "r.json");
    expect(code).toBe(2);
    expect(stderr).toContain("error: r.json: ");
    expect(stderr).toContain(words);
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
    ["no file", [], 2, "no reports to merge"],
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
    ["a named pipe", ["pipe.json"], 2, "pipe.json: it is not a regular file"],
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
    execFileSync("mkfifo", [join(folder, "pipe.json")]);
    const result = await run(folder, ...args);
    expect(result).toMatchObject({ code, stdout: "" });
    expect(result.stderr).toContain(message);
  });
});

import { describe, expect, it } from "vitest";
import { htmlReport } from "../../../src/output/report/html.ts";
import { mergeReports, withFirstFailures } from "../../../src/output/report/stored/merge.ts";
import { parseReport } from "../../../src/output/report/stored/read.ts";
import type { ReportHead } from "../../../src/output/report/stored/record.ts";
import { sampleRun, uploadOf, wholeReport, type SampleOptions } from "./sample.ts";

function merge(...runs: SampleOptions[]) {
  const named = runs.map((run, index) => ({
    name: `r${index + 1}.json`,
    report: wholeReport(sampleRun(run)),
  }));
  const { failures, ...head } = mergeReports(named);
  return { head, failures };
}

const shard = (index: number, count: number): SampleOptions => ({ shard: { index, count } });

describe("merged reports", () => {
  it("have the first 1,000 documents that the checks did not find as sent", () => {
    const lost = (prefix: string): ReportHead["lost"] =>
      Array.from({ length: 700 }, (_, index) => {
        const id = `${prefix}${index}.md`;
        return { path: id, id, result: "missing", reason: "no chunk" };
      });
    const reports = ["a", "b"].map((name) => {
      const report = { ...wholeReport(sampleRun()), lost: lost(name) };
      return { name, report };
    });
    const head = mergeReports(reports);
    expect(head.lost).toHaveLength(1000);
    expect(head.lost?.at(-1)).toMatchObject({ id: "b299.md" });
    expect(merge({}).head).not.toHaveProperty("lost");
  });

  it("list the first 1,000 documents that were created or updated, and count the others", () => {
    const { head } = merge({ sent: 700 }, { sent: 700 });
    expect(head.sent?.documents).toHaveLength(1000);
    expect(head.sent?.documents[1]).toEqual({
      path: "docs/page-1.md",
      id: "handbook/docs/page-1.md",
      status: "updated",
    });
    expect(head.sent?.leftOut).toBe(400);
    expect(sampleRun({ sent: 5000 }).head.sent).toMatchObject({ leftOut: 4000 });
    expect(sampleRun({ sent: 0 }).head).not.toHaveProperty("sent");
    const html = [...htmlReport(uploadOf({ head, failures: [] }))].join("");
    expect(html).toContain('<td>created</td><td><span class="path">docs/page-0.md</span>');
    expect(html).toContain("and 400 more</p>");
  });

  it("add up, from the first begin to the last end", () => {
    const { head, failures } = merge(
      { ...shard(2, 2), second: 60, sent: 200, failed: [["x.md", "bad"]], skipped: [["e", 1]] },
      { ...shard(1, 2), sent: 100, retries: 5, throttled: 2, skipped: [["e", 2]] },
    );
    expect(head).toMatchObject({
      status: "partial",
      startedAt: "2026-03-04T09:00:00.000Z",
      finishedAt: "2026-03-04T09:01:02.010Z",
      seconds: 62.01,
      shard: null,
      counts: { created: 150, updated: 150, failed: 1, skipped: 3 },
      planned: 301,
      sentBytes: 300_000,
      requests: 301,
      retries: 5,
      throttled: 2,
      skipped: [{ reason: "e", count: 3 }],
      paths: ["docs"],
      merged: { shards: 2, missing: [] },
    });
    expect(head.merged?.runs.map((run) => [run.shard?.index, run.status])).toEqual([
      [1, "ok"],
      [2, "partial"],
    ]);
    expect(failures.map(({ path }) => path)).toEqual(["x.md"]);
    expect(head.slowest).toHaveLength(20);
    expect(head.slowest[0]?.ms).toBe(199);
    const busy = head.throughput.buckets.filter(({ documents }) => documents > 0);
    expect(busy.map(({ second }) => second)).toEqual([0, 1, 60, 61, 62]);
    expect(busy.reduce((sum, { documents }) => sum + documents, 0)).toBe(300);
  });

  it("keep bounded buckets however far apart the runs are", () => {
    const { head } = merge({ second: 0 }, { second: 86_400 * 365 });
    expect(head.throughput.buckets.length).toBeLessThanOrEqual(600);
    expect(head.throughput.buckets.reduce((sum, { documents }) => sum + documents, 0)).toBe(6);
  });

  it.each<[string, SampleOptions["status"][], string]>([
    ["all ok", ["ok", "ok"], "ok"],
    ["one partial", ["ok", "partial"], "partial"],
    ["one interrupted", ["partial", "interrupted"], "interrupted"],
    ["one stopped", ["error", "interrupted", "ok"], "error"],
  ])("have the worst status: %s", (_name, statuses, expected) => {
    expect(merge(...statuses.map((status) => ({ status: status! }))).head.status).toBe(expected);
  });

  it("name the shards that are missing, and are partial then", () => {
    const { head } = merge(shard(1, 8), shard(2, 8), ...[4, 5, 6, 8].map((n) => shard(n, 8)));
    expect(head.merged).toMatchObject({ shards: 8, missing: [3, 7] });
    expect(head.status).toBe("partial");
  });

  it("name the shard that stopped, and why", () => {
    const { head } = merge(shard(1, 2), { ...shard(2, 2), status: "error", error: "401: no" });
    expect(head.error).toBe("shard 2: 401: no");
  });

  it("can be merged again", () => {
    const half = merge(shard(1, 3), shard(2, 3));
    const rest = wholeReport(sampleRun(shard(3, 3)));
    const whole = mergeReports([
      { name: "half.json", report: { ...half.head, failures: [] } },
      { name: "rest.json", report: rest },
    ]);
    expect(whole).toMatchObject({ merged: { shards: 3, missing: [] } });
    expect(whole.merged?.runs).toHaveLength(3);
    expect(whole.counts.created).toBe(6);
  });

  it("keep what is common: pair and commit", () => {
    const target = (ccPairId: number) => ({
      target: { profile: "writer", baseUrl: "http://h", ccPairId },
    });
    const same = merge({ ...target(2), commit: "a" }, { ...target(2), commit: "a" }).head;
    expect(same).toMatchObject({ target: { ccPairId: 2 }, commit: "a" });
    const other = merge({ ...target(2), commit: "a" }, { ...target(3), commit: "b" }).head;
    expect(other.target.ccPairId).toBe(null);
    expect(other).not.toHaveProperty("commit");
  });

  it("keep a bounded number of failures, and count the others", () => {
    const failing = (first: string): SampleOptions => ({
      failed: [0, 1, 2].map((at) => [`${first}${at}.md`, "422"] as const),
    });
    const reports = ["a", "b"].map((name) => wholeReport(sampleRun(failing(name))));
    const [first, second] = [withFirstFailures(reports[0]!, 4), withFirstFailures(reports[1]!, 1)];
    expect(first).toEqual(reports[0]);
    expect(second).toMatchObject({ failuresLeftOut: 2, failures: [{ path: "b0.md" }] });
    const merged = mergeReports([
      { name: "a", report: first },
      { name: "b", report: second },
    ]);
    expect(merged.failures.map(({ path }) => path)).toEqual(["a0.md", "a1.md", "a2.md", "b0.md"]);
    expect(merged).toMatchObject({ failuresLeftOut: 2, counts: { failed: 6 } });
    expect(parseReport(JSON.stringify(merged), "m.json")).toEqual(merged);
    expect(withFirstFailures(merged, 1)).toMatchObject({ failuresLeftOut: 5 });
  });

  it.each<[string, SampleOptions[], string]>([
    [
      "a shard twice",
      [shard(1, 3), shard(2, 3), shard(1, 3)],
      "shard 1 of 3 is in two reports: r1.json and r3.json",
    ],
    [
      "other divisions",
      [shard(1, 3), shard(2, 4)],
      "r1.json and r2.json are reports of different runs: of 3 shards and of 4 shards",
    ],
    [
      "with and without shards",
      [shard(1, 3), {}],
      "r1.json and r2.json are reports of different runs: of 3 shards and without shards",
    ],
    ["a shard past the end", [shard(5, 3)], "r1.json: there is no shard 5 of 3"],
    [
      "other services",
      [{}, { target: { profile: "writer", baseUrl: "http://h", ccPairId: 2 } }],
      "r1.json and r2.json are reports of different services: https://assistant.example.com/api and http://h",
    ],
  ])("are refused: %s", (_name, runs, message) => {
    expect(() => merge(...runs)).toThrow(expect.objectContaining({ exit: "usage", message }));
  });
});

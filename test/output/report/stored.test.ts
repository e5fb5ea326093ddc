import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fromJSONSchema } from "zod";
import { jsonOf } from "../../../src/output/report/json.ts";
import { mergeReports, withFirstFailures } from "../../../src/output/report/stored/merge.ts";
import { checkShape, parseReport, readReport } from "../../../src/output/report/stored/read.ts";
import { projectFolder, temporaryFolder } from "../../support.ts";
import {
  type Sample,
  type SampleOptions,
  hostileTexts,
  sampleRun,
  uploadOf,
  wholeReport,
} from "./sample.ts";
import { htmlReport } from "../../../src/output/report/html.ts";
import type { ReportHead } from "../../../src/output/report/stored/record.ts";
import {
  createReportCollector,
  sumTraffic,
  failureOf,
} from "../../../src/output/report/stored/collector.ts";
import * as z from "zod/mini";

describe("json", () => {
  const textOf = ({ head, failures }: Sample): string =>
    [...jsonOf({ head, list: "failures", items: failures })].join("");
  const schemaText = readFileSync(join(projectFolder, "schema", "report.schema.json"), "utf8");

  const runs: Record<string, Sample> = {
    "without failures": sampleRun(),
    empty: sampleRun({ sent: 0 }),
    stopped: sampleRun({ status: "error", error: "401", commit: "abc" }),
    "with failures": sampleRun({
      failed: [
        ["a.md", "a.md:1:2: x"],
        ["b.md", "y"],
      ],
    }),
    "of a shard": sampleRun({ shard: { index: 1, count: 2 } }),
  };

  describe("a JSON report", () => {
    it.each(Object.entries(runs))("%s is valid by the schema, and read back the same", (_, run) => {
      const schema = fromJSONSchema(JSON.parse(schemaText) as never);
      const text = textOf(run);
      expect(schema.safeParse(JSON.parse(text)).error).toBeUndefined();
      expect(parseReport(text, "x.json")).toEqual(wholeReport(run));
    });

    it("of shards, merged, is valid by the schema", () => {
      const report = wholeReport(sampleRun({ shard: { index: 1, count: 2 } }));
      const { failures, ...head } = mergeReports([{ name: "a", report }]);
      const text = textOf({ head, failures });
      const schema = fromJSONSchema(JSON.parse(schemaText) as never);
      expect(schema.safeParse(JSON.parse(text)).error).toBeUndefined();
      expect(schema.safeParse({ ...JSON.parse(text), version: 3 }).success).toBe(false);
    });

    it("keeps any text as data, with a line for each failure", () => {
      const run = sampleRun({ failed: hostileTexts.map((text) => [text, text] as const) });
      const text = textOf(run);
      expect(JSON.parse(text)).toEqual(wholeReport(run));
      expect(text.split("\n").filter((line) => line.startsWith('{"path"'))).toHaveLength(
        hostileTexts.length,
      );
    });

    it("does not collect the failures before it writes them", () => {
      const { head } = sampleRun();
      let taken = 0;
      const endless = function* () {
        for (;;) {
          taken++;
          yield { path: "a", reason: "b", retryable: false };
        }
      };
      const pieces = jsonOf({ head, list: "failures", items: endless() });
      for (let index = 0; index < 100; index++) pieces.next();
      expect(taken).toBeLessThanOrEqual(100);
    });
  });

  describe("reading a report", () => {
    const good = wholeReport(sampleRun());
    it.each<[string, string, string]>([
      ["no JSON", "{", "r.json: not a JSON report"],
      ["null", "null", "r.json: JSON, but not a report of knowctl ingest"],
      ["an array", "[]", "r.json: JSON, but not a report of knowctl ingest"],
      ["other JSON", '{"type":"result"}', "r.json: JSON, but not a report of knowctl ingest"],
      ["a later version", '{"type":"ingest-report","version":3}', "r.json: a report of version 3"],
      [
        "a wrong member",
        JSON.stringify({ ...good, counts: { ...good.counts, failed: -1 } }),
        "r.json: not a valid report: counts.failed: ",
      ],
      [
        "a wrong time",
        JSON.stringify({ ...good, startedAt: "yesterday" }),
        "r.json: not a valid report: startedAt: expected a time",
      ],
      [
        "a time that cannot be",
        JSON.stringify({ ...good, startedAt: "2026-99-04T09:00:00Z" }),
        "r.json: not a valid report: startedAt: no such time",
      ],
      [
        "a failure without a path",
        JSON.stringify({ ...good, failures: [{ reason: "x", retryable: true }] }),
        "r.json: not a valid report: failures.0.path: ",
      ],
    ])("refuses %s", (_name, text, message) => {
      expect(() => parseReport(text, "r.json")).toThrow(
        expect.objectContaining({ exit: "usage", message: expect.stringContaining(message) }),
      );
    });

    it("takes members that it does not know, and a byte order mark", () => {
      const text = `\ufeff${JSON.stringify({ ...good, later: 1 })}`;
      expect(parseReport(text, "r.json")).toEqual(good);
    });

    it("names a file that cannot be read", async () => {
      const folder = temporaryFolder();
      await expect(readReport(join(folder, "no.json"), "no.json")).rejects.toMatchObject({
        exit: "usage",
        message: "no.json: cannot be read: no such file",
      });
      writeFileSync(join(folder, "x.json"), JSON.stringify(good));
      expect(await readReport(join(folder, "x.json"))).toEqual(good);
    });
  });
});

describe("merge", () => {
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
      const [first, second] = [
        withFirstFailures(reports[0]!, 4),
        withFirstFailures(reports[1]!, 1),
      ];
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
});

describe("a failure", () => {
  it.each([
    ["a.md:3:5: bad date", { line: 3, column: 5 }],
    ["a.md:3: bad date", { line: 3 }],
    ["a.md: bad date", {}],
    ["a.md:3:5 bad date", { line: 3 }],
    ["b/a.md:3:5: bad date", {}],
    ["422: a.md:3:5: bad date", {}],
    [`a.md:${"9".repeat(30)}: bad`, {}],
  ])("takes its place from %j", (reason, place) => {
    expect(failureOf({ status: "failed", path: "a.md", reason })).toEqual({
      path: "a.md",
      reason,
      retryable: false,
      ...place,
    });
  });

  it("keeps what the event says", () => {
    const event = { path: "a.md", row: 3, id: "a", reason: "a.md:1: x" };
    const known = { retryable: true, httpStatus: 503 };
    expect(failureOf({ status: "failed", ...event, ...known })).toEqual({
      ...event,
      line: 1,
      retryable: true,
      status: 503,
    });
  });
});

describe("the collector", () => {
  it("counts, and hands failures on", () => {
    const { head, failures } = sampleRun({
      sent: 3,
      failed: [["x.md", "broken"]],
      skipped: [
        ["empty", 2],
        ["image", 5],
        ["empty", 1],
      ],
    });
    const counts = { created: 2, updated: 1, unchanged: 0, skipped: 8, failed: 1, renamed: 0 };
    expect(head.counts).toEqual(counts);
    expect(head.skipped).toEqual([
      { reason: "image", count: 5 },
      { reason: "empty", count: 3 },
    ]);
    expect(failures).toEqual([{ path: "x.md", id: "x.md", reason: "broken", retryable: false }]);
    expect(head).toMatchObject({
      startedAt: "2026-03-04T09:00:00.000Z",
      finishedAt: "2026-03-04T09:00:00.040Z",
      seconds: 0.04,
    });
  });

  it("keeps the 20 slowest, slowest first", () => {
    const { head } = sampleRun({ sent: 500 });
    expect(head.slowest.map(({ ms }) => ms)).toEqual(Array.from({ length: 20 }, (_, i) => 499 - i));
  });

  it.each([
    ["https://user:pass@h.example:8443/base/?k=secret#f", "https://h.example:8443/base"],
    ["http://127.0.0.1:80", "http://127.0.0.1"],
    ["no url with secret", ""],
  ])("keeps origin and path of %s alone", (baseUrl, expected) => {
    const { head } = sampleRun({ target: { baseUrl, profile: "p", ccPairId: undefined } });
    expect(head.target).toEqual({ baseUrl: expected, profile: "p", ccPairId: null });
  });

  it("stays bounded: buckets, reasons, renamed", () => {
    let nowMs = 0;
    const collector = createReportCollector(
      () => nowMs,
      () => {},
    );
    for (let index = 0; index < 5000; index++) {
      nowMs += 10_000;
      collector.add({ status: "created", path: "a", ms: 1 });
      collector.add({ status: "skipped", path: "a", reason: `reason ${index}` });
      collector.rename(`a${index}`, `b${index}`);
    }
    const end = { planned: 0, sentBytes: 0, ...sumTraffic([]) };
    const target = { baseUrl: "http://h", profile: "p", ccPairId: 1 };
    const head = collector.finish({ status: "ok", target, paths: [], options: [], ...end });
    const { buckets, bucketSeconds } = head.throughput;
    expect(buckets.length).toBeLessThanOrEqual(600);
    expect(buckets.reduce((sum, { documents }) => sum + documents, 0)).toBe(5000);
    expect(bucketSeconds).toBe(128);
    expect(buckets[1]?.second).toBe(128);
    expect(head.skipped).toHaveLength(1001);
    expect(head.skipped[0]).toEqual({ reason: "other reasons", count: 4000 });
    expect(head.renamed).toHaveLength(1000);
    expect(head.counts).toMatchObject({ created: 5000, skipped: 5000, renamed: 5000 });
  });

  it("has no trouble with a clock that goes back", () => {
    let nowMs = 10_000;
    const collector = createReportCollector(
      () => (nowMs -= 1000),
      () => {},
    );
    collector.add({ status: "created", path: "__proto__", ms: -5 });
    const end = { planned: 0, sentBytes: 0, ...sumTraffic([]) };
    const target = { baseUrl: "http://h", profile: "p", ccPairId: 1 };
    const head = collector.finish({ status: "ok", target, paths: [], options: [], ...end });
    expect(head.seconds).toBe(0);
    expect(head.throughput.buckets).toEqual([{ second: 0, documents: 1, failed: 0 }]);
    expect(head.slowest).toEqual([{ path: "__proto__", ms: 0 }]);
  });
});

describe("long lists", () => {
  let looked = 0;
  const shape = z.object({
    version: z.literal(1),
    list: z.array(
      z.custom<string>((value) => {
        looked += 1;
        return typeof value === "string";
      }),
    ),
    deep: z.optional(z.object({ list: z.array(z.object({ text: z.string() })) })),
  });
  const check = (value: object) => checkShape("r.json", shape, { version: 1, ...value });

  it("stops at the first invalid element of a long list, and names its place", () => {
    looked = 0;
    const list = [...Array<string>(2500).fill("a"), ...Array<number>(100_000).fill(1)];
    expect(() => check({ list })).toThrow("r.json: not a valid report: list.2500: it is not valid");
    expect(looked).toBe(2501);
  });

  it("looks into members, and reads long lists that are right", () => {
    const texts = Array.from({ length: 2500 }, () => ({ text: "a" }));
    const wrong = { list: [], deep: { list: [...texts, { text: 1 }] } };
    expect(() => check(wrong)).toThrow("deep.list.2500.text: expected string");
    const right = { list: ["a"], deep: { list: texts } };
    expect(check(right)).toEqual({ version: 1, ...right });
  });

  it("refuses an object of many members, and another version", () => {
    const members = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, 1]));
    expect(() => check(members)).toThrow("too many members");
    expect(() => check({ version: 2 })).toThrow("r.json: a report of version 2");
  });
});

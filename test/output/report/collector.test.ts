import { describe, expect, it } from "vitest";
import { createReportCollector, failureOf } from "../../../src/output/report/stored/collector.ts";
import { sampleRun } from "./sample.ts";

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
    const end = { planned: 0, sentBytes: 0, requests: 0, retries: 0, throttled: 0 };
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
    const end = { planned: 0, sentBytes: 0, requests: 0, retries: 0, throttled: 0 };
    const target = { baseUrl: "http://h", profile: "p", ccPairId: 1 };
    const head = collector.finish({ status: "ok", target, paths: [], options: [], ...end });
    expect(head.seconds).toBe(0);
    expect(head.throughput.buckets).toEqual([{ second: 0, documents: 1, failed: 0 }]);
    expect(head.slowest).toEqual([{ path: "__proto__", ms: 0 }]);
  });
});

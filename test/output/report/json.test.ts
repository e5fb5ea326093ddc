import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fromJSONSchema } from "zod";
import { jsonOf } from "../../../src/output/report/json.ts";
import { mergeReports } from "../../../src/output/report/stored/merge.ts";
import { parseReport, readReport } from "../../../src/output/report/stored/read.ts";
import { projectFolder, temporaryFolder } from "../../support.ts";
import { hostileTexts, sampleRun, wholeReport, type Sample } from "./sample.ts";

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

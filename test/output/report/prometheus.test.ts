import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { prometheusReport } from "../../../src/output/report/prometheus.ts";
import type { Report } from "../../../src/output/report/report.ts";
import { parseExposition, type Family } from "./exposition.ts";
import { foreign, hostileTexts, sampleRun, uploadOf } from "./sample.ts";

const textOf = (report: Report, name = "nightly"): string =>
  [...prometheusReport(report, undefined, name)].join("");

/** The samples of a family by the value of one of their labels. */
function by(label: string, family: Family | undefined): Record<string, number> {
  const samples = family?.samples ?? [];
  return Object.fromEntries(samples.map(({ labels, value }) => [labels[label] ?? "", value]));
}

const only = (families: Map<string, Family>, name: string): number | undefined =>
  families.get(`knowctl_${name}`)?.samples[0]?.value;

const failed = [["docs/a.md", "no"]] as const;

describe("the text for Prometheus", () => {
  it("has the numbers of an upload in bytes and seconds", () => {
    const traffic = { requests: 9, retries: 4, statuses: { 200: 3, 429: 4, none: 2 } };
    const run = sampleRun({ failed, skipped: [["empty", 2]], ...traffic, waitedSeconds: 1.25 });
    const families = parseExposition(textOf(uploadOf(run)));
    const results = { created: 2, updated: 1, unchanged: 0, skipped: 2, failed: 1 };
    expect(by("result", families.get("knowctl_documents"))).toEqual(results);
    expect(by("status", families.get("knowctl_requests"))).toEqual(traffic.statuses);
    expect(only(families, "sent_bytes")).toBe(3000);
    expect(only(families, "retries")).toBe(4);
    expect(only(families, "retry_wait_seconds")).toBe(1.25);
    expect(only(families, "run_duration_seconds")).toBe(run.head.seconds);
    expect(only(families, "run_success")).toBe(0);
    expect(only(families, "run_end_timestamp_seconds")).toBe(
      Date.parse(run.head.finishedAt) / 1000,
    );
    expect(only(families, "last_success_timestamp_seconds")).toBe(0);
  });

  it("tells the last success: this run, or the one before that succeeded", () => {
    const good = uploadOf(sampleRun());
    const { endedAtMs = 0 } = good.measures!;
    const last = (report: Report): number | undefined =>
      only(parseExposition(textOf(report)), "last_success_timestamp_seconds");
    expect(last(good)).toBe(endedAtMs / 1000);
    const bad = uploadOf(sampleRun({ failed }));
    expect(last({ ...bad, measures: { ...bad.measures!, lastSuccessMs: 5000 } })).toBe(5);
  });

  it.each(Object.entries(foreign))("is valid of %s, and has no text of it", (_name, reportOf) => {
    const plain = textOf(reportOf("x"));
    parseExposition(plain);
    for (const text of hostileTexts) expect(textOf(reportOf(text))).toBe(plain);
  });

  it.each(hostileTexts)("escapes the name of the file: %j", (name) => {
    const families = parseExposition(textOf(uploadOf(sampleRun()), name));
    const names = [...families.values()].flatMap(({ samples }) => samples);
    expect(new Set(names.map(({ labels }) => labels["report"]))).toEqual(new Set([name]));
  });

  const promtool = spawnSync("promtool", ["--version"]).status === 0;

  it.skipIf(!promtool)("has nothing that promtool would change", () => {
    const input = textOf(uploadOf(sampleRun({ failed, retries: 1 })));
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], {
      input,
      encoding: "utf8",
    });
    expect([status, stdout + stderr]).toEqual([0, ""]);
  });
});

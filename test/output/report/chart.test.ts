import { describe, expect, it } from "vitest";
import { throughputChart } from "../../../src/output/report/html.ts";

const throughput = (values: readonly number[], bucketSeconds = 1, failed = 0) => ({
  bucketSeconds,
  buckets: values.map((documents, index) => ({
    second: index * bucketSeconds,
    documents,
    failed: index === 0 ? failed : 0,
  })),
});

const count = (text: string, part: string): number => text.split(part).length - 1;

describe("the chart of throughput", () => {
  it.each([[[]], [[5]], [[5, 5]]])("is left out for %j", (values) => {
    expect(throughputChart(throughput(values))).toBe("");
  });

  it("has a bar for each bucket with documents, and axes that people can read", () => {
    const chart = throughputChart(throughput([40, 0, 80, 20], 2, 2));
    expect(count(chart, 'class="sent"')).toBe(3);
    expect(count(chart, 'class="lost"')).toBe(1);
    expect(chart).toContain("<span>50</span><span>25</span><span>0</span>");
    expect(chart).toContain("<span>0</span><span>2.0s</span><span>4.0s</span>");
    expect(chart).toContain("Documents per second over 8.0s; at most 40 per second.");
    // 40 a second of 50 is four fifths of the height.
    expect(chart).toContain('y="20.00" width="0.84" height="80.00"');
  });

  it("joins buckets to at most 150 bars without losing any", () => {
    const chart = throughputChart(throughput(Array.from({ length: 600 }, () => 10)));
    expect(count(chart, 'class="sent"')).toBe(150);
    expect(count(chart, 'height="100.00"')).toBe(150);
  });

  it.each([0, 1e-9, 1e300, Number.MAX_SAFE_INTEGER])("draws only numbers for %d", (value) => {
    expect(throughputChart(throughput([value, 0, value]))).not.toMatch(/NaN|Infinity|undefined/);
  });
});

import { createReportCollector, type RunEnd } from "../../../src/output/report/collector.ts";
import type { ReportFailure, ReportHead, RunReport } from "../../../src/output/report/record.ts";

const beginMs = Date.parse("2026-03-04T09:00:00Z");

export interface Sample {
  head: ReportHead;
  failures: ReportFailure[];
}

export interface SampleOptions extends Partial<RunEnd> {
  /** Documents sent, one each 10 ms. */
  sent?: number;
  /** Path and reason of what fails after that. */
  failed?: readonly (readonly [path: string, reason: string])[];
  skipped?: readonly (readonly [reason: string, count: number])[];
  /** When it begins, in seconds after the others. */
  second?: number;
}

/** A run as the collector records it, by a clock of its own. */
export function sampleRun(options: SampleOptions = {}): Sample {
  const { sent = 3, failed = [], skipped = [], second = 0, ...end } = options;
  let nowMs = beginMs + second * 1000;
  const failures: ReportFailure[] = [];
  const collector = createReportCollector(
    () => nowMs,
    (failure) => failures.push(failure),
  );
  for (const [reason, count] of skipped) {
    for (let left = count; left > 0; left--) collector.add({ status: "skipped", path: "", reason });
  }
  for (let index = 0; index < sent; index++) {
    nowMs += 10;
    const status = index % 2 === 0 ? "created" : "updated";
    const path = `docs/page-${index}.md`;
    collector.add({ status, path, id: `handbook/${path}`, ms: index });
  }
  for (const [path, reason] of failed) {
    nowMs += 10;
    collector.add({ status: "failed", path, id: path, reason, ms: 5 });
  }
  const head = collector.finish({
    status: failed.length > 0 ? "partial" : "ok",
    target: { profile: "writer", baseUrl: "https://assistant.example.com/api", ccPairId: 2 },
    paths: ["docs"],
    options: [],
    planned: sent + failed.length,
    sentBytes: sent * 1000,
    requests: sent + failed.length,
    retries: 0,
    throttled: 0,
    ...end,
  });
  return { head, failures };
}

export function wholeReport({ head, failures }: Sample): RunReport {
  return { ...head, failures };
}

/** Texts that mean something to XML, HTML, Markdown, JSON, a terminal or a CI runner. */
export const hostileTexts = [
  "</script><script>alert(1)</script>",
  "]]><failure/><![CDATA[",
  "<!-- --> &amp; &#0; \" ' `code` | pipe",
  "\u0000\u0008\u000b\u001b[2J\u007f\u0085\u009b",
  "\ufffe\uffff\ud800 lone \udfff",
  "\u202egnp.exe\u2066",
  "a\nb\r\nc\td",
  "::error file=x::y\n::set-env name=PATH::/evil%0A::stop-commands::x",
  "##[command]x ##vso[task.setvariable]x",
  "x,y:z=%25%0D",
  "[link](javascript:alert(1)) ![i](http://evil) <img src=x onerror=alert(1)> www.evil.com",
];

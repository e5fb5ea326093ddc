import type { VerifiedDocument } from "../../../src/checks/verify/decide.ts";
import type { Finding, RuleText } from "../../../src/checks/lint/rule.ts";
import { createReportCollector, type RunEnd } from "../../../src/output/report/stored/collector.ts";
import { evalReport } from "../../../src/output/report/from/eval.ts";
import { countSeverities, lintReport, type LintRun } from "../../../src/output/report/from/lint.ts";
import { uploadReport } from "../../../src/output/report/from/upload.ts";
import { emptyCounts } from "../../../src/output/report/from/verified.ts";
import { verifyReport, type VerifyRun } from "../../../src/output/report/from/verify.ts";
import type {
  ReportFailure,
  ReportHead,
  RunReport,
} from "../../../src/output/report/stored/record.ts";
import type { Report } from "../../../src/output/report/report.ts";
import { findingWith, printOf } from "../../checks/lint/finding.ts";
import { reportOf as evalResultOf } from "./eval-sample.ts";

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
    statuses: { 200: sent, ...(failed.length > 0 && { 422: failed.length }) },
    waitedSeconds: 0,
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

const same = (text: string): string => text;

/** The report of an upload. */
export const uploadOf = ({ head, failures }: Sample): Report => uploadReport(head, () => failures);

const missingLink: RuleText = {
  name: "missing-link",
  group: "links",
  severity: "warning",
  summary: "A relative link leads to no file",
  advice: "Readers end up nowhere. Mend the link or remove it.",
  bad: "See [the plan](plan.md).\n",
  good: "See [the plan](../plan.md).\n",
};

export const noTitle: RuleText = {
  name: "no-title",
  group: "identity",
  severity: "error",
  summary: "The document has no title",
  advice: "Answers cite the title. Begin with a heading.",
  bad: "Text.\n",
  good: "# Leave\n\nText.\n",
};

/** The report of a lint of two rules. */
export function lintOf(
  findings: readonly Finding[],
  { known = 0, ...changes }: Partial<LintRun> & { known?: number } = {},
): Report {
  const unread = changes.unread ?? new Map<string, string>();
  const counts = countSeverities(findings);
  const summary = { documents: 12, skipped: 0, failed: unread.size, ...counts, known, fixed: 0 };
  const rules = [missingLink, noTitle];
  const run = { status: "failed", summary, findings, rules, failsOnWarnings: false } as const;
  return lintReport({ ...run, unread, ...changes }, same);
}

/** An error, a warning in a binary file, and a note. */
export const someFindings: Finding[] = [
  findingWith({ severity: "note", message: "plan.md exists, Plan.md does not" }),
  findingWith({ path: "docs/ä b.pdf", line: null, column: null, endLine: null, endColumn: null }),
  findingWith({ rule: "no-title", severity: "error", message: "no title", endColumn: 7 }),
].map((each, index) => ({ ...each, fingerprint: printOf(index) }));

/** As many findings of one severity. */
export function manyFindings(count: number, severity: Finding["severity"]): Finding[] {
  return Array.from({ length: count }, (_, index) =>
    findingWith({
      severity,
      path: `docs/${severity}-${index % 50}.md`,
      line: index + 1,
      message: `${severity} ${index}`,
      fingerprint: printOf(index),
    }),
  );
}

/** A document that the index does not hold as sent. */
export const missingDocument: VerifiedDocument = {
  id: "docs/a.md",
  path: "docs/a.md",
  result: "missing",
  reason: "the service has no document",
  evidence: [{ request: "GET /size", status: 404, proves: "no chunk" }],
  sentAt: null,
  verifiedAt: "2026-01-31T00:00:00Z",
};

export function verifyOf(
  documents: readonly VerifiedDocument[],
  changes: Partial<VerifyRun> = {},
): Report {
  const summary = { ...emptyCounts(), missing: documents.length, documents: documents.length };
  const run = { status: "failed", summary, documents, isFine: () => false } as const;
  return verifyReport({ ...run, unread: [], unchecked: 0, ...changes });
}

export const evalPlaces = {
  suitePath: (file: string) => `tests/${file}`,
  lineOf: (): undefined => undefined,
};

/** The report of each command in which every foreign text is `text`. */
export const foreign: Readonly<Record<string, (text: string) => Report>> = {
  ingest: (text) => {
    const failed = [[text, text]] as const;
    const skipped = [[text, 1]] as const;
    const end = { paths: [text], commit: text, error: text, status: "error" } as const;
    return uploadOf(sampleRun({ failed, skipped, ...end }));
  },
  lint: (text) => {
    const texts = { message: text, path: text, rule: text };
    const findings = (["error", "warning", "note"] as const).map((severity) =>
      findingWith({ ...texts, severity }),
    );
    return lintOf(findings, { unread: new Map([[text, text]]) });
  },
  verify: (text) => {
    const evidence = [{ request: text, status: null, proves: text }];
    const of = { ...missingDocument, id: text, path: text, reason: text, evidence, sentAt: text };
    return verifyOf([of], { unread: [`no ${text}`], unchecked: 1 });
  },
  eval: (text) => evalReport(evalResultOf(text, text), evalPlaces),
};

import { createHash } from "node:crypto";
import { neutraliseJson, neutraliseLine } from "../terminal/neutralise.ts";
import { gather, labelOf, type Item, type Level, type Report } from "./report.ts";

/** GitLab reads the whole file into memory, and nobody reads more findings. */
const maxFindings = 10_000;

const severities: Readonly<Record<Level, string>> = {
  error: "major",
  warning: "minor",
  note: "info",
  fine: "info",
};

function severityOf({ test, level, isPassing }: Item): string {
  if (isPassing) return "minor";
  return test === "error" ? "critical" : severities[level];
}

/**
 * By which GitLab and GitHub recognise an item in the next run. Without the line: edits above change
 * it. `occurrence` tells equal items of a run apart.
 */
export function fingerprintOf(item: Item, occurrence = 0): string {
  const { path, id, message, fingerprint } = item;
  if (fingerprint !== undefined && occurrence === 0) return fingerprint;
  const parts = [path, id ?? item.name ?? "", message, occurrence];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/**
 * The items that are not fine as GitLab's code quality report, in pieces: a JSON array
 * (https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format), the 10,000 worst.
 * `prefix` is the path of the project in the repository. A fingerprint is unique in a run and the
 * same in each run.
 */
export function* gitlabReport({ command, items }: Report, prefix = ""): Generator<string> {
  const seen = new Map<string, number>();
  const [base = ""] = command.split(" ");
  let separator = "\n";
  yield "[";
  for (const item of gather(items, maxFindings).shown) {
    if (item.level === "fine") continue;
    const same = fingerprintOf(item);
    const occurrence = seen.get(same) ?? 0;
    seen.set(same, occurrence + 1);
    const about = item.path === null ? `${labelOf(item)}: ` : "";
    const issue = {
      description: neutraliseLine(about + item.message)
        .slice(0, 2000)
        .toWellFormed(),
      check_name: `knowctl/${item.rule ?? (item.test === "error" ? item.word : base)}`,
      fingerprint: fingerprintOf(item, occurrence),
      severity: severityOf(item),
      location: { path: `${prefix}${item.path ?? "."}`, lines: { begin: item.line ?? 1 } },
    };
    yield `${separator}  ${neutraliseJson(JSON.stringify(issue))}`;
    separator = ",\n";
  }
  yield separator === "\n" ? "]\n" : "\n]\n";
}

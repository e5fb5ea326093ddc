import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { checkFormat, writeRecord } from "../../output/formats/formats.ts";
import { checkOutputPath } from "../../output/report/file.ts";
import { formOf, writeReportFile } from "../../output/report/forms.ts";
import { uploadReport } from "../../output/report/from/upload.ts";
import { jsonOf } from "../../output/report/json.ts";
import {
  mergeReports,
  mostFailures,
  withFirstFailures,
  type NamedReport,
} from "../../output/report/stored/merge.ts";
import { readReport } from "../../output/report/stored/read.ts";
import type { RunReport } from "../../output/report/stored/record.ts";
import { missingText } from "../../output/report/text.ts";
import { countsText } from "../../output/ingest.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { countOf, formatCount, formatDuration } from "../../output/terminal/progress.ts";
import { realPathOf, refuseRepeatedFile } from "../stats-of.ts";
import { failUnlessEnded, readSharedReports, type SharedMergeOptions } from "./shared.ts";

export interface MergeOptions extends SharedMergeOptions {
  /** Files to write instead of JSON on stdout. */
  report?: string[];
}

/** Reads one report after the other, and keeps a bounded number of failures of all. */
async function readAll(context: Context, names: readonly string[]): Promise<NamedReport[]> {
  refuseRepeatedFile(context.cwd, names, "pass each report once");
  const reports: NamedReport[] = [];
  let left = mostFailures;
  for (const name of names) {
    context.signal.throwIfAborted();
    const path = resolve(context.cwd, name);
    // Not kept in a variable: one would hold the whole report while the next is read.
    const most = left;
    const report = await readReport(path, name).then((whole) => withFirstFailures(whole, most));
    left -= report.failures.length;
    reports.push({ name, report });
  }
  return reports;
}

/** Refuses what is no file, and to overwrite an input: the next merge would merge the merged report again. */
function checkTarget(context: Context, names: readonly string[], report: string): void {
  checkOutputPath("--report", report, context.cwd);
  const path = realPathOf(resolve(context.cwd, report));
  if (!names.some((name) => realPathOf(resolve(context.cwd, name)) === path)) return;
  throw new CliError("usage", `--report ${report} is one of the reports to merge`, {
    hints: ["write to a file that the pattern of the inputs does not match"],
  });
}

async function warnOfMixedCommits(output: Output, reports: readonly NamedReport[]): Promise<void> {
  const commits = new Map(reports.map(({ name, report }) => [report.commit, name]));
  if (commits.size < 2 || !reports.some(({ report }) => report.shard)) return;
  const each = [...commits].map(([commit, name]) => `${name}: ${commit ?? "none"}`);
  await output.warn(`the shards are from different commits: ${each.slice(0, 5).join(", ")}`);
}

async function writeSummary(output: Output, report: RunReport, merged: number): Promise<void> {
  const { counts, status, seconds, failuresLeftOut = 0 } = report;
  await output.note(
    `${countOf(merged, "report")} merged, status ${status}: ${countsText(counts, status !== "ok")} in ${formatDuration(seconds * 1000)}`,
  );
  if (failuresLeftOut === 0) return;
  const leftOut = countOf(failuresLeftOut, "failed document");
  await output.warn(
    `${leftOut} left out: a merged report lists the first ${formatCount(mostFailures)}`,
  );
}

const mostNamed = 20;

/** Throws CliError `partial` if the merged run is not all that was asked for. */
function failUnlessWhole({ merged, counts, status, error, lost = [] }: RunReport): void {
  const missing = missingText(merged?.missing ?? [], merged?.shards ?? null);
  if (missing !== "") {
    throw new CliError("partial", `the merged report is incomplete: ${missing}`, {
      hints: ["run these shards, or fetch their reports, and merge again"],
    });
  }
  if (counts.failed > 0) {
    throw new CliError("partial", `${countOf(counts.failed, "document")} failed`);
  }
  if (status !== "ok") {
    const stopped = (merged?.runs ?? []).filter((each) => each.shard && each.status !== "ok");
    const names = stopped.map((each) => `shard ${each.shard?.index}: ${each.status}`);
    throw new CliError("partial", `not all runs ended well: status ${status}`, {
      details: error?.split("\n") ?? names.slice(0, mostNamed),
    });
  }
  if (lost.length === 0) return;
  throw new CliError("partial", `${countOf(lost.length, "document")} not in the index as sent`);
}

/**
 * `knowctl report merge`: merges the reports of all shards, to stdout or a file. Throws CliError
 * `usage` for files that are not reports or do not belong together, `local` for a report that cannot
 * be written; after the report is written, `partial` if shards are missing or documents failed.
 */
export async function reportMerge(
  context: Context,
  names: string[],
  options: MergeOptions,
): Promise<void> {
  const output = createOutput(context, options);
  const { report: files = [] } = options;
  for (const file of files) formOf(file);
  checkFormat(options);
  for (const file of files) checkTarget(context, names, file);
  if (names.length === 0 && options.shared === undefined) {
    throw new CliError("usage", "no reports to merge", {
      hints: ["name files that `knowctl ingest --report FILE.json` wrote, or a run: --shared RUN"],
    });
  }
  const found =
    options.shared === undefined
      ? undefined
      : await readSharedReports(context, output, options.shared, options);
  const reports = found?.reports ?? (await readAll(context, names));
  const merged = mergeReports(reports);
  await warnOfMixedCommits(output, reports);
  const { output: format = "json", jq, fields } = options;
  if (files.length === 0) {
    const { failures, ...head } = merged;
    if (format !== "json" || jq !== undefined || fields !== undefined) {
      await writeRecord(output, options, merged);
    } else {
      for (const piece of jsonOf({ head, list: "failures", items: failures })) {
        await output.json(piece);
      }
    }
  } else {
    const { failures, ...head } = output.secrets.redactAll(merged);
    const report = uploadReport(head, () => failures);
    for (const file of files) {
      await writeReportFile(resolve(context.cwd, file), report, undefined);
    }
  }
  await writeSummary(output, merged, reports.length);
  if (found) failUnlessEnded(found.run);
  failUnlessWhole(merged);
}

import type { GlobalFlags } from "../../config/flags.ts";
import type { Context } from "../../context.ts";
import { ClosedPipeError, CliError } from "../../errors.ts";
import {
  writeSummary,
  type FailedDocument,
  type IngestFormat,
  type IngestResult,
  type RunStatus,
} from "../../output/ingest.ts";
import type { Output } from "../../output/output.ts";
import { countOf, formatCount, type UploadCounts } from "../../output/progress.ts";
import type { Plan } from "../../sync/plan.ts";
import type { PlanTable } from "../../sync/plan-table.ts";
import type { DocumentEvent } from "../../sync/run.ts";

/** Format of stdout. Throws CliError `usage` for one that an upload does not have. */
export function ingestFormat(flags: GlobalFlags): IngestFormat {
  const format = flags.json ? "json" : (flags.output ?? "text");
  if (format === "json" || format === "ndjson") return format;
  if (format === "text" || format === "table") return "text";
  throw new CliError("usage", `--output ${format}: ingest knows text, json and ndjson`);
}

/** Collects what became of each document and tells it: line by line, and as a result at the end. */
export interface Report {
  readonly counts: UploadCounts;
  add(events: readonly DocumentEvent[]): Promise<void>;
  finish(status: RunStatus, retries: number): Promise<void>;
}

type Line = Record<string, unknown>;

/** Starts with what the plan knows already: files that were skipped, unchanged or unreadable. */
export function createReport(
  output: Output,
  format: IngestFormat,
  context: Context,
  plan: Plan,
  run: { target: IngestResult["target"]; startedAtMs: number },
): Report {
  const failures: FailedDocument[] = [];
  const { table } = plan;
  const counts: UploadCounts = {
    created: 0,
    updated: 0,
    unchanged: table.count("unchanged"),
    skipped: table.count("skipped"),
    failed: table.count("failed"),
  };
  const skipped = new Map<string, number>();
  let leftOutImages = plan.images;
  let planTold = false;

  const writeLines = async (lines: readonly Line[]): Promise<void> => {
    if (format !== "ndjson" || lines.length === 0) return;
    const text = lines.map(
      (line) => `${JSON.stringify({ version: 1, type: "document", ...line })}\n`,
    );
    // An upload goes on when the reader of its output has gone.
    await unlessClosed(output.json(text.join("")));
  };
  const tellPlan = async (): Promise<void> => {
    if (planTold) return;
    planTold = true;
    for (const { path, action, detail } of table.entries(["failed", "skipped"])) {
      if (action === "failed") failures.push({ path, reason: detail });
      await writeLines([{ status: action, path, reason: detail }]);
    }
  };

  return {
    counts,
    async add(events) {
      await tellPlan();
      for (const { status, path, id, reason, warnings = [], images = 0 } of events) {
        counts[status]++;
        for (const warning of warnings) table.warn(warning);
        leftOutImages += images;
        if (status === "skipped") skipped.set(reason ?? "", (skipped.get(reason ?? "") ?? 0) + 1);
        if (status === "failed") failures.push({ path, id, reason: reason ?? "" });
      }
      await writeLines(events.map((event) => ({ ...event })));
    },
    async finish(status, retries) {
      await tellPlan();
      const result: IngestResult = {
        version: 1,
        type: "result",
        status,
        counts,
        planned: table.count("due"),
        retries,
        seconds: (context.now() - run.startedAtMs) / 1000,
        target: run.target,
        failures,
        skipped: unite(table.reasons("skipped"), skipped),
      };
      if (format === "json")
        await unlessClosed(output.json(`${JSON.stringify(result, undefined, 2)}\n`));
      if (format === "ndjson") await unlessClosed(output.json(`${JSON.stringify(result)}\n`));
      await unlessClosed(tellWarnings(output, table, leftOutImages));
      await unlessClosed(writeSummary(output, result));
    },
  };
}

type Reasons = { reason: string; count: number }[];

function unite(planned: Reasons, met: ReadonlyMap<string, number>): Reasons {
  const counts = new Map(met);
  for (const { reason, count } of planned) counts.set(reason, (counts.get(reason) ?? 0) + count);
  return [...counts]
    .map(([reason, count]) => ({ reason, count }))
    .toSorted((a, b) => b.count - a.count)
    .slice(0, 20);
}

/** Warnings of the files that were read, and how many images their texts refer to. */
export async function tellWarnings(
  output: Output,
  table: PlanTable,
  images: number,
): Promise<void> {
  const { shown, count } = table.warnings();
  for (const warning of shown) await output.warn(warning);
  if (count > shown.length) await output.warn(`… and ${formatCount(count - shown.length)} more`);
  if (images > 0) await output.note(`${countOf(images, "image")} in the text left out`);
}

async function unlessClosed(writing: Promise<void>): Promise<void> {
  try {
    await writing;
  } catch (error) {
    if (!(error instanceof ClosedPipeError)) throw error;
  }
}

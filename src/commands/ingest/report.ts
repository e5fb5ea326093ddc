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
import type { UploadCounts } from "../../output/progress.ts";
import type { Plan } from "../../sync/plan.ts";
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
      for (const { status, path, id, reason } of events) {
        counts[status]++;
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
        planned: table.count("new") + table.count("changed"),
        retries,
        seconds: (context.now() - run.startedAtMs) / 1000,
        target: run.target,
        failures,
        skipped: table.reasons("skipped"),
      };
      if (format === "json")
        await unlessClosed(output.json(`${JSON.stringify(result, undefined, 2)}\n`));
      if (format === "ndjson") await unlessClosed(output.json(`${JSON.stringify(result)}\n`));
      await unlessClosed(writeSummary(output, result));
    },
  };
}

async function unlessClosed(writing: Promise<void>): Promise<void> {
  try {
    await writing;
  } catch (error) {
    if (!(error instanceof ClosedPipeError)) throw error;
  }
}

import type { Context } from "../../../context.ts";
import { CliError, reasonOf } from "../../../errors.ts";
import { lineOf } from "../../../output/report/json.ts";
import { collectLines } from "../../mcp/run-line.ts";
import type { PruneOptions } from "../../prune/prune.ts";
import type { IngestOptions } from "../ingest-options.ts";
import { ingestFormat } from "../report/report.ts";
import { createOutput } from "../../../output/terminal/output.ts";

/** What `prune` takes of the flags of an upload: each document is judged by its own record. */
const kept = [
  "profile",
  "config",
  "baseUrl",
  "dialect",
  "timeout",
  "caFile",
  "clientCert",
  "clientKey",
  "proxy",
  "root",
  "verbose",
  "debug",
  "color",
  "flagSources",
  "ccPairId",
  "connector",
  "state",
  "concurrency",
  "rate",
  "tombstone",
] as const satisfies (keyof IngestOptions & keyof PruneOptions)[];

/** How a notice is sent. */
const ofNotice = ["requireAccess", "allowSync", "allowPruned"] as const;

function pruneOptions(options: IngestOptions): PruneOptions {
  const names = options.tombstone ? [...kept, ...ofNotice] : kept;
  const members = names.flatMap((name) =>
    options[name] === undefined ? [] : [[name, options[name]] as const],
  );
  return {
    ...Object.fromEntries(members),
    yes: true,
    output: "ndjson",
    quiet: true,
    input: false,
  };
}

/**
 * Runs `prune` over the paths with its guards, and without a question. Returns how many documents it
 * removed; with `--output ndjson` writes a line for each. A removal that the guards refuse is a warning.
 * Throws what else stops it.
 */
export async function removeGone(
  context: Context,
  paths: string[],
  options: IngestOptions,
): Promise<number> {
  const { prune } = await import("../../prune/prune.ts");
  const output = createOutput(context, { ...options, quiet: true });
  const rows: { status: string; id: string }[] = [];
  const list = collectLines((line) => void rows.push(JSON.parse(line) as (typeof rows)[number]));
  try {
    await prune({ ...context, stdout: list }, paths, pruneOptions(options));
  } catch (error) {
    if (!(error instanceof CliError) || !["usage", "partial"].includes(error.exit)) throw error;
    await output.warn(`--prune: ${reasonOf(error)}`);
  }
  const removed = rows.filter(({ status }) => status === "deleted" || status === "tombstoned");
  if (ingestFormat(options) === "ndjson") {
    for (const row of removed) await output.json(lineOf("removed", row));
  }
  return removed.length;
}

import type { Context } from "../../context.ts";
import { documentJsonOf } from "../../documents/inspect/inspect.ts";
import { CliError } from "../../errors.ts";
import { tellOthers, tellSkipped } from "../../output/ingest.ts";
import { shownText } from "../../output/paths.ts";
import { createReasons } from "../../output/report/stored/collector.ts";
import { countOf, formatCount } from "../../output/terminal/progress.ts";
import type { PlanTable } from "../../sync/plan/plan-table.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import { readPending, type Pending } from "../../sync/run/pending.ts";
import type { IngestOptions } from "../ingest/ingest-options.ts";
import { nothingFound } from "../ingest/ingest.ts";
import { openSource } from "../ingest/options/settings.ts";
import { planFolder } from "../ingest/plan.ts";
import { problemAt } from "../../output/paths.ts";
import { printNotices, printWarnings } from "../ingest/report/tell.ts";
import { openSession, type Session } from "../ingest/session.ts";
import { createOutput } from "../../output/terminal/output.ts";

export type DocumentsOptions = Pick<IngestOptions, "shard" | "allowEmpty"> &
  Parameters<typeof openSource>[2];

function checkOptions({ images }: DocumentsOptions): void {
  if (images !== "upload") return;
  throw new CliError("usage", "--images upload: nothing is sent, so no image can be uploaded", {
    hints: ["use `knowctl ingest` to upload files with images"],
  });
}

const reasonsShown = 20;

interface Written {
  documents: number;
  skipped: number;
  failed: number;
  /** Image references without a section. */
  images: number;
  reasons: ReturnType<typeof createReasons>;
}

async function writeBatch(
  { output, source }: Session,
  batch: readonly Pending[],
  written: Written,
  table: PlanTable,
): Promise<void> {
  let lines = "";
  for (const { prepared } of batch) {
    if (prepared.kind === "skipped") {
      written.skipped++;
      written.reasons.add(prepared.reason, 1);
    }
    if (prepared.kind === "failed") {
      written.failed++;
      await output.error(shownText(prepared.path, prepared.reason, source.shown));
    }
    if (prepared.kind !== "document") continue;
    const json = documentJsonOf(prepared);
    if (output.secrets.holdsKey(json)) {
      written.failed++;
      await output.error(
        `${source.shown(prepared.path)}: the document contains one of your keys, so it is not written`,
      );
      continue;
    }
    for (const warning of prepared.warnings) table.warn(prepared.path, warning);
    if (prepared.notices) table.notices.add(prepared.notices, prepared);
    written.images += prepared.images;
    written.documents++;
    lines += `${json}\n`;
  }
  await output.json(lines);
}

async function writeDocuments(context: Context, reading: Session, plan: Plan): Promise<Written> {
  const { inspector, output, source } = reading;
  const { table } = plan;
  const [skipped, failed] = [table.count("skipped"), table.count("failed")];
  const written: Written = { documents: 0, skipped, failed, images: 0, reasons: createReasons() };
  for (const { detail } of table.entries(["skipped"])) written.reasons.add(detail, 1);
  for (const { path, detail } of table.entries(["failed"])) {
    await output.error(problemAt(path, detail, source.shown));
  }
  for await (const batch of readPending({ table, inspector, factsOf: source.factsOf })) {
    context.signal.throwIfAborted();
    await writeBatch(reading, batch, written, table);
  }
  return written;
}

/**
 * `knowctl convert`: writes the IngestionDocuments of files as NDJSON for
 * `ingest -`. A line is `{document, cc_pair_id}` when a flag, a rule or a row names the
 * pair. Sends nothing and uses no state. Throws CliError `partial` when documents fail;
 * the other documents are written.
 */
export async function convert(
  context: Context,
  paths: string[],
  options: DocumentsOptions,
): Promise<void> {
  checkOptions(options);
  if (paths.includes("-")) {
    throw new CliError("usage", "`-` (stdin) already contains documents", {
      hints: ["name files"],
    });
  }
  const output = createOutput(context, options);
  // Image sections need an upload, so images are always skipped here.
  const flags = { ...options, images: "skip" as const };
  const source = await openSource(context, paths, flags, output, false);
  const { ccPairId, shard } = options;
  const pair = { ccPairId, connector: undefined, fromFlag: ccPairId !== undefined };
  // Without a service, and without the project's state.
  const request = { ...flags, dryRun: true, state: false, pair: () => pair };
  const reading = await openSession(context, output, source, request);
  try {
    const plan = await planFolder(context, reading, { shard, isDry: false });
    if (plan.fileCount === 0 && !options.allowEmpty) throw nothingFound(reading.source);
    await reading.progress.stop();
    const written = await writeDocuments(context, reading, plan);
    const { documents, skipped, failed } = written;
    await printNotices(reading, plan.table.notices);
    await printWarnings(reading, plan.table.warnings(), written.images);
    await tellSkipped(output, written.reasons.list().slice(0, reasonsShown));
    const skippedText = skipped > 0 ? `, ${formatCount(skipped)} skipped` : "";
    await output.note(`${countOf(documents, "document")} written, none sent${skippedText}`);
    await tellOthers(output, shard, plan.table.count("other"));
    if (failed > 0) throw new CliError("partial", `${countOf(failed, "document")} failed`);
  } finally {
    await reading.close();
  }
}

import type { IngestOptions } from "../ingest/ingest-options.ts";
import { inspectSetup, openSource, openShaping } from "../ingest/options/settings.ts";
import type { Context } from "../../context.ts";
import { loadExamine } from "../../checks/lint/load-examine.ts";
import { documentJsonOf } from "../../documents/inspect/inspect.ts";
import { openInspector } from "../../documents/inspect/open-inspector.ts";
import { CliError } from "../../errors.ts";
import { tellOthers, tellSkipped } from "../../output/ingest.ts";
import type { Output } from "../../output/terminal/output.ts";
import { shownText } from "../../output/paths.ts";
import { countOf, formatCount, startProgress } from "../../output/terminal/progress.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import { readPending, type Pending } from "../../sync/run/pending.ts";
import type { PlanTable } from "../../sync/plan/plan-table.ts";
import { openTemporaryState } from "../../sync/state/file/state-file.ts";
import { openOutput } from "../connect.ts";
import { nothingFound } from "../ingest/ingest.ts";
import { ownKeys } from "../ingest/own-keys.ts";
import { planFolder } from "../ingest/plan.ts";
import type { Session } from "../ingest/session.ts";
import { problemOf, printNotices, printWarnings } from "../ingest/report/tell.ts";

export type DocumentsOptions = Pick<IngestOptions, "shard" | "allowEmpty"> &
  Parameters<typeof openSource>[2];

function checkOptions({ images }: DocumentsOptions): void {
  if (images !== "upload") return;
  throw new CliError("usage", "--images upload: nothing is sent, so no image can be uploaded", {
    hints: ["use `knowctl ingest` to upload files with images"],
  });
}

type Reading = Omit<Session, "connected" | "pairNames" | "close">;

/** Opens a session that reads files, without a service and without the project's state. */
async function openReading(
  context: Context,
  output: Output,
  paths: readonly string[],
  options: DocumentsOptions,
): Promise<Reading & { close(): Promise<void> }> {
  // Image sections need an upload, so images are always skipped here.
  const source = await openSource(context, paths, { ...options, images: "skip" }, output, false);
  const { ccPairId } = options;
  const targets = { baseUrl: "", pair: { ccPairId, fromFlag: ccPairId !== undefined } };
  const state = await openTemporaryState();
  const shaping = openShaping(source, targets.pair.fromFlag, state, true);
  const keys = await ownKeys(output, source, undefined);
  const setup = inspectSetup(source, targets, keys);
  const inspector = await openInspector(setup, context.workerScript, 0, loadExamine);
  const progress = startProgress(output, context.elapsed);
  const close = async (): Promise<void> => {
    await progress.stop();
    await inspector.close();
    state.close();
  };
  const isDry = false;
  return { output, source, state, isDry, targets, shaping, keys, inspector, progress, close };
}

interface Written {
  documents: number;
  skipped: number;
  failed: number;
  /** Image references without a section. */
  images: number;
  /** Skipped files by reason; only the first 20 reasons, because some contain a path. */
  reasons: Map<string, number>;
}

const mostReasons = 20;

function addReason({ reasons }: Written, reason: string): void {
  const count = reasons.get(reason);
  if (count !== undefined || reasons.size < mostReasons) reasons.set(reason, (count ?? 0) + 1);
}

async function writeBatch(
  { output, source }: Reading,
  batch: readonly Pending[],
  written: Written,
  table: PlanTable,
): Promise<void> {
  let lines = "";
  for (const { prepared } of batch) {
    if (prepared.kind === "skipped") {
      written.skipped++;
      addReason(written, prepared.reason);
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

async function writeDocuments(context: Context, reading: Reading, plan: Plan): Promise<Written> {
  const { inspector, output, source } = reading;
  const { table } = plan;
  const [skipped, failed] = [table.count("skipped"), table.count("failed")];
  const written: Written = { documents: 0, skipped, failed, images: 0, reasons: new Map() };
  for (const { detail } of table.entries(["skipped"])) addReason(written, detail);
  for (const each of table.entries(["failed"])) await output.error(problemOf(each, source));
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
  const output = openOutput(context, options);
  const reading = await openReading(context, output, paths, options);
  try {
    const { shard } = options;
    const plan = await planFolder(context, reading, { shard });
    if (plan.fileCount === 0 && !options.allowEmpty) throw nothingFound(reading.source);
    await reading.progress.stop();
    const written = await writeDocuments(context, reading, plan);
    const { documents, skipped, failed } = written;
    await printNotices(reading, plan.table.notices);
    await printWarnings(reading, plan.table.warnings(), written.images);
    await tellSkipped(
      output,
      [...written.reasons].map(([reason, count]) => ({ reason, count })),
    );
    const skippedText = skipped > 0 ? `, ${formatCount(skipped)} skipped` : "";
    await output.note(`${countOf(documents, "document")} written, none sent${skippedText}`);
    await tellOthers(output, shard, plan.table.count("other"));
    if (failed > 0) throw new CliError("partial", `${countOf(failed, "document")} failed`);
  } finally {
    await reading.close();
  }
}

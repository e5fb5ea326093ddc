import type { IngestOptions } from "../ingest-options.ts";
import { dialects } from "../../../api/dialects.ts";
import type { Context } from "../../../context.ts";
import { decide } from "../../../sync/plan/decide.ts";
import { pendingOfLines } from "../../../sync/run/pending-lines.ts";
import { createPlanTable, type PlanTable } from "../../../sync/plan/plan-table.ts";
import type { Pending } from "../../../sync/run/pending.ts";
import { targetFor } from "../../../sync/state/target.ts";
import type { PlannedDocument } from "../../../output/planned.ts";
import { addSize, noSize, type Size } from "../../../documents/payload/size.ts";
import { openOutput } from "../../connect.ts";
import { accessRules } from "../target/access.ts";
import { writePlan } from "../dry-run.ts";
import {
  checkStdinFlags,
  closable,
  openChunks,
  readFirst,
  readStdinDocuments,
} from "./stdin-documents.ts";
import { checkPairsInStdin } from "../target/pairs-in-stdin.ts";
import { ingestFormat, withReport, type ReportRequest } from "../report/report.ts";
import { checkReportFiles } from "../report/report-files.ts";
import { createOwners, ownersOptions } from "../target/owners.ts";
import { checkPlannedPairs } from "../target/planned-access.ts";
import { isUpload, openSession, type Session, type UploadSession } from "../session.ts";
import { openSource } from "../options/settings.ts";
import { placeText } from "../target/place.ts";
import { createPairCheck } from "../target/target.ts";
import { printNext } from "../report/next.ts";
import { printNotices, printWarnings } from "../report/tell.ts";
import { uploadPlan } from "../upload/upload.ts";

async function* planDocuments(
  pending: AsyncIterable<Pending[]>,
  { state, targets }: Session,
  { force = false }: IngestOptions,
  { table, pairs, size }: { table: PlanTable; pairs: Set<number>; size: Size },
): AsyncGenerator<PlannedDocument> {
  for await (const batch of pending) {
    for (const { prepared } of batch) {
      const { kind, path, part } = prepared;
      const row = part > 0 ? { row: part } : {};
      if (kind !== "document") {
        yield { action: kind, path, ...row, id: undefined, detail: prepared.reason };
        continue;
      }
      for (const warning of prepared.warnings) table.warn(path, warning);
      if (prepared.notices) table.notices.add(prepared.notices, prepared);
      const { id, fingerprint, ownPair } = prepared;
      const target = targetFor(targets, ownPair);
      if (target) pairs.add(target.ccPairId);
      const accepted = target && state.accepted(target.key, id);
      const decision = decide(accepted, fingerprint, force);
      if (decision.action !== "unchanged") addSize(size, prepared.body);
      yield { ...decision, path, ...row, id };
    }
  }
}

/** The documents of stdin, and an empty plan table that counts them. */
interface OpenStdin {
  chunks: ReturnType<typeof openChunks>;
  table: PlanTable;
  pending: AsyncGenerator<Pending[], void>;
}

function openStdin(context: Context, session: Session, options: IngestOptions): OpenStdin {
  const { state, source } = session;
  const chunks = openChunks(context);
  const batches = readStdinDocuments(chunks, options, session);
  const { storedId } = dialects[source.config.dialect];
  const table = createPlanTable(state.database);
  const pending = pendingOfLines({
    batches,
    database: state.database,
    storedId,
    shard: options.shard,
    onOthers: (count) => table.countUp("other", count),
    name: "stdin",
  });
  return { chunks, pending, table };
}

async function dryRun(
  context: Context,
  session: Session,
  { pending, table }: OpenStdin,
  options: IngestOptions,
): Promise<void> {
  const { targets } = session;
  const rules = accessRules(options, session.source.config);
  const first = await readFirst(pending, context, options.allowEmpty === true);
  await session.progress.stop();
  const pairs = new Set<number>();
  const size = noSize();
  await writePlan(session, ingestFormat(options), {
    documents: planDocuments(first, session, options, { table, pairs, size }),
    size,
    checkPairs: () => checkPlannedPairs(context, session, [...pairs], rules),
    noPair: () => targets.pair.ccPairId === undefined,
    others: () => table.count("other"),
    shard: options.shard,
    exitCode: options.exitCode === true,
    isRecordless: options.state === false,
  });
  context.signal.throwIfAborted();
  await printNotices(session, table.notices);
  await printWarnings(session, table.warnings(), 0);
}

async function upload(
  context: Context,
  session: UploadSession,
  { chunks, pending, table }: OpenStdin,
  request: ReportRequest,
  options: IngestOptions,
): Promise<void> {
  const { output, targets } = session;
  const rules = accessRules(options, session.source.config);
  const check = createPairCheck(session.connected.client, rules, {
    names: session.pairNames,
    place: placeText(session.source.config, targets.baseUrl),
  });
  const { ccPairId } = targets.pair;
  await withReport(context, session, request, async (report) => {
    if (ccPairId !== undefined) await check([ccPairId], output, "nothing was sent");
    const checked = checkPairsInStdin(pending, {
      check,
      targets,
      output,
      table,
      warn: report.warn,
    });
    const first = await readFirst(checked, context, options.allowEmpty === true);
    await session.progress.stop();
    const plan = {
      table,
      fileCount: 0,
      linked: new Set<string>(),
      images: 0,
      pairs: new Set<number>(),
    };
    const stream = closable(first, () => chunks.close());
    const { startedAtMs } = request;
    const owners = createOwners(session, ownersOptions(context, options));
    await uploadPlan(context, { ...session, plan, report, options, stream, startedAtMs, owners });
    await printNext(context, session, report.counts);
  });
}

/**
 * `knowctl ingest -`: sends documents from stdin as they arrive, line by line, in constant
 * memory. An invalid line is a failure of that line only. With a row format or `--map`, stdin holds
 * rows; with `--format` and `--id`, the text of one document.
 */
export async function ingestStdin(context: Context, options: IngestOptions): Promise<void> {
  const startedAtMs = context.now();
  const output = openOutput(context, options);
  checkStdinFlags(options, context.stdin);
  const format = ingestFormat(options);
  const files = checkReportFiles(options, context.cwd);
  const source = await openSource(context, ["-"], options, output, options.dryRun !== true);
  const session = await openSession(context, output, source, options);
  const opened = openStdin(context, session, options);
  try {
    if (!isUpload(session)) await dryRun(context, session, opened, options);
    else {
      const request = { format, startedAtMs, files, shard: options.shard };
      await upload(context, session, opened, request, options);
    }
  } finally {
    opened.chunks.close();
    await session.close();
  }
}

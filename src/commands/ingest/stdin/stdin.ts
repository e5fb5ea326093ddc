import type { IngestOptions } from "../ingest-options.ts";
import { dialects } from "../../../api/dialects.ts";
import type { Context, Source } from "../../../context.ts";
import { decide } from "../../../sync/plan/decide.ts";
import { pendingOfLines } from "../../../sync/run/pending-lines.ts";
import { createPlanTable, type PlanTable } from "../../../sync/plan/plan-table.ts";
import type { Pending } from "../../../sync/run/pending.ts";
import { targetFor, type Targets } from "../../../sync/state/target.ts";
import type { PlannedDocument } from "../../../output/planned.ts";
import { addSize, noSize, type Size } from "../../../documents/payload/payload.ts";
import { openOutput } from "../../connect.ts";
import { accessRules } from "../target/access.ts";
import { writePlan } from "../dry-run.ts";
import { ingestFormat, withReport, type ReportRequest } from "../report/report.ts";
import { checkReportFiles } from "../../../output/report/forms.ts";
import { createOwners, ownersOptions } from "../target/owners.ts";
import { checkPlannedPairs } from "../target/planned-access.ts";
import { isUpload, openSession, type Session, type UploadSession } from "../session.ts";
import { openSource } from "../options/settings.ts";
import { placeText } from "../target/names.ts";
import { createPairCheck, missingPair, type PairCheck } from "../target/target.ts";
import { printNext } from "../report/next.ts";
import { printNotices, printWarnings } from "../report/tell.ts";
import { uploadPlan } from "../upload/upload.ts";
import { CliError } from "../../../errors.ts";
import type { ReadyDocument, Prepared } from "../../../documents/inspect/inspection.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { loadExamine } from "../../../checks/lint/load-examine.ts";
import { prepareLines } from "../../../documents/inspect/stdin/lines.ts";
import { isRowFormat, prepareRows } from "../../../documents/inspect/stdin/stdin-rows.ts";
import { isTextFormat, prepareText } from "../../../documents/inspect/stdin/whole-text.ts";
import type { PayloadSetup } from "../../../documents/inspect/inspect.ts";
import { givenFlags, selectionFlags, shapingFlags } from "../options/mapping-flags.ts";

type StdinOptions = Pick<IngestOptions, "format" | "id" | "since" | "map">;

/** What stdin brings: finished documents, rows to map, or one text. */
type Content = "documents" | "rows" | "text" | undefined;

function contentOf({ format, map }: StdinOptions): Content {
  if (format === undefined) return map === undefined ? "documents" : "rows";
  if (isTextFormat(format)) return "text";
  return isRowFormat(format) ? "rows" : undefined;
}

/** Flags that need files: documents from stdin have no folder and no history. */
const fileFlags = [
  ...selectionFlags.filter((name) => name !== "format"),
  "idPrefix",
  "updatedAt",
  "owners",
  "metaCommit",
  "images",
] as const;

const needsFiles = shapingFlags.filter((name) => (fileFlags as readonly string[]).includes(name));

/** Flags that shape a text or a row, but not a finished document. */
const mappingFlags = shapingFlags.filter((name) => !needsFiles.includes(name) && name !== "map");

/** Flags that shape Markdown, which no row is. */
const markdownFlags = ["sections", "anchors"] as const;

const flagsWithoutEffect = {
  documents: [...fileFlags, ...mappingFlags],
  rows: [...fileFlags, ...markdownFlags],
  text: [...fileFlags, "map"],
} as const;

/** Throws CliError `usage` for flags without effect on what stdin brings. */
function refuseFlagsWithoutEffect(options: IngestOptions, content: Content): void {
  const flags = [
    ...givenFlags(options, flagsWithoutEffect[content ?? "documents"]),
    ...(options.checksum ? ["--checksum"] : []),
  ];
  if (flags.length === 0) return;
  const reasons = {
    documents: "documents from stdin are sent unchanged",
    rows: "these flags need files, and stdin holds rows",
    text: "these flags need files, and stdin is a text",
  };
  const what = reasons[content ?? "documents"];
  throw new CliError("usage", `${flags.join(", ")}: ${what}`, {
    hints: [
      "use these flags where the documents are made: knowctl convert docs … | knowctl ingest -",
      ...(content === "documents" ? ["or read stdin as one text: --format markdown --id ID"] : []),
    ],
  });
}

/** Throws CliError `usage` when the flags do not match the format of stdin. */
function checkStdinFlags(options: IngestOptions, { isTTY }: Source): void {
  const { format = "ndjson", id, since } = options;
  const content = contentOf(options);
  refuseFlagsWithoutEffect(options, content);
  if (since !== undefined) {
    throw new CliError("usage", "--since selects files; all documents from stdin are sent", {
      hints: ["for example `knowctl convert docs --since REF | knowctl ingest -`"],
    });
  }
  if (content === undefined) {
    throw new CliError("usage", `--format ${format}: stdin must be NDJSON or one text, or rows`, {
      hints: [`name the file instead: knowctl ingest FILE --format ${format}`],
    });
  }
  if (content !== "text" && id !== undefined) {
    const each = format === "ndjson" ? "each line of NDJSON" : "each row";
    throw new CliError("usage", `--id names one document; ${each} has its own id`, {
      hints: ["set the format of stdin, for example --format markdown"],
    });
  }
  if (content === "text" && (id ?? "").trim() === "") {
    throw new CliError("usage", `--format ${format}: a document from stdin needs an id`, {
      hints: ["add --id ID; a later upload with the same id replaces the document"],
    });
  }
  if (!isTTY) return;
  throw new CliError("usage", "stdin is a terminal: nothing is piped into `ingest -`", {
    hints: ["for example `knowctl ingest - < documents.ndjson`"],
  });
}

/** Chunks of stdin, which end on close and on abort: the writer may be silent for hours. */
function openChunks({ stdin, signal }: Context): AsyncIterable<Uint8Array> & { close(): void } {
  let isClosed = false;
  const close = (): void => {
    isClosed = true;
    signal.removeEventListener("abort", close);
    stdin.stream.destroy();
  };
  signal.addEventListener("abort", close, { once: true });
  if (signal.aborted) close();
  return {
    close,
    async *[Symbol.asyncIterator]() {
      try {
        yield* stdin;
      } catch (error) {
        if (!isClosed) throw error;
      }
    },
  };
}

/** Yields the documents of stdin in batches as they arrive. */
async function* readStdinDocuments(
  chunks: AsyncIterable<Uint8Array>,
  options: StdinOptions,
  { source, targets, keys }: Session,
  script: Context["workerScript"],
): AsyncGenerator<Prepared[], void> {
  const { settings, checks } = source;
  const { dropAccess } = settings;
  const examine = await loadExamine(checks && { ...checks, keys }, settings);
  const setup: PayloadSetup = { pair: targets.pair, dropAccess, examine };
  const { format = "ndjson", id = "" } = options;
  const areRows = contentOf(options) === "rows";
  if (areRows && isRowFormat(format)) {
    return yield* prepareRows(chunks, format, source.settings, setup);
  }
  if (!isTextFormat(format)) return yield* prepareLines(chunks, setup);
  const given = { settings, raw: source.raw, checks: checks && { ...checks, keys } };
  const prepared = await prepareText(chunks, { id, format }, given, setup, script);
  if (prepared) yield [prepared];
}

/** Reads the first batch and returns all batches. Throws CliError `usage` when there is none. */
async function readFirst(
  batches: AsyncGenerator<Pending[], void>,
  context: Context,
  allowEmpty: boolean,
): Promise<AsyncGenerator<Pending[], void>> {
  const first = await batches.next();
  context.signal.throwIfAborted();
  if (first.done && !allowEmpty) {
    throw new CliError("usage", "0 documents found on stdin", {
      hints: [
        "check the program that writes to stdin: it must write one JSON document per line, or rows in the format of --format",
        "use --allow-empty if you expect no documents",
      ],
    });
  }
  return (async function* () {
    if (first.value) yield first.value;
    yield* batches;
  })();
}

/** Wraps batches so that return() closes the source and does not wait for more of stdin. */
function closable(
  batches: AsyncGenerator<Pending[], void>,
  close: () => void,
): AsyncIterable<Pending[]> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => batches.next(),
      return() {
        close();
        return batches.return();
      },
    }),
  };
}

interface PairChecks {
  check: PairCheck;
  targets: Targets;
  output: Output;
  /** Receives notes about later pairs: printing them would disturb the progress line. */
  warn: (message: string) => void;
  /** Counts documents. */
  table: PlanTable;
}

function withoutPair({ part, id }: ReadyDocument): Pending {
  const reason = `stdin:${part}:1: no cc_pair_id; write {"document": …, "cc_pair_id": N}, or use --cc-pair-id`;
  return { number: undefined, prepared: { kind: "failed", path: "", part, id, reason } };
}

/**
 * Checks each pair at its first occurrence; a document without a pair fails. Throws CliError
 * `not-found` for an unknown pair, and `usage` when the first document has no pair: then the
 * other documents probably have none either.
 */
async function* checkPairsInStdin(
  pending: AsyncIterable<Pending[]>,
  { check, targets, output, warn, table }: PairChecks,
): AsyncGenerator<Pending[], void> {
  let isFirst = true;
  const tell = (text: unknown): Promise<void> => Promise.resolve(warn(String(text)));
  const deferredOutput = { note: tell, warn: tell };
  for await (const batch of pending) {
    const pairs = new Set<number>();
    const result = batch.map((each): Pending => {
      const { prepared } = each;
      if (prepared.kind !== "document") return each;
      const target = targetFor(targets, prepared.ownPair);
      if (target) pairs.add(target.ccPairId);
      if (!target && isFirst && pairs.size === 0) throw missingPair({ isUpload: true });
      return target ? each : withoutPair(prepared);
    });
    const consequence = isFirst ? "nothing was sent" : "the run stops there";
    try {
      await check([...pairs], isFirst ? output : deferredOutput, consequence);
    } catch (error) {
      // Documents were already sent, so this is no longer a usage error.
      if (isFirst || !(error instanceof CliError) || error.exit !== "usage") throw error;
      throw new CliError("partial", error.message, { hints: error.hints });
    }
    table.countUp("new", result.length);
    isFirst = false;
    yield result;
  }
}

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
  const batches = readStdinDocuments(chunks, options, session, context.workerScript);
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
    const planned = { plan, stream, startedAtMs, owners };
    await uploadPlan(context, session, planned, report, options);
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

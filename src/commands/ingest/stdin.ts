import { dialects } from "../../api/dialects.ts";
import { loadExamine } from "../../checks/lint/load-examine.ts";
import type { Context, Source } from "../../context.ts";
import type { PayloadSetup } from "../../documents/inspect/inspect.ts";
import type { Prepared, ReadyDocument } from "../../documents/inspect/inspection.ts";
import { isRowFormat, prepareRows } from "../../documents/inspect/stdin/stdin-rows.ts";
import { isTextFormat, prepareText } from "../../documents/inspect/stdin/whole-text.ts";
import { addSize, noSize } from "../../documents/payload/payload.ts";
import { CliError } from "../../errors.ts";
import type { PlannedDocument } from "../../output/ingest.ts";
import { checkReportFiles } from "../../output/report/forms.ts";
import { decide } from "../../sync/plan/decide.ts";
import { createPlanTable, type PlanTable } from "../../sync/plan/plan-table.ts";
import { pendingOfLines, type Pending } from "../../sync/run/pending.ts";
import { targetFor } from "../../sync/state/target.ts";
import { endPlan, writePlan } from "./dry-run.ts";
import type { IngestOptions } from "./ingest-options.ts";
import { givenFlags, selectionFlags, shapingFlags } from "./options/mapping-flags.ts";
import type { Outcome } from "../outcome/follow.ts";
import { openSource, placeOf } from "./options/settings.ts";
import { openReported, type ReportRequest } from "./report/files.ts";
import { ingestFormat, withReport, type Report } from "./report/report.ts";
import { printNext, printNotices, printWarnings } from "./report/tell.ts";
import { isUpload, type Session, type UploadSession } from "./session.ts";
import { checkPlannedPairs, pairCheckOf } from "./target/access.ts";
import { createOwners } from "./target/owners.ts";
import { missingPair } from "./target/pair.ts";
import { createDocumentLists } from "./target/service-lists.ts";
import { uploadPlan } from "./upload/upload.ts";
import { createOutput } from "../../output/terminal/output.ts";

/** What stdin brings: finished documents, rows to map, or one text. */
type Content = "documents" | "rows" | "text" | undefined;

function contentOf({ format, map }: Pick<IngestOptions, "format" | "map">): Content {
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

/** Flags that shape a text or a row, but not a finished document. */
const mappingFlags = shapingFlags.filter(
  (name) => !(fileFlags as readonly string[]).includes(name) && name !== "map",
);

/** The flags without effect on what stdin brings, and why. */
const withoutEffect = {
  documents: {
    flags: [...fileFlags, ...mappingFlags],
    why: "documents from stdin are sent unchanged",
  },
  // No row is Markdown.
  rows: {
    flags: [...fileFlags, "sections", "anchors"],
    why: "these flags need files, and stdin holds rows",
  },
  text: { flags: [...fileFlags, "map"], why: "these flags need files, and stdin is a text" },
} as const;

/** Throws CliError `usage` for flags without effect on what stdin brings. */
function refuseFlagsWithoutEffect(options: IngestOptions, content: Content): void {
  const { flags: names, why } = withoutEffect[content ?? "documents"];
  const flags = [...givenFlags(options, names), ...(options.checksum ? ["--checksum"] : [])];
  if (flags.length === 0) return;
  throw new CliError("usage", `${flags.join(", ")}: ${why}`, {
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
  const refuse = (message: string, hint: string): never => {
    throw new CliError("usage", message, { hints: [hint] });
  };
  if (since !== undefined) {
    refuse(
      "--since selects files; all documents from stdin are sent",
      "for example `knowctl convert docs --since REF | knowctl ingest -`",
    );
  }
  if (content === undefined) {
    refuse(
      `--format ${format}: stdin must be NDJSON or one text, or rows`,
      `name the file instead: knowctl ingest FILE --format ${format}`,
    );
  }
  if (content !== "text" && id !== undefined) {
    const each = format === "ndjson" ? "each line of NDJSON" : "each row";
    refuse(
      `--id names one document; ${each} has its own id`,
      "set the format of stdin, for example --format markdown",
    );
  }
  if (content === "text" && (id ?? "").trim() === "") {
    refuse(
      `--format ${format}: a document from stdin needs an id`,
      "add --id ID; a later upload with the same id replaces the document",
    );
  }
  if (!isTTY) return;
  refuse(
    "stdin is a terminal: nothing is piped into `ingest -`",
    "for example `knowctl ingest - < documents.ndjson`",
  );
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
async function* readDocuments(
  chunks: AsyncIterable<Uint8Array>,
  options: IngestOptions,
  { source, targets, keys }: Session,
  script: Context["workerScript"],
): AsyncGenerator<Prepared[], void> {
  const { settings, raw } = source;
  const checks = source.checks && { ...source.checks, keys };
  const examine = await loadExamine(checks, settings);
  const setup: PayloadSetup = { pair: targets.pair, examine };
  const { format = "ndjson", id = "" } = options;
  if (contentOf(options) === "rows" && isRowFormat(format)) {
    return yield* prepareRows(chunks, format, settings, setup);
  }
  if (!isTextFormat(format)) return yield* prepareRows(chunks, "documents", settings, setup);
  const given = { settings, raw, checks };
  const prepared = await prepareText(chunks, { id, format }, given, setup, script);
  if (prepared) yield [prepared];
}

/** Reads the first batch and returns all batches. Throws CliError `usage` when there is none. */
async function readFirst(
  batches: AsyncGenerator<Pending[], void>,
  { signal }: Context,
  { allowEmpty }: IngestOptions,
): Promise<AsyncGenerator<Pending[], void>> {
  const first = await batches.next();
  signal.throwIfAborted();
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

function withoutPair({ part, id }: ReadyDocument): Pending {
  const reason = `stdin:${part}:1: no cc_pair_id; write {"document": …, "cc_pair_id": N}, or use --cc-pair-id`;
  return { number: undefined, prepared: { kind: "failed", path: "", part, id, reason } };
}

/**
 * Checks each pair at its first occurrence and counts the documents; one without a pair fails.
 * Throws CliError `not-found` for an unknown pair, and `usage` when the first document has no pair:
 * then the other documents probably have none either.
 */
async function* checkPairs(
  { pending, table }: OpenStdin,
  { targets, output }: Session,
  check: ReturnType<typeof pairCheckOf>,
  report: Report,
): AsyncGenerator<Pending[], void> {
  let isFirst = true;
  // Printing notes about later pairs would disturb the progress line.
  const tell = (text: unknown): Promise<void> => Promise.resolve(report.warn(String(text)));
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
      await check([...pairs], isFirst ? output : { note: tell, warn: tell }, consequence);
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

/** The documents of stdin, and an empty plan table that counts them. */
interface OpenStdin {
  close: () => void;
  table: PlanTable;
  pending: AsyncGenerator<Pending[], void>;
}

function openStdin(context: Context, session: Session, options: IngestOptions): OpenStdin {
  const { database } = session.state;
  const chunks = openChunks(context);
  const table = createPlanTable(database);
  const pending = pendingOfLines({
    batches: readDocuments(chunks, options, session, context.workerScript),
    database,
    storedId: dialects[session.source.config.dialect].storedId,
    shard: options.shard,
    onOthers: (count) => table.countUp("other", count),
    name: "stdin",
  });
  return { close: chunks.close, pending, table };
}

async function dryRun(
  context: Context,
  session: Session,
  { pending, table }: OpenStdin,
  options: IngestOptions,
): Promise<void> {
  const { targets, state } = session;
  const first = await readFirst(pending, context, options);
  await session.progress.stop();
  const pairs = new Set<number>();
  const size = noSize();
  const planOf = ({ prepared }: Pending): PlannedDocument => {
    const { kind, path, part } = prepared;
    const place = { path, ...(part > 0 ? { row: part } : {}) };
    if (kind !== "document") {
      return { action: kind, ...place, id: undefined, detail: prepared.reason };
    }
    for (const warning of prepared.warnings) table.warn(path, warning);
    if (prepared.notices) table.notices.add(prepared.notices, prepared);
    const { id, fingerprint, ownPair } = prepared;
    const target = targetFor(targets, ownPair);
    if (target) pairs.add(target.ccPairId);
    const accepted = target && state.accepted(target.key, id);
    const decision = decide(accepted, fingerprint, options.force === true);
    if (decision.action !== "unchanged") addSize(size, prepared.body);
    return { ...decision, ...place, id };
  };
  const documents = async function* (): AsyncGenerator<PlannedDocument> {
    for await (const batch of first) yield* batch.map(planOf);
  };
  const lacksPair = targets.pair.ccPairId === undefined;
  const counts = await writePlan(session, options, documents(), size);
  await checkPlannedPairs(context, session, [...pairs], options);
  await endPlan(session, options, counts, { size, others: table.count("other"), lacksPair });
  context.signal.throwIfAborted();
  await printNotices(session, table.notices);
  await printWarnings(session, table.warnings(), 0);
}

async function upload(
  context: Context,
  session: UploadSession,
  stdin: OpenStdin,
  request: ReportRequest,
  options: IngestOptions,
): Promise<void> {
  const { output, targets, connected } = session;
  const { client } = connected;
  const check = pairCheckOf(client, session, options);
  const { ccPairId } = targets.pair;
  await withReport(context, session, request, async (report) => {
    if (ccPairId !== undefined) await check([ccPairId], output, "nothing was sent");
    const documents = await readFirst(checkPairs(stdin, session, check, report), context, options);
    await session.progress.stop();
    const { table } = stdin;
    const plan = {
      table,
      fileCount: 0,
      linked: new Set<string>(),
      images: 0,
      pairs: new Set<number>(),
    };
    const stream = {
      [Symbol.asyncIterator]: () => ({
        next: () => documents.next(),
        // Closes stdin: it does not wait for more of it.
        return() {
          stdin.close();
          return documents.return();
        },
      }),
    };
    const owners = createOwners(
      session,
      options,
      createDocumentLists(client, session, context.signal),
    );
    const { startedAtMs } = request;
    const asked = { isOverwriteTold: false };
    const planned = { plan, stream, startedAtMs, owners, asked };
    await uploadPlan(context, session, planned, report, options);
    await printNext(context, session, report.counts);
  });
}

/**
 * `knowctl ingest -`: sends documents from stdin as they arrive, line by line, in constant
 * memory. An invalid line is a failure of that line only. With a row format or `--map`, stdin holds
 * rows; with `--format` and `--id`, the text of one document.
 */
export async function ingestStdin(
  context: Context,
  options: IngestOptions,
  outcome: Outcome,
): Promise<void> {
  const startedAtMs = context.now();
  const output = createOutput(context, options);
  checkStdinFlags(options, context.stdin);
  const format = ingestFormat(options);
  const files = checkReportFiles(options, context.cwd);
  const source = await openSource(context, ["-"], options, output, options.dryRun !== true);
  await outcome.begin(placeOf(source, options));
  const request = { outcome, format, startedAtMs, files, shard: options.shard };
  const session = await openReported(context, source, output, request, options);
  const stdin = openStdin(context, session, options);
  try {
    if (!isUpload(session)) await dryRun(context, session, stdin, options);
    else await upload(context, session, stdin, request, options);
  } finally {
    stdin.close();
    await session.close();
  }
}

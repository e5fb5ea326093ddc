import { chooseSample } from "../../../checks/verify/sample.ts";
import type { Context } from "../../../context.ts";
import { inputsWithout, scopeOf } from "../../../documents/find/scope.ts";
import { CliError } from "../../../errors.ts";
import { problemAt } from "../../../output/paths.ts";
import { countOf } from "../../../output/terminal/progress.ts";
import { recordedServices, serviceTargets, targetFor } from "../../../sync/state/target.ts";
import type { VerifiableRecord } from "../../../sync/state/verified.ts";
import type { Session } from "../../ingest/session.ts";
import { namesPairsByRule, sentTargets } from "../../ingest/target/pair.ts";
import {
  type Expected,
  type ExpectedText,
  textInBody,
  expectedOf,
  readRecorded,
} from "./expected.ts";
import type { VerifyOptions } from "../verify-options.ts";
import { readPending } from "../../../sync/run/pending.ts";
import { planFolder } from "../../ingest/plan.ts";

/** Documents that the files yield now, for a checkout without records. */
interface FileDocuments {
  count: number;
  /** Why files have no document, by file. */
  failed: readonly string[];
  texts: () => AsyncGenerator<ExpectedText>;
}

/** Finds the documents of the session's files. */
async function findFileDocuments(context: Context, session: Session): Promise<FileDocuments> {
  const { inspector, targets, connected, source } = session;
  const plan = await planFolder(context, session, { isDry: false });
  await session.progress.stop();
  const storedIdOf = connected?.client.dialect.storedId ?? ((id: string): string => id);
  return {
    count: plan.table.count("new") + plan.table.count("changed"),
    failed: [...plan.table.entries(["failed"])].map(({ path, detail }) =>
      problemAt(path, detail, source.shown),
    ),
    async *texts() {
      for await (const batch of readPending({
        table: plan.table,
        inspector,
        factsOf: source.factsOf,
      })) {
        for (const { prepared } of batch) {
          if (prepared.kind !== "document") continue;
          const { id, path, ownPair, body } = prepared;
          const target = targetFor(targets, ownPair);
          const document = {
            id,
            storedId: storedIdOf(id),
            path,
            ccPairId: target?.ccPairId,
            target: undefined,
            sentAtMs: undefined,
          };
          yield { document, text: textInBody(body, source.settings.versionKey) };
        }
      }
    },
  };
}

/** The documents to check. */
export interface Chosen {
  count: number;
  /** Whether the state has the uploads of the documents. */
  isRecorded: boolean;
  documents: AsyncIterable<ExpectedText>;
  /** Loads texts later, where `documents` has none. */
  textsOf?: (documents: readonly Expected[]) => AsyncIterable<ExpectedText>;
  /** Files that have no document to check, with the reason. */
  failed: readonly string[];
}

function nothingToCheck(what: string, hints: readonly string[]): CliError {
  return new CliError("usage", `nothing to check: ${what}`, { hints });
}

/** The recorded documents of the target within the paths of the command. */
function recordsOf({ state, targets, source }: Session): VerifiableRecord[] {
  const { config, inputs, find } = source;
  const isInScope = inputs.length === 0 ? () => true : scopeOf(inputs, find);
  return sentTargets(state, targets, config)
    .flatMap((key) => [...state.verified.list(key)])
    .filter(({ path }) => (path === undefined ? inputs.length === 0 : isInScope(path)));
}

/** The paths of the command that hold no recorded document: a check of the others would not prove them. */
function unrecordedInputs(
  { inputs, find, isWhole }: Session["source"],
  records: readonly VerifiableRecord[],
): string[] {
  if (isWhole) return [];
  const paths = records.flatMap(({ path }) => (path === undefined ? [] : [path]));
  return inputsWithout(inputs, find, paths);
}

/** Whether the last check since the upload leaves nothing to do. */
function isSettled({ verified }: VerifiableRecord, { depth }: VerifyOptions): boolean {
  if (verified?.result === "current") return true;
  return depth === "exists" && verified?.result === "present";
}

async function* withoutTexts(records: readonly VerifiableRecord[]): AsyncGenerator<ExpectedText> {
  for (const record of records) {
    yield { document: expectedOf(record), text: { unknown: "the text was not compared" } };
  }
}

async function chooseRecorded(
  context: Context,
  session: Session,
  all: readonly VerifiableRecord[],
  options: VerifyOptions,
): Promise<Chosen> {
  const open = options.sinceLast ? all.filter((each) => !isSettled(each, options)) : all;
  if (open.length < all.length) {
    const what = countOf(all.length - open.length, "document");
    await session.output.note(`--since-last: ${what} found current before, not checked again`);
  }
  const chosen = options.sample === undefined ? open : chooseSample(open, options.sample);
  const failed: string[] = [];
  if (options.depth !== "exists" || options.via) {
    const documents = readRecorded(context, session, chosen);
    return { count: chosen.length, isRecorded: true, documents, failed };
  }
  return {
    count: chosen.length,
    isRecorded: true,
    documents: withoutTexts(chosen),
    failed,
    textsOf(documents) {
      const ids = new Set(documents.map(({ id }) => id));
      const lost = chosen.filter(({ id }) => ids.has(id));
      return readRecorded(context, session, lost);
    },
  };
}

interface Missing {
  what: string;
  hints: string[];
}

/** What is not recorded: no upload, or none to this service. */
function whatIsMissing({ state, targets }: Session): Missing {
  const others = recordedServices(state.database);
  const [first] = others;
  if (first === undefined) return { what: "no upload is recorded here", hints: [] };
  const what = `no upload to ${targets.baseUrl} is recorded, only to ${others.join(", ")}`;
  return { what, hints: [`to check what is there: \`knowctl verify --base-url ${first}\``] };
}

/**
 * Throws CliError `usage` where no configuration says how the files became documents, or nothing names
 * the target: flags of the upload are unknown here, so files as they are would prove nothing.
 */
function refuseUndescribed(
  { source: { config }, targets }: Session,
  { what, hints }: Missing,
): void {
  const { concurrency: _, rate: _2, requireAccess: _3, ...shaping } = config.ingest;
  const isConfigured = Object.values(shaping).some((each) => each !== undefined);
  const hasTarget = targets.pair.ccPairId !== undefined || namesPairsByRule(config);
  if (isConfigured && hasTarget) return;
  const lacking = isConfigured
    ? "nothing names the target"
    : "no configuration says how the files became documents";
  throw nothingToCheck(`${what}, and ${lacking}`, [
    "add --print-config to the command line of the upload: `knowctl ingest PATH --cc-pair-id N --print-config` prints " +
      "the project file that repeats it",
    ...hints,
  ]);
}

/** Without records the files are the expectation: a sample of them is chosen by their ids. */
async function chooseFiles(
  context: Context,
  session: Session,
  { sample }: VerifyOptions,
): Promise<Chosen> {
  const { source, output } = session;
  const missing = whatIsMissing(session);
  refuseUndescribed(session, missing);
  const { what, hints } = missing;
  if (source.inputs.length === 0 && source.settings.include.length === 0) {
    throw nothingToCheck(`${what}; no path is named`, [
      "name files or folders, for example `knowctl verify docs`",
      ...hints,
    ]);
  }
  const found = await findFileDocuments(context, session);
  if (found.count === 0) {
    throw nothingToCheck("the files yield no document", ["check the paths and the options"]);
  }
  await output.note(`${what}: the files are compared with the index`);
  const { texts, failed } = found;
  if (sample === undefined || sample >= found.count) {
    return { count: found.count, isRecorded: false, documents: texts(), failed };
  }
  const all = [];
  for await (const { document } of texts()) {
    all.push({ id: document.id, path: document.path, isSuspect: false });
  }
  const ids = new Set(chooseSample(all, sample).map(({ id }) => id));
  const some = async function* (): AsyncGenerator<ExpectedText> {
    for await (const each of texts()) if (ids.has(each.document.id)) yield each;
  };
  return { count: ids.size, isRecorded: false, documents: some(), failed };
}

/**
 * What `verify` checks: the recorded documents, or the documents of the files where none are
 * recorded. Throws CliError `usage` when there is nothing to check.
 */
export async function chooseDocuments(
  context: Context,
  session: Session,
  options: VerifyOptions,
): Promise<Chosen> {
  const { state, targets, source } = session;
  const records = recordsOf(session);
  const unrecorded = unrecordedInputs(source, records);
  if (records.length > 0 && unrecorded.length === 0) {
    return await chooseRecorded(context, session, records, options);
  }
  const hasRecords = serviceTargets(state.database, targets.baseUrl).length > 0;
  if (hasRecords) {
    const place = unrecorded.length > 0 ? ` in ${unrecorded.join(", ")}` : "";
    const pair = targets.pair.ccPairId;
    const of = pair === undefined ? "" : ` to pair ${pair}`;
    throw nothingToCheck(`no upload${of} is recorded${place}`, [
      "`knowctl state list` shows what was uploaded",
    ]);
  }
  return await chooseFiles(context, session, options);
}

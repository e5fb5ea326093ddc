import type { IngestOptions } from "./ingest-options.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { serviceTargets, targetFor } from "../../sync/state/target.ts";
import type { BegunRun } from "../../sync/state/uploads.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import { addSize, noSize } from "../../documents/payload/payload.ts";
import { openOutput } from "../connect.ts";
import { accessRules, type AccessRules } from "./target/access.ts";
import { everyDocument, writePlan } from "./dry-run.ts";
import {
  createDocumentLists,
  createOwners,
  failForeign,
  ownersOptions,
  type DocumentLists,
} from "./target/owners.ts";
import { planFolder } from "./plan.ts";
import { warnOfHeld } from "./target/other-pairs.ts";
import { checkPlannedPairs } from "./target/planned-access.ts";
import { ingestFormat, withReport, type Report, type ReportRequest } from "./report/report.ts";
import { checkReportFiles, type ReportFiles } from "../../output/report/forms.ts";
import { isUpload, openSession, type Session, type UploadSession } from "./session.ts";
import { openSource, type DocumentSource } from "./options/settings.ts";
import { placeText } from "./target/names.ts";
import { createPairCheck, missingPair, type PairCheck } from "./target/target.ts";
import { printNext } from "./report/next.ts";
import { printNotices, printReasons, printSince, printWarnings } from "./report/tell.ts";
import { printUnfound } from "./report/tell-unfound.ts";
import { begunRun } from "./upload/failures.ts";
import { createOverwritten, uploadPlan, type Overwritten } from "./upload/upload.ts";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { countOf, formatCount } from "../../output/terminal/progress.ts";
import { tombstoneMark } from "../../sync/state/records.ts";

interface IdChanges {
  count: number;
  /** Documents of other shards that have no record under their id. */
  newOthers: number;
  /** The first document, with its recorded id and the number of its recorded options. */
  first: { path: string; before: string; now: string; options: number | undefined } | undefined;
}

/** Counts the documents whose file the state records under another id; an import records it too. */
function findIdChanges(session: Session, plan: Plan): IdChanges {
  const found: IdChanges = { count: 0, newOthers: 0, first: undefined };
  const { state, targets, shaping } = session;
  if (plan.table.count("new") === 0) return found;
  if (serviceTargets(state.database, targets.baseUrl).length === 0) return found;
  const knows = new Map<string, boolean>();
  const isKnown = (key: string): boolean => {
    if (!knows.has(key)) knows.set(key, state.knows(key));
    return knows.get(key) === true;
  };
  const recorded = state.database.prepare(
    `SELECT id, options FROM accepted
      WHERE target = ? AND path = ? AND part = ? AND id <> ? AND whole <> '${tombstoneMark}' LIMIT 1`,
  );
  // Those of the other shards count as well: each shard alone may have too few to be noticed.
  const unrecorded = plan.table.entries(["new", "other"]);
  for (const { path, part, id = "", ownPair, action } of unrecorded) {
    const key = targetFor(targets, ownPair)?.key;
    if (key === undefined || !isKnown(key) || state.accepted(key, id)) continue;
    if (action === "other") found.newOthers++;
    const row = recorded.get(key, path, part, id);
    if (row === undefined) continue;
    const options = row["options"] === null ? undefined : Number(row["options"]);
    // In a file of rows, another id at this position is another row, unless the options differ.
    if (part > 0 && (options === undefined || shaping.differenceFrom(options) === "")) continue;
    found.count++;
    found.first ??= { path, before: String(row["id"]), now: id, options };
  }
  return found;
}

/**
 * What to say where at least two, and a tenth, of the recorded documents would be sent under another
 * id: the service would have them twice. Undefined for fewer.
 */
function idChanges(session: Session, plan: Plan): { text: string; hints: string[] } | undefined {
  const { count, first, newOthers } = findIdChanges(session, plan);
  const { table } = plan;
  const others = table.count("other") - newOthers;
  const known = count + table.count("unchanged") + table.count("changed") + others;
  if (!first || count < 2 || count * 10 < known) return undefined;
  const { before, now, path, options } = first;
  const settings = session.state.options.get(options)?.settings;
  const prefix = settings?.flags?.idPrefix ?? settings?.idPrefix ?? "";
  const isOfPrefix = prefix !== session.source.settings.idPrefix && before === prefix + path;
  const again = isOfPrefix
    ? `repeat the recorded prefix: --id-prefix ${prefix === "" ? '""' : neutraliseLine(prefix)}`
    : "repeat the options of the last upload: --id-prefix, --root, front matter keys of ids";
  const ids = `${neutraliseLine(before)} → ${neutraliseLine(now)}`;
  return {
    text: `${formatCount(count)} of ${countOf(known, "recorded document")} would be sent a second time, under another id (first: ${ids})`,
    hints: [
      again,
      "or send them under the new ids with --allow-id-change: the earlier ones stay until `knowctl prune --class other-options --class row-gone`",
    ],
  };
}

/** Throws CliError `usage` unless the ids are as recorded, or may change. */
function refuseIdChanges(session: Session, plan: Plan, isAllowed: boolean): void {
  const changes = isAllowed ? undefined : idChanges(session, plan);
  if (!changes) return;
  const { text, hints } = changes;
  throw new CliError("usage", `${text}; nothing was sent`, { hints });
}

function folderWithState(root: string): string | undefined {
  for (let folder = root; dirname(folder) !== folder;) {
    folder = dirname(folder);
    if (existsSync(join(folder, ".knowctl", "state.db"))) return folder;
  }
  return undefined;
}

/**
 * Warns at the first upload from a root below a folder with a state, e.g. after `git init` in a
 * subfolder or with `--root`. Files uploaded from the upper folder would get a second document.
 */
async function warnOfStateAbove({ output, source, state }: Session): Promise<void> {
  if (state.countFiles(1) > 0) return;
  const { root } = source.settings;
  const above = folderWithState(root);
  if (above === undefined) return;
  await output.warn(
    `the project root is ${root}, but the folder ${above} above it contains a state: files uploaded from there get other ids here, so the service stores them twice; to keep their ids, use --root ${above}`,
  );
}

/** Throws CliError `usage` for flags that cannot be combined. */
export function checkOptions(paths: readonly string[], options: IngestOptions): void {
  if (paths.includes("-") && paths.length > 1) {
    throw new CliError("usage", "`-` (stdin) cannot be combined with other paths", {
      hints: ["run the command once for stdin and once for the other paths"],
    });
  }
  if (options.id !== undefined && !paths.includes("-")) {
    throw new CliError("usage", "--id names the one document on stdin, so it needs the path `-`", {
      hints: ["for example `knowctl ingest - --format markdown --id handbook < handbook.md`"],
    });
  }
  if (options.exitCode && !options.dryRun) {
    throw new CliError("usage", "--exit-code needs --dry-run", {
      hints: ["add --dry-run, or omit --exit-code: an upload has its own exit codes"],
    });
  }
  const isReported = (options.report ?? options.gitlabReport) !== undefined;
  if (options.dryRun && isReported && paths.includes("-")) {
    throw new CliError("usage", "--dry-run of stdin writes no report", {
      hints: ["omit --report and --gitlab-report: `--output json` prints the plan"],
    });
  }
}

/** The error of a command that found no file; in a trial, with advice for `knowctl try`. */
export function nothingFound({ inputs, settings }: DocumentSource, isTrial = false): CliError {
  const places = inputs.length > 0 ? inputs : settings.include;
  const hints = isTrial
    ? ["name a folder with Markdown, text, HTML, DOCX or PDF files: knowctl try FOLDER"]
    : [
        "check the path; `knowctl explain FILE` shows why a file is left out",
        "use --allow-empty if you expect no documents",
      ];
  return new CliError("usage", `0 documents found in ${places.join(", ")}`, { hints });
}

/** Plans over the files of the session. Throws CliError `usage` when there are none. */
export async function planFound(
  context: Context,
  session: Session,
  options: IngestOptions,
  planOptions: {
    files?: ReportFiles;
    onManyPending?: () => void;
    onPlanned?: (body: Uint8Array) => void;
  } = {},
): Promise<Plan> {
  const plan = await planFolder(context, session, {
    ...options,
    ...planOptions,
    sends: true,
  });
  if (plan.fileCount === 0 && !options.allowEmpty) {
    throw nothingFound(session.source, context.trialFiles !== undefined);
  }
  await session.progress.stop();
  return plan;
}

/** Pairs of the documents to send; without documents, the run's pair if an access type is required. */
function pairsToCheck({ pairs }: Plan, { targets }: Session, { required }: AccessRules): number[] {
  const { ccPairId } = targets.pair;
  if (pairs.size > 0) return [...pairs].filter((each) => each !== undefined);
  return required.length > 0 && ccPairId !== undefined ? [ccPairId] : [];
}

async function dryRun(
  context: Context,
  session: Session,
  begun: Pick<ReportRequest, "format" | "files" | "startedAtMs">,
  options: IngestOptions,
): Promise<void> {
  const { output, source, state, shaping, targets } = session;
  const { format, files } = begun;
  const size = noSize();
  const onPlanned = (body: Uint8Array): void => addSize(size, body);
  const plan = await planFound(context, session, options, { files, onPlanned });
  const rules = accessRules(options, source.config);
  await checkPlannedPairs(context, session, pairsToCheck(plan, session, rules), rules, (client) =>
    options.overwrite === true ? Promise.resolve() : failForeign(context, session, client, plan),
  );
  await warnOfHeld(session, plan.table.entries(["new", "changed", "unchanged"]), rules);
  await printNotices(session, plan.table.notices);
  await printWarnings(session, plan.table.warnings(), plan.images);
  await printSince(output, source, true);
  const changes = options.allowIdChange ? undefined : idChanges(session, plan);
  if (changes) {
    await output.warn(`${changes.text}: the upload is refused; ${changes.hints.join("; ")}`);
  } else await printReasons(output, plan.table);
  const exitCode = options.exitCode === true;
  const { shard } = options;
  const shown = format === "text" ? source.shown : (path: string) => path;
  const folder = { plan, source, state, shaping, targets, shard, shown };
  const { reportPlan } = await import("./report/plan-report.ts");
  await reportPlan(context, session, folder, begun);
  await writePlan(session, format, {
    documents: everyDocument(context, folder),
    size,
    listsGone: source.since !== undefined,
    noPair: () => plan.pairs.has(undefined),
    others: () => plan.table.count("other"),
    shard,
    exitCode,
    isRecordless: options.state === false,
  });
}

async function upload(
  context: Context,
  session: UploadSession,
  request: ReportRequest,
  options: IngestOptions,
): Promise<void> {
  await withReport(context, session, request, async (report) => {
    const begun = begunRun(session, options, request.startedAtMs);
    const target = targetFor(session.targets, undefined);
    const isFirst = target !== undefined && !session.state.knows(target.key);
    await uploadFound(context, session, report, request, options, begun);
    await printNext(context, session, report.counts, isFirst ? options : undefined);
  });
}

/** What a run asks of the service, and warns of, once: also where it sends several groups of files. */
interface Asked {
  check: PairCheck;
  lists: DocumentLists;
  overwritten: Overwritten;
}

/** `session` stays open for the whole run. */
export function askOnce(context: Context, session: UploadSession, options: IngestOptions): Asked {
  const { connected, source, targets, pairNames: names } = session;
  const place = placeText(source.config, targets.baseUrl);
  const rules = accessRules(options, source.config);
  return {
    check: createPairCheck(connected.client, rules, { names, place }),
    lists: createDocumentLists(session, context.signal),
    overwritten: createOverwritten(),
  };
}

/** Plans over the files of the session, checks the target and sends them; for `begun` see uploadPlan(). */
export async function uploadFound(
  context: Context,
  session: UploadSession & { asked?: Asked },
  report: Report,
  { files, startedAtMs }: ReportRequest,
  options: IngestOptions,
  begun?: BegunRun,
): Promise<void> {
  const rules = accessRules(options, session.source.config);
  const { check, lists, overwritten } = session.asked ?? askOnce(context, session, options);
  const owners = createOwners(session, ownersOptions(context, options), lists);
  // A state without records of the service: whatever is pending has none.
  const isFirst = serviceTargets(session.state.database, session.targets.baseUrl).length === 0;
  const onManyPending = (): void => {
    check.begin();
    if (isFirst) owners.begin();
  };
  const plan = await planFound(context, session, options, { files, onManyPending });
  if (plan.pairs.has(undefined)) throw missingPair({ isUpload: true });
  const { output } = session;
  // The pair of a trial has no readers but its user: the note on readers would only worry.
  const messages = context.trialFiles ? { note: async () => {}, warn: output.warn } : output;
  await check(pairsToCheck(plan, session, rules), messages, "nothing was sent");
  refuseIdChanges(session, plan, options.allowIdChange === true);
  await printSince(session.output, session.source);
  await printReasons(session.output, plan.table);
  await printUnfound(session, plan);
  const planned = { plan, startedAtMs, begun, owners, overwritten };
  await uploadPlan(context, session, planned, report, options);
}

/**
 * `knowctl ingest`: finds files, compares them with the state, and sends new and changed
 * documents. Checks before the first request that all ids are unique and the pair exists.
 * Exit names: see the table in errors.ts.
 */
export async function ingest(
  context: Context,
  paths: string[],
  options: IngestOptions,
): Promise<void> {
  const startedAtMs = context.now();
  checkOptions(paths, options);
  if (paths.includes("-") && options.printConfig !== true)
    return await (await import("./stdin/stdin.ts")).ingestStdin(context, options);
  const output = openOutput(context, options);
  const begun = {
    startedAtMs,
    format: ingestFormat(options),
    files: checkReportFiles(options, context.cwd),
  };
  const sends = options.dryRun !== true && options.printConfig !== true;
  const source = await openSource(context, paths, options, output, sends);
  if (options.printConfig) {
    return await (
      await import("./options/print-config.ts")
    ).printConfig(context, output, source, options);
  }
  const session = await openSession(context, output, source, options);
  try {
    if (!context.trialFiles) await warnOfStateAbove(session);
    if (!isUpload(session)) await dryRun(context, session, begun, options);
    else await upload(context, session, { ...begun, shard: options.shard }, options);
  } finally {
    await session.close();
  }
}

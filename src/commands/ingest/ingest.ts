import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { pruneCommand } from "../../api/dialects.ts";
import type { Context } from "../../context.ts";
import { addSize, noSize } from "../../documents/payload/payload.ts";
import { CliError } from "../../errors.ts";
import { checkReportFiles } from "../../output/report/forms.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { countOf, formatCount } from "../../output/terminal/progress.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import { createOtherIds } from "../../sync/state/by-path.ts";
import { serviceTargets, targetFor } from "../../sync/state/target.ts";
import type { BegunRun } from "../../sync/state/uploads.ts";
import { endPlan, everyDocument, plannedDocuments, writePlan } from "./dry-run.ts";
import type { IngestOptions } from "./ingest-options.ts";
import { openSource, placeOf, type DocumentSource } from "./options/settings.ts";
import { planFolder, type FolderPlanOptions } from "./plan.ts";
import { openReported, reportPlan, type ReportRequest } from "./report/files.ts";
import { ingestFormat, withReport, type Report } from "./report/report.ts";
import {
  printNext,
  printNotices,
  printReasons,
  printSince,
  printUnfound,
  printWarnings,
  warnOfUnusedExcludes,
} from "./report/tell.ts";
import { isUpload, type Session, type UploadSession } from "./session.ts";
import { checkPlannedPairs, pairCheckOf, requiredAccess, type PairCheck } from "./target/access.ts";
import { createOwners, failForeign, warnOfHeld } from "./target/owners.ts";
import { missingPair } from "./target/pair.ts";
import { createDocumentLists, type DocumentLists } from "./target/service-lists.ts";
import { followed, type Outcome } from "../outcome/follow.ts";
import { openClaim } from "./upload/claim.ts";
import { begunRun } from "./upload/failures.ts";
import { uploadPlan } from "./upload/upload.ts";
import type { UploadFollower } from "./watch/watch.ts";
import { createOutput } from "../../output/terminal/output.ts";

interface IdChanges {
  count: number;
  /** Documents of other shards that have no record under their id. */
  newOthers: number;
  /** The first document, with its recorded id and the number of its recorded options. */
  first: { path: string; before: string; now: string; options: number | undefined } | undefined;
}

/** Counts the documents whose file the state records under another id; an import records it too. */
function findIdChanges({ state, targets, shaping }: Session, { table }: Plan): IdChanges {
  const found: IdChanges = { count: 0, newOthers: 0, first: undefined };
  if (table.count("new") === 0) return found;
  if (serviceTargets(state.database, targets.baseUrl).length === 0) return found;
  const findOther = createOtherIds(state.database);
  // Those of the other shards count as well: each shard alone may have too few to be noticed.
  for (const { path, part, id = "", ownPair, action } of table.entries(["new", "other"])) {
    const key = targetFor(targets, ownPair)?.key;
    if (key === undefined || !state.knows(key) || state.accepted(key, id)) continue;
    if (action === "other") found.newOthers++;
    const other = findOther(key, { path, part, id });
    if (other === undefined) continue;
    const { options } = other;
    // In a file of rows, another id at this position is another row, unless the options differ.
    if (part > 0 && (options === undefined || shaping.differenceFrom(options) === "")) continue;
    found.count++;
    found.first ??= { path, before: other.id, now: id, options };
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
      `or send them under the new ids with --allow-id-change: the earlier ones stay until \`${pruneCommand(session.source.config.dialect)} --class other-options --class row-gone\``,
    ],
  };
}

/**
 * Warns at the first upload from a root below a folder with a state, e.g. after `git init` in a
 * subfolder or with `--root`. Files uploaded from the upper folder would get a second document.
 */
async function warnOfStateAbove({ output, source, state }: Session): Promise<void> {
  if (state.countFiles(1) > 0) return;
  const { root } = source.settings;
  for (let folder = root; dirname(folder) !== folder;) {
    folder = dirname(folder);
    if (!existsSync(join(folder, ".knowctl", "state.db"))) continue;
    return await output.warn(
      `the project root is ${root}, but the folder ${folder} above it contains a state: files uploaded from there get other ids here, so the service stores them twice; to keep their ids, use --root ${folder}`,
    );
  }
}

/** Flags that cannot be combined, in words. */
const refusals: readonly {
  isRefused: (options: IngestOptions, readsStdin: boolean, pathCount: number) => boolean;
  why: string;
  hint: string;
}[] = [
  {
    isRefused: (_, readsStdin, pathCount) => readsStdin && pathCount > 1,
    why: "`-` (stdin) cannot be combined with other paths",
    hint: "run the command once for stdin and once for the other paths",
  },
  {
    isRefused: ({ watch }, readsStdin) => watch === true && readsStdin,
    why: "--watch watches files, and `-` (stdin) is none",
    hint: "name folders or files: knowctl ingest docs --watch",
  },
  {
    isRefused: (options) => options.watch === true && ingestFormat(options) === "json",
    why: "--watch has no last result, so --output json would never end",
    hint: "use --output ndjson: an object for each event",
  },
  {
    isRefused: ({ id }, readsStdin) => id !== undefined && !readsStdin,
    why: "--id names the one document on stdin, so it needs the path `-`",
    hint: "for example `knowctl ingest - --format markdown --id handbook < handbook.md`",
  },
  {
    isRefused: ({ claim }, readsStdin) => claim === true && readsStdin,
    why: "--claim shares a list of files among workers, and stdin is none",
    hint: "write the documents to files, or omit --claim",
  },
  {
    isRefused: ({ claim, state }) => claim === true && state === false,
    why: "--claim needs the state: what other workers have sent is fetched into it",
    hint: "omit --no-state; on a machine that is thrown away, the state is empty at first",
  },
  {
    isRefused: ({ exitCode, dryRun }) => exitCode === true && dryRun !== true,
    why: "--exit-code needs --dry-run",
    hint: "add --dry-run, or omit --exit-code: an upload has its own exit codes",
  },
  {
    isRefused: ({ dryRun, report, gitlabReport }, readsStdin) =>
      dryRun === true && readsStdin && (report ?? gitlabReport) !== undefined,
    why: "--dry-run of stdin writes no report",
    hint: "omit --report and --gitlab-report: `--output json` prints the plan",
  },
];

/** Throws CliError `usage` for flags that cannot be combined. */
export function checkOptions(paths: readonly string[], options: IngestOptions): void {
  const readsStdin = paths.includes("-");
  const refusal = refusals.find((each) => each.isRefused(options, readsStdin, paths.length));
  if (refusal) throw new CliError("usage", refusal.why, { hints: [refusal.hint] });
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
  more: Pick<FolderPlanOptions, "files" | "onManyPending" | "onPlanned" | "digest"> = {},
): Promise<Plan> {
  const plan = await planFolder(context, session, { ...options, ...more, sends: true });
  if (plan.fileCount === 0 && !options.allowEmpty) {
    throw nothingFound(session.source, context.trialFiles !== undefined);
  }
  await session.progress.stop();
  await warnOfUnusedExcludes(session.output, session.source);
  return plan;
}

/** Pairs of the documents to send; without documents, the run's pair if an access type is required. */
function pairsToCheck(
  { pairs }: Plan,
  { targets, source }: Session,
  options: IngestOptions,
): number[] {
  if (pairs.size > 0) return [...pairs].filter((each) => each !== undefined);
  const { ccPairId } = targets.pair;
  const isRequired = requiredAccess(options, source.config).length > 0;
  return isRequired && ccPairId !== undefined ? [ccPairId] : [];
}

async function dryRun(
  context: Context,
  session: Session,
  request: ReportRequest,
  options: IngestOptions,
): Promise<void> {
  const { output, source } = session;
  const size = noSize();
  const onPlanned = (body: Uint8Array): void => addSize(size, body);
  const plan = await planFound(context, session, options, { files: request.files, onPlanned });
  const { table } = plan;
  const pairs = pairsToCheck(plan, session, options);
  await checkPlannedPairs(context, session, pairs, options, async (client) => {
    if (!options.overwrite) await failForeign(context.signal, session, client, plan);
  });
  await warnOfHeld(session, table.entries(["new", "changed", "unchanged"]), options);
  await printNotices(session, table.notices);
  await printWarnings(session, table.warnings(), plan.images);
  await printSince(output, source, true);
  const changes = options.allowIdChange ? undefined : idChanges(session, plan);
  if (changes) {
    await output.warn(`${changes.text}: the upload is refused; ${changes.hints.join("; ")}`);
  } else await printReasons(output, table);
  await reportPlan(context, session, plannedDocuments(session, plan, options), request);
  const documents = everyDocument(context, session, plan, options);
  const counts = await writePlan(session, options, documents, size);
  const lacksPair = plan.pairs.has(undefined);
  await endPlan(session, options, counts, { size, others: table.count("other"), lacksPair });
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
    await uploadFound(context, session, { report, request, begun }, options);
    await printNext(context, session, report.counts, isFirst ? options : undefined);
  });
}

/** What a run asks of the service, and warns of, once: also where it sends several groups of files. */
export interface Asked {
  check: PairCheck;
  lists: DocumentLists;
  /** Whether a warning said that the service already had a document without a record here. */
  isOverwriteTold: boolean;
}

/** `session` stays open for the whole run. */
export function askOnce(context: Context, session: UploadSession, options: IngestOptions): Asked {
  const { client } = session.connected;
  return {
    check: pairCheckOf(client, session, options),
    lists: createDocumentLists(client, session, context.signal),
    isOverwriteTold: false,
  };
}

/** Plans over the files of the session, checks the target and sends them; for `begun` see uploadPlan(). */
export async function uploadFound(
  context: Context,
  session: UploadSession,
  { report, request, begun }: { report: Report; request: ReportRequest; begun?: BegunRun },
  options: IngestOptions,
  asked = askOnce(context, session, options),
): Promise<void> {
  const { output, source, state, targets } = session;
  const owners = createOwners(session, options, asked.lists);
  // A state without records of the service: whatever is pending has none.
  const isFirst = serviceTargets(state.database, targets.baseUrl).length === 0;
  const onManyPending = (): void => {
    asked.check.begin();
    if (isFirst) owners.begin();
  };
  const { files, startedAtMs } = request;
  const claim = await openClaim(context, session, options);
  const digest = claim?.files;
  if (claim) request.outcome.join(claim.name);
  const plan = await planFound(context, session, options, { files, onManyPending, digest });
  if (plan.pairs.has(undefined)) throw missingPair({ isUpload: true });
  // The pair of a trial has no readers but its user: the note on readers would only worry.
  const messages = context.trialFiles ? { note: async () => {}, warn: output.warn } : output;
  await asked.check(pairsToCheck(plan, session, options), messages, "nothing was sent");
  const changes = options.allowIdChange ? undefined : idChanges(session, plan);
  if (changes) {
    throw new CliError("usage", `${changes.text}; nothing was sent`, { hints: changes.hints });
  }
  await printSince(output, source);
  await printReasons(output, plan.table);
  await printUnfound(session, plan);
  const turns = await claim?.join(plan);
  const planned = { plan, turns, startedAtMs, begun, owners, asked };
  // What is removed while the documents are sent was there for the plan.
  const found = { ...source, find: { ...source.find, mayBeRemoved: true } };
  try {
    await uploadPlan(context, { ...session, source: found }, planned, report, options);
  } finally {
    await turns?.worker.leave(report.stored());
  }
}

async function uploadOrPlan(
  context: Context,
  paths: string[],
  options: IngestOptions,
  outcome: Outcome,
  follower: UploadFollower | undefined,
): Promise<void> {
  const startedAtMs = context.now();
  checkOptions(paths, options);
  if (paths.includes("-") && options.printConfig !== true)
    return await (await import("./stdin.ts")).ingestStdin(context, options, outcome);
  const output = createOutput(context, options);
  const request: ReportRequest = {
    outcome,
    startedAtMs,
    format: ingestFormat(options),
    files: checkReportFiles(options, context.cwd),
    shard: options.shard,
    onEnd: follower?.onEnd,
  };
  const sends = options.dryRun !== true && options.printConfig !== true;
  const source = await openSource(context, paths, options, output, sends);
  await follower?.onSource(source);
  if (options.printConfig) {
    const { printConfig } = await import("./options/project-file.ts");
    return await printConfig(context, output, source, options);
  }
  await outcome.begin(placeOf(source, options));
  const session = await openReported(context, source, output, request, options);
  try {
    if (!context.trialFiles) await warnOfStateAbove(session);
    if (!isUpload(session)) await dryRun(context, session, request, options);
    else await upload(context, session, request, options);
  } finally {
    await session.close();
  }
}

/** One upload, or with --dry-run or --print-config what they print. `follower`: of a watch. */
export async function ingestOnce(
  context: Context,
  paths: string[],
  options: IngestOptions,
  follower?: UploadFollower,
): Promise<void> {
  const work = followed<IngestOptions>("ingest", (...run) => uploadOrPlan(...run, follower));
  await work(context, paths, options);
}

/**
 * `knowctl ingest`: finds files, compares them with the state, and sends new and changed
 * documents. Checks before the first request that all ids are unique and the pair exists.
 * With --watch again and again, see watchUploads(). Exit names: see the table in errors.ts.
 */
export async function ingest(
  context: Context,
  paths: string[],
  options: IngestOptions,
): Promise<void> {
  if (options.watch !== true) return await ingestOnce(context, paths, options);
  checkOptions(paths, options);
  const [{ watchUploads }, { openFolderWatcher }] = await Promise.all([
    import("./watch/watch.ts"),
    import("../../documents/find/watch-folder.ts"),
  ]);
  await watchUploads(context, paths, options, ingestOnce, openFolderWatcher);
}

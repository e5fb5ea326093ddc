import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { loadGlobs, mayBeGlob } from "../../documents/files/patterns.ts";
import { createRealPlaces, exists } from "../../documents/files/real-place.ts";
import { relativeTo } from "../../documents/files/root.ts";
import { CliError } from "../../errors.ts";
import { checkReportFiles } from "../../output/report/forms.ts";
import { readReport } from "../../output/report/stored/read.ts";
import type { RunReport } from "../../output/report/stored/record.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { hasState, noStateError } from "../../sync/state/file/state-file.ts";
import type { State } from "../../sync/state/state.ts";
import {
  allFailureTargets,
  failureTargets,
  stoppedTargets,
  pairInKey,
  serviceInKey,
} from "../../sync/state/target.ts";
import { followed, type Outcome } from "../outcome/follow.ts";
import type { IngestOptions } from "../ingest/ingest-options.ts";
import { checkOptions } from "../ingest/ingest.ts";
import {
  openSource,
  placeOf,
  recordedSource,
  type DocumentSource,
} from "../ingest/options/settings.ts";
import type { ReportRequest } from "../ingest/report/files.ts";
import { ingestFormat } from "../ingest/report/report.ts";
import { namesShared } from "../ingest/record.ts";
import { openSession, type Session } from "../ingest/session.ts";
import {
  chosenPair,
  namesPairsByRule,
  severalTargets,
  type ChosenPair,
} from "../ingest/target/pair.ts";
import { failuresKey, stoppedUpload } from "../ingest/upload/failures.ts";
import { stateRules } from "../files-in-state.ts";
import { allGone, dropGone, keepFindable, keepIds } from "./failed-files.ts";
import {
  countFiles,
  failedInReport,
  failedInState,
  missingInState,
  type Failed,
  type RetryGroup,
} from "./groups.ts";
import { sendGroups, type SourceGroup } from "./send.ts";
import { createOutput } from "../../output/terminal/output.ts";

/** Throws CliError `usage` when the report and the session have different targets. */
function refuseOtherTarget({ target }: RunReport, { targets }: Session, name: string): void {
  const { baseUrl, pair } = targets;
  const textOf = (url: string, id: number | null | undefined): string =>
    `${url.replace(/\/+$/, "")}, pair ${id ?? "by rule"}`;
  const [theirs, ours] = [textOf(target.baseUrl, target.ccPairId), textOf(baseUrl, pair.ccPairId)];
  if (theirs === ours) return;
  throw new CliError("usage", `${name} is a report of another target; nothing was sent`, {
    details: [`the report: ${theirs}`, `this run: ${ours}`],
    hints: [
      "omit the target: the report names it",
      "or set it with --cc-pair-id, --base-url or --profile",
    ],
  });
}

/**
 * Throws CliError `usage` for a report merged from runs to several pairs: a failure does not record
 * its pair. If rules choose the pairs, they choose them again.
 */
function refuseSeveralPairs(
  { merged, target, options }: RunReport,
  { config }: DocumentSource,
  name: string,
): void {
  if (!merged || target.ccPairId !== null) return;
  if (namesPairsByRule(config) && !options.some(({ pairFromFlag }) => pairFromFlag)) return;
  throw new CliError("usage", `${name} was merged from runs to several pairs; nothing was sent`, {
    hints: [
      "retry the reports it was merged from, one by one: `knowctl retry REPORT`",
      "the merged report does not record which pair a failure belongs to",
    ],
  });
}

/**
 * The only target with failures in the state, or without failures, with stopped uploads. Throws
 * CliError `usage` when there are several.
 */
function onlyFailureTarget({ database }: State, baseUrl: string): ChosenPair | undefined {
  const failed = failureTargets(database, baseUrl);
  const keys = failed.length > 0 ? failed : stoppedTargets(database, baseUrl);
  const [only] = keys;
  const what = failed.length > 0 ? "the failures have" : "the stopped uploads have";
  if (keys.length > 1) throw severalTargets(keys.map(pairInKey), what);
  if (only === undefined) return undefined;
  return { ccPairId: pairInKey(only), connector: undefined, fromFlag: false };
}

/** Throws CliError `usage` when another target has failures. Call it when this target has none. */
function refuseWrongTarget({ state, targets }: Session): void {
  const own = failuresKey(targets);
  const others = allFailureTargets(state.database).filter((key) => key !== own && key !== "");
  const [first] = others;
  if (first === undefined) return;
  const { ccPairId } = targets.pair;
  const isHere = (key: string): boolean => serviceInKey(key) === targets.baseUrl;
  const place = (key: string): string => (isHere(key) ? "" : ` at ${serviceInKey(key)}`);
  const address = isHere(first) ? "" : ` --base-url ${serviceInKey(first)}`;
  const nothing = ccPairId === undefined ? `at ${targets.baseUrl}` : `for pair ${ccPairId}`;
  throw new CliError("usage", `nothing failed ${nothing}`, {
    details: others.map((key) => `there are failures of pair ${pairInKey(key)}${place(key)}`),
    hints: [
      `name their target: knowctl retry${address} --cc-pair-id ${pairInKey(first)}`,
      ...(address === ""
        ? []
        : ["or, if the service has moved, run the upload again: it sends the missing documents"]),
    ],
  });
}

/** The target of a report; undefined where rules choose it. */
function reportTarget({ target, options }: RunReport): ChosenPair | undefined {
  const { ccPairId } = target;
  if (ccPairId === null) return undefined;
  return { ccPairId, connector: undefined, fromFlag: options[0]?.pairFromFlag ?? true };
}

/**
 * A path in the project: the first path of the report if it exists below the working directory,
 * else ".". A report must not name another root.
 */
function pathInProject(report: RunReport | undefined, cwd: string): string {
  const path = report?.paths[0];
  if (path === undefined || relativeTo(cwd, resolve(cwd, path)) === undefined) return ".";
  return exists(resolve(cwd, path)) ? path : ".";
}

/** What is to be sent again: what failed by the state or a report, or with --missing what verify missed. */
interface Again {
  /** Undefined with --missing, and for failures in the state. */
  report: RunReport | undefined;
  isMissing: boolean;
  /** As recorded. */
  all: Failed;
  /** Without the files that are gone. */
  left: Failed;
}

/** Throws CliError `partial` for documents that a retry cannot send. */
function refuseRest({ report, isMissing, all, left }: Again, session: Session): void {
  const { fromStdin } = left;
  if (fromStdin > 0) {
    // The failure of a line without an id stays recorded: no later line can be told to be the same.
    const settled = "if they were sent since: `knowctl state forget --failed` forgets all failures";
    const which = isMissing ? "missing document" : "failed document";
    throw new CliError("partial", `${countOf(fromStdin, which)} came from stdin`, {
      hints: [
        "documents from stdin are not stored: send them again with `knowctl ingest -`",
        ...(report || isMissing ? [] : [settled]),
      ],
    });
  }
  if (isMissing) {
    const gone = countFiles(all) - countFiles(left);
    if (gone === 0) return;
    const files = `${countOf(gone, "file")} of missing documents ${gone === 1 ? "is" : "are"} gone`;
    throw new CliError("partial", files, {
      hints: ["`knowctl status` lists the documents of deleted files"],
    });
  }
  if (report?.failuresLeftOut !== undefined) {
    const leftOut = countOf(report.failuresLeftOut, "failed document");
    throw new CliError("partial", `${leftOut} of the merged runs: the report does not list them`, {
      hints: ["retry the reports it was merged from, one by one: `knowctl retry REPORT`"],
    });
  }
  const stopped = report
    ? undefined
    : stoppedUpload(session.state, session.targets, session.source);
  const isStopped = report?.status === "error" || report?.status === "interrupted";
  if (!isStopped && stopped === undefined) return;
  const run = stopped === undefined ? "that run" : `the upload of ${stopped}`;
  throw new CliError("partial", `${run} stopped before it sent all documents`, {
    hints: ["run the upload again: it sends the missing documents"],
  });
}

/** The result where no file is left to send. Throws CliError where something else is to be done. */
function nothingLeft(again: Again, session: Session): string {
  const { report, isMissing, all } = again;
  refuseRest(again, session);
  if (isMissing) return "nothing to send again: verify missed no document";
  const areGone = all.groups.length > 0;
  if (!report && !areGone) refuseWrongTarget(session);
  if (report && areGone) throw allGone(session.source);
  const lost = report?.lost?.length ?? 0;
  if (lost > 0) {
    const message = `no file failed, but ${countOf(lost, "document")} of that report ${lost === 1 ? "was" : "were"} not found in the index`;
    throw new CliError("partial", message, {
      hints: ["`knowctl retry --missing` sends them again, by what the state records"],
    });
  }
  return areGone
    ? "nothing to retry: all failed files are gone"
    : "nothing to retry: no file failed last time";
}

/** Throws CliError `partial` when failed files exist but were not sent. */
function refuseUnsent(changed: number, unfound: number): void {
  if (changed > 0) {
    throw new CliError("partial", `${countOf(changed, "file")} not sent: the ids would change`, {
      hints: [
        "restore the earlier configuration, or send the files under their new ids with `knowctl ingest PATH`",
      ],
    });
  }
  if (unfound === 0) return;
  throw new CliError(
    "partial",
    `${countOf(unfound, "file")} not sent: an upload would not find them today`,
    {
      hints: [
        "send a file by its name with `knowctl ingest PATH`",
        "or forget the failures: knowctl state forget --failed PATH",
      ],
    },
  );
}

/** A group with its recorded options, its files as inputs, and how many files it leaves out. */
async function openGroup(
  context: Context,
  base: Session,
  { options: recorded, ccPairId, paths }: RetryGroup,
  options: IngestOptions,
): Promise<SourceGroup & { changed: number; unfound: number }> {
  const source = recorded
    ? await recordedSource(context, base.source, recorded, options)
    : base.source;
  const found = await keepFindable(base.output, source, recorded, paths);
  const kept = await keepIds(context, { ...base, source }, recorded, found);
  const inputs = kept.map(createRealPlaces(source.settings.root));
  if (inputs.some(mayBeGlob)) await loadGlobs();
  const changed = found.length - kept.length;
  const unfound = paths.length - found.length;
  return { source: { ...source, inputs }, recorded, ccPairId, changed, unfound };
}

const withoutOptions =
  "the options of these failures are not recorded: the configuration decides how they are sent. " +
  "if the upload had flags, run the upload with these flags instead of `retry`";

const notCheckedAgain =
  "sent, and not checked again: `knowctl verify` shows whether the index has them now";

/** Sends the files again, each with its recorded options, unless today's configuration would not. */
async function sendAgain(
  context: Context,
  session: Session,
  again: Again,
  request: ReportRequest,
  options: IngestOptions,
): Promise<void> {
  const { left, isMissing } = again;
  const { output } = session;
  const files = countOf(countFiles(left), "file");
  await output.note(
    isMissing ? `${files} with documents that verify did not find` : `${files} failed last time`,
  );
  if (left.groups.some((group) => group.options === undefined)) await output.warn(withoutOptions);
  const opened: Awaited<ReturnType<typeof openGroup>>[] = [];
  for (const group of left.groups) opened.push(await openGroup(context, session, group, options));
  const groups = opened.filter(({ source }) => source.inputs.length > 0);
  if (groups.length > 0) {
    // allowEmpty: a filter may exclude all these files now, which is no error.
    await sendGroups(context, session, groups, request, { ...options, allowEmpty: true });
    // The service accepted these documents before, and lost them.
    if (isMissing && !options.dryRun) await output.note(notCheckedAgain);
  }
  refuseRest(again, session);
  const sum = (name: "changed" | "unfound"): number =>
    opened.reduce((total, each) => total + each[name], 0);
  refuseUnsent(sum("changed"), sum("unfound"));
}

/** The report whose failures are sent again. Other commands take a path of documents in its place. */
async function namedReport(cwd: string, name: string): Promise<RunReport> {
  try {
    return await readReport(resolve(cwd, name), name);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { exit, message, hints, cause } = error;
    const alone = "`knowctl retry` without a name sends what failed here last time";
    throw new CliError(exit, message, { hints: [...hints, alone], cause });
  }
}

/**
 * `retry`: sends the documents that failed last time, by the state or by a report, with
 * their recorded target and options. Reads the files again; sends only the missing rows of a file
 * of rows. Throws like ingest(), CliError `usage` for another target, and `partial` when a
 * document was not sent because its id would change.
 */
export const retry = followed("retry", retryFailed);

async function retryFailed(
  context: Context,
  [name]: string[],
  options: IngestOptions,
  outcome: Outcome,
): Promise<void> {
  const startedAtMs = context.now();
  const output = createOutput(context, options);
  checkOptions([], options);
  const format = ingestFormat(options);
  const files = checkReportFiles(options, context.cwd);
  const request = { outcome, startedAtMs, format, files, shard: undefined };
  const report = name === undefined ? undefined : await namedReport(context.cwd, name);
  const path = pathInProject(report, context.cwd);
  const source = await openSource(context, [path], options, output, options.dryRun !== true);
  const place = placeOf(source, options);
  await outcome.begin(place);
  const { folder } = place;
  // Otherwise this would create a state and report "no file failed" for a folder without uploads.
  const mayBeFetched = namesShared(options, source.config);
  if (!report && folder !== undefined && !mayBeFetched && !hasState(folder, stateRules(context))) {
    throw noStateError(folder);
  }
  if (report) refuseSeveralPairs(report, source, name ?? "");
  const { missing: isMissing = false } = options;
  const { ccPairId, connector } = chosenPair(options, source.config);
  const hasNoTarget = ccPairId === undefined && connector === undefined;
  const pair = report ? () => reportTarget(report) : onlyFailureTarget;
  const session = await openSession(context, output, source, {
    ...options,
    ...(hasNoTarget && !isMissing && { pair }),
  });
  try {
    const { state, targets } = session;
    if (report) refuseOtherTarget(report, session, name ?? "");
    const missing = isMissing ? missingInState(session) : undefined;
    const all =
      missing?.failed ??
      (report ? failedInReport(report, name ?? "") : failedInState(state, failuresKey(targets)));
    const again = { report, isMissing, all, left: await dropGone(session, all, options) };
    if (again.left.groups.length === 0) return await output.note(nothingLeft(again, session));
    // Documents that count as unchanged are sent all the same.
    if (missing && !options.dryRun) {
      await state.doubt(missing.documents.map(({ target, id }) => ({ target, id })));
    }
    const force = missing && options.dryRun ? { force: true } : {};
    await sendAgain(context, session, again, request, { ...options, ...force });
  } finally {
    await session.close();
  }
}

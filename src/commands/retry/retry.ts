import { allGone, dropGone, keepIds, keepFindable } from "./failed-files.ts";
import type { IngestOptions } from "../ingest/ingest-options.ts";
import { stateFolder, openSource, type DocumentSource } from "../ingest/options/settings.ts";
import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { stateRules } from "../state-rules.ts";
import { loadGlobs, mayBeGlob } from "../../documents/files/patterns.ts";
import { createRealPlaces, exists } from "../../documents/files/real-place.ts";
import { relativeTo } from "../../documents/files/root.ts";
import { CliError } from "../../errors.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { readReport } from "../../output/report/stored/read.ts";
import type { RunReport } from "../../output/report/stored/record.ts";
import { hasState, noStateError } from "../../sync/state/file/state-file.ts";
import { openOutput } from "../connect.ts";
import { failuresKey, stoppedUpload } from "../ingest/upload/failures.ts";
import { checkOptions } from "../ingest/ingest.ts";
import { ingestFormat } from "../ingest/report/report.ts";
import { checkReportFiles } from "../../output/report/forms.ts";
import { failedInReport, failedInState, type Failed, type RetryGroup } from "./retry-groups.ts";
import { runGroups } from "./retry-run.ts";
import { openSession, type Session, plannedBaseUrl } from "../ingest/session.ts";
import { markMissing, missingFromStdin, missingInState } from "./missing.ts";
import { chosenPair, type ChosenPair } from "../ingest/target/target.ts";
import { openStateForReading } from "../../sync/state/file/read-only-state.ts";
import {
  allFailureTargets,
  failureTargets,
  pairInKey,
  serviceInKey,
} from "../../sync/state/target.ts";
import { namesPairsByRule, severalTargets } from "../ingest/target/recorded-target.ts";

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

/** The only target with failures in the state. Throws CliError `usage` when there are several. */
async function onlyFailureTarget(
  context: Context,
  source: DocumentSource,
  folder: string,
): Promise<ChosenPair | undefined> {
  const { state } = await openStateForReading(folder, context.now, stateRules(context));
  try {
    const keys = failureTargets(state.database, plannedBaseUrl(source.config));
    const [only] = keys;
    if (keys.length > 1) throw severalTargets(keys.map(pairInKey), "the failures have");
    if (only === undefined) return undefined;
    return { ccPairId: pairInKey(only), connector: undefined, fromFlag: false };
  } finally {
    state.close();
  }
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

/** The target of a retry without target flags: from the report, or from the failures in the state. */
async function targetOf(
  context: Context,
  source: DocumentSource,
  folder: string | undefined,
  report: RunReport | undefined,
): Promise<ChosenPair | undefined> {
  if (!report) {
    return folder === undefined ? undefined : await onlyFailureTarget(context, source, folder);
  }
  const { ccPairId } = report.target;
  if (ccPairId === null) return undefined;
  return { ccPairId, connector: undefined, fromFlag: report.options[0]?.pairFromFlag ?? true };
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

/** Throws CliError `partial` for failures that a retry cannot send. */
function refuseRest({ fromStdin }: Failed, session: Session, report: RunReport | undefined): void {
  if (fromStdin > 0) throw fromStdinError(fromStdin, report);
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

/** Throws CliError `partial` when a missing document cannot be sent again. */
function refuseMissingRest({ fromStdin }: Failed, goneCount: number): void {
  if (fromStdin > 0) throw missingFromStdin(fromStdin);
  if (goneCount === 0) return;
  const are = goneCount === 1 ? "is" : "are";
  throw new CliError("partial", `${countOf(goneCount, "file")} of missing documents ${are} gone`, {
    hints: ["`knowctl status` lists the documents of deleted files"],
  });
}

/** The error of a report in which nothing failed, but the index lacks documents. */
function lostError(count: number): CliError {
  const message = `no file failed, but ${countOf(count, "document")} of that report ${count === 1 ? "was" : "were"} not found in the index`;
  return new CliError("partial", message, {
    hints: ["`knowctl retry --missing` sends them again, by what the state records"],
  });
}

function fromStdinError(count: number, report: RunReport | undefined): CliError {
  // The failure of a line without an id stays recorded: no later line can be told to be the same.
  const settled = "if they were sent since: `knowctl state forget --failed` forgets all failures";
  return new CliError("partial", `${countOf(count, "failed document")} came from stdin`, {
    hints: [
      "documents from stdin are not stored: send them again with `knowctl ingest -`",
      ...(report ? [] : [settled]),
    ],
  });
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

/** Opens a group with its recorded options, and with its files as inputs. */
async function openGroup(
  context: Context,
  base: Session,
  { options: recorded, paths }: RetryGroup,
  { place, options }: { place: string; options: IngestOptions },
): Promise<{ source: DocumentSource; changed: number; unfound: number }> {
  const flags = recorded ? { ...options, recorded } : options;
  const source = recorded
    ? await openSource(context, [place], flags, base.output, options.dryRun !== true)
    : base.source;
  const found = await keepFindable(base, source, recorded, paths);
  const kept = await keepIds(context, { ...base, source }, recorded, found);
  const inputs = kept.map(createRealPlaces(source.settings.root));
  if (inputs.some(mayBeGlob)) await loadGlobs();
  const changed = found.length - kept.length;
  return { source: { ...source, inputs }, changed, unfound: paths.length - found.length };
}

const withoutOptions =
  "the options of these failures are not recorded: the configuration decides how they are sent. " +
  "if the upload had flags, run the upload with these flags instead of `retry`";

const notCheckedAgain =
  "sent, and not checked again: `knowctl verify` tells whether the index has them now";

/**
 * `retry`: sends the documents that failed last time, by the state or by a report, with
 * their recorded target and options. Reads the files again; sends only the missing rows of a file
 * of rows. Throws like ingest(), CliError `usage` for another target, and `partial` when a
 * document was not sent because its id would change.
 */
export async function retry(
  context: Context,
  [name]: string[],
  options: IngestOptions,
): Promise<void> {
  const startedAtMs = context.now();
  const output = openOutput(context, options);
  checkOptions([], options);
  const format = ingestFormat(options);
  const files = checkReportFiles(options, context.cwd);
  const report =
    name === undefined ? undefined : await readReport(resolve(context.cwd, name), name);
  const place = pathInProject(report, context.cwd);
  const source = await openSource(context, [place], options, output, options.dryRun !== true);
  const folder = stateFolder(source, options);
  // Otherwise this would create a state and report "no file failed" for a folder without uploads.
  if (!report && folder !== undefined && !hasState(folder, stateRules(context))) {
    throw noStateError(folder);
  }
  if (report) refuseSeveralPairs(report, source, name ?? "");
  const requestedPair = chosenPair(options, source.config);
  const hasNoTarget = requestedPair.ccPairId === undefined && requestedPair.connector === undefined;
  const pair =
    hasNoTarget && !options.missing ? await targetOf(context, source, folder, report) : undefined;
  const session = await openSession(context, output, source, pair ? { ...options, pair } : options);
  try {
    if (report) refuseOtherTarget(report, session, name ?? "");
    const { state, targets } = session;
    const missing = options.missing ? missingInState(session) : undefined;
    const all =
      missing?.failed ??
      (report ? failedInReport(report, name ?? "") : failedInState(state, failuresKey(targets)));
    const failed = await dropGone(session, all, options);
    // A file may be missing in several pairs.
    const countIn = ({ groups }: Failed): number =>
      new Set(groups.flatMap(({ paths }) => paths)).size;
    const count = countIn(failed);
    const goneCount = countIn(all) - count;
    if (count === 0) {
      if (missing) {
        refuseMissingRest(failed, goneCount);
        return await output.note("nothing to send again: verify missed no document");
      }
      refuseRest(failed, session, report);
      if (!report && all.groups.length === 0) refuseWrongTarget(session);
      const areGone = all.groups.length > 0;
      if (report && areGone) throw allGone(source);
      if (report?.lost?.length) throw lostError(report.lost.length);
      return await output.note(
        areGone
          ? "nothing to retry: all failed files are gone"
          : "nothing to retry: no file failed last time",
      );
    }
    await output.note(
      missing
        ? `${countOf(count, "file")} with documents that verify did not find`
        : `${countOf(count, "file")} failed last time`,
    );
    if (failed.groups.some((group) => group.options === undefined))
      await output.warn(withoutOptions);
    const groups = [];
    let [changed, unfound] = [0, 0];
    for (const group of failed.groups) {
      const opened = await openGroup(context, session, group, { place, options });
      changed += opened.changed;
      unfound += opened.unfound;
      if (opened.source.inputs.length > 0) {
        const { options: recorded, ccPairId } = group;
        groups.push({ source: opened.source, recorded, ccPairId });
      }
    }
    // allowEmpty: a filter may exclude all these files now, which is no error.
    const again = { ...options, allowEmpty: true };
    if (missing && options.dryRun) again.force = true;
    else if (missing) markMissing(session, missing.documents);
    if (groups.length > 0) {
      await runGroups(context, session, groups, { startedAtMs, format, files }, again);
      // The service accepted these documents before, and lost them.
      if (missing && !options.dryRun) await output.note(notCheckedAgain);
    }
    if (missing) refuseMissingRest(failed, goneCount);
    else refuseRest(failed, session, report);
    refuseUnsent(changed, unfound);
  } finally {
    await session.close();
  }
}

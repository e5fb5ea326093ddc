import { allGone, dropGone, keepIds, keepFindable } from "./failed-files.ts";
import type { IngestOptions } from "../ingest/ingest-options.ts";
import { stateFolder } from "../ingest/session-setup.ts";
import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { stateRules } from "../state-rules.ts";
import { loadGlobs, mayBeGlob } from "../../documents/find/patterns.ts";
import { createRealPlaces, exists } from "../../documents/find/place/real-place.ts";
import { relativeTo } from "../../documents/find/root.ts";
import { CliError } from "../../errors.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { readReport } from "../../output/report/read.ts";
import type { RunReport } from "../../output/report/record.ts";
import { hasState, noStateError } from "../../sync/state/file/state-file.ts";
import { openOutput } from "../connect.ts";
import { failuresKey, stoppedUpload } from "../ingest/upload/failures.ts";
import { checkOptions } from "../ingest/ingest.ts";
import { ingestFormat } from "../ingest/report/report.ts";
import { checkReportFiles } from "../ingest/report/report-files.ts";
import { failedInReport, failedInState, type Failed, type RetryGroup } from "./retry-groups.ts";
import { runGroups } from "./retry-run.ts";
import {
  refuseOtherTarget,
  refuseSeveralPairs,
  refuseWrongTarget,
  targetOf,
} from "./retry-target.ts";
import { openSession, type Session } from "../ingest/session.ts";
import { openSource, type DocumentSource } from "../ingest/options/settings.ts";
import { markMissing, missingFromStdin, missingInState } from "./missing.ts";
import { chosenPair } from "../ingest/target/target.ts";

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
  const stopped = report ? undefined : stoppedUpload(session);
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

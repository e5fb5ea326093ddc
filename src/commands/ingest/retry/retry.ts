import type { IngestOptions } from "../ingest-options.ts";
import { stateFolder } from "../session-setup.ts";
import { resolve } from "node:path";
import type { Context } from "../../../context.ts";
import { ownerRules } from "../../../config/values/given.ts";
import { loadGlobs, mayBeGlob } from "../../../documents/find/patterns.ts";
import { createRealPlaces, exists } from "../../../documents/find/real-place.ts";
import { openYields } from "../../../documents/find/yields.ts";
import { CliError } from "../../../errors.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { countOf } from "../../../output/terminal/progress.ts";
import { readReport } from "../../../output/report/read.ts";
import type { RunReport } from "../../../output/report/record.ts";
import { optionsJson, type RecordedOptions } from "../../../sync/state/options.ts";
import { hasState, noStateError } from "../../../sync/state/state-file.ts";
import { openOutput } from "../../connect.ts";
import { failuresKey, stoppedUpload } from "../upload/failures.ts";
import { checkOptions } from "../ingest.ts";
import { ingestFormat } from "../report/report.ts";
import { checkReportFiles } from "../report/report-files.ts";
import { failedInReport, failedInState, type Failed, type RetryGroup } from "./retry-groups.ts";
import { runGroups } from "./retry-run.ts";
import {
  refuseOtherTarget,
  refuseSeveralPairs,
  refuseWrongTarget,
  targetOf,
} from "./retry-target.ts";
import { openSession, type Session } from "../session.ts";
import { openSource, type DocumentSource } from "../options/settings.ts";
import { refuseAmbiguous } from "../subcommand.ts";
import { givenFlags, selectionFlags, shapingFlags } from "../options/shaping-flags.ts";
import { chosenPair } from "../target/target.ts";

const shown = 20;

/** Where the project is: the report's own first path, where that is here too. */
function placeOf(report: RunReport | undefined, cwd: string): string {
  const path = report?.paths[0];
  return path !== undefined && exists(resolve(cwd, path)) ? path : ".";
}

async function listSome(output: Output, lines: readonly string[], what: string): Promise<void> {
  for (const line of lines.slice(0, shown)) await output.note(line);
  if (lines.length > shown) await output.note(`… and ${lines.length - shown} more ${what}`);
}

/** The failed files that are still there; the others are named, and their failures forgotten. */
async function dropGone(
  { output, source, state, targets }: Session,
  { groups, fromStdin }: Failed,
  options: IngestOptions,
): Promise<Failed> {
  const absolute = createRealPlaces(source.settings.root);
  const gone = new Set(
    groups.flatMap(({ paths }) => paths).filter((path) => !exists(absolute(path))),
  );
  if (gone.size > 0 && !options.dryRun) {
    const always = Number.MAX_SAFE_INTEGER;
    state.clearFailures(failuresKey(targets), always, (path) => gone.has(path));
  }
  await listSome(
    output,
    [...gone].map((path) => `${source.shown(path)}: is gone`),
    "are gone",
  );
  const left = groups.map(({ options: recorded, paths }) => ({
    options: recorded,
    paths: paths.filter((path) => !gone.has(path)),
  }));
  return { groups: left.filter(({ paths }) => paths.length > 0), fromStdin };
}

/** What no retry can make good: the command is no success then, whatever else it sent. */
function refuseRest({ fromStdin }: Failed, session: Session, report: RunReport | undefined): void {
  if (fromStdin > 0) throw fromStdinError(fromStdin);
  const stopped = report ? undefined : stoppedUpload(session);
  const isStopped = report?.status === "error" || report?.status === "interrupted";
  if (!isStopped && stopped === undefined) return;
  const run = stopped === undefined ? "that run" : `the upload of ${stopped}`;
  throw new CliError("partial", `${run} was stopped before it had sent everything`, {
    hints: ["run the upload itself again: it sends what is missing"],
  });
}

function fromStdinError(count: number): CliError {
  return new CliError("partial", `${countOf(count, "failed document")} came from stdin`, {
    hints: ["what came from stdin is not kept: send it again with `knowctl ingest -`"],
  });
}

/** Files of a report that are not there may have been deleted, or lie below another root. */
function allGone({ settings: { root } }: DocumentSource): CliError {
  return new CliError("usage", `none of the files that failed exists under ${root}`, {
    hints: [
      "name the root of the reported run with --root DIR",
      "were the files deleted, nothing is left to retry; `knowctl ingest orphans` lists their documents",
    ],
  });
}

/** A flag that shapes documents would make other documents than those that failed. */
function refuseShaping(options: IngestOptions): void {
  const [given] = givenFlags(options, [...shapingFlags, ...selectionFlags]);
  if (given === undefined) return;
  throw new CliError(
    "usage",
    `${given}: a retry uses the options that the failed documents were planned with`,
    { hints: ["send documents in another way with `knowctl ingest PATH`"] },
  );
}

/** The files whose documents keep their ids although the configuration is another one now. */
async function keepIds(
  context: Context,
  { source, output }: Session,
  recorded: RecordedOptions | undefined,
  paths: readonly string[],
): Promise<string[]> {
  const { root } = source.settings;
  const now = { ...source.options, pairFromFlag: recorded?.pairFromFlag ?? false };
  if (!recorded || optionsJson(recorded) === optionsJson(now)) return [...paths];
  const absolute = createRealPlaces(root);
  const before = await openYields({ ...recorded.settings, root }, context.workerScript);
  const today = await openYields(source.raw, context.workerScript);
  const kept: string[] = [];
  const changed: string[] = [];
  try {
    for (const path of paths) {
      context.signal.throwIfAborted();
      const [was, is] = [
        await before.of(path, absolute(path)),
        await today.of(path, absolute(path)),
      ];
      const id = [...was.ids].find((each) => !is.ids.has(each));
      const other = [...is.ids].find((each) => !was.ids.has(each));
      if (id === undefined || other === undefined) kept.push(path);
      else
        changed.push(`${source.shown(path)}: not sent: its id would change from ${id} to ${other}`);
    }
  } finally {
    await before.close();
    await today.close();
  }
  await listSome(output, changed, "would change their ids");
  return kept;
}

/** A group with its files as inputs, below the options it was recorded with. */
async function openGroup(
  context: Context,
  base: Session,
  { options: recorded, paths }: RetryGroup,
  { place, options }: { place: string; options: IngestOptions },
): Promise<{ source: DocumentSource; left: number }> {
  const flags = recorded ? { ...options, recorded } : options;
  const source = recorded
    ? await openSource(context, [place], flags, base.output, options.dryRun !== true)
    : base.source;
  const kept = await keepIds(context, { ...base, source }, recorded, paths);
  const inputs = kept.map(createRealPlaces(source.settings.root));
  if (inputs.some(mayBeGlob)) await loadGlobs();
  return { source: { ...source, inputs }, left: paths.length - kept.length };
}

const ofEarlierTool =
  "an earlier knowctl recorded these failures without their options: they are sent as the configuration says. " +
  "if the upload had flags, run the upload with them instead of `ingest retry`";

/**
 * `ingest retry`: sends what failed last time, by the state or by a report, with the target and
 * the options recorded with it. The files are read anew; of a file of rows only what is missing
 * is sent. Throws as ingest(), CliError `usage` for another target, and `partial` where a
 * document was not sent because its id would change.
 */
export async function ingestRetry(
  context: Context,
  [name]: string[],
  options: IngestOptions,
): Promise<void> {
  const startedAtMs = context.now();
  const output = openOutput(context, options);
  refuseAmbiguous(context, "retry");
  refuseShaping(options);
  checkOptions([], options);
  const format = ingestFormat(options);
  const files = checkReportFiles(options, context.cwd);
  const report =
    name === undefined ? undefined : await readReport(resolve(context.cwd, name), name);
  const place = placeOf(report, context.cwd);
  const source = await openSource(context, [place], options, output, options.dryRun !== true);
  const folder = stateFolder(source, options);
  // Else "no file failed" would be said of a folder that nothing was sent from, and a state be made.
  if (!report && folder !== undefined && !hasState(folder, ownerRules(context))) {
    throw noStateError(folder);
  }
  if (report) refuseSeveralPairs(report, source, name ?? "");
  const asked = chosenPair(options, source.config);
  const isOpen = asked.ccPairId === undefined && asked.connector === undefined;
  const pair = isOpen ? await targetOf(context, source, folder, report) : undefined;
  const session = await openSession(context, output, source, pair ? { ...options, pair } : options);
  try {
    if (report) refuseOtherTarget(report, session, name ?? "");
    const { state, targets } = session;
    const all = report ? failedInReport(report) : failedInState(state, failuresKey(targets));
    const failed = await dropGone(session, all, options);
    const count = failed.groups.reduce((sum, { paths }) => sum + paths.length, 0);
    if (count === 0) {
      refuseRest(failed, session, report);
      if (!report && all.groups.length === 0) refuseWrongTarget(session);
      const areGone = all.groups.length > 0;
      if (report && areGone) throw allGone(source);
      return await output.note(
        areGone
          ? "nothing to retry: all files that failed are gone"
          : "nothing to retry: no file failed last time",
      );
    }
    await output.note(`${countOf(count, "file")} failed last time`);
    if (failed.groups.some((group) => group.options === undefined))
      await output.warn(ofEarlierTool);
    const groups = [];
    let left = 0;
    for (const group of failed.groups) {
      const opened = await openGroup(context, session, group, { place, options });
      left += opened.left;
      if (opened.source.inputs.length > 0) {
        groups.push({ source: opened.source, recorded: group.options });
      }
    }
    // Each file was named: that a filter now leaves it out is no mistake.
    const again = { ...options, allowEmpty: true };
    if (groups.length > 0) {
      await runGroups(context, session, groups, { startedAtMs, format, files }, again);
    }
    refuseRest(failed, session, report);
    if (left > 0) {
      throw new CliError("partial", `${countOf(left, "file")} not sent: the ids would change`, {
        hints: [
          "bring the configuration back to what it was, or send them under their new ids with `knowctl ingest PATH`",
        ],
      });
    }
  } finally {
    await session.close();
  }
}

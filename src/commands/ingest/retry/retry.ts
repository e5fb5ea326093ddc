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
import { failuresKey } from "../upload/failures.ts";
import { checkOptions } from "../ingest.ts";
import { ingestFormat } from "../report/report.ts";
import { checkReportFiles } from "../report/report-files.ts";
import { failedInReport, failedInState, type Failed, type RetryGroup } from "./retry-groups.ts";
import { runGroups } from "./retry-run.ts";
import { refuseOtherTarget, refuseWrongTarget, targetOf } from "./retry-target.ts";
import { openSession, type Session } from "../session.ts";
import { openSource, type DocumentSource } from "../options/settings.ts";
import { refuseAmbiguous } from "../subcommand.ts";
import { givenFlags, selectionFlags, shapingFlags } from "../options/shaping-flags.ts";
import { chosenPair } from "../target/target.ts";

const mostLines = 20;

/** A path in the project: the first path of the report if it exists here, else ".". */
function pathInProject(report: RunReport | undefined, cwd: string): string {
  const path = report?.paths[0];
  return path !== undefined && exists(resolve(cwd, path)) ? path : ".";
}

async function listSome(output: Output, lines: readonly string[], what: string): Promise<void> {
  for (const line of lines.slice(0, mostLines)) await output.note(line);
  if (lines.length > mostLines) await output.note(`… and ${lines.length - mostLines} more ${what}`);
}

/** Keeps the failed files that still exist; lists the others and deletes their failures. */
async function dropGone(
  { output, source, state, targets }: Session,
  { groups, fromStdin }: Failed,
  options: IngestOptions,
): Promise<Failed> {
  const absolutePathOf = createRealPlaces(source.settings.root);
  const gone = new Set(
    groups.flatMap(({ paths }) => paths).filter((path) => !exists(absolutePathOf(path))),
  );
  if (gone.size > 0 && !options.dryRun) {
    const always = Number.MAX_SAFE_INTEGER;
    state.clearFailures(failuresKey(targets), always, (path) => gone.has(path));
  }
  await listSome(
    output,
    [...gone].map((path) => `${source.shown(path)}: the file is gone`),
    "are gone",
  );
  const left = groups.map(({ options: recorded, paths }) => ({
    options: recorded,
    paths: paths.filter((path) => !gone.has(path)),
  }));
  return { groups: left.filter(({ paths }) => paths.length > 0), fromStdin };
}

/** Throws CliError `partial` for failures that a retry cannot send. */
function refuseRest({ fromStdin }: Failed, report: RunReport | undefined): void {
  if (fromStdin > 0) throw fromStdinError(fromStdin);
  if (report?.status !== "error" && report?.status !== "interrupted") return;
  throw new CliError("partial", "that run stopped before it sent all documents", {
    hints: ["run the upload again: it sends the missing documents"],
  });
}

function fromStdinError(count: number): CliError {
  return new CliError("partial", `${countOf(count, "failed document")} came from stdin`, {
    hints: ["documents from stdin are not stored: send them again with `knowctl ingest -`"],
  });
}

/** The error when no failed file of a report exists: they were deleted, or the root is another one. */
function allGone({ settings: { root } }: DocumentSource): CliError {
  return new CliError("usage", `none of the failed files exists under ${root}`, {
    hints: [
      "name the root of the reported run with --root DIR",
      "if the files were deleted, there is nothing to retry; `knowctl ingest orphans` lists their documents",
    ],
  });
}

/** Refuses flags that shape documents: the documents would differ from the failed ones. */
function refuseShaping(options: IngestOptions): void {
  const [refusedFlag] = givenFlags(options, [...shapingFlags, ...selectionFlags]);
  if (refusedFlag === undefined) return;
  throw new CliError(
    "usage",
    `${refusedFlag}: a retry uses the recorded options of the failed documents`,
    { hints: ["to send documents with other options, use `knowctl ingest PATH`"] },
  );
}

/** Returns the files whose ids the current configuration does not change; lists the others. */
async function keepIds(
  context: Context,
  { source, output }: Session,
  recorded: RecordedOptions | undefined,
  paths: readonly string[],
): Promise<string[]> {
  const { root } = source.settings;
  const now = { ...source.options, pairFromFlag: recorded?.pairFromFlag ?? false };
  if (!recorded || optionsJson(recorded) === optionsJson(now)) return [...paths];
  const absolutePathOf = createRealPlaces(root);
  const before = await openYields({ ...recorded.settings, root }, context.workerScript);
  const current = await openYields(source.raw, context.workerScript);
  const kept: string[] = [];
  const changed: string[] = [];
  try {
    for (const path of paths) {
      context.signal.throwIfAborted();
      const [was, is] = [
        await before.of(path, absolutePathOf(path)),
        await current.of(path, absolutePathOf(path)),
      ];
      const id = [...was.ids].find((each) => !is.ids.has(each));
      const other = [...is.ids].find((each) => !was.ids.has(each));
      if (id === undefined || other === undefined) kept.push(path);
      else
        changed.push(`${source.shown(path)}: not sent: its id would change from ${id} to ${other}`);
    }
  } finally {
    await before.close();
    await current.close();
  }
  await listSome(output, changed, "would change their ids");
  return kept;
}

/** Opens a group with its recorded options, and with its files as inputs. */
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

const earlierToolWarning =
  "an earlier knowctl recorded these failures without their options: the configuration decides how they are sent. " +
  "if the upload had flags, run the upload with these flags instead of `ingest retry`";

/**
 * `ingest retry`: sends the documents that failed last time, by the state or by a report, with
 * their recorded target and options. Reads the files again; sends only the missing rows of a file
 * of rows. Throws like ingest(), CliError `usage` for another target, and `partial` when a
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
  const place = pathInProject(report, context.cwd);
  const source = await openSource(context, [place], options, output, options.dryRun !== true);
  const folder = stateFolder(source, options);
  // Otherwise this would create a state and report "no file failed" for a folder without uploads.
  if (!report && folder !== undefined && !hasState(folder, ownerRules(context))) {
    throw noStateError(folder);
  }
  const requestedPair = chosenPair(options, source.config);
  const hasNoTarget = requestedPair.ccPairId === undefined && requestedPair.connector === undefined;
  const pair = hasNoTarget ? await targetOf(context, source, folder, report) : undefined;
  const session = await openSession(context, output, source, pair ? { ...options, pair } : options);
  try {
    if (report) refuseOtherTarget(report, session, name ?? "");
    const { state, targets } = session;
    const all = report ? failedInReport(report) : failedInState(state, failuresKey(targets));
    const failed = await dropGone(session, all, options);
    const count = failed.groups.reduce((sum, { paths }) => sum + paths.length, 0);
    if (count === 0) {
      refuseRest(failed, report);
      if (!report && all.groups.length === 0) refuseWrongTarget(session);
      const areGone = all.groups.length > 0;
      if (report && areGone) throw allGone(source);
      return await output.note(
        areGone
          ? "nothing to retry: all failed files are gone"
          : "nothing to retry: no file failed last time",
      );
    }
    await output.note(`${countOf(count, "file")} failed last time`);
    if (failed.groups.some((group) => group.options === undefined))
      await output.warn(earlierToolWarning);
    const groups = [];
    let left = 0;
    for (const group of failed.groups) {
      const opened = await openGroup(context, session, group, { place, options });
      left += opened.left;
      if (opened.source.inputs.length > 0) {
        groups.push({ source: opened.source, recorded: group.options });
      }
    }
    // allowEmpty: a filter may exclude all these files now, which is no error.
    const again = { ...options, allowEmpty: true };
    if (groups.length > 0) {
      await runGroups(context, session, groups, { startedAtMs, format, files }, again);
    }
    refuseRest(failed, report);
    if (left > 0) {
      throw new CliError("partial", `${countOf(left, "file")} not sent: the ids would change`, {
        hints: [
          "restore the earlier configuration, or send the files under their new ids with `knowctl ingest PATH`",
        ],
      });
    }
  } finally {
    await session.close();
  }
}

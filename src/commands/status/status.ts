import { pruneCommand } from "../../api/dialects.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { checkStatusFormat, writeStatus } from "../../output/status.ts";
import {
  checkReportFiles,
  writeReports,
  type ReportFiles,
  type ReportFlags,
} from "../../output/report/forms.ts";
import { redactEach } from "../../output/report/file.ts";
import {
  statusReport,
  type RemoteSummary,
  type StatusSummary,
} from "../../output/report/from/status.ts";
import { ciPrefix } from "../../output/report/github.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { orphanClasses, type OrphanClass } from "../../sync/orphans/orphan-classes.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import type { FailureRecord } from "../../sync/state/records.ts";
import type { Target } from "../../sync/state/target.ts";
import { createDifferenceTable, type DifferenceTable } from "../../sync/status/differences.ts";
import { collectFailures, collectLocal, plannedTargets } from "../../sync/status/compare.ts";
import { goOnAfterClosedPipe } from "../closed-pipe.ts";
import { flagsText } from "../ingest/options/mapping-flags.ts";
import { coversProject } from "../ingest/options/inputs.ts";
import { placeOf, type DocumentSource } from "../ingest/options/settings.ts";
import { findGitRoot } from "../project-root.ts";
import { followed, type Outcome } from "../outcome/follow.ts";
import { oldestChange } from "../outcome/measures.ts";
import { problemAt } from "../../output/paths.ts";
import { isConnected, type Session, type SessionRequest } from "../ingest/session.ts";
import { missingPair, ownTargets, ruleTargets } from "../ingest/target/pair.ts";
import { failureScope, failuresKey } from "../ingest/upload/failures.ts";
import { openJudged, planJudged, type JudgingSession } from "../judging/judge.ts";
import { findOrphans } from "../judging/orphans.ts";
import { compareWithService, refuseUnlistablePair, type Comparison } from "./compare.ts";
import { createOutput } from "../../output/terminal/output.ts";

export interface StatusOptions extends SessionRequest, Pick<ReportFlags, "report"> {
  exitCode?: boolean;
  /** Compare with the service's list too. */
  remote?: boolean;
}

const emptyRemote: RemoteSummary = {
  listed: 0,
  "not-sent": 0,
  "gone-there": 0,
  extra: null,
  elsewhere: 0,
};

/** The upload that sends what differs, with the flags by which it was judged. */
function uploadCommand({ source, groups, targets }: JudgingSession): string {
  const { inputs, settings, isWhole } = source;
  // Without a path, an upload takes what is configured and nothing else.
  const isConfigured = (isWhole === true || inputs.length === 0) && settings.include.length > 0;
  const texts = [
    ...new Set(Array.from(groups.recorded, ({ recorded }) => flagsText(recorded.settings))),
  ];
  const [flags = ""] = texts;
  const { fromFlag, ccPairId } = targets.pair;
  const words = [
    "knowctl ingest",
    ...(isConfigured ? [] : ["PATH"]),
    ...(texts.length > 1 || flags === "" ? [] : [neutraliseLine(flags)]),
    ...(fromFlag && ccPairId !== undefined ? [`--cc-pair-id ${ccPairId}`] : []),
  ];
  const command = `\`${words.join(" ")}\``;
  return texts.length > 1 ? `${command} with the flags of its upload` : command;
}

/** What removes each kind of difference, a line each; `noExtra` is why extra documents are not known. */
function nextSteps(
  { classes, remote, ...counts }: StatusSummary,
  session: JudgingSession,
  noExtra: string | undefined,
): string[] {
  const { unchanged, unreadable, failed, gone } = counts;
  const upload = uploadCommand(session);
  const removable = classes.gone + classes["row-gone"];
  const prune = pruneCommand(session.source.config.dialect);
  const removes = prune.endsWith("--tombstone")
    ? "replaces their text by a removal notice"
    : "removes them from the service";
  const there = remote ?? emptyRemote;
  const steps: [number, string][] = [
    [counts.new + counts.changed, `new and changed: ${upload} sends them`],
    [failed - unreadable, "failed: `knowctl retry` sends them again"],
    [removable, `gone: \`${prune}\` ${removes}`],
    [gone - removable, `gone, though the file exists: \`${prune} --class NAME\` removes a class`],
    [there["not-sent"], `not sent: ${upload} sends them`],
    [
      there["gone-there"],
      `gone there: \`knowctl state forget PATH\` forgets a record; then ${upload} sends the file, if it exists`,
    ],
    [there.extra ?? 0, "extra: `knowctl prune --extra` removes them"],
    [there.elsewhere, "elsewhere: `knowctl explain FILE` shows the pair of a file"],
  ];
  const lines = steps.filter(([count]) => count > 0).map(([, line]) => line);
  if (lines.length === 0 && failed + unreadable === 0) {
    lines.push(
      remote
        ? `no difference; the service lists ${countOf(remote.listed, "document")}`
        : `no difference: ${countOf(unchanged, "document")} unchanged`,
    );
  }
  return noExtra === undefined
    ? lines
    : [...lines, `extra documents were not determined: ${noExtra}`];
}

/** The targets of the documents; throws CliError `usage` when a document has none. */
function listedTargets({ state, targets, source }: Session, { table }: Plan): Target[] {
  const found = plannedTargets(table, targets);
  const known = found.filter((each) => each !== undefined);
  if (known.length === 0 || known.length < found.length) throw missingPair({ isUpload: false });
  return [...new Set([...known, ...ruleTargets(state, targets, source.settings)])];
}

function summaryOf(
  found: DifferenceTable,
  { table }: Plan,
  compared: Comparison | undefined,
): StatusSummary {
  const { lists, targets = [], noExtra } = compared ?? {};
  return {
    unchanged: table.count("unchanged"),
    new: found.count("new"),
    changed: found.count("changed"),
    failed: found.count("failed"),
    gone: found.count("gone"),
    classes: Object.fromEntries(
      orphanClasses.map((each) => [each, found.count("gone", each)]),
    ) as Record<OrphanClass, number>,
    unreadable: table.count("failed"),
    ...(lists && {
      remote: {
        listed: lists.listed.count(targets.map(({ ccPairId }) => ccPairId)),
        "not-sent": found.count("not-sent"),
        "gone-there": found.count("gone-there"),
        extra: noExtra === undefined ? found.count("extra") : null,
        elsewhere: found.count("elsewhere"),
      },
    }),
  };
}

/** The failures of the last uploads within the inputs. */
function* failuresIn({ state, source, targets }: Session, plan: Plan): Generator<FailureRecord> {
  const isInScope = failureScope(source, plan);
  const takesStdin = coversProject(source);
  for (const each of state.listFailures(failuresKey(targets))) {
    if (each.path === "" ? takesStdin : isInScope(each.path)) yield each;
  }
}

/** Ends with the exit code of the result. */
function endWith(
  { classes, remote = emptyRemote, ...counts }: StatusSummary,
  { exitCode }: StatusOptions,
): void {
  if (counts.unreadable > 0) {
    const what = countOf(counts.unreadable, "file or folder", "files or folders");
    throw new CliError("partial", `${what} cannot be read: their documents are not compared`);
  }
  // Documents that a command would act on: ingest, retry, prune; with --remote all differences.
  const local = counts.new + counts.changed + counts.failed + classes.gone + classes["row-gone"];
  const there = remote["not-sent"] + remote["gone-there"] + remote.elsewhere + (remote.extra ?? 0);
  if (exitCode && local + there > 0) {
    throw new CliError("changes", countOf(local + there, "document differs", "documents differ"));
  }
}

function nothingToCompare({ inputs, settings }: DocumentSource): CliError {
  const places = inputs.length > 0 ? inputs : settings.include;
  const where = places.length > 0 ? places.join(", ") : settings.root;
  return new CliError(
    "usage",
    `nothing to compare: no file of ${where} yields a document, and none is recorded`,
    { hints: ["check the path; `knowctl explain FILE` shows why a file is left out"] },
  );
}

async function compare(
  context: Context,
  session: JudgingSession,
  options: StatusOptions,
  { outcome, files }: { outcome: Outcome; files: ReportFiles },
): Promise<void> {
  const { output, source, state, targets } = session;
  const { root } = source.settings;
  const plan = await planJudged(context, session);
  const { table } = plan;
  const found = createDifferenceTable(state.database);
  collectFailures({ table, targets }, failuresIn(session, plan), found);
  const compared =
    options.remote && isConnected(session)
      ? await compareWithService(context, session, plan, listedTargets(session, plan), found)
      : undefined;
  const orphanTargets = ownTargets(state, targets, source.settings);
  const orphansOf = (target: Target) => findOrphans(context, session, plan, target);
  await collectLocal({ table, targets, orphansOf, orphanTargets }, found);
  const summary = summaryOf(found, plan, compared);
  const isEmpty = plan.fileCount + summary.gone + summary.failed + (compared?.compared ?? 0) === 0;
  const isPart = compared === undefined || compared.noExtra !== undefined;
  if (isEmpty && isPart) throw nothingToCompare(source);
  for (const { path, detail } of table.entries(["failed"])) {
    await output.problem(problemAt(path, detail, source.shown));
  }
  const report = {
    summary,
    pairs: compared?.targets.length ?? orphanTargets.length,
    list: found.list,
    next: nextSteps(summary, session, compared?.noExtra),
  };
  const { redact } = output.secrets;
  const list: typeof found.list = (result) => redactEach(found.list(result), redact);
  const made = statusReport({ summary, list });
  const unsent = (["new", "changed", "failed"] as const).flatMap((each) => [...found.list(each)]);
  const isReported = files.reports.length > 0;
  const paths = unsent.map(({ path = "" }) => path);
  const oldestUnsentMs = isReported ? oldestChange(root, paths) : undefined;
  const whole = outcome.complete({
    ...made,
    measures: { isSuccess: false, ...made.measures, oldestUnsentMs },
  });
  await writeStatus(output, options, report, { shown: source.shown, data: whole.data });
  if (isReported) {
    const prefix = ciPrefix(root, findGitRoot(context, root), context.env);
    await writeReports(output, context.env, whole, files, prefix);
  }
  endWith(summary, options);
}

/**
 * `status`: compares the folder with the state, with --remote also with the service's lists, and prints
 * the differences. Changes nothing. Throws CliError `usage` when there is nothing to compare, `partial`
 * when a file cannot be read, `changes` with --exit-code; with --remote also `not-found` where the
 * dialect cannot list, and ApiError when a list fails.
 */
export const status = followed("status", showDifferences);

async function showDifferences(
  system: Context,
  paths: string[],
  options: StatusOptions,
  outcome: Outcome,
): Promise<void> {
  const context = goOnAfterClosedPipe(system);
  const { remote = false } = options;
  checkStatusFormat(options);
  const output = createOutput(context, options);
  const files = checkReportFiles(options, context.cwd);
  const request = { ...options, dryRun: true, readsService: remote };
  const session = await openJudged(context, output, paths, request, {
    sends: remote,
    wholeRoot: remote,
    anyTarget: remote,
    refuse({ config }) {
      if (remote) refuseUnlistablePair(config.dialect, "status --remote");
    },
  });
  try {
    await outcome.begin(placeOf(session.source, options));
    await compare(context, session, options, { outcome, files });
  } finally {
    await session.close();
  }
}

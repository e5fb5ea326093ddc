import { ownTargets, ruleTargets } from "../ingest/target/recorded-target.ts";
import { goOnAfterClosedPipe } from "../closed-pipe.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import {
  checkStatusFormat,
  writeStatus,
  type RemoteSummary,
  type StatusSummary,
} from "../../output/status.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { orphanClasses, type OrphanClass } from "../../sync/orphans/orphan-classes.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import type { FailureRecord } from "../../sync/state/records.ts";
import { serviceTargets, targetFor, type Target } from "../../sync/state/target.ts";
import { createDifferenceTable, type DifferenceTable } from "../../sync/status/difference-table.ts";
import { collectFailures, collectLocal } from "../../sync/status/local.ts";
import { plannedTargets } from "../../sync/status/remote.ts";
import { openOutput } from "../connect.ts";
import type { MappingFlags } from "../ingest/options/mapping-flags.ts";
import { openSource, type DocumentSource } from "../ingest/options/settings.ts";
import { planFolder } from "../ingest/plan.ts";
import { problemOf } from "../ingest/report/tell.ts";
import {
  isConnected,
  openSession,
  type ConnectedSession,
  type Session,
} from "../ingest/session.ts";
import { missingPair } from "../ingest/target/target.ts";
import { failureScope, failuresKey } from "../ingest/upload/failures.ts";
import { judgeByRecord } from "../judging/judge.ts";
import { findOrphans } from "../prune/orphan-search.ts";
import { refuseUnrecorded, coversProject } from "../ingest/options/inputs.ts";
import { compareWithService, refuseUnlistablePair, type Comparison } from "./compare.ts";

function remoteSteps(
  { remote }: StatusSummary,
  upload: string,
  noExtra: string | undefined,
): string[] {
  if (!remote) return [];
  const lines: string[] = [];
  if (remote["not-sent"] > 0) lines.push(`not sent: \`${upload}\` sends them`);
  if (remote["gone-there"] > 0) {
    lines.push(
      `gone there: \`knowctl state forget PATH\` forgets a record; then \`${upload}\` sends the file, if it exists`,
    );
  }
  if ((remote.extra ?? 0) > 0) lines.push("extra: `knowctl prune --extra` removes them");
  if (remote.elsewhere > 0)
    lines.push("elsewhere: `knowctl explain FILE` shows the pair of a file");
  if (noExtra !== undefined) lines.push(`extra documents were not determined: ${noExtra}`);
  return lines;
}

/** What removes each kind of difference, a line each; `noExtra` is why extra documents are not known. */
function nextSteps(
  summary: StatusSummary,
  { inputs, settings, isWhole }: DocumentSource,
  noExtra: string | undefined,
): string[] {
  // Without a path, an upload takes what is configured and nothing else.
  const isConfigured = (isWhole === true || inputs.length === 0) && settings.include.length > 0;
  const upload = isConfigured ? "knowctl ingest" : "knowctl ingest PATH";
  const { classes, remote, unchanged, unreadable, failed, gone } = summary;
  const pending = summary.new + summary.changed;
  const remoteCount = remote
    ? remote["not-sent"] + remote["gone-there"] + remote.elsewhere + (remote.extra ?? 0)
    : 0;
  const lines: string[] = [];
  if (pending + failed + gone + remoteCount + unreadable === 0) {
    lines.push(
      remote
        ? `no difference; the service lists ${countOf(remote.listed, "document")}`
        : `no difference: ${countOf(unchanged, "document")} unchanged`,
    );
  }
  if (pending > 0) lines.push(`new and changed: \`${upload}\` sends them`);
  if (failed > unreadable) lines.push("failed: `knowctl retry` sends them again");
  const removable = classes.gone + classes["row-gone"];
  if (removable > 0) lines.push("gone: `knowctl prune` removes them from the service");
  if (gone > removable) {
    lines.push("gone, though the file exists: `knowctl prune --class NAME` removes a class");
  }
  return [...lines, ...remoteSteps(summary, upload, noExtra)];
}

export interface StatusOptions extends MappingFlags {
  exitCode?: boolean;
  /** Compare with the service's list too. */
  remote?: boolean;
}

/** The targets of the documents; throws CliError `usage` when a document has none. */
function listedTargets(session: ConnectedSession, { table }: Plan): Target[] {
  const found = plannedTargets(table, session.targets);
  const known = found.filter((each) => each !== undefined);
  if (known.length === 0 || known.length < found.length) throw missingPair({ isUpload: false });
  return [
    ...new Set([...known, ...ruleTargets(session.state, session.targets, session.source.settings)]),
  ];
}

/** All targets of the service: with its list, a document that another pair has is a result, too. */
function recordedTargets({ state, targets }: Session, own: Target): string[] {
  return [own.key, ...serviceTargets(state.database, targets.baseUrl)];
}

function remoteSummary({ found, lists, targets, noExtra }: Comparison): RemoteSummary {
  return {
    listed: lists.listed.count(targets.map(({ ccPairId }) => ccPairId)),
    "not-sent": found.count("not-sent"),
    "gone-there": found.count("gone-there"),
    extra: noExtra === undefined ? found.count("extra") : null,
    elsewhere: found.count("elsewhere"),
  };
}

function summaryOf(
  found: DifferenceTable,
  { table }: Plan,
  compared: Comparison | undefined,
): StatusSummary {
  const classes = Object.fromEntries(
    orphanClasses.map((each) => [each, found.count("gone", each)]),
  ) as Record<OrphanClass, number>;
  return {
    unchanged: table.count("unchanged"),
    new: found.count("new"),
    changed: found.count("changed"),
    failed: found.count("failed"),
    gone: found.count("gone"),
    classes,
    unreadable: table.count("failed"),
    ...(compared && { remote: remoteSummary(compared) }),
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

/** Documents that a command would act on: ingest, retry, prune; with --remote all differences. */
function countWork({ classes, remote, ...counts }: StatusSummary): number {
  const local = counts.new + counts.changed + counts.failed + classes.gone + classes["row-gone"];
  if (!remote) return local;
  return local + remote["not-sent"] + remote["gone-there"] + remote.elsewhere + (remote.extra ?? 0);
}

/** Ends with the exit code of the result. */
function endWith(summary: StatusSummary, { exitCode }: StatusOptions): void {
  if (summary.unreadable > 0) {
    const what = countOf(summary.unreadable, "file or folder", "files or folders");
    throw new CliError("partial", `${what} cannot be read: their documents are not compared`);
  }
  const work = countWork(summary);
  if (exitCode && work > 0) {
    throw new CliError("changes", countOf(work, "document differs", "documents differ"));
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

async function compare(context: Context, session: Session, options: StatusOptions): Promise<void> {
  const { output, source, state, targets } = session;
  // A dry plan has the id of each document and does not change the state.
  const plan = await planFolder(context, session, { isDry: true });
  const own = targetFor(targets, undefined);
  if (own) refuseUnrecorded(session, options.remote ? recordedTargets(session, own) : [own.key]);
  const found = createDifferenceTable(state.database);
  const { table } = plan;
  collectFailures({ table, targets }, failuresIn(session, plan), found);
  const compared =
    options.remote && isConnected(session)
      ? await compareWithService(context, session, plan, listedTargets(session, plan), found)
      : undefined;
  const orphanTargets = ownTargets(state, targets, source.settings);
  await collectLocal(
    {
      table,
      targets,
      orphansOf: (target) => findOrphans(context, session, plan, target),
      orphanTargets: orphanTargets,
    },
    found,
  );
  await session.progress.stop();
  const summary = summaryOf(found, plan, compared);
  const isEmpty = plan.fileCount + summary.gone + summary.failed + (compared?.compared ?? 0);
  const isPart = compared === undefined || compared.noExtra !== undefined;
  if (isEmpty === 0 && isPart) throw nothingToCompare(source);
  for (const each of plan.table.entries(["failed"])) await output.problem(problemOf(each, source));
  const report = {
    summary,
    pairs: compared?.targets.length ?? orphanTargets.length,
    list: found.list,
    next: nextSteps(summary, source, compared?.noExtra),
  };
  await writeStatus(output, options, report, source.shown);
  endWith(summary, options);
}

/**
 * `status`: compares the folder with the state, with --remote also with the service's lists, and prints
 * the differences. Changes nothing. Throws CliError `usage` when there is nothing to compare, `partial`
 * when a file cannot be read, `changes` with --exit-code; with --remote also `not-found` where the
 * dialect cannot list, and ApiError when a list fails.
 */
export async function status(
  system: Context,
  paths: string[],
  options: StatusOptions,
): Promise<void> {
  const context = goOnAfterClosedPipe(system);
  const { remote = false } = options;
  checkStatusFormat(options);
  const output = openOutput(context, options);
  const flags = { ...options, idsOnly: true, wholeRoot: true, mayBeRemoved: true };
  const source = await openSource(context, paths, flags, output, remote);
  if (remote) refuseUnlistablePair(source.config.dialect, "status --remote");
  const opened = await openSession(context, output, source, {
    ...options,
    dryRun: true,
    readsService: remote,
  });
  let session: Session = opened;
  try {
    session = await judgeByRecord(context, opened, options, remote);
    await compare(context, session, options);
  } finally {
    await session.close();
  }
}

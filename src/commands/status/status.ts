import { goOnAfterClosedPipe } from "../closed-pipe.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { checkDriftFormat, writeDrift, type DriftSummary } from "../../output/status.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { plannedTargets } from "../../sync/drift/drift.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import type { Target } from "../../sync/state/target.ts";
import { openOutput } from "../connect.ts";
import { compareWithService, refuseUnlistablePair, type Comparison } from "./remote/compare.ts";
import type { MappingFlags } from "../ingest/options/mapping-flags.ts";
import { openSource, type DocumentSource } from "../ingest/options/settings.ts";
import { planFolder } from "../ingest/plan.ts";
import { problemOf } from "../ingest/report/tell.ts";
import { isConnected, openSession, type ConnectedSession } from "../ingest/session.ts";
import { ruleTargets } from "../ingest/target/rule-targets.ts";
import { missingPair } from "../ingest/target/target.ts";

export interface DriftOptions extends MappingFlags {
  exitCode?: boolean;
}

/**
 * The pairs to compare: of the documents, and of records that only a rule names. Throws CliError
 * `usage` when a document has none.
 */
function targetsOf(session: ConnectedSession, { table }: Plan): Target[] {
  const found = plannedTargets(table, session.targets);
  const known = found.filter((each) => each !== undefined);
  if (known.length === 0 || known.length < found.length) throw missingPair({ isUpload: false });
  return [...new Set([...known, ...ruleTargets(session)])];
}

function summaryOf({ drift, listed, targets, noExtra }: Comparison, plan: Plan): DriftSummary {
  return {
    listed: listed.count(targets.map(({ ccPairId }) => ccPairId)),
    "not-sent": drift.count("not-sent"),
    "gone-there": drift.count("gone-there"),
    extra: noExtra === undefined ? drift.count("extra") : null,
    elsewhere: drift.count("elsewhere"),
    unreadable: plan.table.count("failed"),
  };
}

/** What removes each kind of difference, a line each. */
function nextSteps(
  { noExtra, drift: { fileless } }: Comparison,
  summary: DriftSummary,
  { inputs, settings }: DocumentSource,
): string[] {
  // Without a path, an upload takes what is configured and nothing else.
  const isConfigured = inputs.length === 0 && settings.include.length > 0;
  const upload = isConfigured ? "knowctl ingest" : "knowctl ingest PATH";
  const lines: string[] = [];
  const { extra, listed } = summary;
  const { "not-sent": notSent, "gone-there": gone, elsewhere, unreadable } = summary;
  if (notSent + gone + elsewhere + fileless + unreadable + (extra ?? 0) === 0) {
    lines.push(`no difference; the service lists ${countOf(listed, "document")}`);
  }
  if (fileless > 0) {
    lines.push(`${countOf(fileless, "orphaned document")}: see \`knowctl ingest orphans\``);
  }
  if (notSent > 0) lines.push(`not sent: \`${upload}\` sends them`);
  if (gone > 0) {
    lines.push(
      `gone there: \`knowctl state forget PATH\` forgets a record; then \`${upload}\` sends the file again`,
    );
  }
  if (extra !== null && extra > 0) {
    lines.push(
      "extra: `knowctl ingest orphans --remote` lists them, and deletes them with --prune",
    );
  }
  if (elsewhere > 0) {
    lines.push("elsewhere: `knowctl ingest explain FILE` shows the pair of a file");
  }
  if (noExtra !== undefined) lines.push(`extra documents were not determined: ${noExtra}`);
  return lines;
}

/** Ends with the exit code of the result. */
function endWith(summary: DriftSummary, { exitCode }: DriftOptions): void {
  const { unreadable, extra } = summary;
  if (unreadable > 0) {
    const what = countOf(unreadable, "file or folder", "files or folders");
    throw new CliError("partial", `${what} cannot be read: their documents are not compared`);
  }
  const differences =
    summary["not-sent"] + summary["gone-there"] + summary.elsewhere + (extra ?? 0);
  if (exitCode && differences > 0) {
    throw new CliError("changes", countOf(differences, "document differs", "documents differ"));
  }
}

/** Whether the paths hold neither document nor record, so that "no difference" would be said of nothing. */
function isWithoutDocuments(
  { drift: { compared }, noExtra }: Comparison,
  { unreadable }: DriftSummary,
): boolean {
  return compared === 0 && unreadable === 0 && noExtra !== undefined;
}

function nothingToCompare({ inputs, settings }: DocumentSource): CliError {
  const places = inputs.length > 0 ? inputs : settings.include;
  return new CliError(
    "usage",
    `nothing to compare: no file of ${places.join(", ")} yields a document, and none is recorded`,
    { hints: ["check the path; `knowctl ingest explain FILE` shows why a file is left out"] },
  );
}

async function compare(
  context: Context,
  session: ConnectedSession,
  options: DriftOptions,
): Promise<void> {
  const { output, source } = session;
  // Without a spool the plan has the id of each document and does not change the state.
  const plan = await planFolder(context, session);
  const targets = targetsOf(session, plan);
  const comparison = await compareWithService(context, session, plan, targets);
  await session.progress.stop();
  const summary = summaryOf(comparison, plan);
  if (isWithoutDocuments(comparison, summary)) throw nothingToCompare(source);
  for (const each of plan.table.entries(["failed"])) await output.problem(problemOf(each, source));
  const next = nextSteps(comparison, summary, source);
  const { list } = comparison.drift;
  const report = { summary, pairs: targets.length, list, next };
  await writeDrift(output, options, report, source.shown);
  endWith(summary, options);
}

/**
 * `drift`: compares the folder, the state and the service's lists, and prints the differences.
 * Changes nothing. Throws CliError `not-found` where the dialect cannot list, `usage` when there is
 * nothing to compare, `partial` when a file cannot be read, `changes` with --exit-code, and ApiError
 * when a list fails.
 */
export async function drift(
  system: Context,
  paths: string[],
  options: DriftOptions,
): Promise<void> {
  const context = goOnAfterClosedPipe(system);
  checkDriftFormat(options);
  const output = openOutput(context, options);
  const source = await openSource(
    context,
    paths,
    { ...options, idsOnly: true, wholeRoot: true },
    output,
    true,
  );
  refuseUnlistablePair(source.config.dialect, "drift");
  const session = await openSession(context, output, source, {
    ...options,
    dryRun: true,
    readsService: true,
  });
  try {
    if (isConnected(session)) await compare(context, session, options);
  } finally {
    await session.close();
  }
}

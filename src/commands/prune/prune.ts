import { createGate, type Gate } from "../../api/retry/gate.ts";
import { dialects, onyxHint } from "../../api/dialects.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { checkSelection, writeList, type Column } from "../../output/formats/formats.ts";
import { redactEach } from "../../output/report/file.ts";
import {
  checkReportFiles,
  writeReports,
  type ReportFiles,
  type ReportFlags,
} from "../../output/report/forms.ts";
import { removalReport } from "../../output/report/from/removal.ts";
import { ciPrefix } from "../../output/report/github.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { countOf, formatCount } from "../../output/terminal/progress.ts";
import { isRemoved, type OrphanClass } from "../../sync/orphans/orphan-classes.ts";
import {
  collectOrphans,
  type ListedOrphan,
  type OrphanTable,
  type UnlistedOrphan,
} from "../../sync/orphans/orphans.ts";
import { targetFor } from "../../sync/state/target.ts";
import { placeOf, type DocumentSource } from "../ingest/options/settings.ts";
import { followed, type Outcome } from "../outcome/follow.ts";
import { trafficOf } from "../outcome/measures.ts";
import { findGitRoot } from "../project-root.ts";
import { problemAt } from "../../output/paths.ts";
import type { SessionRequest } from "../ingest/session.ts";
import { checkPlannedPairs, pairCheckOf, type AccessFlags } from "../ingest/target/access.ts";
import { missingPair, namedPair, pairText, placeText, ruleTargets } from "../ingest/target/pair.ts";
import { openJudged, planJudged } from "../judging/judge.ts";
import { findOrphans } from "../judging/orphans.ts";
import { confirmChange, createPrompt } from "../prompt.ts";
import { refuseUnlistablePair } from "../status/compare.ts";
import { checkRemoval, refuseIncompleteCheckout, type MaxDelete, type Work } from "./guards.ts";
import { removeAll } from "./remove.ts";
import { checkExtra, findExtra, keepShared, keptError, warnOfShared } from "./service-side.ts";
import { createOutput } from "../../output/terminal/output.ts";

export interface PruneOptions extends SessionRequest, AccessFlags, Pick<ReportFlags, "report"> {
  tombstone?: boolean;
  yes?: boolean;
  /** Also remove documents that only the service has. */
  extra?: boolean;
  maxDelete?: MaxDelete;
  /** Additional classes to remove; `shared`: also what another pair has. */
  class?: (OrphanClass | "shared")[];
}

/** A document that is removed, or kept because another pair has it. */
function rowOf(each: ListedOrphan) {
  const { status, path, part, id, storedId, reason, problem } = each;
  return {
    status: status as string,
    path: path === "" ? null : path,
    row: part === 0 ? null : part,
    id,
    class: each.class as string,
    stored_id: storedId ?? null,
    reason: problem ?? reason,
  };
}

type Row = ReturnType<typeof rowOf>;

function* rowsOf(orphans: OrphanTable): Generator<Row> {
  for (const each of orphans.list()) {
    if (each.isSelected || each.status === "kept") yield rowOf(each);
  }
}

/** The columns of the list; `shown` formats a path for people. */
function columnsOf(shown: (path: string) => string): Column<Row>[] {
  return [
    { name: "status", value: ({ status }) => status },
    {
      name: "path",
      value: ({ path }) => path,
      show: (value) => (value === null ? "" : shown(String(value))),
      cut: "start",
    },
    { name: "id", value: ({ id }) => id, cut: "start" },
    { name: "class", value: (row) => row.class },
    { name: "stored_id", value: (row) => row.stored_id, shown: false },
    { name: "reason", value: ({ reason }) => reason },
  ];
}

/** Members of a row, so that an unknown name in --fields is refused before any removal. */
const sample: Row = {
  status: "",
  path: "",
  row: null,
  id: "",
  class: "",
  stored_id: null,
  reason: "",
};

const uploadFlags = [
  ["requireAccess", "--require-access"],
  ["allowSync", "--allow-sync"],
  ["allowPruned", "--allow-pruned"],
] as const;

/** Throws CliError `usage` for flags that cannot be combined. */
function checkPruneOptions(options: PruneOptions): void {
  checkSelection(options, columnsOf(String), sample);
  if (options.extra && options.tombstone) {
    throw new CliError("usage", "--extra and --tombstone exclude each other", {
      hints: [
        "a removal notice is for documents that this project sent; omit --tombstone to delete",
      ],
    });
  }
  const [, name] = uploadFlags.find(([each]) => options[each] !== undefined) ?? [];
  if (options.tombstone || name === undefined) return;
  throw new CliError("usage", `${name} needs --tombstone: without it, nothing is uploaded`, {
    hints: [`add --tombstone, or omit ${name}`],
  });
}

/** Throws CliError `usage` for a service that cannot delete documents. */
export function refuseUndeletable({ config }: DocumentSource): void {
  if (dialects[config.dialect].paths.ingestedDocument) return;
  throw new CliError("usage", `the ${config.dialect} dialect cannot delete documents`, {
    hints: [onyxHint, "use --tombstone: it replaces the text with a short removal notice"],
  });
}

/** Names the orphans of pairs that only rules name: each pair is pruned by itself. */
async function printOtherPairs(
  context: Context,
  { session, plan }: Work,
  { tombstone }: PruneOptions,
): Promise<void> {
  const command = tombstone ? "knowctl prune --tombstone" : "knowctl prune";
  const { state, targets, source } = session;
  for (const target of ruleTargets(state, targets, source.settings)) {
    let count = 0;
    for await (const _ of findOrphans(context, session, plan, target)) count++;
    if (count === 0) continue;
    const { ccPairId } = target;
    await session.output.note(
      `${countOf(count, "document")} of pair ${ccPairId}, which a rule names, ${count === 1 ? "has" : "have"} no file: see \`${command} --cc-pair-id ${ccPairId} --dry-run\``,
    );
  }
}

/** Prints that nothing is removed, and why. */
async function printNothing({ orphans, session, target }: Work): Promise<void> {
  const { state, output, source, targets } = session;
  if (!state.knows(target.key))
    await output.note(
      `no document was sent to pair ${target.ccPairId}${placeText(source.config, targets.baseUrl)} from this project`,
    );
  else if (orphans.selected === 0) {
    const isOne = ruleTargets(state, targets, source.settings).length === 0;
    await output.note(`nothing to remove${isOne ? "" : ` of pair ${target.ccPairId}`}`);
  }
}

/** Reports the documents that are removed only with --class. */
async function printOtherClasses({ session, orphans }: Work): Promise<void> {
  const counts = new Map<string, number>();
  for (const { class: name, isSelected, problem } of orphans.list()) {
    if (!isSelected && problem === undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  if (counts.size === 0) return;
  const parts = [...counts].map(([name, count]) => `${formatCount(count)} ${name}`);
  await session.output.note(
    `kept, because their files exist or they may be of another project: ${parts.join(", ")} (\`knowctl status\` lists them, --class NAME removes them)`,
  );
}

/** Checks the pair as for an upload: a removal notice is a document. */
async function checkAccess(
  context: Context,
  { session, target }: Work,
  options: PruneOptions,
): Promise<void> {
  const { connected, output } = session;
  const pairs = [target.ccPairId];
  if (options.dryRun || !connected) {
    return await checkPlannedPairs(context, session, pairs, options);
  }
  await pairCheckOf(connected.client, session, options)(pairs, output, "nothing was removed");
}

// More would push the question off the screen.
const mostNamed = 20;

/**
 * Names the documents before their removal: nobody can answer for documents that are only counted.
 * Of documents without a record all, also with --yes: nothing else here knows them.
 */
async function nameEach(
  { orphans, session: { output } }: Work,
  { yes }: PruneOptions,
): Promise<void> {
  let recorded = 0;
  for (const { id, isSelected, class: name } of orphans.list()) {
    if (!isSelected) continue;
    const isNamed = name === "extra" || (!yes && ++recorded <= mostNamed);
    if (isNamed) await output.problem(`to be removed: ${neutraliseLine(id)}`);
  }
  if (recorded <= mostNamed) return;
  await output.problem(
    `to be removed: ${formatCount(recorded - mostNamed)} more, which the same command with --dry-run lists`,
  );
}

/** Asks for confirmation, unless `--yes` is set. Throws CliError `usage` without a terminal. */
async function confirmRemoval(
  context: Context,
  { session, target: { ccPairId }, orphans }: Work,
  options: PruneOptions,
): Promise<boolean> {
  const { connected, output, pairNames, targets } = session;
  const documents = countOf(orphans.selected, "document");
  return await confirmChange(
    createPrompt(context, options, output),
    options.yes,
    async () => {
      const pair = connected
        ? await namedPair(connected.client, ccPairId, pairNames)
        : pairText(ccPairId);
      return options.tombstone
        ? `Replace ${documents} of ${pair} with a removal notice?`
        : `Delete ${documents} of ${pair}?`;
    },
    `remove ${documents} of ${pairText(ccPairId)} at ${targets.baseUrl}`,
    "check the list first (--dry-run), then confirm with --yes",
  );
}

interface Reporting {
  outcome: Outcome;
  files: ReportFiles;
}

/** Writes the report files of a removal, and keeps its report for notifications. */
async function report(
  context: Context,
  { session, orphans }: Work,
  { outcome, files }: Reporting,
  gate?: Gate,
): Promise<void> {
  const { output, source } = session;
  const { root } = source.settings;
  const rows = (): Iterable<Row> => redactEach(rowsOf(orphans), output.secrets.redact);
  const traffic = gate && trafficOf(gate);
  const whole = outcome.complete(removalReport({ rows, traffic }));
  if (files.reports.length === 0) return;
  const prefix = ciPrefix(root, findGitRoot(context, root), context.env);
  await writeReports(output, context.env, whole, files, prefix);
}

async function run(
  context: Context,
  work: Work,
  options: PruneOptions,
  reporting: Reporting,
): Promise<void> {
  const { session, orphans, plan } = work;
  const { output, connected, source } = session;
  const { dryRun = false } = options;
  const write = (): Promise<number> =>
    writeList(output, options, columnsOf(source.shown), rowsOf(orphans));
  for (const { path, detail } of plan.table.entries(["failed"])) {
    await output.problem(problemAt(path, detail, source.shown));
  }
  // Before the guards: who wants to pass one has to see the list.
  if (dryRun) await write();
  checkRemoval(work, options.maxDelete);
  const takesShared = options.class?.includes("shared") === true;
  if (orphans.selected > 0) {
    await refuseIncompleteCheckout(context, source.settings.root, { deletions: false });
    if (options.tombstone) await checkAccess(context, work, options);
    if (!takesShared) await warnOfShared(work, dryRun);
  }
  if (orphans.selected === 0 || dryRun || !connected) {
    await report(context, work, reporting);
    if (!dryRun) await write();
    else if (orphans.selected > 0) {
      const count = countOf(orphans.selected, "document");
      await output.note(
        `dry run, nothing was removed: ${count}; to remove, run the same command without --dry-run`,
      );
    }
    await printNothing(work);
    await printOtherClasses(work);
    return await printOtherPairs(context, work, options);
  }
  await nameEach(work, options);
  if (!(await confirmRemoval(context, work, options))) {
    return await output.note("nothing was removed");
  }
  const kept = takesShared ? 0 : await keepShared(context, work, connected);
  const { concurrency: ceiling, rate: ratePerSecond } = connected;
  const { signal } = context;
  const gate = createGate({ ceiling, ratePerSecond, clock: context, signal });
  const byNotice = options.tombstone === true;
  try {
    const failed = await removeAll(context, work, connected, { gate, byNotice });
    if (failed > 0) {
      throw new CliError("partial", `${countOf(failed, "document")} could not be removed`, {
        hints: ["run the same command again to remove the rest"],
      });
    }
  } finally {
    await write();
    await report(context, work, reporting, gate);
    await printOtherClasses(work);
  }
  await printOtherPairs(context, work, options);
  if (kept > 0) throw keptError(kept);
}

/**
 * `prune`: removes from the service the documents of the state that the folder no longer yields, of the
 * classes gone and row-gone and those of --class; with --extra also what only the service has. Throws
 * CliError as checkRemoval(), and `partial` when a document cannot be removed.
 */
export const prune = followed("prune", pruneOrphans);

async function pruneOrphans(
  context: Context,
  paths: string[],
  options: PruneOptions,
  outcome: Outcome,
): Promise<void> {
  const output = createOutput(context, options);
  const files = checkReportFiles(options, context.cwd);
  checkPruneOptions(options);
  const { extra: readsService = false, dryRun = false } = options;
  const session = await openJudged(
    context,
    output,
    paths,
    { ...options, readsService, removes: !dryRun },
    {
      sends: readsService || !dryRun,
      wholeRoot: true,
      anyTarget: false,
      refuse: (source) => {
        if (readsService) refuseUnlistablePair(source.config.dialect, "--extra");
        if (!options.tombstone) refuseUndeletable(source);
      },
    },
  );
  try {
    await outcome.begin(placeOf(session.source, options));
    if (readsService) await checkExtra(context, session.source);
    const target = targetFor(session.targets, undefined);
    if (!target) throw missingPair({ isUpload: false });
    const plan = await planJudged(context, session);
    const found = async function* (): AsyncGenerator<UnlistedOrphan> {
      yield* findOrphans(context, session, plan, target);
      if (readsService) yield* findExtra(context, session, plan, target);
    };
    const classes = (options.class ?? []).filter((name) => name !== "shared");
    const orphans = await collectOrphans(session.state.database, found(), (each) =>
      isRemoved(each, classes),
    );
    const reporting = { outcome, files };
    await run(context, { session, plan, target, orphans }, options, reporting);
    const unpushed = await session.settle();
    if (unpushed) throw unpushed;
  } finally {
    await session.close();
  }
}

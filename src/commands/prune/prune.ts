import { ruleTargets } from "../ingest/target/recorded-target.ts";
import { dialects, onyxHint } from "../../api/dialects.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { writeList, checkSelection, type Column } from "../../output/formats/formats.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { countOf, formatCount } from "../../output/terminal/progress.ts";
import {
  collectOrphans,
  type OrphanTable,
  type UnlistedOrphan,
} from "../../sync/orphans/orphan-table.ts";
import { isRemoved } from "../../sync/orphans/orphan-classes.ts";
import { targetFor } from "../../sync/state/target.ts";
import { openOutput } from "../connect.ts";
import { accessRules } from "../ingest/target/access.ts";
import { refuseIncompleteCheckout } from "./complete-checkout.ts";
import { findOrphans } from "./orphan-search.ts";
import { refuseUnrecorded } from "../ingest/options/inputs.ts";
import { planFolder } from "../ingest/plan.ts";
import { checkPlannedPairs } from "../ingest/target/planned-access.ts";
import {
  checkRemoval,
  confirmRemoval,
  removeAll,
  type PruneOptions,
  type Work,
} from "./remove-orphans.ts";
import { openSession, type Session } from "../ingest/session.ts";
import { judgeByRecord } from "../judging/judge.ts";
import { openSource, type DocumentSource } from "../ingest/options/settings.ts";
import { placeText } from "../ingest/target/names.ts";
import { createPairCheck, missingPair } from "../ingest/target/target.ts";
import { keepShared, keptError, warnOfShared } from "./shared.ts";
import { problemOf } from "../ingest/report/tell.ts";

/** The columns of the list; `shown` formats a path for people. */
function columnsOf(shown: (path: string) => string): Column<object>[] {
  const names = ["status", "path", "id", "class", "stored_id", "reason"] as const;
  return names.map((name) => ({
    name,
    ...(name === "path"
      ? { show: (value: unknown) => (value === null ? "" : shown(String(value))) }
      : {}),
    ...(name === "path" || name === "id" ? { cut: "start" as const } : {}),
    ...(name === "stored_id" ? { shown: false } : {}),
  }));
}

/** The documents that are removed, and those kept because another pair has them, as rows of the output. */
function* rowsOf(orphans: OrphanTable): Generator<object> {
  for (const each of orphans.list()) {
    if (!each.isSelected && each.status !== "kept") continue;
    const { status, path, part, id, storedId, reason, problem } = each;
    yield {
      status,
      path: path === "" ? null : path,
      row: part === 0 ? null : part,
      id,
      class: each.class,
      stored_id: storedId ?? null,
      reason: problem ?? reason,
    };
  }
}

/** Members of a row, so that an unknown name in --fields is refused before any removal. */
const sample = {
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
  if (options.tombstone) return;
  const flag = uploadFlags.find(([each]) => options[each] !== undefined);
  if (flag === undefined) return;
  const [, name] = flag;
  throw new CliError("usage", `${name} needs --tombstone: without it, nothing is uploaded`, {
    hints: [`add --tombstone, or omit ${name}`],
  });
}

function refuseUndeletable({ config }: DocumentSource): void {
  if (dialects[config.dialect].paths.ingestedDocument) return;
  throw new CliError(
    "usage",
    `a service of the ${config.dialect} dialect cannot delete documents`,
    {
      hints: [onyxHint, "use --tombstone: it replaces the text with a short removal notice"],
    },
  );
}

/** Names the orphans of pairs that only rules name: each pair is pruned by itself. */
async function printOtherPairs(context: Context, { session, plan }: Work): Promise<void> {
  const { state, targets, source } = session;
  for (const target of ruleTargets(state, targets, source.settings)) {
    let count = 0;
    for await (const _ of findOrphans(context, session, plan, target)) count++;
    if (count === 0) continue;
    const { ccPairId } = target;
    await session.output.note(
      `${countOf(count, "document")} of pair ${ccPairId}, which a rule names, ${count === 1 ? "has" : "have"} no file: see \`knowctl prune --cc-pair-id ${ccPairId} --dry-run\``,
    );
  }
}

/** Prints what is not removed, and why. */
async function printKept(context: Context, work: Work): Promise<void> {
  const { orphans, session, target } = work;
  const { state, output, source } = session;
  if (!state.knows(target.key))
    await output.note(`no document was sent to ${target.key} from this project`);
  else if (orphans.selected === 0) {
    const isOne = ruleTargets(state, session.targets, source.settings).length === 0;
    await output.note(`nothing to remove${isOne ? "" : ` of pair ${target.ccPairId}`}`);
  }
  await printOtherClasses(session, orphans);
  await printOtherPairs(context, work);
}

/** Reports the documents that are removed only with --class. */
async function printOtherClasses({ output }: Session, orphans: OrphanTable): Promise<void> {
  const counts = new Map<string, number>();
  for (const { class: name, isSelected, problem } of orphans.list()) {
    if (!isSelected && problem === undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  if (counts.size === 0) return;
  const parts = [...counts].map(([name, count]) => `${formatCount(count)} ${name}`);
  await output.note(
    `kept, because their files exist or they may be of another project: ${parts.join(", ")} (\`knowctl status\` lists them, --class NAME removes them)`,
  );
}

/** Checks the pair as for an upload: a tombstone is a document. */
async function checkAccess(
  context: Context,
  { session, target }: Work,
  options: PruneOptions,
): Promise<void> {
  const { connected, output, source, pairNames: names } = session;
  const rules = accessRules(options, source.config);
  if (options.dryRun || !connected) {
    return await checkPlannedPairs(context, session, [target.ccPairId], rules);
  }
  const check = createPairCheck(connected.client, rules, {
    names,
    place: placeText(source.config, session.targets.baseUrl),
  });
  await check([target.ccPairId], output, "nothing was removed");
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
    `to be removed: ${formatCount(recorded - mostNamed)} more, which \`knowctl prune --dry-run\` lists`,
  );
}

/** Yields the orphans of the state; with --extra also the documents that only the service has. */
async function* findRemovable(
  context: Context,
  { session, plan, target }: Omit<Work, "orphans">,
  { extra }: PruneOptions,
): AsyncGenerator<UnlistedOrphan> {
  yield* findOrphans(context, session, plan, target);
  if (!extra) return;
  const { findExtra } = await import("./extra.ts");
  yield* findExtra(context, session, plan, target);
}

async function run(context: Context, work: Work, options: PruneOptions): Promise<void> {
  const { session, orphans } = work;
  const { output, connected, source } = session;
  const write = (): Promise<number> =>
    writeList(output, options, columnsOf(source.shown), rowsOf(orphans));
  for (const each of work.plan.table.entries(["failed"]))
    await output.problem(problemOf(each, source));
  // Before the guards: who wants to pass one has to see the list.
  if (options.dryRun) await write();
  checkRemoval(work, options);
  if (orphans.selected > 0) {
    const { root } = session.source.settings;
    await refuseIncompleteCheckout(context, root, { deletions: false });
  }
  if (options.tombstone && orphans.selected > 0) await checkAccess(context, work, options);
  await warnOfShared(work, options);
  if (orphans.selected === 0 || options.dryRun || !connected) {
    if (!options.dryRun) await write();
    else if (orphans.selected > 0)
      await output.note(`dry run, nothing was removed: ${countOf(orphans.selected, "document")}`);
    return await printKept(context, work);
  }
  await nameEach(work, options);
  if (!(await confirmRemoval(context, work, options))) {
    await output.note("nothing was removed");
    return;
  }
  const kept = await keepShared(context, work, connected, options);
  try {
    const { failed } = await removeAll(context, work, connected, options);
    if (failed > 0) {
      throw new CliError("partial", `${countOf(failed, "document")} could not be removed`, {
        hints: ["run the same command again to remove the rest"],
      });
    }
  } finally {
    await write();
    await printOtherClasses(session, orphans);
  }
  await printOtherPairs(context, work);
  if (kept > 0) throw keptError(kept);
}

/**
 * `prune`: removes from the service the documents of the state that the folder no longer yields, of the
 * classes gone and row-gone and those of --class; with --extra also what only the service has. Throws
 * CliError as checkRemoval(), and `partial` when a document cannot be removed.
 */
export async function prune(
  context: Context,
  paths: string[],
  options: PruneOptions,
): Promise<void> {
  const output = openOutput(context, options);
  checkPruneOptions(options);
  const { extra: readsService = false, dryRun = false } = options;
  const source = await openSource(
    context,
    paths,
    { ...options, idsOnly: true, wholeRoot: true, mayBeRemoved: true },
    output,
    readsService || !dryRun,
  );
  if (!options.tombstone) refuseUndeletable(source);
  const opened = await openSession(context, output, source, { ...options, readsService });
  let session: Session = opened;
  try {
    session = await judgeByRecord(context, opened, options, true);
    if (readsService) await (await import("./extra.ts")).checkExtra(context, session.source);
    const { state, targets } = session;
    const target = targetFor(targets, undefined);
    if (!target) throw missingPair({ isUpload: false });
    refuseUnrecorded(session, [target.key]);
    // A dry plan has the id of each document and does not change the state.
    const plan = await planFolder(context, session, { isDry: true });
    await session.progress.stop();
    const found = findRemovable(context, { session, plan, target }, options);
    const orphans = await collectOrphans(state.database, found, (each) =>
      isRemoved(
        each,
        (options.class ?? []).filter((name) => name !== "shared"),
      ),
    );
    await run(context, { session, plan, target, orphans }, options);
  } finally {
    await session.close();
  }
}

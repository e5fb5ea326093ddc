import { dialects, onyxHint } from "../../api/dialects.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { writeList } from "../../output/formats/formats.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { countOf, formatCount } from "../../output/terminal/progress.ts";
import {
  collectOrphans,
  type OrphanTable,
  type UnlistedOrphan,
} from "../../sync/orphans/orphan-table.ts";
import { isRemoved, removedByDefault } from "../../sync/orphans/orphan-classes.ts";
import { targetFor } from "../../sync/state/target.ts";
import { openOutput } from "../connect.ts";
import { warnOfShared } from "../ingest/target/other-pairs.ts";
import { accessRules } from "../ingest/target/access.ts";
import { checkOrphansOptions } from "./orphan-options.ts";
import { columnsOf, rowsOf } from "./orphan-rows.ts";
import { findOrphans } from "./orphan-search.ts";
import { refuseUnrecorded } from "./removed-inputs.ts";
import { planFolder } from "../ingest/plan.ts";
import { checkPlannedPairs } from "../ingest/target/planned-access.ts";
import {
  checkRemoval,
  confirmRemoval,
  removeAll,
  type OrphansOptions,
  type Work,
} from "./remove-orphans.ts";
import { openSession, type Session } from "../ingest/session.ts";
import { openSource, type DocumentSource } from "../ingest/options/settings.ts";
import { refuseAmbiguous } from "../ingest/subcommand.ts";
import { ruleTargets } from "../ingest/target/rule-targets.ts";
import { createPairCheck, missingPair } from "../ingest/target/target.ts";
import { problemOf } from "../ingest/report/tell.ts";

function refuseUndeletable({ config }: DocumentSource): void {
  if (dialects[config.dialect].paths.ingestedDocument) return;
  throw new CliError(
    "usage",
    `--prune: a service of the ${config.dialect} dialect cannot delete documents`,
    {
      hints: [onyxHint, "use --tombstone: it replaces the text with a short removal notice"],
    },
  );
}

/** What was looked for and not found. */
function nothingFound({ remote, class: classes = [] }: OrphansOptions): string {
  if (remote) return "no extra documents";
  if (classes.length === 0) return "no orphaned documents";
  return `no orphaned documents of the class${classes.length > 1 ? "es" : ""} ${classes.join(", ")}`;
}

/** Names the orphans of pairs that only rules name: each pair is listed and removed by itself. */
async function printOtherPairs(context: Context, { session, plan }: Work): Promise<void> {
  for (const target of ruleTargets(session)) {
    let count = 0;
    for await (const _ of findOrphans(context, session, plan, target)) count++;
    if (count === 0) continue;
    const { ccPairId } = target;
    await session.output.note(
      `${countOf(count, "orphaned document")} of cc_pair_id ${ccPairId}, which a rule names: see \`knowctl ingest orphans --cc-pair-id ${ccPairId}\``,
    );
  }
}

async function printListed(context: Context, work: Work, options: OrphansOptions): Promise<void> {
  const { orphans, plan, session, target } = work;
  const { state, output } = session;
  const unreadable = plan.table.count("failed");
  for (const each of plan.table.entries(["failed"]))
    await output.problem(problemOf(each, session.source));
  if (!state.knows(target.key))
    await output.note(`no document was sent to ${target.key} from this project`);
  else if (orphans.count === 0) {
    const isOne = ruleTargets(session).length === 0;
    await output.note(nothingFound(options) + (isOne ? "" : ` of cc_pair_id ${target.ccPairId}`));
  }
  await printOtherClasses(session, orphans);
  if (!options.remote) await printOtherPairs(context, work);
  if (unreadable > 0) {
    const what = countOf(unreadable, "file or folder", "files or folders");
    throw new CliError("partial", `${what} cannot be read: their documents are not listed`);
  }
  if (options.remote || session.lostPath === undefined || !state.knows(target.key)) return;
  throw new CliError(
    "partial",
    "cannot tell whether the files are gone: none of the recorded files exists under this root",
    { hints: ["name the root of the uploads with --root DIR"] },
  );
}

/** Reports the documents that are removed only with --class. */
async function printOtherClasses({ output }: Session, orphans: OrphanTable): Promise<void> {
  const counts = new Map<string, number>();
  for (const { class: name, isSelected } of orphans.list()) {
    if (!isSelected && !removedByDefault.includes(name)) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  if (counts.size === 0) return;
  const parts = [...counts].map(([name, count]) => `${formatCount(count)} ${name}`);
  await output.note(
    `--prune and --tombstone keep these documents, because their files exist: ${parts.join(", ")} (--class NAME removes them)`,
  );
}

/** Checks the pair as for an upload: a tombstone is a document. */
async function checkAccess(
  context: Context,
  { session, target }: Work,
  options: OrphansOptions,
): Promise<void> {
  const { connected, output, source, pairNames: names } = session;
  const rules = accessRules(options, source.config);
  if (options.dryRun || !connected) {
    return await checkPlannedPairs(context, session, [target.ccPairId], rules);
  }
  const check = createPairCheck(connected.client, rules, { names });
  await check([target.ccPairId], output, "nothing was removed");
}

// More would push the question off the screen.
const mostNamed = 20;

/**
 * Names the documents before their removal: nobody can answer for documents that are only counted.
 * With `remote` all of them: this project has no record of them.
 */
async function nameEach(
  { orphans, session: { output } }: Work,
  { remote }: OrphansOptions,
): Promise<void> {
  const what = remote ? "to be deleted" : "to be removed";
  let count = 0;
  for (const { id, isSelected } of orphans.list()) {
    if (!isSelected) continue;
    if (++count <= mostNamed || remote) await output.problem(`${what}: ${neutraliseLine(id)}`);
  }
  if (count <= mostNamed || remote) return;
  await output.problem(
    `${what}: ${formatCount(count - mostNamed)} more, which \`knowctl ingest orphans\` lists`,
  );
}

/** Yields the documents to list: orphans of the state, or with --remote the service's extra documents. */
async function* findListed(
  context: Context,
  { session, plan, target }: Omit<Work, "orphans">,
  options: OrphansOptions,
): AsyncGenerator<UnlistedOrphan> {
  if (options.remote) {
    const { findRemoteOrphans } = await import("./remote-orphans.ts");
    return yield* findRemoteOrphans(context, session, plan, target, options);
  }
  const { class: classes = [], prune, tombstone } = options;
  const isAny = prune || tombstone || classes.length === 0;
  for await (const orphan of findOrphans(context, session, plan, target)) {
    if (isAny || classes.includes(orphan.class)) yield orphan;
  }
}

async function run(context: Context, work: Work, options: OrphansOptions): Promise<void> {
  const { session, orphans } = work;
  const { output, connected } = session;
  const removes = options.prune === true || options.tombstone === true;
  const write = (): Promise<number> =>
    writeList(output, options, columnsOf(session.source.shown), rowsOf(orphans));
  if (removes) checkRemoval(work, options);
  if (options.tombstone && orphans.selected > 0) await checkAccess(context, work, options);
  if (removes)
    await warnOfShared(session, work, options.prune ? "deleted" : "replaced with a removal notice");
  if (!removes || orphans.selected === 0 || options.dryRun || !connected) {
    await write();
    return await printListed(context, work, options);
  }
  if (options.remote || !options.yes) await nameEach(work, options);
  if (!(await confirmRemoval(context, work, options))) {
    await output.note("nothing was removed");
    return;
  }
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
  if (!options.remote) await printOtherPairs(context, work);
}

/**
 * `ingest orphans`: lists documents in the state that the folder no longer yields, by class and
 * within the paths. With --prune it deletes them; with --tombstone it replaces them with a notice.
 * Throws CliError as checkRemoval(), and `partial` when a file cannot be read, a document cannot be
 * removed, or all files seem to be gone: the root may be another one.
 */
export async function ingestOrphans(
  context: Context,
  paths: string[],
  options: OrphansOptions,
): Promise<void> {
  const output = openOutput(context, options);
  refuseAmbiguous(context, "orphans");
  checkOrphansOptions(options);
  const { remote: readsService = false } = options;
  const listsOnly = options.dryRun === true || !(options.prune || options.tombstone);
  const source = await openSource(
    context,
    paths,
    { ...options, idsOnly: true, wholeRoot: true, mayBeRemoved: true },
    output,
    readsService || !listsOnly,
  );
  if (options.prune) refuseUndeletable(source);
  if (readsService) {
    await (await import("./remote-orphans.ts")).checkRemote(context, source, options);
  }
  const dryRun = listsOnly || readsService;
  const session = await openSession(context, output, source, { ...options, dryRun, readsService });
  try {
    const { state, targets } = session;
    const target = targetFor(targets, undefined);
    if (!target) throw missingPair({ isUpload: false });
    refuseUnrecorded(session, target);
    // Without a spool the plan has the id of each document and does not change the state.
    const plan = await planFolder(context, { ...session, spool: undefined });
    await session.progress.stop();
    const { class: classes = [], prune, tombstone } = options;
    const command = prune ? "prune" : tombstone ? "tombstone" : "list";
    const found = findListed(context, { session, plan, target }, options);
    const orphans = await collectOrphans(state.database, found, (each) =>
      isRemoved(each, command, classes),
    );
    await run(context, { session, plan, target, orphans }, options);
  } finally {
    await session.close();
  }
}

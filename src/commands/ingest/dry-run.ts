import { ownTargets } from "./target/recorded-target.ts";
import type { Context } from "../../context.ts";
import { defaultId } from "../../documents/map/effective.ts";
import { CliError } from "../../errors.ts";
import type { Size } from "../../documents/payload/payload.ts";
import { tellOthers, tellSkipped, type IngestFormat } from "../../output/ingest.ts";
import {
  plannedCounts,
  sizeText,
  writePlanned,
  type PlannedDocument,
} from "../../output/planned.ts";
import type { ShownPath } from "../../output/paths.ts";
import { countOf } from "../../output/terminal/progress.ts";
import type { PlanAction } from "../../sync/plan/plan-table.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import { isInShard, type Shard } from "../../sync/plan/shard.ts";
import { targetFor } from "../../sync/state/target.ts";
import { findOrphans } from "../prune/orphan-search.ts";
import type { Session } from "./session.ts";

export interface FolderPlan extends Pick<Session, "source" | "state" | "shaping" | "targets"> {
  plan: Plan;
  shard: Shard | undefined;
  /** Formats the path of another file in details. */
  shown: ShownPath;
}

export interface DryRun {
  documents: Iterable<PlannedDocument> | AsyncIterable<PlannedDocument>;
  /** Called after the last document, when pairs are known only then. */
  checkPairs?: () => Promise<void>;
  /** Whether any document has no pair. Called at the end. */
  noPair: () => boolean;
  /** Number of documents in other shards. Called at the end. */
  others: () => number;
  shard: Shard | undefined;
  /** Whether documents to send cause the exit code `changes`. */
  exitCode: boolean;
  /** Whether nothing is known of earlier uploads: what is new cannot be told from what changed. */
  isRecordless?: boolean | undefined;
  /** Of the documents that would be sent; complete after the last document. */
  size: Size;
  /** Whether what is gone is listed, not only counted. */
  listsGone?: boolean;
}

/** Documents that the service accepted and that the paths no longer yield. */
async function* recordedOrphans(
  context: Context,
  folder: FolderPlan,
): AsyncGenerator<PlannedDocument> {
  const { plan, targets, shard, state, source } = folder;
  for (const target of ownTargets(state, targets, source.settings)) {
    for await (const orphan of findOrphans(context, folder, plan, target)) {
      const { path, id, reason } = orphan;
      if (shard && !isInShard(id, shard)) continue;
      const detail = `${reason}; its document was not removed`;
      yield { action: "gone", class: orphan.class, path, id, detail };
    }
  }
}

/** Orphans from the state, then orphans that only git knows: another machine has no state. */
async function* findAllOrphans(
  context: Context,
  folder: FolderPlan,
): AsyncGenerator<PlannedDocument> {
  const { since, settings } = folder.source;
  const reportedPaths = new Set<string>();
  for await (const each of recordedOrphans(context, folder)) {
    if (since) reportedPaths.add(each.path);
    yield each;
  }
  if (!since) return;
  const gone = { action: "gone", class: "gone", id: undefined };
  for (const path of since.deleted) {
    if (!reportedPaths.has(path)) yield { ...gone, path, detail: `deleted since ${since.ref}` };
  }
  for (const [path, old] of since.renamed) {
    // A file that names its own id keeps its document after a rename.
    const keepsDocument = folder.plan.table
      .idsOf(path)
      .some((id) => id !== defaultId(path, settings));
    if (reportedPaths.has(old) || keepsDocument || folder.state.filesOf(old).length > 0) continue;
    yield { ...gone, path: old, detail: `renamed since ${since.ref} to ${folder.shown(path)}` };
  }
}

type DocumentPlan = Pick<FolderPlan, "plan" | "source" | "shown" | "state" | "targets">;

/** What comes first is what a reviewer looks for. */
const actionOrder: readonly (readonly PlanAction[])[] = [
  ["new", "changed"],
  ["failed"],
  ["unchanged", "skipped"],
];

/** Whether the target has records; without them, only git can tell what is new. */
function createIsKnown({ state, targets }: DocumentPlan): (ownPair?: number) => boolean {
  const known = new Map<string, boolean>();
  return (ownPair) => {
    const key = targetFor(targets, ownPair)?.key;
    if (key === undefined) return false;
    let isKnown = known.get(key);
    if (isKnown === undefined) known.set(key, (isKnown = state.knows(key)));
    return isKnown;
  };
}

/** The documents of the plan: first changes, then failures. */
export function* plannedDocuments(folder: DocumentPlan): Generator<PlannedDocument> {
  const {
    plan: { table },
    source: { since },
    shown,
  } = folder;
  const isKnown = createIsKnown(folder);
  const entries = function* () {
    for (const actions of actionOrder) yield* table.entries(actions);
  };
  for (const { action, path, part, id, detail, content, ownPair } of entries()) {
    const isNew = action === "new" && content !== undefined;
    const from = isNew && (since?.renamed.get(path) ?? table.renamedFrom(content));
    const row = part > 0 ? { row: part } : {};
    const document = { path, ...row, id };
    if (from) yield { action, ...document, detail: `renamed from ${shown(from)}` };
    else if (isNew && since && !since.isAdded(path) && !isKnown(ownPair)) {
      yield { action: "changed", ...document, detail: `changed since ${since.ref}` };
    } else yield { action, ...document, detail };
  }
}

/** The documents of the plan, then the orphans. */
export async function* everyDocument(
  context: Context,
  folder: FolderPlan,
): AsyncGenerator<PlannedDocument> {
  yield* plannedDocuments(folder);
  yield* findAllOrphans(context, folder);
}

/** Not listed for people without --verbose, but counted. */
const quietActions: ReadonlySet<string> = new Set(["unchanged", "skipped", "gone"]);

type Written = Pick<Session, "output" | "source">;

function isListed({ output }: Written, action: string, listsGone: boolean): boolean {
  if (output.verbose) return true;
  if (output.quiet) return action === "failed";
  return !quietActions.has(action) || (listsGone && action === "gone");
}

async function writeAll(
  written: Written,
  format: IngestFormat,
  { documents, isRecordless = false, listsGone = false, size }: DryRun,
): Promise<Map<string, number>> {
  const { output, source } = written;
  const counts = new Map<string, number>();
  const skipped = new Map<string, number>();
  let first = true;
  if (format === "json") await output.json('{"version":1,"type":"plan","documents":[');
  for await (const each of documents) {
    counts.set(each.action, (counts.get(each.action) ?? 0) + 1);
    if (format === "json") await output.json(`${first ? "" : ","}\n${JSON.stringify(each)}`);
    else if (format === "ndjson") {
      await output.json(`${JSON.stringify({ version: 1, type: "planned", ...each })}\n`);
    } else if (isListed(written, each.action, listsGone)) {
      await writePlanned(output, each, source.shown, isRecordless);
    } else if (each.action === "skipped") {
      skipped.set(each.detail, (skipped.get(each.detail) ?? 0) + 1);
    }
    first = false;
  }
  await tellSkipped(
    output,
    [...skipped].map(([reason, count]) => ({ reason, count })),
  );
  const totals = JSON.stringify(Object.fromEntries(counts));
  const rest = `"counts":${totals},"size":${JSON.stringify(size)}}\n`;
  if (format === "json") await output.json(`\n],${rest}`);
  if (format === "ndjson") await output.json(`{"version":1,"type":"result",${rest}`);
  return counts;
}

/**
 * Prints what an upload would do. Throws CliError `partial` when a document would fail,
 * and `changes` when `exitCode` is set and there are documents to send.
 */
export async function writePlan(
  written: Written,
  format: IngestFormat,
  dryRun: DryRun,
): Promise<void> {
  const { output } = written;
  const counts = await writeAll(written, format, dryRun);
  await dryRun.checkPairs?.();
  const result = `dry run, nothing was sent: ${plannedCounts(counts, dryRun.isRecordless === true)}`;
  await (output.quiet && format === "text" ? output.problem(result) : output.note(result));
  if (dryRun.size.chunks > 0) await output.note(sizeText(dryRun.size));
  if (counts.has("gone") && !dryRun.listsGone) {
    await output.note("what is gone stays in the service: `knowctl status` lists it");
  }
  await tellOthers(output, dryRun.shard, dryRun.others());
  if (dryRun.noPair()) {
    await output.note(
      "without a target (--cc-pair-id or --connector), no document counts as sent yet",
    );
  }
  const failed = counts.get("failed") ?? 0;
  if (failed > 0) throw new CliError("partial", `${countOf(failed, "document")} would fail`);
  const work = (counts.get("new") ?? 0) + (counts.get("changed") ?? 0);
  if (dryRun.exitCode && work > 0) {
    throw new CliError("changes", `${countOf(work, "document")} would be sent`);
  }
}

import type { Context } from "../../context.ts";
import { defaultId } from "../../documents/map/effective.ts";
import { priced, type Size } from "../../documents/payload/payload.ts";
import { CliError } from "../../errors.ts";
import {
  tellOthers,
  tellSkipped,
  plannedCounts,
  sizeText,
  writePlanned,
  type PlannedDocument,
} from "../../output/ingest.ts";
import { createReasons } from "../../output/report/stored/collector.ts";
import { countOf } from "../../output/terminal/progress.ts";
import type { PlanAction } from "../../sync/plan/plan-table.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import { isInShard } from "../../sync/plan/decide.ts";
import { targetFor } from "../../sync/state/target.ts";
import { findOrphans } from "../judging/orphans.ts";
import type { IngestOptions } from "./ingest-options.ts";
import { ingestFormat } from "./report/report.ts";
import type { Session } from "./session.ts";
import { ownTargets } from "./target/pair.ts";

/** Documents that the service accepted and that the paths no longer yield. */
async function* recordedOrphans(
  context: Context,
  session: Session,
  plan: Plan,
  { shard }: Pick<IngestOptions, "shard">,
): AsyncGenerator<PlannedDocument> {
  const { state, targets, source } = session;
  for (const target of ownTargets(state, targets, source.settings)) {
    for await (const orphan of findOrphans(context, session, plan, target)) {
      const { path, id, reason } = orphan;
      if (shard && !isInShard(id, shard)) continue;
      const detail = `${reason}; its document was not removed`;
      yield { action: "gone", class: orphan.class, path, id, detail };
    }
  }
}

/** What only git knows to be gone: another machine has no state. */
function* orphansOfGit(
  { source: { since, settings }, state }: Session,
  { table }: Plan,
  shown: (path: string) => string,
): Generator<PlannedDocument> {
  if (!since) return;
  const gone = { action: "gone", class: "gone", id: undefined };
  for (const path of since.deleted) {
    yield { ...gone, path, detail: `deleted since ${since.ref}` };
  }
  for (const [path, old] of since.renamed) {
    // A file that names its own id keeps its document after a rename.
    const keepsDocument = table.idsOf(path).some((id) => id !== defaultId(path, settings));
    if (keepsDocument || state.filesOf(old).length > 0) continue;
    yield { ...gone, path: old, detail: `renamed since ${since.ref} to ${shown(path)}` };
  }
}

/** What comes first is what a reviewer looks for. */
const actionOrder: readonly (readonly PlanAction[])[] = [
  ["new", "changed"],
  ["failed"],
  ["unchanged", "skipped"],
];

/** How details name another file: for people relative to their folder. */
function shownIn({ source }: Session, options: IngestOptions): (path: string) => string {
  return ingestFormat(options) === "text" ? source.shown : (path) => path;
}

/** The documents of the plan: first changes, then failures. */
export function* plannedDocuments(
  session: Session,
  { table }: Plan,
  options: IngestOptions,
): Generator<PlannedDocument> {
  const { source, state, targets } = session;
  const { since } = source;
  const shown = shownIn(session, options);
  // Without records of the target, only git can tell what is new.
  const isKnown = (ownPair: number | undefined): boolean => {
    const key = targetFor(targets, ownPair)?.key;
    return key !== undefined && state.knows(key);
  };
  for (const actions of actionOrder) {
    for (const { action, path, part, id, detail, content, ownPair } of table.entries(actions)) {
      const document = { path, ...(part > 0 ? { row: part } : {}), id };
      const isNew = action === "new" && content !== undefined;
      const from = isNew && (since?.renamed.get(path) ?? table.renamedFrom(content));
      if (from) yield { action, ...document, detail: `renamed from ${shown(from)}` };
      else if (isNew && since && !since.isAdded(path) && !isKnown(ownPair)) {
        yield { action: "changed", ...document, detail: `changed since ${since.ref}` };
      } else yield { action, ...document, detail };
    }
  }
}

/** The documents of the plan, then the orphans: of the state, and what git reports besides. */
export async function* everyDocument(
  context: Context,
  session: Session,
  plan: Plan,
  options: IngestOptions,
): AsyncGenerator<PlannedDocument> {
  yield* plannedDocuments(session, plan, options);
  const paths = new Set<string>();
  for await (const each of recordedOrphans(context, session, plan, options)) {
    if (session.source.since) paths.add(each.path);
    yield each;
  }
  for (const each of orphansOfGit(session, plan, shownIn(session, options))) {
    if (!paths.has(each.path)) yield each;
  }
}

/** Not listed for people without --verbose, but counted. */
const quietActions: ReadonlySet<string> = new Set(["unchanged", "skipped", "gone"]);

function isListed({ output, source }: Session, action: string): boolean {
  if (output.verbose) return true;
  if (output.quiet) return action === "failed";
  return !quietActions.has(action) || (source.since !== undefined && action === "gone");
}

/** What is known of a plan beside its documents. */
interface PlanTotals {
  /** Of the documents that would be sent. */
  size: Size;
  /** Number of documents in other shards. */
  others: number;
  /** Whether any document has no pair. */
  lacksPair: boolean;
}

type PlanCounts = ReadonlyMap<string, number>;

/**
 * Prints what an upload would do, document by document. Returns their number by action. `size` is
 * complete after the last document.
 */
export async function writePlan(
  session: Session,
  options: IngestOptions,
  documents: Iterable<PlannedDocument> | AsyncIterable<PlannedDocument>,
  size: Size,
): Promise<PlanCounts> {
  const { output, source } = session;
  const format = ingestFormat(options);
  const counts = new Map<string, number>();
  const skipped = createReasons();
  let separator = "\n";
  if (format === "json") await output.json('{"version":1,"type":"plan","documents":[');
  for await (const each of documents) {
    counts.set(each.action, (counts.get(each.action) ?? 0) + 1);
    if (format === "json") await output.json(`${separator}${JSON.stringify(each)}`);
    else if (format === "ndjson") {
      await output.json(`${JSON.stringify({ version: 1, type: "planned", ...each })}\n`);
    } else if (isListed(session, each.action)) {
      await writePlanned(output, each, source.shown, options.state === false);
    } else if (each.action === "skipped") {
      skipped.add(each.detail, 1);
    }
    separator = ",\n";
  }
  await tellSkipped(output, skipped.list());
  const rest = `"counts":${JSON.stringify(Object.fromEntries(counts))},"size":${JSON.stringify(priced(size, options.pricePerMillion))}}\n`;
  if (format === "json") await output.json(`\n],${rest}`);
  if (format === "ndjson") await output.json(`{"version":1,"type":"result",${rest}`);
  return counts;
}

/**
 * Ends a dry run with its result. Throws CliError `partial` when a document would fail, and
 * `changes` with --exit-code when there are documents to send.
 */
export async function endPlan(
  { output, source }: Session,
  options: IngestOptions,
  counts: PlanCounts,
  { size, others, lacksPair }: PlanTotals,
): Promise<void> {
  const result = `dry run, nothing was sent: ${plannedCounts(counts, options.state === false)}`;
  const isText = ingestFormat(options) === "text";
  await (output.quiet && isText ? output.problem(result) : output.note(result));
  if (size.chunks > 0) await output.note(sizeText(priced(size, options.pricePerMillion)));
  if (counts.has("gone") && !source.since) {
    await output.note("what is gone stays in the service: `knowctl status` lists it");
  }
  await tellOthers(output, options.shard, others);
  if (lacksPair) {
    await output.note(
      "without a target (--cc-pair-id or --connector), no document counts as sent yet",
    );
  }
  const failed = counts.get("failed") ?? 0;
  if (failed > 0) throw new CliError("partial", `${countOf(failed, "document")} would fail`);
  const work = (counts.get("new") ?? 0) + (counts.get("changed") ?? 0);
  if (options.exitCode && work > 0) {
    throw new CliError("changes", `${countOf(work, "document")} would be sent`);
  }
}

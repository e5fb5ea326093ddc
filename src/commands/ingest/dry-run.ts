import { defaultId } from "../../documents/mapping.ts";
import { scopeOf } from "../../documents/scope.ts";
import { CliError } from "../../errors.ts";
import {
  tellOthers,
  writePlanned,
  type IngestFormat,
  type PlannedDocument,
} from "../../output/ingest.ts";
import type { ShownPath } from "../../output/paths.ts";
import { countOf, formatCount } from "../../output/progress.ts";
import { listOrphans, orphanReason } from "../../sync/orphans.ts";
import type { Plan } from "../../sync/plan.ts";
import { isInShard, type Shard } from "../../sync/shard.ts";
import type { Target } from "../../sync/target.ts";
import type { State } from "../../sync/state.ts";
import { orphanSearch } from "./orphan-search.ts";
import type { Session } from "./session.ts";
import type { DocumentSource } from "./settings.ts";

interface FolderPlan {
  plan: Plan;
  source: DocumentSource;
  state: State;
  target: Target | undefined;
  shard: Shard | undefined;
  /** How details name another file. */
  shown: ShownPath;
}

export interface DryRun {
  documents: Iterable<PlannedDocument> | AsyncIterable<PlannedDocument>;
  /** Asked at the end: whether documents without a pair were met, and how many are other shards'. */
  noPair: () => boolean;
  others: () => number;
  shard: Shard | undefined;
  /** Whether work to do is exit `changes`. */
  exitCode: boolean;
}

/** Documents the service has accepted whose files, within the given paths, are gone. */
function* findOrphans({ plan, source, target, shard }: FolderPlan): Generator<PlannedDocument> {
  if (!target) return;
  const isInScope = scopeOf(source.inputs, { cwd: source.cwd, settings: source.settings });
  for (const orphan of listOrphans(plan.table, orphanSearch(source, target))) {
    const { path, id } = orphan;
    if (shard && !isInShard(id, shard)) continue;
    if (isInScope(path)) yield { action: "orphaned", path, id, detail: orphanReason(orphan) };
  }
}

/** What the state knows of, then what only git knows: on another machine there is no state. */
function* findAllOrphans(folder: FolderPlan): Generator<PlannedDocument> {
  const { since, settings } = folder.source;
  const told = new Set<string>();
  for (const each of findOrphans(folder)) {
    if (since) told.add(each.path);
    yield each;
  }
  if (!since) return;
  const orphaned = { action: "orphaned", id: undefined };
  for (const path of since.deleted) {
    if (!told.has(path)) yield { ...orphaned, path, detail: `deleted since ${since.ref}` };
  }
  for (const [path, old] of since.renamed) {
    // One that names its own id is still the same document.
    const isItself = folder.plan.table.idsOf(path).some((id) => id !== defaultId(path, settings));
    if (told.has(old) || isItself || folder.state.filesOf(old).length > 0) continue;
    yield { ...orphaned, path: old, detail: `renamed since ${since.ref} to ${folder.shown(path)}` };
  }
}

/** The plan over files, document by document, then what the state has and no file gives. */
export function* everyDocument(folder: FolderPlan): Generator<PlannedDocument> {
  const { table } = folder.plan;
  const { since } = folder.source;
  for (const { action, path, part, id, detail, content } of table.entries()) {
    if (action === "other" || action === "untaken") continue;
    const isNew = action === "new" && content !== undefined;
    const from = isNew && (since?.renamed.get(path) ?? table.renamedFrom(content));
    const row = part > 0 ? { row: part } : {};
    yield {
      action,
      path,
      ...row,
      id,
      detail: from ? `renamed from ${folder.shown(from)}` : detail,
    };
  }
  yield* findAllOrphans(folder);
}

type Written = Pick<Session, "output" | "source">;

async function writeAll(
  { output, source }: Written,
  format: IngestFormat,
  documents: DryRun["documents"],
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  let first = true;
  if (format === "json") await output.json('{"version":1,"type":"plan","documents":[');
  for await (const each of documents) {
    counts.set(each.action, (counts.get(each.action) ?? 0) + 1);
    if (format === "json") await output.json(`${first ? "" : ","}\n${JSON.stringify(each)}`);
    else if (format === "ndjson") {
      await output.json(`${JSON.stringify({ version: 1, type: "planned", ...each })}\n`);
    } else if (each.action !== "unchanged" || output.verbose)
      await writePlanned(output, each, source.shown);
    first = false;
  }
  const totals = JSON.stringify(Object.fromEntries(counts));
  if (format === "json") await output.json(`\n],"counts":${totals}}\n`);
  if (format === "ndjson") await output.json(`{"version":1,"type":"result","counts":${totals}}\n`);
  return counts;
}

/**
 * Prints what an upload would do. Throws CliError `partial` when a file cannot
 * be read, and `changes` when asked to and there is something to send.
 */
export async function writePlan(
  written: Written,
  format: IngestFormat,
  dryRun: DryRun,
): Promise<void> {
  const { output } = written;
  const counts = await writeAll(written, format, dryRun.documents);
  const summary = [...counts].map(([action, count]) => `${formatCount(count)} ${action}`);
  await output.note(`dry run, nothing was sent: ${summary.join(", ") || "no documents"}`);
  await tellOthers(output, dryRun.shard, dryRun.others());
  if (dryRun.noPair()) {
    await output.note("without a target (--cc-pair-id or --connector) a document counts as new");
  }
  const failed = counts.get("failed") ?? 0;
  if (failed > 0) throw new CliError("partial", `${countOf(failed, "file")} cannot be read`);
  const work = (counts.get("new") ?? 0) + (counts.get("changed") ?? 0);
  if (dryRun.exitCode && work > 0) {
    throw new CliError("changes", `${countOf(work, "document")} would be sent`);
  }
}

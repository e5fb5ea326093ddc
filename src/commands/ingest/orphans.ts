import { dialects } from "../../api/dialects.ts";
import type { Context } from "../../context.ts";
import { scopeOf } from "../../documents/scope.ts";
import { CliError } from "../../errors.ts";
import { checkSelection, writeList, type Column } from "../../output/formats.ts";
import { countOf } from "../../output/progress.ts";
import { collectOrphans, type OrphanTable } from "../../sync/orphan-table.ts";
import { listOrphans, orphanReason, type Orphan } from "../../sync/orphans.ts";
import { targetFor } from "../../sync/target.ts";
import { openOutput } from "../connect.ts";
import { orphanSearch } from "./orphan-search.ts";
import { planFolder } from "./plan.ts";
import {
  checkRemoval,
  mayRemove,
  removeAll,
  type OrphansOptions,
  type Work,
} from "./remove-orphans.ts";
import { openSession } from "./session.ts";
import { openSource, type DocumentSource } from "./settings.ts";
import { refuseAmbiguous } from "./subcommand.ts";
import { missingPair } from "./target.ts";
import { problemOf } from "./tell.ts";

const columns: Column<object>[] = (["status", "path", "id", "stored_id", "reason"] as const).map(
  (name) => ({
    name,
    value: (row) => (row as Record<string, unknown>)[name],
    ...(name === "path" || name === "id" ? { cut: "start" as const } : {}),
    ...(name === "stored_id" ? { shown: false } : {}),
  }),
);

function* rowsOf(orphans: OrphanTable): Generator<object> {
  for (const each of orphans.list()) {
    const { status, path, part, id, storedId, problem } = each;
    yield {
      status,
      path,
      row: part === 0 ? null : part,
      id,
      stored_id: storedId ?? null,
      reason: problem ?? orphanReason(each, status !== "deleted" && status !== "tombstoned"),
    };
  }
}

/** The members of a row: an unknown one in --fields is refused before anything is removed. */
const sample = { status: "", path: "", row: null, id: "", stored_id: null, reason: "" };

function checkOptions(options: OrphansOptions): void {
  checkSelection(options, columns, sample);
  const { prune, tombstone, maxDelete } = options;
  if (prune && tombstone) {
    throw new CliError("usage", "--prune and --tombstone exclude each other", {
      hints: ["--prune deletes where the service can; --tombstone replaces the text everywhere"],
    });
  }
  if (maxDelete !== undefined && !prune && !tombstone) {
    throw new CliError("usage", "--max-delete goes with --prune or --tombstone", {
      hints: ["add one of them, or leave --max-delete out: a list removes nothing"],
    });
  }
}

function refuseUndeletable({ config }: DocumentSource): void {
  if (dialects[config.dialect].paths.ingestedDocument) return;
  throw new CliError(
    "usage",
    `--prune: a service of the ${config.dialect} dialect cannot delete documents`,
    {
      hints: ["use --tombstone: it replaces the text by a short removal notice"],
    },
  );
}

async function tellListed({ orphans, plan, session, target }: Work): Promise<void> {
  const { state, output } = session;
  const unreadable = plan.table.count("failed");
  for (const each of plan.table.entries(["failed"])) await output.problem(problemOf(each));
  if (!state.knows(target.key)) await output.note(`nothing was sent to ${target.key} from here`);
  else if (orphans.count === 0) await output.note("no orphaned documents");
  if (unreadable === 0) return;
  const what = countOf(unreadable, "file or folder", "files or folders");
  throw new CliError("partial", `${what} cannot be read: what they hold is not listed`);
}

async function run(context: Context, work: Work, options: OrphansOptions): Promise<void> {
  const { session, orphans } = work;
  const { output, connected } = session;
  const removes = options.prune === true || options.tombstone === true;
  const write = (): Promise<number> => writeList(output, options, columns, rowsOf(orphans));
  if (removes) checkRemoval(work, options);
  if (!removes || orphans.count === 0 || options.dryRun || !connected) {
    await write();
    return await tellListed(work);
  }
  if (!(await mayRemove(context, work, options))) {
    await output.note("nothing was removed");
    return;
  }
  try {
    const { failed } = await removeAll(context, work, connected, options);
    if (failed > 0) {
      throw new CliError("partial", `${countOf(failed, "document")} could not be removed`, {
        hints: ["run the same command again: the others are done"],
      });
    }
  } finally {
    await write();
  }
}

/**
 * `ingest orphans`: documents in the state that no file gives any more, within
 * the scope of the given paths; deletes them or replaces them by a notice when
 * asked to. Throws CliError as checkRemoval(), and `partial` when a file cannot be
 * read or a document not be removed.
 */
export async function ingestOrphans(
  context: Context,
  paths: string[],
  options: OrphansOptions,
): Promise<void> {
  const output = openOutput(context, options);
  refuseAmbiguous(context, "orphans");
  checkOptions(options);
  const dryRun = options.dryRun === true || !(options.prune || options.tombstone);
  const source = await openSource(context, paths, options, output, !dryRun);
  if (options.prune) refuseUndeletable(source);
  const session = await openSession(context, output, source, { ...options, dryRun });
  try {
    const { state, targets } = session;
    const target = targetFor(targets, undefined);
    if (!target) throw missingPair();
    // Without a spool each document is known by its id, and the state stays as it is.
    const plan = await planFolder(context, { ...session, spool: undefined });
    await session.progress.stop();
    const isInScope = scopeOf(source.inputs, { cwd: source.cwd, settings: source.settings });
    const found = function* (): Generator<Orphan> {
      for (const orphan of listOrphans(plan.table, orphanSearch(source, target))) {
        if (isInScope(orphan.path)) yield orphan;
      }
    };
    const orphans = collectOrphans(state.database, found());
    await run(context, { session, plan, target, orphans }, options);
  } finally {
    await session.close();
  }
}

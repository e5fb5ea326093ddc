import { dialects, onyxHint, type DialectName } from "../../api/dialects.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { collectRemote, countRecorded, type RemoteRequest } from "../../sync/status/compare.ts";
import type { DifferenceTable } from "../../sync/status/differences.ts";
import { createServiceLists, type ServiceLists } from "../ingest/target/service-lists.ts";
import type { OrphanClass } from "../../sync/orphans/orphan-classes.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import type { Target } from "../../sync/state/target.ts";
import { findOrphans } from "../judging/orphans.ts";
import { orphanScope, coversProject } from "../ingest/options/inputs.ts";
import type { ConnectedSession, Session } from "../ingest/session.ts";
import { createHasAlike } from "../../documents/files/real-place.ts";

/** The id that a stored id is made of; undefined where the service encodes no id like that. */
function sentId(stored: string, storedId: (id: string) => string): string | undefined {
  try {
    const id = decodeURIComponent(stored);
    return storedId(id) === stored ? id : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns a function for listed documents without a record that no file yields: the id of a
 * document of this project, and undefined if it belongs to another project (it is not below the
 * prefix, or not encoded like an id of this project) or if a file has its path (excluded, opted out,
 * or not read as rows).
 */
export function createExtraId({
  root,
  idPrefix,
  storedId,
}: {
  root: string;
  idPrefix: string;
  storedId: (id: string) => string;
}): (stored: string) => string | undefined {
  const storedPrefix = storedId(idPrefix);
  const hasAlike = createHasAlike(root);
  return (stored) => {
    if (!stored.startsWith(storedPrefix)) return undefined;
    // Without a prefix, all documents of the pair count. A foreign id is shown as it is stored.
    const id = sentId(stored, storedId) ?? (idPrefix === "" ? stored : undefined);
    if (id === undefined) return undefined;
    const path = id.slice(idPrefix.length);
    // The id of a row ends with its number.
    const isFile = hasAlike(path) || hasAlike(path.replace(/#\d+$/, ""));
    return isFile ? undefined : id;
  };
}

/** Folder, state and service side by side. */
export interface Comparison {
  found: DifferenceTable;
  /** Number of documents: planned ones, and records of others. */
  compared: number;
  lists: ServiceLists;
  targets: readonly Target[];
  /** Number of listed documents of a target that the state records for it. */
  recorded: (target: Target) => number;
  /** Why extra documents were not determined; undefined if they were. */
  noExtra: string | undefined;
}

/** Throws CliError `not-found` where the dialect cannot list the documents of a pair. */
export function refuseUnlistablePair(dialect: DialectName, command: string): void {
  if (dialects[dialect].paths.pairDocuments) return;
  throw new CliError(
    "not-found",
    `${command}: the ${dialect} dialect cannot list the documents of a pair`,
    {
      hints: [onyxHint, "`knowctl status` and `knowctl state list` compare with the state alone"],
    },
  );
}

/** Returns why recorded documents of a file, its path and part, are orphans. */
async function orphanClasses(
  context: Context,
  session: Session,
  plan: Plan,
  targets: readonly Target[],
): Promise<RemoteRequest["orphanClasses"]> {
  const { database } = session.state;
  database.exec(`
    DROP TABLE IF EXISTS temp.orphan_classes;
    CREATE TEMP TABLE orphan_classes (
      path TEXT, part INTEGER, class TEXT, PRIMARY KEY (path, part, class)
    ) WITHOUT ROWID;`);
  const insert = database.prepare("INSERT OR IGNORE INTO temp.orphan_classes VALUES (?, ?, ?)");
  const select = database.prepare(
    "SELECT class FROM temp.orphan_classes WHERE path = ? AND part = ?",
  );
  for (const target of targets) {
    for await (const orphan of findOrphans(context, session, plan, target)) {
      insert.run(orphan.path, orphan.part, orphan.class);
    }
  }
  return (path, part) => select.all(path, part).map((row) => row["class"] as OrphanClass);
}

function reasonAgainstExtra({ source }: Session, plan: Plan): string | undefined {
  if (!coversProject(source)) return "only a comparison of the whole project finds them";
  if (plan.table.count("failed") > 0) return "a file that cannot be read may have their ids";
  return undefined;
}

/**
 * Compares the plan and the state with the service's lists of the targets, and adds the differences to
 * `found`. Throws ApiError when a list fails or is damaged: then nothing is known.
 */
export async function compareWithService(
  context: Context,
  session: ConnectedSession,
  plan: Plan,
  targets: readonly Target[],
  found: DifferenceTable,
): Promise<Comparison> {
  const { source, state, connected } = session;
  const { client } = connected;
  const { root, idPrefix } = source.settings;
  const { signal } = context;
  const lists = createServiceLists(client, session, signal, session.progress);
  for (const { ccPairId } of targets) await lists.read(ccPairId);
  const { listed, storedId } = lists;
  const isInInputs = orphanScope(source);
  const isWhole = coversProject(source);
  const noExtra = reasonAgainstExtra(session, plan);
  const request: RemoteRequest = {
    state,
    table: plan.table,
    targets: session.targets,
    listedTargets: targets,
    listed,
    storedId,
    isInScope: (path) => (path === undefined ? isWhole : isInInputs(path)),
    orphanClasses: await orphanClasses(context, session, plan, targets),
    extraId: noExtra === undefined ? createExtraId({ root, idPrefix, storedId }) : undefined,
  };
  const recorded = (target: Target): number => countRecorded(request, target);
  const compared = collectRemote(request, found);
  return { found, compared, lists, targets, recorded, noExtra };
}

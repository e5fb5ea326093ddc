import type { Context } from "../../context.ts";
import { ApiError, CliError, reworded } from "../../errors.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { countOf, formatCount } from "../../output/terminal/progress.ts";
import { type UploadConnection, isConnected, type Session } from "../ingest/session.ts";
import { recordedHolder } from "../ingest/target/owners.ts";
import {
  canListPairs,
  createServiceLists,
  type ServiceLists,
} from "../ingest/target/service-lists.ts";
import { type Work, refuseIncompleteCheckout } from "./guards.ts";
import { formatOf } from "../../documents/formats/formats.ts";
import { createDifferenceTable } from "../../sync/status/differences.ts";
import type { UnlistedOrphan } from "../../sync/orphans/orphans.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import type { Target } from "../../sync/state/target.ts";
import { compareWithService } from "../status/compare.ts";
import { coversRoot } from "../ingest/options/inputs.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";

/**
 * Reads the service's lists of all pairs but `own`: it has one document per id, so a removal takes it
 * from all pairs. Returns a function that names another pair that has a document, by the forms of its
 * id. Throws CliError where a list is refused or fails, or the key does not see all pairs: then nothing
 * may be removed.
 */
async function readHolders(
  lists: ServiceLists,
  own: number,
): Promise<(storedIds: readonly string[]) => string | undefined> {
  const { pairs, records, isComplete } = await lists.findOthers(own);
  const hints = ["use the key of an administrator", "`knowctl connectors list` shows what it sees"];
  if (!isComplete && records.some(({ cc_pair_id: id }) => id === null)) {
    throw new CliError(
      "server-error",
      "list connectors: some have no readable pair, so another pair may have these documents; nothing was removed",
      { hints },
    );
  }
  if (!isComplete) {
    throw new CliError(
      "auth",
      `the key does not see pair ${own} among the connectors, so it may not see other pairs that have these documents; nothing was removed`,
      { hints },
    );
  }
  for (const pair of pairs) await lists.readOther(pair);
  return (storedIds) => {
    const pair = pairs.find((each) => storedIds.some((form) => lists.listed.has(each, form)));
    return pair === undefined ? undefined : lists.nameOf(pair);
  };
}

function explainUnasked(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const message = `cannot tell whether another pair has these documents, so nothing was removed: ${error.message}`;
  const hint = "--class shared removes them without asking, from every pair that has them";
  return reworded(error, message, [...error.hints, hint]);
}

/**
 * Keeps the selected documents that another pair has, and names each: by the service's own lists, asked
 * as late as possible, because other projects go on. Returns the number of documents kept.
 */
export async function keepShared(
  context: Context,
  { session, target, orphans }: Work,
  { client }: UploadConnection,
): Promise<number> {
  const { output } = session;
  let holderOf = ({ id }: { id: string; storedId: string | undefined }): string | undefined =>
    recordedHolder(session, target, id);
  if (canListPairs(client)) {
    const lists = createServiceLists(client, session, context.signal, session.progress);
    const holderIn = await readHolders(lists, target.ccPairId).catch((error: unknown) => {
      throw explainUnasked(error);
    });
    // The service may have recorded it under another form of its id.
    holderOf = ({ id, storedId }) =>
      holderIn([lists.storedId(id), ...(storedId === undefined ? [] : [storedId])]);
  }
  let count = 0;
  for (const orphan of orphans.list()) {
    const holder = orphan.isSelected ? holderOf(orphan) : undefined;
    if (holder === undefined) continue;
    count++;
    orphans.keep(orphan.number, `kept: ${holder} has it too`);
    await output.problem(`kept: ${neutraliseLine(orphan.id)} (${holder} has it too)`);
  }
  return count;
}

/** Says before the question what cannot be found out, or what a dry run does not ask. */
export async function warnOfShared(
  { session, target, orphans }: Work,
  isDry: boolean,
): Promise<void> {
  const { connected, output } = session;
  if (!isDry) {
    if (connected && canListPairs(connected.client)) return;
    return await output.warn(
      "this service cannot be asked whether another pair has these documents: what is removed here is gone there, too",
    );
  }
  let count = 0;
  for (const { id, isSelected } of orphans.list()) {
    if (isSelected && recordedHolder(session, target, id) !== undefined) count++;
  }
  if (count === 0) return;
  const them = count === 1 ? "it" : "them";
  await output.note(
    `by the state, other pairs have ${countOf(count, "document")} of these: prune keeps ${them} (--class shared removes ${them})`,
  );
}

/** The error of a removal that kept documents. */
export function keptError(count: number): CliError {
  const [were, them] = count === 1 ? ["was", "it"] : ["were", "them"];
  return new CliError(
    "partial",
    `${countOf(count, "document")} ${were} kept: another pair has ${them} too`,
    {
      hints: [
        `\`knowctl state forget ID\` takes ${them} out of this project, and leaves ${them} to the other pair`,
        `\`knowctl prune --class shared\` removes ${them} from every pair`,
      ],
    },
  );
}

function refuse(reason: string, ...hints: string[]): CliError {
  return new CliError("usage", `--extra: ${reason}; nothing was removed`, { hints });
}

// The prefix docs is also the beginning of docs2/a.md, docs-old/a.md and docs.md.
const nameEnd = /[\p{L}\p{M}\p{N} _.-]$/u;

/** Checks that the inputs allow to remove documents that only the service has. Throws CliError. */
export async function checkExtra(context: Context, source: DocumentSource): Promise<void> {
  const { idPrefix, root } = source.settings;
  if (!coversRoot(source)) {
    throw refuse(
      "only the whole project root shows which documents have no file",
      "name the root, without other paths: knowctl prune ROOT --extra",
    );
  }
  if (idPrefix === "") {
    throw refuse(
      "it needs one id prefix of all uploads: without a prefix, every document of the pair may be another project's",
      "set ingest.idPrefix, or upload with one --id-prefix",
    );
  }
  if (nameEnd.test(idPrefix)) {
    throw refuse(
      `the id prefix must end with a separator: the ids of another project may begin with ${neutraliseLine(idPrefix)} too`,
      "if the uploads have this prefix, delete the documents with `knowctl api`",
    );
  }
  await refuseIncompleteCheckout(context, root, { deletions: true });
}

/** Whether a recorded id is the prefix and the path of its file: a part of the prefix has no such record. */
function isRecordedPrefix({ state }: Session, { key }: Target, prefix: string): boolean {
  const select = state.database.prepare(
    `SELECT 1 AS yes FROM accepted WHERE target = ?1 AND id >= ?2 AND origin IS NOT 'imported'
      AND id = ?2 || path || CASE part WHEN 0 THEN '' ELSE '#' || part END LIMIT 1`,
  );
  return select.get(key, prefix) !== undefined;
}

/**
 * Whether an id is the prefix and the path of a file or row. Front matter may have any other id,
 * also in a file that this command did not read.
 */
function isPathId(id: string, prefix: string): boolean {
  const path = id.slice(prefix.length).replace(/#\d+$/, "");
  const isPlain = path.split("/").every((name) => name !== "" && name !== "." && name !== "..");
  return isPlain && formatOf(path) !== undefined;
}

/** Refuses where the pair is not mainly this project's, or the state is not the whole record of it. */
function refuseForeign(recorded: number, listed: number, { ccPairId }: Target): void {
  if (recorded * 2 >= listed) return;
  throw refuse(
    `the state records only ${formatCount(recorded)} of the ${countOf(listed, "document")} of pair ${ccPairId}, fewer than half`,
    "the state may be lost or of another machine, or the pair belongs to another project",
  );
}

/**
 * Yields the documents of a pair that neither a file nor a record of this project has. Leaves out
 * documents that another pair has too, and ids that are no paths. Throws CliError `usage` where the
 * guards forbid a removal, and ApiError when a list fails.
 */
export async function* findExtra(
  context: Context,
  session: Session,
  plan: Plan,
  target: Target,
): AsyncGenerator<UnlistedOrphan> {
  if (!isConnected(session)) return;
  const { output } = session;
  const found = createDifferenceTable(session.state.database);
  const compared = await compareWithService(context, session, plan, [target], found);
  const { lists, noExtra } = compared;
  const { listed, storedId } = lists;
  const { idPrefix } = session.source.settings;
  if (!isRecordedPrefix(session, target, idPrefix)) {
    throw refuse(
      `no recorded document has the id prefix ${neutraliseLine(idPrefix)}`,
      "check ingest.idPrefix and the uploads",
    );
  }
  refuseForeign(compared.recorded(target), listed.count([target.ccPairId]), target);
  if (noExtra !== undefined) await output.note(`extra documents were not determined: ${noExtra}`);
  // Deleting a document deletes it in every pair.
  const holderOf = found.count("extra") > 0 ? await readHolders(lists, target.ccPairId) : undefined;
  for (const { id } of found.list("extra")) {
    if (!isPathId(id, idPrefix)) {
      await output.note(
        `kept: ${neutraliseLine(id)} (not the path of a file: an excluded file may have this id)`,
      );
      continue;
    }
    const encoded = storedId(id);
    const stored = listed.has(target.ccPairId, encoded) ? encoded : id;
    const holder = holderOf?.([stored]);
    if (holder !== undefined) {
      await output.note(`kept: ${neutraliseLine(id)} (${holder} has it too)`);
      continue;
    }
    const reason = "no file and no record of this project has it";
    yield { id, path: "", part: 0, storedId: stored, class: "extra", reason };
  }
}

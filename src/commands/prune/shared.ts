import type { Context } from "../../context.ts";
import { ApiError, CliError, reworded } from "../../errors.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { countOf } from "../../output/terminal/progress.ts";
import type { UploadConnection } from "../ingest/session.ts";
import { recordedHolder } from "../ingest/target/owners.ts";
import {
  canListPairs,
  createServiceLists,
  type ServiceLists,
} from "../ingest/target/service-lists.ts";
import type { Work } from "./guards.ts";

/**
 * Reads the service's lists of all pairs but `own`: it has one document per id, so a removal takes it
 * from all pairs. Returns a function that names another pair that has a document, by the forms of its
 * id. Throws CliError where a list is refused or fails, or the key does not see all pairs: then nothing
 * may be removed.
 */
export async function readHolders(
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

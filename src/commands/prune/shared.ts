import { ApiError, CliError, reworded } from "../../errors.ts";
import type { Context } from "../../context.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { countOf } from "../../output/terminal/progress.ts";
import type { UploadConnection } from "../ingest/session.ts";
import { recordedHolder } from "../ingest/target/other-pairs.ts";
import { canListPairs, createServiceLists } from "../ingest/target/service-lists.ts";
import type { PruneOptions, Work } from "./remove-orphans.ts";

const removesShared = (options: PruneOptions): boolean =>
  options.class?.includes("shared") === true;

/** Keeps the selected documents that `holderOf` knows in another pair, and names each. */
async function keep(
  { orphans, session: { output } }: Work,
  holderOf: (orphan: { id: string; storedId: string | undefined }) => string | undefined,
): Promise<number> {
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

function unreadable(isShown: boolean, own: number): CliError {
  const hints = ["use the key of an administrator", "`knowctl connectors list` shows what it sees"];
  return isShown
    ? new CliError(
        "server-error",
        "list connectors: some have no readable pair, so another pair may have these documents; nothing was removed",
        { hints },
      )
    : new CliError(
        "auth",
        `the key does not see pair ${own} among the connectors, so it may not see other pairs that have these documents; nothing was removed`,
        { hints },
      );
}

/**
 * Keeps the documents that another pair has, by the service's own lists: it has one document per id,
 * so a removal takes it from all pairs. Asked as late as possible: other projects go on. Returns the
 * number of documents kept. Throws ApiError where a list is refused or fails: then nothing may be removed.
 */
export async function keepShared(
  context: Context,
  work: Work,
  connected: UploadConnection,
  options: PruneOptions,
): Promise<number> {
  if (removesShared(options)) return 0;
  const { session, target } = work;
  const { client } = connected;
  if (!canListPairs(client))
    return await keep(work, ({ id }) => recordedHolder(session, target, id));
  const { output, state, progress } = session;
  const lists = createServiceLists(client, state, output.secrets, context.signal, progress);
  const { pairs, records, isComplete } = await lists.findOthers(target.ccPairId);
  if (!isComplete) throw unreadable(records.some(isUnreadable), target.ccPairId);
  try {
    for (const pair of pairs) await lists.readOther(pair);
  } catch (error) {
    throw explainUnasked(error);
  }
  return await keep(work, ({ id, storedId }) => {
    // The service may have recorded it under another form of its id.
    const forms = [lists.storedId(id), ...(storedId === undefined ? [] : [storedId])];
    const pair = pairs.find((each) => forms.some((form) => lists.listed.has(each, form)));
    return pair === undefined ? undefined : lists.nameOf(pair);
  });
}

const isUnreadable = ({ cc_pair_id: id }: { cc_pair_id: number | null }): boolean => id === null;

function explainUnasked(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const message = `cannot tell whether another pair has these documents, so nothing was removed: ${error.message}`;
  const hint = "--class shared removes them without asking, from every pair that has them";
  return reworded(error, message, [...error.hints, hint]);
}

/** Says before the question what cannot be found out, or what a dry run does not ask. */
export async function warnOfShared(work: Work, options: PruneOptions): Promise<void> {
  const { session, target, orphans } = work;
  if (removesShared(options) || orphans.selected === 0) return;
  const { connected, output } = session;
  if (options.dryRun) {
    let count = 0;
    for (const { id, isSelected } of orphans.list()) {
      if (isSelected && recordedHolder(session, target, id) !== undefined) count++;
    }
    if (count > 0) {
      const them = count === 1 ? "it" : "them";
      await output.note(
        `by the state, other pairs have ${countOf(count, "document")} of these: prune keeps ${them} (--class shared removes ${them})`,
      );
    }
    return;
  }
  if (connected && canListPairs(connected.client)) return;
  await output.warn(
    "this service cannot be asked whether another pair has these documents: what is removed here is gone there, too",
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

import { ApiError, CliError } from "../../errors.ts";
import type { Context } from "../../context.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { createListedTable } from "../../sync/status/listed-table.ts";
import type { Client } from "../../api/client.ts";
import type { UploadConnection } from "../ingest/session.ts";
import { recordedHolder } from "../ingest/target/other-pairs.ts";
import { addOtherList, listOtherPairs } from "../ingest/target/pair-lists.ts";
import type { PruneOptions, Work } from "./remove-orphans.ts";

const canList = (client: Client | undefined): boolean =>
  client?.dialect.paths.pairDocuments !== undefined;

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
  if (!canList(client)) return await keep(work, ({ id }) => recordedHolder(session, target, id));
  const others = await listOtherPairs(client, target.ccPairId);
  if (!others.isComplete) throw unreadable(others.records.some(isUnreadable), target.ccPairId);
  const storedIdOf = client.dialect.storedId ?? ((id: string): string => id);
  const storedId = (id: string): string => session.output.secrets.redact(storedIdOf(id));
  const listed = createListedTable(session.state.database);
  try {
    for (const pair of others.pairs) {
      await addOtherList(context, { ...session, connected }, listed, others, pair);
    }
  } catch (error) {
    throw explainUnasked(error);
  }
  return await keep(work, (orphan) => {
    // The service may have recorded it under another form of its id.
    const forms = [
      storedId(orphan.id),
      ...(orphan.storedId === undefined ? [] : [orphan.storedId]),
    ];
    const pair = others.pairs.find((each) => forms.some((form) => listed.has(each, form)));
    if (pair === undefined) return undefined;
    const name = others.records.find((each) => each.cc_pair_id === pair)?.name;
    return `pair ${pair}${name ? ` (${neutraliseLine(name)})` : ""}`;
  });
}

const isUnreadable = ({ cc_pair_id: id }: { cc_pair_id: number | null }): boolean => id === null;

function explainUnasked(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { exit, method, url, status, code, details } = error;
  const message = `cannot tell whether another pair has these documents, so nothing was removed: ${error.message}`;
  const hints = [
    ...error.hints,
    "--class shared removes them without asking, from every pair that has them",
  ];
  return new ApiError(exit, message, { method, url, status, code, details, hints, cause: error });
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
  if (canList(connected?.client)) return;
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

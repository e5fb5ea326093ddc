import type { Client } from "../../api/client.ts";
import { listConnectors } from "../../api/connectors.ts";
import { ingestionSource, removePair } from "../../api/create-connector.ts";
import type { ConnectorStatus, IdentifiedConnector } from "../../api/schemas.ts";
import type { Context } from "../../context.ts";
import { ApiError, CliError } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { findConnector } from "./find-connector.ts";

/** Most polls of the listing for a connector that another run is creating. */
const maxPolls = 5;
const pollMs = 1000;

function sameName(record: ConnectorStatus, name: string): boolean {
  return record.name?.normalize("NFC") === name.normalize("NFC");
}

/** The connector of this name and source. Throws CliError `not-found` if there are several. */
export function findExisting(
  records: readonly ConnectorStatus[],
  name: string,
): IdentifiedConnector | undefined {
  const named = records.filter(
    (record) => sameName(record, name) && record.connector?.source === ingestionSource,
  );
  return named.length === 0 ? undefined : findConnector(named, name);
}

const unrelatedFailures = new Set(["auth", "not-found", "rate-limited"]);

/**
 * Searches the listing after a failed request: another run may have created the connector
 * at the same time, or the response was lost. Undefined if the listing has no match.
 */
export async function findAfter(
  context: Context,
  client: Client,
  name: string,
  error: unknown,
): Promise<IdentifiedConnector | undefined> {
  if (!(error instanceof ApiError) || unrelatedFailures.has(error.exit)) throw error;
  for (let poll = 0; poll < maxPolls; poll++) {
    if (poll > 0) await context.sleep(pollMs, context.signal);
    const records = await listConnectors(client);
    const found = findExisting(records, name);
    if (found) return found;
    const other = records.find((record) => sameName(record, name));
    if (!other) continue;
    throw new CliError(error.exit, error.message, {
      cause: error,
      hints: [
        `pair ${other.cc_pair_id} (source ${other.connector?.source ?? "—"}) has this name: choose another`,
      ],
    });
  }
  return undefined;
}

/** Removes the pair `id` that this run made beside one of another run, and tells what became of it. */
async function removeOwn(
  client: Client,
  output: Output,
  records: readonly IdentifiedConnector[],
  { id, oldest }: { id: number; oldest: number },
): Promise<void> {
  const own = records.find(({ cc_pair_id }) => cc_pair_id === id);
  let end = "delete it on the admin page";
  try {
    if (own) await removePair(client, own);
    if (own) end = "it is being removed";
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    end = `it cannot be removed (${error.message}): ${end}`;
  }
  await output.warn(
    `another run created pair ${oldest} of this name at the same time; this run made pair ${id}: ${end}`,
  );
}

/**
 * If two concurrent runs both created a connector, each run returns the older one. The pair exists
 * already: a listing that fails now is no failure of the command.
 */
export async function oldestOf(client: Client, output: Output, name: string, id: number) {
  let records: IdentifiedConnector[];
  try {
    records = (await listConnectors(client)).filter(
      (each): each is IdentifiedConnector =>
        each.cc_pair_id !== null &&
        sameName(each, name) &&
        each.connector?.source === ingestionSource,
    );
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    await output.warn(
      `pair ${id} was created; whether another run made one of this name is not known: ${error.message}`,
    );
    return id;
  }
  const oldest = Math.min(id, ...records.map(({ cc_pair_id }) => cc_pair_id));
  if (oldest !== id) await removeOwn(client, output, records, { id, oldest });
  return oldest;
}

import type { Client } from "../../api/client.ts";
import { listGroups } from "../../api/account.ts";
import { listConnectors } from "../../api/connectors.ts";
import {
  canCreateConnectors,
  createConnector,
  ingestionSource,
  type NewConnector,
  removePair,
} from "../../api/create-connector.ts";
import type { IdentifiedConnector, ConnectorStatus } from "../../api/schemas.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { ApiError, CliError } from "../../errors.ts";
import { checkSelection, writeRecord } from "../../output/formats/formats.ts";
import { isInert } from "../../output/terminal/neutralise.ts";
import { withConnection, whileAsking, type Connected } from "../connect.ts";
import { findConnector, hasName } from "./find-connector.ts";

/** Most polls of the listing for a connector that another run is creating. */
const maxPolls = 5;
const pollMs = 1000;
const maxNameLength = 255;

interface CreateOptions extends GlobalFlags {
  accessType?: "public" | "private";
  group?: number[];
}

interface Outcome {
  id: number;
  accessType: string;
  groups: readonly number[];
  created: boolean;
}

const isUpload = (record: ConnectorStatus): boolean => record.connector?.source === ingestionSource;

/** The connector of this name and source, if there is one. Throws CliError `not-found` if there are several. */
function findExisting(records: readonly ConnectorStatus[], name: string): Outcome | undefined {
  const named = records.filter((record) => hasName(record, name) && isUpload(record));
  if (named.length === 0) return undefined;
  const { cc_pair_id: id, access_type: accessType, groups } = findConnector(named, name);
  return { id, accessType: accessType ?? "", groups: groups ?? [], created: false };
}

const unrelatedFailures = new Set(["auth", "not-found", "rate-limited"]);

/**
 * Searches the listing after a failed request: another run may have created the connector
 * at the same time, or the response was lost. Throws the failure if the listing has no match.
 */
async function findAfter(
  context: Context,
  client: Client,
  name: string,
  error: unknown,
): Promise<Outcome> {
  if (!(error instanceof ApiError) || unrelatedFailures.has(error.exit)) throw error;
  const hinted = (...hints: string[]): CliError =>
    new CliError(error.exit, error.message, { cause: error, hints });
  for (let poll = 0; poll < maxPolls; poll++) {
    if (poll > 0) await context.sleep(pollMs, context.signal);
    const records = await listConnectors(client);
    const found = findExisting(records, name);
    if (found) return found;
    const other = records.find((record) => hasName(record, name));
    if (!other) continue;
    const source = other.connector?.source ?? "—";
    throw hinted(`pair ${other.cc_pair_id} (source ${source}) has this name: choose another`);
  }
  throw hinted(
    ...error.hints,
    `the service may have stored a connector "${name}" without a pair: no listing shows it, and only its administrator can remove it`,
    "use another name, or look on the admin page",
  );
}

/** Removes the pair that this run made beside one of another run; says what became of it. */
async function removeOwn(client: Client, own: IdentifiedConnector | undefined): Promise<string> {
  const byHand = "delete it on the admin page";
  if (!own) return byHand;
  try {
    await removePair(client, own);
    return "it is being removed";
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return `it cannot be removed (${error.message}): ${byHand}`;
  }
}

/**
 * If two concurrent runs both created a connector, each run returns the older one. The pair exists
 * already: a listing that fails now is no failure of the command.
 */
async function oldestOf(place: Connected, name: string, id: number) {
  const { client, output } = place;
  let records: IdentifiedConnector[];
  try {
    const listed = await whileAsking(place, () => listConnectors(client));
    records = listed.filter(
      (each): each is IdentifiedConnector =>
        each.cc_pair_id !== null && hasName(each, name) && isUpload(each),
    );
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    await output.warn(
      `pair ${id} was created; whether another run made one of this name is not known: ${error.message}`,
    );
    return id;
  }
  const oldest = Math.min(id, ...records.map(({ cc_pair_id }) => cc_pair_id));
  if (oldest === id) return id;
  const own = records.find(({ cc_pair_id }) => cc_pair_id === id);
  await output.warn(
    `another run created pair ${oldest} of this name at the same time; this run made pair ${id}: ${await removeOwn(client, own)}`,
  );
  return oldest;
}

/** Refuses a name that the service or a terminal mangles, and --group where it would have no effect. */
function checkRequest(name: string, { group, accessType = "public" }: CreateOptions): void {
  const isName = name.trim() !== "" && name === name.trim() && name.length <= maxNameLength;
  if (!isName || !isInert(name)) {
    throw new CliError("usage", `${JSON.stringify(name)} is not a valid connector name`, {
      hints: [`use 1 to ${maxNameLength} characters on one line, without spaces at the ends`],
    });
  }
  if (group === undefined || accessType === "private") return;
  const message = "--group has no effect on a public connector: everybody may see its documents";
  throw new CliError("usage", message, {
    hints: ["add --access-type private, or leave out --group"],
  });
}

/** Refuses an existing connector with other access: the user must know who can read the documents. */
function checkAccess(
  { id, created, accessType: actual, groups }: Outcome,
  { accessType, group = [] }: CreateOptions,
): void {
  const isOther = accessType !== undefined && accessType !== actual;
  const lacking = created ? [] : group.filter((each) => !groups.includes(each));
  if (!isOther && lacking.length === 0) return;
  const problem = isOther
    ? `its access type is ${actual || "unknown"}, not ${accessType}`
    : `it lacks group ${lacking.join(", ")}`;
  throw new CliError("usage", `pair ${id} already has this name, but ${problem}`, {
    hints: [
      "change it on the admin page, or choose another name",
      "to use it unchanged: leave out --access-type and --group",
    ],
  });
}

/**
 * Refuses groups that the service would refuse only after it has stored the connector: then the name
 * is taken for ever, and no listing shows it. An edition without groups has no such list.
 */
async function checkGroupIds(client: Client, wanted: readonly number[]): Promise<void> {
  if (wanted.length === 0) return;
  let known: number[] | undefined;
  try {
    known = await listGroups(client);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
  const wrong = known === undefined ? [] : wanted.filter((id) => !known.includes(id));
  if (known === undefined || wrong.length === 0) return;
  const usable = known.length === 0 ? "none" : known.join(", ");
  throw new CliError("usage", `--group ${wrong.join(", ")}: no connector can have this group`, {
    hints: [`this key may use: ${usable}. Default groups are for accounts only`],
  });
}

async function findOrCreate(
  context: Context,
  place: Connected,
  wanted: NewConnector,
): Promise<Outcome> {
  const { client } = place;
  const made = await whileAsking(place, async () => {
    const found = findExisting(await listConnectors(client), wanted.name);
    if (found) return found;
    await checkGroupIds(client, wanted.groups);
    try {
      return await createConnector(client, wanted);
    } catch (error) {
      return await findAfter(context, client, wanted.name, error);
    }
  });
  if (typeof made !== "number") return made;
  const id = await oldestOf(place, wanted.name, made);
  return { id, accessType: wanted.accessType, groups: wanted.groups, created: id === made };
}

/** The members of the printed record, to check --fields before anything is created. */
const columns = ["cc_pair_id", "name", "source", "access_type", "created"].map((name) => ({
  name,
}));

/**
 * `connectors create NAME`: creates the ingestion connector of this name unless it exists,
 * and prints its cc_pair_id.
 */
export async function connectorsCreate(
  context: Context,
  [name = ""]: string[],
  options: CreateOptions,
): Promise<void> {
  checkSelection(options, columns);
  checkRequest(name, options);
  await withConnection(context, options, async (place) => {
    const { client, output, connection } = place;
    if (!canCreateConnectors(client)) {
      const message = `the ${client.dialect.name} dialect cannot create connectors`;
      throw new CliError("not-found", message, {
        hints: [
          `create it on the admin page of ${connection.baseUrl}, under Connectors; the number in its page's address is the cc_pair_id`,
          "`knowctl connectors list` lists the existing connectors; --dialect selects another dialect",
        ],
      });
    }
    const { group: groups = [], accessType = "public" } = options;
    const outcome = await findOrCreate(context, place, { name, groups, accessType });
    checkAccess(outcome, options);
    const { id, created, accessType: actual } = outcome;
    await output.note(created ? `created, ${actual}` : "it already exists");
    const isRecord = (options.output ?? options.fields ?? options.jq) !== undefined;
    const record = { cc_pair_id: id, name, source: ingestionSource, access_type: actual, created };
    if (isRecord || options.json === true) await writeRecord(output, options, record);
    else await output.line(String(id));
  });
}

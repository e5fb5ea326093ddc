import type { Client } from "../../api/client.ts";
import { listConnectors } from "../../api/connectors.ts";
import {
  canCreateConnectors,
  createConnector,
  ingestionSource,
  type NewConnector,
} from "../../api/create-connector.ts";
import type { ConnectorStatus, IdentifiedConnector } from "../../api/schemas.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { ApiError, CliError } from "../../errors.ts";
import { checkSelection, writeRecord } from "../../output/formats/formats.ts";
import { isInert } from "../../output/terminal/neutralise.ts";
import type { Output } from "../../output/terminal/output.ts";
import { connect } from "../connect.ts";
import { findConnector } from "./find-connector.ts";

export interface ConnectorsCreateOptions extends GlobalFlags {
  accessType?: "public" | "private";
  group?: number[];
}

/** The members of the record that is printed: known before anything is created. */
const sample = { cc_pair_id: 0, name: "", source: "", access_type: "", created: false };

/** How often the listing is asked for what another run is just creating. */
const looks = 5;
const lookMs = 1000;
const longestName = 255;

function checkName(name: string): void {
  const isName = name.trim() !== "" && name === name.trim() && name.length <= longestName;
  if (isName && isInert(name)) return;
  throw new CliError("usage", `${JSON.stringify(name)} is no name for a connector`, {
    hints: [`a name has 1 to ${longestName} characters on one line, no space at its ends`],
  });
}

function sameName(record: ConnectorStatus, name: string): boolean {
  return record.name?.normalize("NFC") === name.normalize("NFC");
}

/** The one of this name and source. Throws CliError `not-found` when there are several. */
function findExisting(
  records: readonly ConnectorStatus[],
  name: string,
): IdentifiedConnector | undefined {
  const named = records.filter(
    (record) => sameName(record, name) && record.connector?.source === ingestionSource,
  );
  return named.length === 0 ? undefined : findConnector(named, name);
}

function unavailable(client: Client, baseUrl: string): CliError {
  return new CliError("not-found", `the ${client.dialect.name} interface creates no connectors`, {
    hints: [
      `create it on the admin page of ${baseUrl}, under Connectors; the number in the address of its page is the cc_pair_id`,
      "`knowctl connectors list` shows those that exist; --dialect names another interface",
    ],
  });
}

const othersBusiness = new Set(["auth", "not-found", "rate-limited"]);

/**
 * After a request that failed: another run may have made the connector at the same
 * time, or the answer was lost. The listing tells. Undefined when it has none.
 */
async function findAfter(
  context: Context,
  client: Client,
  name: string,
  error: unknown,
): Promise<IdentifiedConnector | undefined> {
  if (!(error instanceof ApiError) || othersBusiness.has(error.exit)) throw error;
  for (let look = 0; look < looks; look++) {
    if (look > 0) await context.sleep(lookMs, context.signal);
    const records = await listConnectors(client);
    const found = findExisting(records, name);
    if (found) return found;
    const other = records.find((record) => sameName(record, name));
    if (!other) continue;
    throw new CliError(error.exit, error.message, {
      cause: error,
      hints: [
        `the name is that of cc_pair_id ${other.cc_pair_id} (source ${other.connector?.source ?? "—"}): choose another`,
      ],
    });
  }
  return undefined;
}

function notListed(error: ApiError): CliError {
  return new CliError(error.exit, error.message, {
    cause: error,
    hints: [
      ...error.hints,
      "if the name is taken though no listing shows it, the connector has no credential or is being deleted: see the admin page",
    ],
  });
}

/** A public connector is for everybody: groups would not count. */
function checkGroups({ group, accessType = "public" }: ConnectorsCreateOptions): void {
  if (group === undefined || accessType === "private") return;
  throw new CliError("usage", "--group: everybody may see the documents of a public connector", {
    hints: ["add --access-type private, or leave --group out"],
  });
}

/** The connector exists already, and not as it was asked for: who reads the documents must be known. */
function refuseOther(
  { id, created, accessType: actual, groups }: Outcome,
  { accessType, group = [] }: ConnectorsCreateOptions,
): void {
  const isOther = accessType !== undefined && accessType !== actual;
  const lacking = created ? [] : group.filter((each) => !groups.includes(each));
  if (!isOther && lacking.length === 0) return;
  const problem = isOther
    ? `its access type is ${actual || "unknown"}, not ${accessType}`
    : `it lacks group ${lacking.join(", ")}`;
  throw new CliError("usage", `cc_pair_id ${id} has this name already, but ${problem}`, {
    hints: [
      "change it on the admin page, or choose another name",
      "to take it as it is: leave --access-type and --group out",
    ],
  });
}

interface Outcome {
  id: number;
  accessType: string;
  groups: readonly number[];
  created: boolean;
}

function existing(record: IdentifiedConnector): Outcome {
  const { cc_pair_id: id, access_type: accessType, groups } = record;
  return { id, accessType: accessType ?? "", groups: groups ?? [], created: false };
}

/** Two runs at once where the service lets both: each prints the older one. */
async function oldestOf(client: Client, output: Output, name: string, id: number) {
  const records = await listConnectors(client);
  const ids = records
    .filter((each) => sameName(each, name) && each.connector?.source === ingestionSource)
    .flatMap((each) => each.cc_pair_id ?? []);
  const oldest = Math.min(id, ...ids);
  if (oldest === id) return id;
  await output.warn(
    `another run created cc_pair_id ${oldest} of this name at the same time; delete ${id} on the admin page`,
  );
  return oldest;
}

async function findOrCreate(
  context: Context,
  client: Client,
  output: Output,
  wanted: NewConnector,
): Promise<Outcome> {
  const found = findExisting(await listConnectors(client), wanted.name);
  if (found) return existing(found);
  let made: number;
  try {
    made = await createConnector(client, wanted);
  } catch (error) {
    const after = await findAfter(context, client, wanted.name, error);
    if (after) return existing(after);
    throw notListed(error as ApiError);
  }
  const id = await oldestOf(client, output, wanted.name, made);
  return { id, accessType: wanted.accessType, groups: wanted.groups, created: id === made };
}

/**
 * `connectors create NAME`: prints the cc_pair_id of the ingestion connector of this
 * name, which is created unless it exists.
 */
export async function connectorsCreate(
  context: Context,
  args: string[],
  options: ConnectorsCreateOptions,
): Promise<void> {
  checkSelection(options, [], sample);
  const [name = ""] = args;
  checkName(name);
  checkGroups(options);
  const { client, output, connection } = await connect(context, options);
  try {
    if (!canCreateConnectors(client)) throw unavailable(client, connection.baseUrl);
    const { group: groups = [], accessType } = options;
    const wanted = { name, groups, accessType: accessType ?? "public" } as const;
    const outcome = await findOrCreate(context, client, output, wanted);
    refuseOther(outcome, options);
    const { id, created, accessType: actual } = outcome;
    await output.note(created ? `created, ${actual}` : "it exists already");
    const isRecord = (options.output ?? options.fields ?? options.jq) !== undefined;
    const record = { cc_pair_id: id, name, source: ingestionSource, access_type: actual, created };
    if (isRecord || options.json === true) await writeRecord(output, options, record);
    else await output.line(String(id));
  } finally {
    await client.close();
  }
}

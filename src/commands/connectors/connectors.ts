import { listConnectors } from "../../api/connectors.ts";
import type { ConnectorStatus } from "../../api/schemas.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { checkFormat, writeList, writeRecord } from "../../output/formats/formats.ts";
import { maskConnector } from "../../output/mask.ts";
import type { Output } from "../../output/terminal/output.ts";
import { whileWaiting } from "../../output/terminal/waiting.ts";
import { connect, type Connected } from "../connect.ts";
import {
  createColumns,
  matchesOptions,
  readSort,
  sortRows,
  type ConnectorsListOptions,
} from "./columns.ts";
import { findConnector, findConnectorById } from "./find-connector.ts";

export interface ConnectorsGetOptions extends GlobalFlags {
  source?: string;
  showCredentials?: boolean;
}

export interface ConnectorsFindOptions extends GlobalFlags {
  source?: string;
}

function checkShowCredentials(context: Context, options: { showCredentials?: boolean }): void {
  if (options.showCredentials !== true) return;
  if (context.stdout.isTTY && !context.env["CI"]) return;
  throw new CliError("usage", "--show-credentials works only on a terminal, never in CI", {
    hints: ["credentials in a file or log stay there; look at them on a terminal"],
  });
}

function maskUnlessShown(
  record: ConnectorStatus,
  options: { showCredentials?: boolean },
): ConnectorStatus {
  return options.showCredentials === true ? record : maskConnector(record);
}

/** Refuses --show-credentials for a list: its columns hold no credentials. */
function checkShown({
  showCredentials,
  output = "table",
  json,
  fields,
  jq,
}: ConnectorsListOptions) {
  const isRecord = json === true || ["json", "ndjson", "yaml"].includes(output);
  if (showCredentials !== true || isRecord || (fields ?? jq) !== undefined) return;
  throw new CliError(
    "usage",
    `--show-credentials: the columns of a ${output} hold no credentials`,
    {
      hints: ["add --output json or yaml, or --fields credential"],
    },
  );
}

/** Caches the names for completion, after the output, so that nobody waits for it. */
async function rememberConnectors(
  context: Context,
  connected: Connected,
  records: readonly ConnectorStatus[],
): Promise<void> {
  const { rememberNames } = await import("../completion/remember-names.ts");
  const names = records.flatMap(({ cc_pair_id: id, name, connector }) =>
    id === null ? [] : [{ id, name: name ?? "", text: connector?.source ?? "" }],
  );
  rememberNames(context, "connectors", connected, names);
}

async function withRecords(
  context: Context,
  options: GlobalFlags,
  use: (records: ConnectorStatus[], output: Output) => Promise<void>,
): Promise<void> {
  const connected = await connect(context, options);
  try {
    const { client, connection, output } = connected;
    const label = `waiting for the connectors of ${connection.baseUrl}`;
    const records = await whileWaiting(output, label, () => listConnectors(client));
    try {
      await use(records, connected.output);
    } finally {
      await rememberConnectors(context, connected, records);
    }
  } finally {
    await connected.client.close();
  }
}

/** `connectors list`: lists the connector/credential pairs, filtered and sorted by the options. */
export async function connectorsList(
  context: Context,
  _args: string[],
  options: ConnectorsListOptions,
): Promise<void> {
  checkFormat(options);
  checkShowCredentials(context, options);
  checkShown(options);
  const columns = createColumns(() => context.now());
  const sort = readSort(columns, options);
  const rowsOf = (records: readonly ConnectorStatus[]): ConnectorStatus[] => {
    const wanted = records.filter((row) => matchesOptions(row, options));
    const sorted = sort ? sortRows(wanted, sort, options.reverse === true) : wanted;
    return sorted.map((row) => maskUnlessShown(row, options));
  };
  await withRecords(context, options, async (records, output) => {
    const count = await writeList(output, options, columns, rowsOf(records));
    if (count > 0) return;
    await output.note(records.length === 0 ? "there are no connectors" : "no connectors match");
  });
}

/** `connectors get ID|NAME`: shows one whole record. A number is an id, anything else a name. */
export async function connectorsGet(
  context: Context,
  args: string[],
  options: ConnectorsGetOptions,
): Promise<void> {
  checkFormat(options);
  checkShowCredentials(context, options);
  const [wanted = ""] = args;
  await withRecords(context, options, async (records, output) => {
    const { source } = options;
    const record = /^\d{1,15}$/.test(wanted)
      ? findConnectorById(records, Number(wanted), source)
      : findConnector(records, wanted, source);
    await writeRecord(output, options, maskUnlessShown(record, options));
  });
}

/** `connectors find NAME`: prints the id and nothing else, for scripts. */
export async function connectorsFind(
  context: Context,
  args: string[],
  options: ConnectorsFindOptions,
): Promise<void> {
  const [name = ""] = args;
  await withRecords(context, options, async (records, output) => {
    await output.line(String(findConnector(records, name, options.source).cc_pair_id));
  });
}

import { listConnectors } from "../../api/connectors.ts";
import type { ConnectorStatus } from "../../api/schemas.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { checkFormat, writeList, writeRecord, type Column } from "../../output/formats/formats.ts";
import { maskConnector } from "../../output/mask.ts";
import type { Output } from "../../output/terminal/output.ts";
import { whileWaiting } from "../../output/terminal/waiting.ts";
import { connect, type Connected } from "../connect.ts";
import { findConnector, findConnectorById } from "./find-connector.ts";
import { nearest } from "../../nearest.ts";
import { matchesGlob } from "../../output/formats/select.ts";
import { relativeTime } from "../../output/terminal/time.ts";

/** Flags of `connectors list`. */
interface ConnectorsListOptions extends GlobalFlags {
  source?: string;
  accessType?: string;
  name?: string;
  group?: number;
  sort?: string;
  reverse?: boolean;
  showCredentials?: boolean;
}

/** Columns of the listing. Columns with `shown: false` work in --fields, --filter and --sort. */
function createColumns(now: () => number): Column<ConnectorStatus>[] {
  const time = (value: unknown): string => relativeTime(String(value), now());
  const id = { align: "right" } as const;
  const hidden = { shown: false } as const;
  // One chooses a connector by these, so a narrow terminal hides age and owner instead.
  const kept = { isKept: true } as const;
  return [
    { name: "cc_pair_id", value: (row) => row.cc_pair_id, ...id },
    { name: "name", value: (row) => row.name },
    { name: "source", value: (row) => row.connector?.source, ...kept },
    { name: "access_type", value: (row) => row.access_type, ...kept },
    { name: "input_type", value: (row) => row.connector?.input_type },
    { name: "last_update", value: (row) => row.connector?.time_updated, show: time },
    { name: "owner", value: (row) => row.credential?.user_email },
    { name: "created", value: (row) => row.connector?.time_created, show: time, ...hidden },
    { name: "groups", value: (row) => row.groups, ...hidden },
    { name: "connector_id", value: (row) => row.connector?.id, ...id, ...hidden },
    { name: "credential_id", value: (row) => row.credential?.id, ...id, ...hidden },
    { name: "credential_name", value: (row) => row.credential?.name, ...hidden },
    { name: "refresh_freq", value: (row) => row.connector?.refresh_freq, ...id, ...hidden },
    { name: "prune_freq", value: (row) => row.connector?.prune_freq, ...id, ...hidden },
    {
      name: "indexing_start",
      value: (row) => row.connector?.indexing_start,
      show: time,
      ...hidden,
    },
  ];
}

function compare(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [left, right] = [String(a).toLowerCase(), String(b).toLowerCase()];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Sorts rows by a column: numbers by size, text ignoring case, null always last, ties by id. */
function sortRows(
  rows: readonly ConnectorStatus[],
  column: Column<ConnectorStatus>,
  descending: boolean,
): ConnectorStatus[] {
  const keyed = rows.map((row) => ({ row, key: column.value(row) ?? undefined }));
  const sorted = keyed.toSorted((a, b) => {
    const missing = Number(a.key === undefined) - Number(b.key === undefined);
    const order = missing === 0 ? compare(a.key, b.key) : 0;
    return (
      missing || (descending ? -order : order) || (a.row.cc_pair_id ?? 0) - (b.row.cc_pair_id ?? 0)
    );
  });
  return sorted.map(({ row }) => row);
}

/** The column of --sort and --reverse. Throws CliError `usage` for an unknown key. */
function readSort(
  columns: readonly Column<ConnectorStatus>[],
  options: ConnectorsListOptions,
): Column<ConnectorStatus> | undefined {
  // --reverse alone sorts by the first column.
  const key = options.sort ?? (options.reverse === true ? "cc_pair_id" : undefined);
  const column = columns.find((each) => each.name === key);
  if (column || key === undefined) return column;
  const keys = columns.map((each) => each.name);
  const meant = nearest(key, keys);
  throw new CliError("usage", `--sort ${key}: unknown key`, {
    hints: [...(meant ? [`did you mean ${meant}?`] : []), `keys: ${keys.join(", ")}`],
  });
}

/** Whether a record matches the filter options. */
function matchesOptions(row: ConnectorStatus, options: ConnectorsListOptions): boolean {
  if (options.source !== undefined && row.connector?.source !== options.source) return false;
  if (options.accessType !== undefined && row.access_type !== options.accessType) return false;
  if (options.group !== undefined && !row.groups?.includes(options.group)) return false;
  return options.name === undefined || matchesGlob(row.name ?? "", options.name);
}

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

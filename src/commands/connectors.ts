import { listConnectors } from "../api/connectors.ts";
import type { ConnectorStatus } from "../api/schemas.ts";
import type { GlobalFlags } from "../config/flags.ts";
import { nearest } from "../config/nearest.ts";
import type { Context } from "../context.ts";
import { CliError } from "../errors.ts";
import { checkFormat, writeList, writeRecord, type Column } from "../output/formats.ts";
import { maskConnector } from "../output/mask.ts";
import type { Output } from "../output/output.ts";
import { matchesGlob } from "../output/select.ts";
import { relativeTime } from "../output/time.ts";
import { connect, type Connected } from "./connect.ts";
import { findConnector, findConnectorById } from "./find-connector.ts";

export interface ConnectorsListOptions extends GlobalFlags {
  source?: string;
  accessType?: string;
  name?: string;
  group?: number;
  sort?: string;
  reverse?: boolean;
  showCredentials?: boolean;
}

export interface ConnectorsGetOptions extends GlobalFlags {
  source?: string;
  showCredentials?: boolean;
}

export interface ConnectorsFindOptions extends GlobalFlags {
  source?: string;
}

/** Columns of the listing; those with `shown: false` can be named in --fields, --filter and --sort. */
function createColumns(now: () => number): Column<ConnectorStatus>[] {
  const time = (value: unknown): string => relativeTime(String(value), now());
  const id = { align: "right" } as const;
  const more = { shown: false } as const;
  return [
    { name: "cc_pair_id", value: (row) => row.cc_pair_id, ...id },
    { name: "name", value: (row) => row.name },
    { name: "source", value: (row) => row.connector.source },
    { name: "access_type", value: (row) => row.access_type },
    { name: "input_type", value: (row) => row.connector.input_type },
    { name: "last_update", value: (row) => row.connector.time_updated, show: time },
    { name: "owner", value: (row) => row.credential.user_email },
    { name: "created", value: (row) => row.connector.time_created, show: time, ...more },
    { name: "groups", value: (row) => row.groups, ...more },
    { name: "connector_id", value: (row) => row.connector.id, ...id, ...more },
    { name: "credential_id", value: (row) => row.credential.id, ...id, ...more },
    { name: "credential_name", value: (row) => row.credential.name, ...more },
    { name: "refresh_freq", value: (row) => row.connector.refresh_freq, ...id, ...more },
    { name: "prune_freq", value: (row) => row.connector.prune_freq, ...id, ...more },
    { name: "indexing_start", value: (row) => row.connector.indexing_start, show: time, ...more },
  ];
}

function compare(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [left, right] = [String(a).toLowerCase(), String(b).toLowerCase()];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** The rows ordered by a column: numbers by size, text ignoring case; null last either way; ties by id. */
function sortRows(
  rows: readonly ConnectorStatus[],
  column: Column<ConnectorStatus>,
  descending: boolean,
): ConnectorStatus[] {
  const keyed = rows.map((row) => ({ row, key: column.value(row) ?? undefined }));
  const sorted = keyed.toSorted((a, b) => {
    const missing = Number(a.key === undefined) - Number(b.key === undefined);
    const order = missing === 0 ? compare(a.key, b.key) : 0;
    return missing || (descending ? -order : order) || a.row.cc_pair_id - b.row.cc_pair_id;
  });
  return sorted.map(({ row }) => row);
}

function readSort(
  columns: readonly Column<ConnectorStatus>[],
  options: ConnectorsListOptions,
): Column<ConnectorStatus> | undefined {
  // --reverse alone orders by what stands first.
  const key = options.sort ?? (options.reverse === true ? "cc_pair_id" : undefined);
  const column = columns.find((each) => each.name === key);
  if (column || key === undefined) return column;
  const keys = columns.map((each) => each.name);
  const meant = nearest(key, keys);
  throw new CliError("usage", `--sort ${key}: no such key`, {
    hints: [...(meant ? [`did you mean ${meant}?`] : []), `keys: ${keys.join(", ")}`],
  });
}

function checkShowCredentials(context: Context, options: { showCredentials?: boolean }): void {
  if (options.showCredentials !== true) return;
  if (context.stdout.isTTY && !context.env["CI"]) return;
  throw new CliError("usage", "--show-credentials works on a terminal only, never in CI", {
    hints: ["credentials in a file or a log outlive their purpose; look at them on a terminal"],
  });
}

function mayShow(record: ConnectorStatus, options: { showCredentials?: boolean }): ConnectorStatus {
  return options.showCredentials === true ? record : maskConnector(record);
}

function passes(row: ConnectorStatus, options: ConnectorsListOptions): boolean {
  if (options.source !== undefined && row.connector.source !== options.source) return false;
  if (options.accessType !== undefined && row.access_type !== options.accessType) return false;
  if (options.group !== undefined && !row.groups?.includes(options.group)) return false;
  return options.name === undefined || matchesGlob(row.name ?? "", options.name);
}

/** Keeps the names for completion, when all is written: nobody waits for it. */
async function rememberConnectors(
  context: Context,
  connected: Connected,
  records: readonly ConnectorStatus[],
): Promise<void> {
  const { rememberNames } = await import("./completion/remember-names.ts");
  const names = records.map((record) => ({
    id: record.cc_pair_id,
    name: record.name ?? "",
    text: record.connector.source,
  }));
  rememberNames(context, "connectors", connected, names);
}

async function withRecords(
  context: Context,
  options: GlobalFlags,
  use: (records: ConnectorStatus[], output: Output) => Promise<void>,
): Promise<void> {
  const connected = await connect(context, options, { oneShot: true });
  try {
    const records = await listConnectors(connected.client);
    try {
      await use(records, connected.output);
    } finally {
      await rememberConnectors(context, connected, records);
    }
  } finally {
    await connected.client.close();
  }
}

/** `connectors list`: every connector/credential pair, narrowed and ordered by the options. */
export async function connectorsList(
  context: Context,
  _args: string[],
  options: ConnectorsListOptions,
): Promise<void> {
  checkFormat(options);
  checkShowCredentials(context, options);
  const columns = createColumns(() => context.now());
  const sort = readSort(columns, options);
  await withRecords(context, options, async (records, output) => {
    const wanted = records.filter((row) => passes(row, options));
    const sorted = sort ? sortRows(wanted, sort, options.reverse === true) : wanted;
    const rows = sorted.map((row) => mayShow(row, options));
    const count = await writeList(output, options, columns, rows);
    if (count > 0) return;
    await output.note(records.length === 0 ? "there are no connectors" : "no connectors match");
  });
}

/** `connectors get ID|NAME`: one record in full. A number is an id, anything else a name. */
export async function connectorsGet(
  context: Context,
  args: string[],
  options: ConnectorsGetOptions,
): Promise<void> {
  checkFormat(options);
  checkShowCredentials(context, options);
  const [wanted = ""] = args;
  await withRecords(context, options, async (records, output) => {
    const record = /^\d{1,15}$/.test(wanted)
      ? findConnectorById(records, Number(wanted))
      : findConnector(records, wanted, options.source);
    await writeRecord(output, options, mayShow(record, options));
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

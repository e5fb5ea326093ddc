import type { ConnectorStatus } from "../../api/schemas.ts";
import { listConnectors } from "../../api/connectors.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { nearest } from "../../nearest.ts";
import { checkFormat, writeRecord, type Column } from "../../output/formats/formats.ts";
import { matchesGlob, valueOf } from "../../output/formats/select.ts";
import { relativeTime } from "../../output/terminal/progress.ts";
import { listResource, readResource, type Resource } from "../resource.ts";
import { findConnector, findConnectorById, isId } from "./find-connector.ts";

const masked = "***";

/** Members of a credential without a secret: service-interface.md 2.3. Any other may be a secret. */
const openMembers = new Set([
  "id",
  "name",
  "source",
  "admin_public",
  "curator_public",
  "user_id",
  "user_email",
  "groups",
  "time_created",
  "time_updated",
]);

function maskValues(value: unknown): unknown {
  if (value === null || value === undefined) return value;
  if (typeof value !== "object" || Array.isArray(value)) return masked;
  return Object.fromEntries(Object.keys(value).map((name) => [name, masked]));
}

function maskMember(name: string, value: unknown): unknown {
  if (openMembers.has(name) || value === null) return value;
  return name === "credential_json" ? maskValues(value) : masked;
}

/**
 * Replaces every value that may be a secret by `***`; names stay. Masked are all
 * values of credential.credential_json and connector.connector_specific_config
 * (passwords, addresses with user names), and every member of the credential that
 * is not known to be harmless.
 */
export function maskConnector(record: ConnectorStatus): ConnectorStatus {
  const { connector, credential } = record;
  const masked = { ...record };
  if (connector && "connector_specific_config" in connector) {
    const config = maskValues(connector.connector_specific_config);
    masked.connector = { ...connector, connector_specific_config: config } as typeof connector;
  }
  if (credential) {
    const members = Object.entries(credential);
    masked.credential = Object.fromEntries(
      members.map(([name, value]) => [name, maskMember(name, value)]),
    ) as typeof credential;
  }
  return masked;
}

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

/** Connectors. Columns with `shown: false` work in --fields, --filter and --sort. */
const connectors: Resource<ConnectorStatus> = {
  name: "connectors",
  columns: [
    { name: "cc_pair_id", align: "right" },
    { name: "name" },
    // One chooses a connector by these, so a narrow terminal hides age and owner instead.
    { name: "source", value: "connector.source", isKept: true },
    { name: "access_type", isKept: true },
    { name: "input_type", value: "connector.input_type" },
    { name: "owner", value: "credential.user_email" },
    // Of the settings: an upload and a crawl do not change it.
    {
      name: "settings_changed",
      value: "connector.time_updated",
      show: relativeTime,
      shown: false,
    },
    { name: "created", value: "connector.time_created", show: relativeTime, shown: false },
    { name: "groups", shown: false },
    { name: "connector_id", value: "connector.id", align: "right", shown: false },
    { name: "credential_id", value: "credential.id", align: "right", shown: false },
    { name: "credential_name", value: "credential.name", shown: false },
    { name: "refresh_freq", value: "connector.refresh_freq", align: "right", shown: false },
    { name: "prune_freq", value: "connector.prune_freq", align: "right", shown: false },
    {
      name: "indexing_start",
      value: "connector.indexing_start",
      show: relativeTime,
      shown: false,
    },
  ],
  list: (client) => listConnectors(client),
  named: ({ cc_pair_id: id, name, connector }) =>
    id === null ? undefined : { id, name: name ?? "", text: connector?.source ?? "" },
};

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
  return rows.toSorted((a, b) => {
    const [left, right] = [valueOf(column, a) ?? undefined, valueOf(column, b) ?? undefined];
    const missing = Number(left === undefined) - Number(right === undefined);
    const order = missing === 0 ? compare(left, right) : 0;
    return missing || (descending ? -order : order) || (a.cc_pair_id ?? 0) - (b.cc_pair_id ?? 0);
  });
}

/** The column of --sort and --reverse. Throws CliError `usage` for an unknown key. */
function readSort({ sort, reverse }: ConnectorsListOptions): Column<ConnectorStatus> | undefined {
  // --reverse alone sorts by the first column.
  const key = sort ?? (reverse === true ? "cc_pair_id" : undefined);
  const column = connectors.columns.find((each) => each.name === key);
  if (column || key === undefined) return column;
  const keys = connectors.columns.map((each) => each.name);
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

interface ConnectorsGetOptions extends GlobalFlags {
  source?: string;
  showCredentials?: boolean;
}

/** The resource with credentials masked, unless they are to be shown: that works only for people. */
function maskedUnlessShown(
  { stdout, env }: Context,
  { showCredentials }: ConnectorsGetOptions,
): Resource<ConnectorStatus> {
  if (showCredentials !== true) return { ...connectors, mask: maskConnector };
  if (stdout.isTTY && !env["CI"]) return connectors;
  throw new CliError("usage", "--show-credentials works only on a terminal, never in CI", {
    hints: ["credentials in a file or log stay there; look at them on a terminal"],
  });
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

/** `connectors list`: lists the connector/credential pairs, filtered and sorted by the options. */
export async function connectorsList(
  context: Context,
  _args: string[],
  options: ConnectorsListOptions,
): Promise<void> {
  const resource = maskedUnlessShown(context, options);
  checkShown(options);
  const sort = readSort(options);
  await listResource(context, options, resource, (records) => {
    const wanted = records.filter((row) => matchesOptions(row, options));
    return sort ? sortRows(wanted, sort, options.reverse === true) : wanted;
  });
}

/** `connectors get ID|NAME`: shows one whole record. A number is an id, anything else a name. */
export async function connectorsGet(
  context: Context,
  [wanted = ""]: string[],
  options: ConnectorsGetOptions,
): Promise<void> {
  checkFormat(options);
  const resource = maskedUnlessShown(context, options);
  await readResource(context, options, resource, async (records, output) => {
    const { source } = options;
    const record = isId(wanted)
      ? findConnectorById(records, Number(wanted), source)
      : findConnector(records, wanted, source);
    await writeRecord(output, options, resource.mask?.(record) ?? record);
  });
}

/** `connectors find NAME`: prints the id and nothing else, for scripts. */
export async function connectorsFind(
  context: Context,
  [name = ""]: string[],
  { source, ...options }: GlobalFlags & { source?: string },
): Promise<void> {
  await readResource(context, options, connectors, async (records, output) => {
    await output.line(String(findConnector(records, name, source).cc_pair_id));
  });
}

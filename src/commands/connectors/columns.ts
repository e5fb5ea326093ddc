import type { ConnectorStatus } from "../../api/schemas.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import { nearest } from "../../nearest.ts";
import { CliError } from "../../errors.ts";
import type { Column } from "../../output/formats/formats.ts";
import { matchesGlob } from "../../output/formats/select.ts";
import { relativeTime } from "../../output/terminal/time.ts";

/** Flags of `connectors list`. */
export interface ConnectorsListOptions extends GlobalFlags {
  source?: string;
  accessType?: string;
  name?: string;
  group?: number;
  sort?: string;
  reverse?: boolean;
  showCredentials?: boolean;
}

/** Columns of the listing. Columns with `shown: false` work in --fields, --filter and --sort. */
export function createColumns(now: () => number): Column<ConnectorStatus>[] {
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
export function sortRows(
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
export function readSort(
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
export function matchesOptions(row: ConnectorStatus, options: ConnectorsListOptions): boolean {
  if (options.source !== undefined && row.connector?.source !== options.source) return false;
  if (options.accessType !== undefined && row.access_type !== options.accessType) return false;
  if (options.group !== undefined && !row.groups?.includes(options.group)) return false;
  return options.name === undefined || matchesGlob(row.name ?? "", options.name);
}

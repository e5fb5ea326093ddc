import type { Client } from "../../../api/client.ts";
import type { GlobalFlags } from "../../../config/global-flags.ts";
import type { Context } from "../../../context.ts";
import { CliError, messageOf } from "../../../errors.ts";
import { writeList, type Column, type FormatOptions } from "../../../output/formats/formats.ts";
import {
  checkNames,
  parseFields,
  parseFilter,
  passes,
  type Filter,
  createColumn,
} from "../../../output/formats/select.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { connect } from "../../connect.ts";
import type { KnownDetails } from "./details.ts";
import { readStatus, type Status } from "./read.ts";
import { createColumns, sampleRow, type StatusRow } from "./rows.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import { createScreen } from "../../../output/terminal/screen.ts";
import { layOutTable, noRoomFor } from "../../../output/terminal/table.ts";
import { bold, dim, red, yellow, type Text } from "../../../output/terminal/text.ts";
import { fit } from "../../../output/terminal/width.ts";

interface Change {
  event: "listed" | "added" | "changed" | "removed";
  /** The current record; for a removed connector, the last one. */
  record: StatusRow;
}

interface Known {
  record: StatusRow;
  json: string;
}

/**
 * Returns a function that compares a listing with the previous one. Changes are in the
 * order of the listing, removed records last. In the first listing, all are `listed`.
 */
export function createChanges(): (records: readonly StatusRow[]) => Change[] {
  let known: Map<number | string, Known> | undefined;
  return (records) => {
    const previous = known;
    known = new Map();
    const changes: Change[] = [];
    for (const record of records) {
      const json = JSON.stringify(record);
      // A record without an id is identified by its text.
      const id = record.ccPairId ?? json;
      known.set(id, { record, json });
      const old = previous?.get(id);
      if (!previous) changes.push({ event: "listed", record });
      else if (!old) changes.push({ event: "added", record });
      else if (old.json !== json) changes.push({ event: "changed", record });
    }
    for (const [id, { record }] of previous ?? []) {
      if (!known.has(id)) changes.push({ event: "removed", record });
    }
    return changes;
  };
}

function shownColumns(
  columns: readonly Column<StatusRow>[],
  fields: string | undefined,
): Column<StatusRow>[] {
  if (fields === undefined) return columns.filter(({ shown }) => shown !== false);
  return parseFields(fields).map((name) => createColumn(name, columns));
}

function clock(now: number): string {
  return new Date(now).toTimeString().slice(0, 8);
}

/**
 * Shows the listing as a table that fills the terminal. Rows that changed since the last
 * poll are marked, hidden rows are counted. A failed poll is reported above the rows of
 * the last successful poll.
 */
function createTableScreen(
  output: Output,
  options: Pick<FormatOptions, "fields">,
  { seconds, now }: { seconds: number; now: () => number },
): WatchView {
  const screen = createScreen(output);
  const changes = createChanges();
  let shown: Column<StatusRow>[] = [];
  let missing: readonly string[] = [];
  let rows: readonly StatusRow[] = [];
  let changed = new Set<number | null>();
  let polledAt = "";
  const draw = async (failure?: string): Promise<void> => {
    const line = (text: string): string => fit(text, output.columns());
    const count = `${rows.length} connector${rows.length === 1 ? "" : "s"}`;
    const head = `${polledAt}  ${count}  every ${seconds} s, Ctrl-C ends`;
    const { header, lines, hidden } = layOutTable(output, shown, rows);
    const marked = lines.map((text, index): Text => {
      const id = rows[index]?.ccPairId;
      return id !== undefined && changed.has(id) ? yellow(text) : text;
    });
    const above: Text[] = [
      dim(line(head)),
      ...(failure === undefined ? [] : [red(line(failure))]),
      ...missing.map((text) => dim(line(neutraliseLine(text)))),
      ...(rows.length === 0 ? [] : [bold(header)]),
    ];
    const below: Text[] = hidden.length === 0 ? [] : [dim(line(noRoomFor(hidden)))];
    const room = screen.rows() - above.length - below.length;
    const left = marked.length - room;
    if (left > 0) {
      marked.length = Math.max(0, room - 1);
      below.unshift(dim(line(`and ${left + 1} more (a taller terminal or --filter shows them)`)));
    }
    await screen.draw([...above, ...marked, ...below]);
  };
  return {
    async rows(found, columns, notes) {
      shown = shownColumns(columns, options.fields);
      missing = notes;
      const events = changes(found).filter(({ event }) => event !== "listed");
      changed = new Set(events.map(({ record }) => record.ccPairId));
      rows = found;
      polledAt = clock(now());
      await draw();
    },
    async failure(message, count) {
      changed.clear();
      const times = count === 1 ? "" : ` (${count} times)`;
      await draw(neutraliseLine(`${clock(now())}: cannot list now${times}: ${message}`));
    },
  };
}

/** The view of the polls: a redrawn screen, or appended lines. */
interface WatchView {
  /** Shows the rows of a poll; `missing` says what they lack, one line each. */
  rows(
    rows: readonly StatusRow[],
    columns: readonly Column<StatusRow>[],
    missing: readonly string[],
  ): Promise<void>;
  /** Reports a failed poll; `count` is the number of failures in a row. */
  failure(message: string, count: number): Promise<void>;
}

/** Formats that can be appended to: later rows are not known yet. */
const appended = new Set(["ndjson", "tsv", "csv", "yaml"]);
/** Members of an appended row besides those of the connector. */
const eventNames = new Set(["event", "event_time"]);

/** Throws CliError `usage` for a format that cannot be watched. */
function usesScreen(canRedraw: boolean, options: GlobalFlags): boolean {
  const isTable = options.output === undefined || options.output === "table";
  if (options.json !== true && isTable && options.jq === undefined && canRedraw) return true;
  const format = options.json === true ? "json" : options.output;
  if (format === undefined || appended.has(format)) return false;
  throw new CliError("usage", `--watch and --output ${format} exclude each other here`, {
    hints: ["without a terminal, changes are appended: use --output ndjson, tsv, csv or yaml"],
  });
}

/** Writes each change as a row that begins with the event. The first poll lists all connectors. */
function createLines(output: Output, options: GlobalFlags, now: () => number): WatchView {
  type Row = StatusRow & { event: string; event_time: string };
  const changes = createChanges();
  const event: Column<Row> = { name: "event", value: (row) => row.event };
  let header = true;
  let lastFailure = "";
  let lastMissing = "";
  return {
    async rows(rows, columns, missing) {
      if (lastFailure !== "") await output.note("listing again");
      lastFailure = "";
      const lacking = missing.join("\n");
      if (lacking !== lastMissing) for (const line of missing) await output.note(line);
      lastMissing = lacking;
      const time = new Date(now()).toISOString();
      const found = changes(rows).map(({ event: kind, record }): Row => ({
        event: kind,
        event_time: time,
        ...record,
      }));
      if (found.length === 0) return;
      // The filters are already applied to the records.
      const { filter: _applied, ...rest } = options;
      // A table would have a new layout for each change.
      if (rest.jq === undefined) rest.output ??= "tsv";
      await writeList(output, rest, [event, ...columns], found, header);
      header = false;
    },
    async failure(message) {
      if (message !== lastFailure) await output.warn(`cannot list now: ${message}`);
      lastFailure = message;
    },
  };
}

interface Watch {
  client: Client;
  wanted: readonly string[];
  known: KnownDetails;
  filters: readonly Filter[];
  view: WatchView;
  now: () => number;
}

/** Returns the number of failed polls in a row. */
async function poll(watch: Watch, failures: number): Promise<number> {
  const { client, wanted, known, filters, view, now } = watch;
  let status: Status;
  try {
    status = await readStatus(client, { wanted, known });
  } catch (error) {
    // A failure of the first poll is an error; later polls may fail for a while.
    if (failures < 0 || !(error instanceof CliError)) throw error;
    await view.failure(messageOf(error), failures + 1);
    return failures + 1;
  }
  const { refused, hasStatus } = status;
  if (refused && failures < 0) throw refused;
  const columns = createColumns(now, { hasStatus, hasQueue: wanted.length > 0 });
  const rows = status.rows.filter((row) => passes(row, filters, columns));
  await view.rows(rows, columns, [...status.missing, ...(refused ? [refused.message] : [])]);
  return 0;
}

/**
 * `connectors status --watch`: polls every so many seconds until a signal, and throws the
 * signal's reason.
 */
export async function watchStatus(
  context: Context,
  wanted: readonly string[],
  options: GlobalFlags,
  seconds: number,
): Promise<never> {
  const now = (): number => context.now();
  const filters = (options.filter ?? []).map(parseFilter);
  const fields = options.fields === undefined ? [] : parseFields(options.fields);
  const named = [...filters.map(({ name }) => name), ...fields];
  const all = createColumns(now, { hasStatus: true, hasQueue: true });
  checkNames(
    named.filter((name) => !eventNames.has(name)),
    all,
    [sampleRow],
  );
  const { client, output } = await connect(context, options);
  try {
    const view = usesScreen(output.canRedraw, options)
      ? createTableScreen(output, options, { seconds, now })
      : createLines(output, options, now);
    const watch = { client, wanted, known: new Map(), filters, view, now };
    for (let failures = -1; ;) {
      failures = await poll(watch, failures);
      await context.sleep(seconds * 1000, context.signal);
    }
  } finally {
    await client.close();
  }
}

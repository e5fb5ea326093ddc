import type { Client } from "../../../api/client.ts";
import type { Context } from "../../../context.ts";
import { CliError, messageOf } from "../../../errors.ts";
import { writeList, type Column } from "../../../output/formats/formats.ts";
import {
  checkNames,
  parseFields,
  parseFilter,
  passes,
  type Filter,
} from "../../../output/formats/select.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { connect } from "../../connect.ts";
import { createChanges } from "./changes.ts";
import type { KnownDetails } from "./details.ts";
import { readStatus, type Status } from "./read.ts";
import { createColumns, sampleRow, type StatusRow } from "./rows.ts";
import type { ConnectorsStatusOptions } from "./status.ts";
import { createTableScreen, type WatchView } from "./watch-screen.ts";

/** Formats that can be appended to: later rows are not known yet. */
const appended = new Set(["ndjson", "tsv", "csv", "yaml"]);
/** Members of an appended row besides those of the connector. */
const eventNames = new Set(["event", "event_time"]);

/** Throws CliError `usage` for a format that cannot be watched. */
function usesScreen(canRedraw: boolean, options: ConnectorsStatusOptions): boolean {
  const isTable = options.output === undefined || options.output === "table";
  if (options.json !== true && isTable && options.jq === undefined && canRedraw) return true;
  const format = options.json === true ? "json" : options.output;
  if (format === undefined || appended.has(format)) return false;
  throw new CliError("usage", `--watch and --output ${format} exclude each other here`, {
    hints: ["without a terminal, changes are appended: use --output ndjson, tsv, csv or yaml"],
  });
}

/** Writes each change as a row that begins with the event. The first poll lists all connectors. */
function createLines(
  output: Output,
  options: ConnectorsStatusOptions,
  now: () => number,
): WatchView {
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
  options: ConnectorsStatusOptions,
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

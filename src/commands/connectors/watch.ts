import type { WatchView } from "./watch-screen.ts";
import type { Client } from "../../api/client.ts";
import { listConnectors } from "../../api/connectors.ts";
import type { ConnectorStatus } from "../../api/schemas.ts";
import type { Context } from "../../context.ts";
import { CliError, messageOf } from "../../errors.ts";
import { writeList, type Column } from "../../output/formats/formats.ts";
import type { Output } from "../../output/terminal/output.ts";
import { checkNames, parseFields, parseFilter, passes } from "../../output/formats/select.ts";
import { connect } from "../connect.ts";
import type { ConnectorsListOptions } from "./columns.ts";
import { createChanges } from "./changes.ts";

const defaultSeconds = 5;

/** Formats that can be appended to: later rows are not known yet. */
const appended = new Set(["ndjson", "tsv", "csv", "yaml"]);

function usesScreen(output: Output, options: ConnectorsListOptions): boolean {
  const isTable = options.output === undefined || options.output === "table";
  if (options.json !== true && isTable && options.jq === undefined && output.canRedraw) return true;
  const format = options.json === true ? "json" : options.output;
  if (format === undefined || appended.has(format)) return false;
  throw new CliError("usage", `--watch and --output ${format} exclude each other here`, {
    hints: ["without a terminal, changes are appended: use --output ndjson, tsv, csv or yaml"],
  });
}

/** Writes each change as a row that begins with the event. The first poll lists all connectors. */
function createLines(
  output: Output,
  options: ConnectorsListOptions,
  columns: readonly Column<ConnectorStatus>[],
  now: () => number,
): WatchView {
  type Row = ConnectorStatus & { event: string };
  const changes = createChanges();
  const shown: Column<Row>[] = [{ name: "event", value: (row) => row.event }, ...columns];
  let header = true;
  let last = "";
  return {
    async rows(rows) {
      if (last !== "") await output.note("listing again");
      last = "";
      const time = new Date(now()).toISOString();
      const found = changes(rows).map(({ event, record }): Row => ({
        event,
        event_time: time,
        ...record,
      }));
      if (found.length === 0) return;
      // The filters are already applied to the records.
      const { filter: _applied, ...rest } = options;
      // A table would have a new layout for each change.
      if (rest.jq === undefined) rest.output ??= "tsv";
      await writeList(output, rest, shown, found, header);
      header = false;
    },
    async failure(message) {
      if (message !== last) await output.warn(`cannot list now: ${message}`);
      last = message;
    },
  };
}

async function poll(
  client: Client,
  narrow: (records: readonly ConnectorStatus[]) => ConnectorStatus[],
  shown: WatchView,
  failures: number,
): Promise<number> {
  let records: ConnectorStatus[];
  try {
    records = await listConnectors(client);
  } catch (error) {
    // A failure of the first poll is an error; later polls may fail for a while.
    if (failures < 0 || !(error instanceof CliError)) throw error;
    await shown.failure(messageOf(error), failures + 1);
    return failures + 1;
  }
  await shown.rows(narrow(records));
  return 0;
}

/**
 * `connectors list --watch`: polls until a signal, and throws the signal's reason.
 * `rowsOf` filters, sorts and masks the records.
 */
export async function watchConnectors(
  context: Context,
  options: ConnectorsListOptions,
  columns: readonly Column<ConnectorStatus>[],
  rowsOf: (records: readonly ConnectorStatus[]) => ConnectorStatus[],
): Promise<never> {
  const { client, output } = await connect(context, options);
  const seconds = typeof options.watch === "number" ? options.watch : defaultSeconds;
  const filters = (options.filter ?? []).map(parseFilter);
  const named = [
    ...filters.map(({ name }) => name),
    ...(options.fields === undefined ? [] : parseFields(options.fields)),
  ].filter((name) => name !== "event" && name !== "event_time");
  const narrow = (records: readonly ConnectorStatus[]): ConnectorStatus[] => {
    const rows = rowsOf(records);
    checkNames(named, columns, rows);
    return rows.filter((row) => passes(row, filters, columns));
  };
  try {
    const now = (): number => context.now();
    const shown = usesScreen(output, options)
      ? (await import("./watch-screen.ts")).createTableScreen(output, options, columns, {
          seconds,
          now,
        })
      : createLines(output, options, columns, now);
    for (let failures = -1; ;) {
      failures = await poll(client, narrow, shown, failures);
      await context.sleep(seconds * 1000, context.signal);
    }
  } finally {
    await client.close();
  }
}

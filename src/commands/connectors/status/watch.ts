import type { GlobalFlags } from "../../../config/global-flags.ts";
import type { Context } from "../../../context.ts";
import { CliError, messageOf } from "../../../errors.ts";
import { checkSelection, writeList, type Column } from "../../../output/formats/formats.ts";
import { parseFilter, passes, shownColumns } from "../../../output/formats/select.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { createScreen } from "../../../output/terminal/screen.ts";
import { layOutTable, noRoomFor } from "../../../output/terminal/table.ts";
import { bold, dim, red, magenta, type Text } from "../../../output/terminal/text.ts";
import { fit } from "../../../output/terminal/width.ts";
import { connect } from "../../connect.ts";
import { readStatus, statusColumns, type Status, type StatusRow, nothingKnown } from "./read.ts";

interface Change {
  event: "listed" | "added" | "changed" | "removed";
  /** The current record; for a removed connector, the last one. */
  record: StatusRow;
}

/**
 * Returns a function that compares a listing with the previous one. Changes are in the
 * order of the listing, removed records last. In the first listing, all are `listed`.
 */
export function createChanges(): (records: readonly StatusRow[]) => Change[] {
  let known: Map<number | string, { record: StatusRow; json: string }> | undefined;
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

/** What one poll has found. */
interface Poll {
  rows: readonly StatusRow[];
  columns: readonly Column<StatusRow>[];
  changes: readonly Change[];
  /** What the rows lack, one line each. */
  missing: readonly string[];
}

/** The view of the polls: a redrawn screen, or appended lines. */
interface WatchView {
  show(poll: Poll): Promise<void>;
  /** Reports a failed poll; `count` is the number of failures in a row. */
  failure(message: string, count: number): Promise<void>;
}

const clock = (now: number): string => new Date(now).toTimeString().slice(0, 8);

/**
 * Shows the listing as a table that fills the terminal. Rows that changed since the last
 * poll are marked, hidden rows are counted. A failed poll is reported above the rows of
 * the last successful poll.
 */
function createTableScreen(output: Output, { fields }: GlobalFlags, seconds: number): WatchView {
  const screen = createScreen(output);
  let last: Poll = { rows: [], columns: [], changes: [], missing: [] };
  let polledAt = "";
  const draw = async (failure?: string): Promise<void> => {
    const { rows, columns, changes, missing } = last;
    const line = (text: string): string => fit(text, output.columns());
    const count = `${rows.length} connector${rows.length === 1 ? "" : "s"}`;
    const head = `${polledAt}  ${count}  every ${seconds} s, Ctrl-C ends`;
    const { header, lines, hidden } = layOutTable(output, shownColumns(columns, fields), rows);
    const changed = new Set(changes.map(({ event, record }) => event !== "listed" && record));
    const marked = lines.map((text, index) => (changed.has(rows[index]!) ? magenta(text) : text));
    const above: Text[] = [
      dim(line(head)),
      ...(failure === undefined ? [] : [red(line(failure))]),
      ...missing.map((text) => dim(line(neutraliseLine(text)))),
      ...(rows.length === 0 ? [] : [bold(header)]),
    ];
    const below: Text[] = hidden.length === 0 ? [] : [dim(line(noRoomFor(hidden)))];
    const left = marked.length - (screen.rows() - above.length - below.length);
    if (left > 0) {
      marked.length = Math.max(0, marked.length - left - 1);
      below.unshift(dim(line(`and ${left + 1} more (a taller terminal or --filter shows them)`)));
    }
    await screen.draw([...above, ...marked, ...below]);
  };
  return {
    async show(poll) {
      last = poll;
      polledAt = clock(output.now());
      await draw();
    },
    async failure(message, count) {
      last = { ...last, changes: [] };
      const times = count === 1 ? "" : ` (${count} times)`;
      await draw(neutraliseLine(`${clock(output.now())}: cannot list now${times}: ${message}`));
    },
  };
}

/** Formats that can be appended to: later rows are not known yet. */
const appended = new Set(["ndjson", "tsv", "csv", "yaml"]);

/** Throws CliError `usage` for a format that cannot be watched. */
function usesScreen(canRedraw: boolean, { output, json, jq }: GlobalFlags): boolean {
  const format = json === true ? "json" : output;
  if (canRedraw && jq === undefined && (format === undefined || format === "table")) return true;
  if (format === undefined || appended.has(format)) return false;
  throw new CliError("usage", `--watch and --output ${format} exclude each other here`, {
    hints: ["without a terminal, changes are appended: use --output ndjson, tsv, csv or yaml"],
  });
}

/** Writes each change as a row that begins with the event. The first poll lists all connectors. */
function createLines(output: Output, { filter: _applied, ...options }: GlobalFlags): WatchView {
  // A table would have a new layout for each change.
  if (options.jq === undefined) options.output ??= "tsv";
  let header = true;
  let lastFailure = "";
  let lastMissing = "";
  return {
    async show({ columns, changes, missing }) {
      if (lastFailure !== "") await output.note("listing again");
      lastFailure = "";
      const lacking = missing.join("\n");
      if (lacking !== lastMissing) for (const line of missing) await output.note(line);
      lastMissing = lacking;
      if (changes.length === 0) return;
      const event_time = new Date(output.now()).toISOString();
      const rows = changes.map(({ event, record }) => ({ event, event_time, ...record }));
      await writeList(output, options, [{ name: "event" }, ...columns], rows, header);
      header = false;
    },
    async failure(message) {
      if (message !== lastFailure) await output.warn(`cannot list now: ${message}`);
      lastFailure = message;
    },
  };
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
  const filters = (options.filter ?? []).map(parseFilter);
  // Appended rows have two members more.
  checkSelection(options, statusColumns(true, true), { event: "", event_time: "" });
  const { client, output } = await connect(context, options);
  const changesOf = createChanges();
  const known = nothingKnown();
  const poll = async (isFirst: boolean): Promise<Poll> => {
    const {
      rows: all,
      hasStatus,
      missing,
      refused,
    }: Status = await readStatus(client, wanted, context.now(), known);
    if (refused && isFirst) throw refused;
    const columns = statusColumns(hasStatus, wanted.length > 0);
    const rows = all.filter((row) => passes(row, filters, columns));
    const lacking = [...missing, ...(refused ? [refused.message] : [])];
    return { rows, columns, changes: changesOf(rows), missing: lacking };
  };
  try {
    const view = usesScreen(output.canRedraw, options)
      ? createTableScreen(output, options, seconds)
      : createLines(output, options);
    // A failure of the first poll is an error; later polls may fail for a while.
    await view.show(await poll(true));
    for (let failures = 0; ;) {
      await context.sleep(seconds * 1000, context.signal);
      const found = await poll(false).catch((error: unknown) => {
        if (!(error instanceof CliError)) throw error;
        return error;
      });
      failures = found instanceof CliError ? failures + 1 : 0;
      if (found instanceof CliError) await view.failure(messageOf(found), failures);
      else await view.show(found);
    }
  } finally {
    await client.close();
  }
}

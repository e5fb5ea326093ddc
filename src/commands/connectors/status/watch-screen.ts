import type { FormatOptions } from "../../../output/formats/formats.ts";
import type { Column } from "../../../output/formats/formats.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { createScreen } from "../../../output/terminal/screen.ts";
import { createColumn, parseFields } from "../../../output/formats/select.ts";
import { layOutTable, noRoomFor } from "../../../output/terminal/table.ts";
import { bold, dim, red, yellow, type Text } from "../../../output/terminal/text.ts";
import { fit } from "../../../output/terminal/width.ts";
import { createChanges } from "./changes.ts";
import type { StatusRow } from "./rows.ts";

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
export function createTableScreen(
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
export interface WatchView {
  /** Shows the rows of a poll; `missing` says what they lack, one line each. */
  rows(
    rows: readonly StatusRow[],
    columns: readonly Column<StatusRow>[],
    missing: readonly string[],
  ): Promise<void>;
  /** Reports a failed poll; `count` is the number of failures in a row. */
  failure(message: string, count: number): Promise<void>;
}

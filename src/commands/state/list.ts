import type { Context } from "../../context.ts";
import { checkFormat, writeList, type Column } from "../../output/formats/formats.ts";
import { pathsFrom, type ShownPath } from "../../output/paths.ts";
import { parseFilter, passes } from "../../output/formats/select.ts";
import { relativeTime } from "../../output/terminal/time.ts";
import { listRecords, type StateEntry } from "../../sync/state/entries.ts";
import { serviceInKey } from "../../sync/state/target.ts";
import { openOutput } from "../connect.ts";
import { hostOf } from "../ingest/target/names.ts";
import { findState, openToRead, type StateFlags } from "./place.ts";

export interface StateListOptions extends StateFlags {
  status?: StateEntry["status"];
  ccPairId?: number;
  limit?: number;
}

function createColumns(now: () => number, shown: ShownPath): Column<StateEntry>[] {
  const right = { align: "right" } as const;
  const more = { shown: false } as const;
  return [
    { name: "status", value: (row) => row.status },
    { name: "cc_pair_id", value: (row) => row.ccPairId, ...right },
    {
      name: "path",
      value: (row) => row.path,
      show: (value) => (value ? shown(String(value)) : ""),
      cut: "start",
    },
    { name: "id", value: (row) => row.id, cut: "start" },
    { name: "time", value: (row) => row.time, show: (value) => relativeTime(String(value), now()) },
    { name: "reason", value: (row) => row.reason },
    { name: "service", value: (row) => hostOf(serviceInKey(row.target)) },
    { name: "row", value: (row) => row.row, ...right, ...more },
    { name: "target", value: (row) => row.target, ...more },
    { name: "stored_id", value: (row) => row.storedId, ...more },
    { name: "retryable", value: (row) => row.retryable, ...more },
    { name: "http_status", value: (row) => row.httpStatus, ...right, ...more },
    { name: "updated_at", value: (row) => row.updatedAt, ...more },
  ];
}

/** `state list`: lists the sent documents and the failures in the state. */
export async function stateList(
  context: Context,
  _args: string[],
  options: StateListOptions,
): Promise<void> {
  checkFormat(options);
  const output = openOutput(context, options);
  const filters = (options.filter ?? []).map(parseFilter);
  const { limit = Number.POSITIVE_INFINITY } = options;
  const place = await findState(context, options, output);
  const columns = createColumns(() => context.now(), pathsFrom(context.cwd, place.root));
  const state = await openToRead(context, place, output);
  const rows = function* (): Generator<StateEntry> {
    let remaining = limit;
    for (const entry of listRecords(state.database, options)) {
      context.signal.throwIfAborted();
      if (!passes(entry, filters, columns)) continue;
      yield entry;
      if (--remaining <= 0) return;
    }
  };
  try {
    const count = await writeList(output, options, columns, rows());
    if (count > 0) return;
    const isEmpty = listRecords(state.database, {}).next().done === true;
    await output.note(
      isEmpty
        ? `nothing has been uploaded from here yet: the state in ${place.folder} has no records`
        : "no records match",
    );
  } finally {
    state.close();
  }
}

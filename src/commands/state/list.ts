import type { Context } from "../../context.ts";
import { checkFormat, writeList, type Column } from "../../output/formats/formats.ts";
import { pathsFrom, type ShownPath } from "../../output/paths.ts";
import { relativeTime } from "../../output/terminal/progress.ts";
import { listRecords, type StateEntry } from "../../sync/state/entries.ts";
import { serviceInKey } from "../../sync/state/target.ts";
import { openOutput } from "../connect.ts";
import { hostOf } from "../ingest/target/pair.ts";
import { findState, openToRead, type StateFlags } from "./place.ts";

export interface StateListOptions extends StateFlags {
  status?: StateEntry["status"];
  ccPairId?: number;
  limit?: number;
}

function createColumns(shown: ShownPath): Column<StateEntry>[] {
  return [
    { name: "status" },
    { name: "cc_pair_id", value: "ccPairId", align: "right" },
    { name: "path", show: (value) => (value ? shown(String(value)) : ""), cut: "start" },
    { name: "id", cut: "start" },
    { name: "time", show: relativeTime },
    { name: "reason" },
    { name: "service", value: (row) => hostOf(serviceInKey(row.target)) },
    { name: "row", align: "right", shown: false },
    { name: "target", shown: false },
    { name: "stored_id", value: "storedId", shown: false },
    { name: "retryable", shown: false },
    { name: "http_status", value: "httpStatus", align: "right", shown: false },
    { name: "updated_at", value: "updatedAt", shown: false },
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
  const place = await findState(context, options, output);
  const columns = createColumns(pathsFrom(context.cwd, place.root));
  const state = await openToRead(context, place, output);
  const rows = function* (): Generator<StateEntry> {
    for (const entry of listRecords(state.database, options)) {
      context.signal.throwIfAborted();
      yield entry;
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

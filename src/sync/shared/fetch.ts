import type { State } from "../state/state.ts";
import { createIncoming } from "../transfer/import.ts";
import { exportedTables } from "../transfer/export.ts";
import { parseTransferLine, type TransferRecord } from "../transfer/transfer.ts";
import type { SharedDatabase, SharedRow } from "./address.ts";
import { dropBond, readBond, writeBond, type Bond } from "./bond.ts";
import { columnsOf, keyOf } from "./rows.ts";

const rowsAtOnce = 5000;

// A row that is pushed meanwhile gets a revision above $3: the next fetch has it.
const pageQuery = `SELECT key, kind, line, time, revision, is_gone, answered FROM knowctl_rows
  WHERE project = $1 AND (revision, key) > ($2::bigint, $4::bytea) AND revision <= $3::bigint
  ORDER BY revision, key LIMIT ${rowsAtOnce}`;
const optionsQuery = `SELECT key, kind, line, time, revision, is_gone, answered FROM knowctl_rows
  WHERE project = $1 AND kind = 'options' AND revision > $2 AND revision <= $3`;

const tableOf = new Map<string, (typeof exportedTables)[number]>(
  exportedTables.map((each) => [each.type, each]),
);

/** Moves the times of a record to the clock of this machine, beside that of the service. */
function onThisClock(
  each: TransferRecord,
  atMs: number,
  answeredAtMs: number | undefined,
): TransferRecord {
  switch (each.type) {
    case "accepted":
      return { ...each, record: { ...each.record, sentAtMs: atMs, answeredAtMs } };
    case "image":
      return { ...each, record: { ...each.record, sentAtMs: atMs } };
    case "failure":
      return { ...each, record: { ...each.record, failedAtMs: atMs } };
    case "upload":
      return { ...each, record: { ...each.record, startedAtMs: atMs } };
    case "check":
      return { ...each, record: { ...each.record, atMs } };
    default:
      return each;
  }
}

interface Fetched {
  kind: string;
  key: string;
  /** Undefined for a row that is gone. */
  record: Exclude<TransferRecord, { type: "end" }> | undefined;
  atMs: number;
  answeredAtMs: number | undefined;
}

function toFetched(row: SharedRow, aheadMs: number): Fetched {
  const [kind, line] = [String(row["kind"]), String(row["line"])];
  const atMs = Number(row["time"]) + aheadMs;
  const answeredAtMs = row["answered"] === null ? undefined : Number(row["answered"]);
  const times = { atMs, answeredAtMs };
  if (row["is_gone"] === true) return { kind, key: line, record: undefined, ...times };
  const record = onThisClock(parseTransferLine(line, true), atMs, answeredAtMs);
  if (record.type === "end") return { kind, key: "[]", record: undefined, ...times };
  return { kind, key: keyOf(record), record, ...times };
}

/** Takes a page of rows into the state in one transaction, together with the revision they reach. */
function createTake(state: State): (rows: readonly Fetched[], bond: Bond) => void {
  const { database } = state;
  const incoming = createIncoming(database);
  const isChangedHere = database.prepare("SELECT at FROM unpushed WHERE kind = ? AND key = ?");
  // What this machine changed later is pushed, and then decided there.
  const isLaterHere = (changedAtMs: number, { key, atMs, answeredAtMs }: Fetched): boolean => {
    if (answeredAtMs === undefined) return changedAtMs >= atMs;
    const [target, id] = columnsOf(key).map(String) as [string, string];
    const ownMs = state.accepted(target, id)?.answeredAtMs ?? answeredAtMs;
    return ownMs === answeredAtMs ? changedAtMs >= atMs : ownMs > answeredAtMs;
  };
  const settle = database.prepare("DELETE FROM unpushed WHERE kind = ? AND key = ?");
  const anyChange = database.prepare("SELECT 1 AS yes FROM unpushed LIMIT 1");
  const drops = new Map(
    exportedTables.map(({ type, table, keys }) => {
      const isRow = keys.map((each) => `${each} = ?`).join(" AND ");
      return [type as string, database.prepare(`DELETE FROM ${table} WHERE ${isRow}`)];
    }),
  );
  return (rows, bond) => {
    const mayBeChanged = anyChange.get() !== undefined;
    const settled: Fetched[] = [];
    const gone: Fetched[] = [];
    for (const each of rows) {
      const change = mayBeChanged ? isChangedHere.get(each.kind, each.key) : undefined;
      if (change && isLaterHere(Number(change["at"]), each)) continue;
      if (change) settled.push(each);
      if (each.record) incoming.add(each.record);
      else if (tableOf.has(each.kind)) gone.push(each);
    }
    incoming.take((merge) => {
      // Without the bond the triggers note nothing: these rows come from the shared record.
      dropBond(database);
      merge();
      for (const { kind, key } of gone) drops.get(kind)?.run(...columnsOf(key));
      for (const { kind, key } of settled) settle.run(kind, key);
      writeBond(database, bond);
    });
  };
}

/**
 * Fetches the rows of a project up to `revision` that its copy lacks; returns their number. `aheadMs` is
 * how far the clock of this machine is ahead of that of the database. An interrupted fetch goes on
 * where it stopped. Throws CliError.
 */
export async function fetchRows(
  { query }: SharedDatabase,
  state: State,
  revision: number,
  aheadMs: number,
): Promise<number> {
  const bond = readBond(state.database);
  if (!bond || bond.revision >= revision) return 0;
  const take = createTake(state);
  // Options first: the other rows refer to them.
  const options = await query(optionsQuery, [bond.id, bond.revision, revision]);
  take(
    options.map((row) => toFetched(row, aheadMs)),
    bond,
  );
  let count = 0;
  // After every key, which has 16 bytes.
  let after: [revision: number, key: unknown] = [bond.revision, Buffer.alloc(17, 0xff)];
  for (;;) {
    const rows = await query(pageQuery, [bond.id, after[0], revision, after[1]]);
    const last = rows.at(-1);
    count += rows.length;
    const isLast = rows.length < rowsAtOnce;
    // The rows of a revision may go on in the next page.
    const reached = isLast ? revision : Number(last?.["revision"]) - 1;
    const page = rows.map((row) => toFetched(row, aheadMs));
    take(page, { ...bond, revision: Math.max(bond.revision, reached) });
    if (isLast || !last) return count;
    after = [Number(last["revision"]), last["key"]];
  }
}

import type { Row } from "../../database.ts";
import { pagesOf } from "../state/tables.ts";
import { timeIn, toAccepted, toFailure, toFile } from "../state/records.ts";
import type { State } from "../state/state.ts";
import { toRun } from "../state/uploads.ts";
import type { Verification } from "../state/verified.ts";
import {
  isBelowRoot,
  headerLine,
  transferLine,
  type ImageRecord,
  type TransferRecord,
} from "./transfer.ts";

function toImage(row: Row): ImageRecord {
  return {
    service: String(row["service"]),
    hash: String(row["hash"]),
    fileId: String(row["file_id"]),
    sentAtMs: timeIn(row, "sent_at"),
  };
}

function toCheck(row: Row): Verification {
  return {
    target: String(row["target"]),
    id: String(row["id"]),
    result: String(row["result"]),
    atMs: timeIn(row, "verified_at"),
  };
}

type Exported = Pick<State, "database" | "options">;

/** How the rows of a table become records; `keyOf` gives the key of options by their number. */
interface ExportedTable {
  type: Exclude<TransferRecord["type"], "end">;
  table: string;
  keys: readonly string[];
  /** Which rows are exported. */
  where?: string;
  read: (
    row: Row,
    keyOf: (number: number | undefined) => string | undefined,
  ) => TransferRecord | undefined;
}

/** In the order of the exported lines. */
export const exportedTables: readonly ExportedTable[] = [
  {
    type: "accepted",
    table: "accepted",
    keys: ["target", "id"],
    read(row, keyOf) {
      const record = toAccepted(row);
      return { type: "accepted", record, options: keyOf(record.options) };
    },
  },
  {
    type: "failure",
    table: "failures",
    keys: ["target", "path", "part", "id"],
    read(row, keyOf) {
      const record = toFailure(row);
      return { type: "failure", record, options: keyOf(record.options) };
    },
  },
  {
    type: "upload",
    table: "uploads",
    keys: ["target", "inputs"],
    // A stopped upload is of this machine alone: here `retry` and the next upload complete it.
    where: "ended = 1",
    read(row, keyOf) {
      const record = toRun(row);
      if (!record.inputs.every(isBelowRoot)) return undefined;
      return { type: "upload", record, options: keyOf(record.options) };
    },
  },
  {
    type: "file",
    table: "files",
    keys: ["path", "part"],
    // Skip rows without content: another run is about to send them, see State.openParts().
    where: "content <> ''",
    read: (row) => ({ type: "file", record: toFile(row) }),
  },
  {
    type: "image",
    table: "images",
    keys: ["service", "hash"],
    read: (row) => ({ type: "image", record: toImage(row) }),
  },
  {
    type: "check",
    table: "verified",
    keys: ["target", "id"],
    where: `verified_at IS NOT NULL AND EXISTS (
    SELECT 1 FROM accepted a WHERE a.target = verified.target AND a.id = verified.id)`,
    read: (row) => ({ type: "check", record: toCheck(row) }),
  },
];

function* records({ database, options: stored }: Exported): Generator<TransferRecord> {
  const keys = new Map<number | undefined, string>();
  for (const row of pagesOf(database, "options", ["key"])) {
    const key = String(row["key"]);
    const number = Number(row["number"]);
    keys.set(number, key);
    const options = stored.get(number);
    if (options) yield { type: "options", key, options };
  }
  for (const { table, keys: columns, where, read } of exportedTables) {
    for (const row of pagesOf(database, table, columns, where)) {
      const record = read(row, (number) => keys.get(number));
      if (record) yield record;
    }
  }
}

/**
 * Yields the state as sorted NDJSON lines: a header with the version, the records and their
 * number. Equal states yield equal lines. Contains no API keys and nothing specific to this
 * machine. Reads in pages: a record written meanwhile is either complete or absent.
 */
export function* exportLines(state: Exported): Generator<string> {
  let count = 0;
  yield headerLine();
  for (const each of records(state)) {
    count++;
    yield transferLine(each);
  }
  yield transferLine({ type: "end", records: count });
}

import { createHash } from "node:crypto";
import type { Database, Row, Statement } from "../../database.ts";
import type { OptionsStore } from "../state/options.ts";
import { isInDoubt } from "../state/records.ts";
import { serviceInKey } from "../state/target.ts";
import { exportedTables } from "../transfer/export.ts";
import { transferLine, type TransferRecord } from "../transfer/transfer.ts";

/** A change of the local state that the shared record does not have yet. */
export interface Unpushed {
  number: number;
  kind: string;
  /** Columns of the key, as JSON. */
  key: string;
  /** Time of the change by the clock of this machine. */
  atMs: number;
  mark: number;
}

/** A row for the shared record. */
export interface SharedLine {
  key: Uint8Array;
  kind: string;
  /** The line of an exported state; of a row that is gone the columns of its key. */
  line: string;
  isGone: boolean;
  /** Time by the clock of this machine. */
  atMs: number;
  /** Time of an acceptance by the clock of the service; null where that is not known. */
  answeredAtMs: number | null;
  /** See documentKey(). */
  document: Uint8Array | null;
}

const hashOf = (...texts: string[]): Buffer =>
  createHash("sha256").update(texts.join("\n")).digest().subarray(0, 16);

/** Key of a document of a service: the service has one per id for all pairs and projects. */
export function documentKey(service: string, id: string): Buffer {
  return hashOf("document", service, id);
}

/** The columns of a key. */
export function columnsOf(key: string): (string | number)[] {
  return JSON.parse(key) as (string | number)[];
}

/** The key of a record as the triggers of the state write it. */
export function keyOf(each: TransferRecord): string {
  switch (each.type) {
    case "options":
      return JSON.stringify([each.key]);
    case "accepted":
    case "check":
      return JSON.stringify([each.record.target, each.record.id]);
    case "failure": {
      const { target, path, part, id } = each.record;
      return JSON.stringify([target, path, part, id]);
    }
    case "upload":
      return JSON.stringify([each.record.target, JSON.stringify(each.record.inputs)]);
    case "file":
      return JSON.stringify([each.record.path, each.record.part]);
    case "image":
      return JSON.stringify([each.record.service, each.record.hash]);
    case "end":
      return "[]";
  }
}

/** Milliseconds that decide between two rows: of the upload, the failure, the check. */
function timeOf(each: TransferRecord): number | undefined {
  switch (each.type) {
    case "accepted":
      // A mark of doubt was made now, before a request.
      return isInDoubt(each.record.whole) ? undefined : each.record.sentAtMs;
    case "image":
      return each.record.sentAtMs;
    case "failure":
      return each.record.failedAtMs;
    case "upload":
      return each.record.startedAtMs;
    case "check":
      return each.record.atMs;
    default:
      return undefined;
  }
}

/** Reads rows of the local state by their keys, as lines for the shared record. */
export function createLineReader(
  database: Database,
  options: OptionsStore,
): (change: Unpushed) => SharedLine {
  const keyOfNumber = database.prepare("SELECT key FROM options WHERE number = ?");
  const numberOfKey = database.prepare("SELECT number FROM options WHERE key = ?");
  const optionsKeyOf = (number: number | undefined): string | undefined => {
    const row = number === undefined ? undefined : keyOfNumber.get(number);
    return row && String(row["key"]);
  };
  const readers = new Map<
    string,
    { statement: Statement; read: (row: Row) => TransferRecord | undefined }
  >();
  for (const { type, table, keys, where = "TRUE", read } of exportedTables) {
    const isRow = keys.map((each) => `${each} = ?`).join(" AND ");
    readers.set(type, {
      statement: database.prepare(`SELECT * FROM ${table} WHERE ${isRow} AND ${where}`),
      read: (row) => read(row, optionsKeyOf),
    });
  }
  const optionsRecord = (key: string): TransferRecord | undefined => {
    const row = numberOfKey.get(key);
    const found = row && options.get(Number(row["number"]));
    return found && { type: "options", key, options: found };
  };
  return ({ kind, key, atMs }) => {
    const columns = columnsOf(key);
    const reader = readers.get(kind);
    const row = reader?.statement.get(...columns);
    const record = reader ? row && reader.read(row) : optionsRecord(String(columns[0]));
    return {
      key: hashOf(kind, key),
      kind,
      line: record ? transferLine(record).trimEnd() : key,
      isGone: record === undefined,
      atMs: (record && timeOf(record)) ?? atMs,
      answeredAtMs: (record?.type === "accepted" ? record.record.answeredAtMs : undefined) ?? null,
      document:
        record?.type === "accepted"
          ? documentKey(serviceInKey(record.record.target), record.record.id)
          : null,
    };
  };
}

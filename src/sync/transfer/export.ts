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

function* records({ database, options: stored }: Exported): Generator<TransferRecord> {
  const keys = new Map<number, string>();
  for (const row of pagesOf(database, "options", ["key"])) {
    const key = String(row["key"]);
    const number = Number(row["number"]);
    keys.set(number, key);
    const options = stored.get(number);
    if (options) yield { type: "options", key, options };
  }
  const keyOf = ({ options }: { options?: number | undefined }): string | undefined =>
    options === undefined ? undefined : keys.get(options);
  for (const row of pagesOf(database, "accepted", ["target", "id"])) {
    const record = toAccepted(row);
    yield { type: "accepted", record, options: keyOf(record) };
  }
  for (const row of pagesOf(database, "failures", ["target", "path", "part", "id"])) {
    const record = toFailure(row);
    yield { type: "failure", record, options: keyOf(record) };
  }
  // A stopped upload is of this machine alone: here `retry` and the next upload complete it.
  for (const row of pagesOf(database, "uploads", ["target", "inputs"], "ended = 1")) {
    const record = toRun(row);
    if (!record.inputs.every(isBelowRoot)) continue;
    yield { type: "upload", record, options: keyOf(record) };
  }
  // Skip rows without content: another run is about to send them, see State.openParts().
  for (const row of pagesOf(database, "files", ["path", "part"], "content <> ''")) {
    yield { type: "file", record: toFile(row) };
  }
  for (const row of pagesOf(database, "images", ["service", "hash"])) {
    yield { type: "image", record: toImage(row) };
  }
  const ofDocument = `verified_at IS NOT NULL AND EXISTS (
    SELECT 1 FROM accepted a WHERE a.target = verified.target AND a.id = verified.id)`;
  for (const row of pagesOf(database, "verified", ["target", "id"], ofDocument)) {
    yield { type: "check", record: toCheck(row) };
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

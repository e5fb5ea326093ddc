import type { Database, SqlValue, Synchronous } from "../../database.ts";
import { createInsert } from "./insert.ts";
import {
  acceptedColumns,
  acceptedValues,
  failureValues,
  fileValues,
  type AcceptedRecord,
  type FailureRecord,
  type FileRecord,
} from "./records.ts";

export interface StateBatch {
  files?: readonly FileRecord[];
  accepted?: readonly AcceptedRecord[];
  failures?: readonly FailureRecord[];
}

const changing = acceptedColumns.filter((each) => each !== "target" && each !== "id");

// Never REPLACE: no trigger would hear of the row that was there.
const upsertAccepted = `ON CONFLICT (target, id) DO UPDATE
  SET ${changing.map((each) => `${each} = excluded.${each}`).join(", ")}`;

// That a target has the document is written down only where it is so.
const checkedRow = `(?,?,?,?,?,?,?,?,
  (SELECT target FROM accepted WHERE target = ? AND id = ? AND whole = ? AND path = ?))`;

function checkedFileValues(each: FileRecord): SqlValue[] {
  const { document, path } = each;
  return [...fileValues(each), document?.id ?? null, document?.whole ?? null, path];
}

const keyOf = (target: string, id: string): string => `${target} ${id}`;

/** Divides files into those whose claim of a target the batch itself proves, and the others. */
function divide(
  files: readonly FileRecord[],
  accepted: readonly AcceptedRecord[],
): { proven: FileRecord[]; others: FileRecord[] } {
  const byKey = new Map(accepted.map((each) => [keyOf(each.target, each.id), each]));
  const isProven = ({ target, document, path }: FileRecord): boolean => {
    if (target === undefined) return true;
    const found = document && byKey.get(keyOf(target, document.id));
    return found !== undefined && found.whole === document?.whole && found.path === path;
  };
  const proven: FileRecord[] = [];
  const others: FileRecord[] = [];
  for (const each of files) (isProven(each) ? proven : others).push(each);
  return { proven, others };
}

/** Prepares saving batches, each in one durable transaction, see State. */
export function createSave(
  database: Database,
): (batch: StateBatch, synchronous?: Synchronous) => void {
  const fileHead = "INSERT OR REPLACE INTO files";
  const putProven = createInsert(database, fileHead, 9);
  const putChecked = createInsert(database, fileHead, 12, { row: checkedRow });
  const putAccepted = createInsert(database, "INSERT INTO accepted", 10, { tail: upsertAccepted });
  const putFailures = createInsert(database, "INSERT OR REPLACE INTO failures", 9);
  const dropFailure = database.prepare(
    "DELETE FROM failures WHERE target = ? AND path = ? AND part = ?",
  );
  const dropGiven = database.prepare(
    "DELETE FROM failures WHERE target = ? AND path = '' AND part = 0 AND id = ?",
  );
  const anyFailure = database.prepare("SELECT 1 AS yes FROM failures LIMIT 1");
  return ({ files = [], accepted = [], failures = [] }, synchronous) => {
    database.transaction(() => {
      // In this order: what is accepted says what the files may claim.
      putAccepted(accepted.map(acceptedValues));
      const { proven, others } = divide(files, accepted);
      putProven(proven.map(fileValues));
      putChecked(others.map(checkedFileValues));
      if (accepted.length > 0 && anyFailure.get()) {
        for (const { target, path, part, id } of accepted) {
          if (path === undefined) dropGiven.run(target, id);
          else dropFailure.run(target, path, part);
        }
      }
      putFailures(failures.map(failureValues));
    }, synchronous);
  };
}

import type { Database, SqlValue, Synchronous } from "../../database.ts";
import { createInsert } from "./insert.ts";
import {
  acceptedColumns,
  acceptedValues,
  failureColumns,
  failureValues,
  fileColumns,
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

const updatedColumns = acceptedColumns.filter((each) => each !== "target" && each !== "id");

// What was adopted once stays adopted: a later upload does not make it this project's own.
const keptOrigin = "CASE accepted.origin WHEN 'adopted' THEN 'adopted' ELSE excluded.origin END";
// Never REPLACE: it would not fire the triggers for the old row.
const upsertAccepted = `ON CONFLICT (target, id) DO UPDATE
  SET ${updatedColumns.map((each) => `${each} = ${each === "origin" ? keptOrigin : `excluded.${each}`}`).join(", ")}`;

// Stores the target of a file only if `accepted` has the document under that target.
const checkedTarget =
  "(SELECT target FROM accepted WHERE target = ? AND id = ? AND whole = ? AND path = ?)";
const targetAt = fileColumns.indexOf("target");
const checkedRow = `(${fileColumns.map((each) => (each === "target" ? checkedTarget : "?")).join(",")})`;

function checkedFileValues(each: FileRecord): SqlValue[] {
  const { document, path } = each;
  return fileValues(each).toSpliced(
    targetAt + 1,
    0,
    document?.id ?? null,
    document?.whole ?? null,
    path,
  );
}

/** Separates files whose target is proven by the batch itself from files that need a check. */
function splitProven(
  files: readonly FileRecord[],
  accepted: readonly AcceptedRecord[],
): { proven: FileRecord[]; others: FileRecord[] } {
  // The last record of each id. A batch with two targets is rare; its files are checked.
  const byId = new Map(accepted.map((each) => [each.id, each]));
  const isProven = ({ target, document, path }: FileRecord): boolean => {
    if (target === undefined) return true;
    const found = document && byId.get(document.id);
    if (found?.target !== target || found.path !== path) return false;
    return found.whole === document?.whole;
  };
  const proven: FileRecord[] = [];
  const others: FileRecord[] = [];
  for (const each of files) (isProven(each) ? proven : others).push(each);
  return { proven, others };
}

/** Prepares saving of batches, each in one durable transaction, see State. */
export function createSave(
  database: Database,
): (batch: StateBatch, synchronous?: Synchronous) => void {
  const fileHead = `INSERT OR REPLACE INTO files (${fileColumns.join(", ")})`;
  const putProven = createInsert(database, fileHead, fileColumns.length);
  const putChecked = createInsert(database, fileHead, fileColumns.length + 3, { row: checkedRow });
  const acceptedHead = `INSERT INTO accepted (${acceptedColumns.join(", ")})`;
  const tail = upsertAccepted;
  const putAccepted = createInsert(database, acceptedHead, acceptedColumns.length, { tail });
  const failureHead = `INSERT OR REPLACE INTO failures (${failureColumns.join(", ")})`;
  const putFailures = createInsert(database, failureHead, failureColumns.length);
  const dropFailure = database.prepare(
    "DELETE FROM failures WHERE target = ? AND path = ? AND part = ?",
  );
  const dropStdinFailure = database.prepare(
    "DELETE FROM failures WHERE target = ? AND path = '' AND part = 0 AND id = ?",
  );
  const anyFailure = database.prepare("SELECT 1 AS yes FROM failures LIMIT 1");
  return ({ files = [], accepted = [], failures = [] }, synchronous) => {
    database.transaction(() => {
      // `accepted` first: the check of the files reads it.
      putAccepted(accepted.map(acceptedValues));
      const { proven, others } = splitProven(files, accepted);
      putProven(proven.map(fileValues));
      putChecked(others.map(checkedFileValues));
      if (accepted.length > 0 && anyFailure.get()) {
        for (const { target, path, part, id } of accepted) {
          if (path === undefined) dropStdinFailure.run(target, id);
          else dropFailure.run(target, path, part);
        }
      }
      putFailures(failures.map(failureValues));
    }, synchronous);
  };
}

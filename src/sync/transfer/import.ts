import type { Database, SqlValue, Statement } from "../../database.ts";
import {
  doubtMark,
  acceptedColumns,
  acceptedValues,
  failureColumns,
  failureValues,
  fileColumns,
  fileValues,
  tombstoneMark,
} from "../state/records.ts";
import { createRows } from "../state/tables.ts";
import { optionsJson, optionsKey } from "../state/options.ts";
import type { TransferRecord } from "./transfer.ts";

/** The collected records of one target. */
export interface TargetChanges {
  target: string;
  /** Documents without a record here. */
  added: number;
  /** Documents with an older record here. */
  newer: number;
  /** Documents whose record here stays. */
  kept: number;
  failures: number;
}

// Several files may have a record of one document.
const countChanges = `
  SELECT target, SUM(added) AS added, SUM(newer) AS newer, SUM(kept) AS kept, SUM(failures) AS failures
  FROM (
    SELECT i.target AS target, a.id IS NULL AS added, a.id IS NOT NULL AND
      MAX((i.sent_at, i.whole) > (a.sent_at, a.whole)) AS newer, a.id IS NOT NULL AND
      NOT MAX((i.sent_at, i.whole) > (a.sent_at, a.whole)) AS kept, 0 AS failures
    FROM temp.incoming_accepted i LEFT JOIN main.accepted a ON a.target = i.target AND a.id = i.id
    GROUP BY i.target, i.id
    UNION ALL SELECT target, 0, 0, 0, 1 FROM temp.incoming_failures)
  GROUP BY target ORDER BY target`;

/** What the records in the temporary tables would change, by target, in order. */
function readChanges(database: Database): TargetChanges[] {
  return database
    .prepare(countChanges)
    .all()
    .map((row) => ({
      target: String(row["target"]),
      added: Number(row["added"]),
      newer: Number(row["newer"]),
      kept: Number(row["kept"]),
      failures: Number(row["failures"]),
    }));
}

/** Collects records in temporary tables until all of them are validated. */
export interface Incoming {
  add(each: Exclude<TransferRecord, { type: "end" }>): void;
  /** What the collected records would change, by target, in order; no target for failures of rules. */
  changes(): TargetChanges[];
  /**
   * Merges the collected records into the state. Of two records of one document, the one
   * sent last is kept. Each step is one transaction, so that concurrent runs wait
   * only briefly. After an interruption, import again to complete the merge.
   */
  apply(): Generator<void>;
  /**
   * Takes the collected records into the state in one transaction, and forgets them; `within` calls
   * what it is given, and may do more in the transaction. Each replaces what is here: the shared
   * record has decided. What this machine read itself, and an upload that it has to complete, stay.
   */
  take(within: (merge: () => void) => void): void;
}

interface Table {
  name: string;
  columns: readonly string[];
  keys: readonly string[];
  /** SQL condition: the incoming record, `excluded`, replaces the existing record. */
  replaceCondition: string;
  /** The same for a record that the shared record has decided about; TRUE without it. */
  takeCondition?: string;
}

// Content decides between records of the same time, so that the order of the files does not matter.
const newerCondition = (table: string, time: string, tie: string): string =>
  `(excluded.${time}, excluded.${tie}) > (${table}.${time}, ${table}.${tie})`;

const tables = {
  options: {
    name: "options",
    columns: ["key", "json"],
    keys: ["key"],
    // The key is a hash of the options, so equal keys mean equal options.
    replaceCondition: "FALSE",
    takeCondition: "FALSE",
  },
  accepted: {
    name: "accepted",
    columns: acceptedColumns,
    keys: ["target", "id"],
    replaceCondition: newerCondition("accepted", "sent_at", "whole"),
  },
  failure: {
    name: "failures",
    columns: failureColumns,
    keys: ["target", "path", "part", "id"],
    replaceCondition: newerCondition("failures", "failed_at", "reason"),
  },
  upload: {
    name: "uploads",
    columns: ["target", "inputs", "part", "started_at", "options", "ended", "origin"],
    keys: ["target", "inputs", "part"],
    // A stopped upload of this machine stays, so that it is completed.
    replaceCondition: `uploads.ended = 1 AND ${newerCondition("uploads", "started_at", "inputs")}`,
    takeCondition: "uploads.ended = 1",
  },
  file: {
    name: "files",
    columns: fileColumns,
    keys: ["path", "part"],
    // Keep what this machine has read itself, unless the row was only opened (openParts()).
    replaceCondition:
      "files.content = '' OR (files.seen = '' AND excluded.seen = '' AND excluded.content > files.content)",
    takeCondition: "files.seen = ''",
  },
  image: {
    name: "images",
    columns: ["service", "hash", "file_id", "sent_at"],
    keys: ["service", "hash"],
    replaceCondition: newerCondition("images", "sent_at", "file_id"),
  },
  check: {
    name: "verified",
    columns: ["target", "id", "verified_at", "result"],
    keys: ["target", "id"],
    replaceCondition: `verified.verified_at IS NULL OR ${newerCondition("verified", "verified_at", "result")}`,
  },
} as const satisfies Record<string, Table>;

type Kind = keyof typeof tables;
const kinds = Object.keys(tables) as Kind[];

function valuesOf(each: Exclude<TransferRecord, { type: "end" }>): SqlValue[] {
  // The key of the options replaces their number, which differs in each state.
  switch (each.type) {
    case "options": {
      const json = optionsJson(each.options);
      return [optionsKey(json), json];
    }
    case "accepted": {
      const at = acceptedColumns.indexOf("options");
      return acceptedValues(each.record).with(at, each.options ?? null);
    }
    case "failure": {
      const at = failureColumns.indexOf("options");
      return failureValues(each.record).with(at, each.options ?? null);
    }
    case "upload": {
      const { target, inputs, part, startedAtMs } = each.record;
      const text = JSON.stringify(inputs);
      const origin = each.record.isImported ? "imported" : null;
      return [target, text, part, startedAtMs, each.options ?? null, 1, origin];
    }
    case "file":
      return fileValues(each.record);
    case "image": {
      const { service, hash, fileId, sentAtMs } = each.record;
      return [service, hash, fileId, sentAtMs];
    }
    case "check": {
      const { target, id, atMs, result } = each.record;
      return [target, id, atMs, result];
    }
  }
}

const applyBatch = 10_000;

// ORDER BY number keeps the order of the exported files, which matches the order of the tables.
function upsertOf({ name, columns, keys }: Table, condition: string): string {
  const list = columns.join(", ");
  const values = columns.map((each) =>
    each === "options" ? "(SELECT o.number FROM main.options o WHERE o.key = options)" : each,
  );
  const sets = columns.filter((each) => !keys.includes(each));
  return `INSERT INTO main.${name} (${list})
    SELECT ${values.join(", ")} FROM temp.incoming_${name} WHERE number >= ? AND number < ? ORDER BY number
    ON CONFLICT (${keys.join(", ")}) DO UPDATE
    SET ${sets.map((each) => `${each} = excluded.${each}`).join(", ")} WHERE ${condition}`;
}

// A service that stores one document per id for all pairs has the version sent last. rtrim() leaves
// the service of a target; SQLite takes the other columns from the row of max().
const collectNewest = `
  DROP TABLE IF EXISTS temp.newest;
  CREATE TEMP TABLE newest (
    service TEXT, id TEXT, sent_at INTEGER, whole TEXT, PRIMARY KEY (service, id)
  ) WITHOUT ROWID;
  INSERT INTO temp.newest SELECT rtrim(target, '0123456789') AS service, id, max(sent_at), whole
    FROM main.accepted GROUP BY service, id HAVING count(*) > 1;`;

// Marks records as in doubt when another pair of the service has a newer version of the document.
const doubtOvertaken = `UPDATE main.accepted SET whole = '${doubtMark}' || whole
  WHERE whole <> '${tombstoneMark}' AND substr(whole, 1, 1) <> '${doubtMark}' AND EXISTS (
    SELECT 1 FROM temp.newest b
      WHERE b.service = rtrim(accepted.target, '0123456789') AND b.id = main.accepted.id
        AND b.sent_at > main.accepted.sent_at AND b.whole <> main.accepted.whole)`;

// Deletes failures of documents that were accepted later.
const deleteSettledFailures = `DELETE FROM main.failures WHERE EXISTS (
  SELECT 1 FROM main.accepted a WHERE a.target = failures.target AND a.id = failures.id
    AND a.sent_at >= failures.failed_at)`;

function createTables(database: Database): void {
  for (const { name, columns } of Object.values(tables)) {
    database.exec(`
      DROP TABLE IF EXISTS temp.incoming_${name};
      CREATE TEMP TABLE incoming_${name} (number INTEGER PRIMARY KEY, ${columns.join(", ")});`);
  }
}

function* applySteps(database: Database, counts: ReadonlyMap<Kind, number>): Generator<void> {
  for (const kind of kinds) {
    const upsert = database.prepare(upsertOf(tables[kind], tables[kind].replaceCondition));
    for (let from = 1; from <= (counts.get(kind) ?? 0); from += applyBatch) {
      upsert.run(from, from + applyBatch);
      yield;
    }
  }
  database.exec(deleteSettledFailures);
  database.exec(collectNewest);
  database.exec(doubtOvertaken);
}

/** Creates the empty tables in the connection's temporary database, which is on disk. */
export function createIncoming(database: Database): Incoming {
  createTables(database);
  const counts = new Map<Kind, number>();
  const incoming = new Map(
    kinds.map((kind) => {
      const { name, columns } = tables[kind];
      const head = `INSERT INTO temp.incoming_${name}`;
      return [kind, createRows(database, head, columns.length + 1)] as const;
    }),
  );
  const flush = (): void => {
    for (const rows of incoming.values()) rows.flush();
  };
  let takes: Map<Kind, Statement> | undefined;

  return {
    add(each) {
      incoming.get(each.type)?.add(null, ...valuesOf(each));
      counts.set(each.type, (counts.get(each.type) ?? 0) + 1);
    },
    changes() {
      flush();
      return readChanges(database);
    },
    take(within) {
      flush();
      takes ??= new Map(
        kinds.map((kind) => {
          const table: Table = tables[kind];
          return [kind, database.prepare(upsertOf(table, table.takeCondition ?? "TRUE"))];
        }),
      );
      const merge = (): void => {
        for (const kind of kinds.filter((each) => counts.has(each))) {
          takes?.get(kind)?.run(0, Number.MAX_SAFE_INTEGER);
          database.exec(`DELETE FROM temp.incoming_${tables[kind].name}`);
        }
      };
      database.transaction(() => within(merge));
      counts.clear();
    },
    *apply() {
      flush();
      const steps = applySteps(database, counts);
      while (!database.transaction(() => steps.next()).done) yield;
    },
  };
}

import type { Database, Row, Statement } from "../database.ts";

export type PlanAction = "new" | "changed" | "unchanged" | "skipped" | "failed";

export interface PlanEntry {
  path: string;
  absolutePath: string;
  sizeBytes: number;
  /** Of the file when it was found, as in SourceFile. */
  stamp: string;
  /** Document id; undefined for what gives no document. */
  id: string | undefined;
  action: PlanAction;
  /** The changed fields, or why it is skipped or failed. */
  detail: string;
}

export interface NumberedEntry extends PlanEntry {
  /** Position in the order of the run, from 1. */
  number: number;
}

interface PathAndId {
  path: string;
  id: string;
}

/** The plan as a temporary table on disk: memory stays flat however many files there are. */
export interface PlanTable {
  add(entry: PlanEntry): void;
  addSkip(path: string, reason: string): void;
  addFailure(path: string, reason: string): void;
  /** `message` names the file. */
  warn(message: string): void;
  flush(): void;
  /** Pairs of files whose documents would be stored as one, in order of the second file. */
  collisions(limit: number): { first: PathAndId; second: PathAndId }[];
  count(action: PlanAction): number;
  /** Files skipped or failed for each reason, most first. */
  reasons(action: "skipped" | "failed"): { reason: string; count: number }[];
  /** Entries in order; all, or only those of some actions. */
  entries(actions?: readonly PlanAction[]): IterableIterator<NumberedEntry>;
  /** The first warnings, and how many there were in all. */
  warnings(): { shown: readonly string[]; count: number };
  has(id: string): boolean;
}

const batchSize = 512;
const pageSize = 256;
// A warning per file of a large folder would be noise, and memory.
const warningsKept = 50;

function toEntry(row: Row): NumberedEntry {
  return {
    number: Number(row["number"]),
    path: String(row["path"]),
    absolutePath: String(row["absolute_path"]),
    sizeBytes: Number(row["size"]),
    stamp: String(row["stamp"]),
    id: row["id"] === null ? undefined : String(row["id"]),
    action: String(row["action"]) as PlanAction,
    detail: String(row["detail"]),
  };
}

/**
 * Makes the (empty) table in the connection's temporary database. `storedId`
 * gives the id under which the service stores a document: equal ones collide.
 */
export function createPlanTable(
  database: Database,
  storedId: (id: string) => string = (id) => id,
): PlanTable {
  database.exec(`
    DROP TABLE IF EXISTS temp.plan;
    CREATE TEMP TABLE plan (
      number INTEGER PRIMARY KEY, id TEXT, stored TEXT, path TEXT NOT NULL, absolute_path TEXT NOT NULL,
      size INTEGER NOT NULL, stamp TEXT NOT NULL, action TEXT NOT NULL, detail TEXT NOT NULL
    );
    CREATE INDEX temp.plan_stored ON plan (stored) WHERE stored IS NOT NULL;
  `);
  const insert = database.prepare(
    "INSERT INTO temp.plan (id, stored, path, absolute_path, size, stamp, action, detail) VALUES (?,?,?,?,?,?,?,?)",
  );
  const selectPage = (actions: readonly PlanAction[] | undefined): Statement =>
    database.prepare(
      `SELECT * FROM temp.plan WHERE number > ?
       ${actions ? `AND action IN (${actions.map((each) => `'${each}'`).join(", ")})` : ""}
       ORDER BY number LIMIT ${pageSize}`,
    );
  const counts = new Map<PlanAction, number>();
  const warnings: string[] = [];
  let warningCount = 0;
  let batch: PlanEntry[] = [];

  const flush = (): void => {
    const entries = batch;
    batch = [];
    if (entries.length === 0) return;
    database.exec("BEGIN");
    for (const each of entries) {
      const { path, absolutePath, sizeBytes, stamp, action, detail } = each;
      const [id, stored] = each.id === undefined ? [null, null] : [each.id, storedId(each.id)];
      insert.run(id, stored, path, absolutePath, sizeBytes, stamp, action, detail);
    }
    database.exec("COMMIT");
  };
  const add = (entry: PlanEntry): void => {
    counts.set(entry.action, (counts.get(entry.action) ?? 0) + 1);
    batch.push(entry);
    if (batch.length >= batchSize) flush();
  };
  const bare = { absolutePath: "", sizeBytes: 0, stamp: "", id: undefined };

  return {
    add,
    addSkip: (path, reason) => add({ ...bare, path, action: "skipped", detail: reason }),
    addFailure: (path, reason) => add({ ...bare, path, action: "failed", detail: reason }),
    warn(message) {
      warningCount++;
      if (warnings.length < warningsKept) warnings.push(message);
    },
    flush,
    collisions(limit) {
      const rows = database
        .prepare(
          `SELECT a.id AS id, a.path AS path, b.id AS id2, b.path AS path2 FROM temp.plan b
           JOIN temp.plan a ON a.stored = b.stored AND a.number < b.number
           WHERE b.stored IS NOT NULL ORDER BY b.number LIMIT ?`,
        )
        .all(limit);
      return rows.map((row) => ({
        first: { path: String(row["path"]), id: String(row["id"]) },
        second: { path: String(row["path2"]), id: String(row["id2"]) },
      }));
    },
    count: (action) => counts.get(action) ?? 0,
    reasons: (action) =>
      database
        .prepare(
          "SELECT detail, count(*) AS n FROM temp.plan WHERE action = ? GROUP BY detail ORDER BY n DESC, detail LIMIT 20",
        )
        .all(action)
        .map((row) => ({ reason: String(row["detail"]), count: Number(row["n"]) })),
    *entries(actions) {
      if (actions?.every((action) => !counts.has(action))) return;
      const page = selectPage(actions);
      // In pages: the same connection writes the state while the plan is walked.
      for (let last = 0; ;) {
        const rows = page.all(last);
        if (rows.length === 0) return;
        for (const row of rows) {
          const entry = toEntry(row);
          last = entry.number;
          yield entry;
        }
      }
    },
    warnings: () => ({ shown: warnings, count: warningCount }),
    has: (id) =>
      database.prepare("SELECT 1 AS yes FROM temp.plan WHERE stored = ?").get(storedId(id)) !==
      undefined,
  };
}

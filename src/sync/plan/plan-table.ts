import type { Database, Row, SqlValue, Statement } from "../../database.ts";
import { createInsert } from "../state/insert.ts";
import { createNoticeCounts, type NoticeCounts } from "./notice-counts.ts";
import { pagesOf } from "../state/pages.ts";

/** `other`: of another shard, `untaken`: not changed since a commit; both planned for the sake of their ids. */
export type PlanAction =
  | "new"
  | "changed"
  | "unchanged"
  | "skipped"
  | "failed"
  | "other"
  | "unselected";

export interface PlanEntry {
  path: string;
  /** 0, or the number of the row in a file of rows. */
  part: number;
  /** Document id; undefined for what gives no document. */
  id: string | undefined;
  action: PlanAction;
  /** The changed fields, or why it is skipped or failed. */
  detail: string;
  /** Hash of the file's bytes, where it was read. */
  content: string | undefined;
}

export type ReasonKind =
  | "changed"
  /** Other options give the document another id. */
  | "new id"
  /** The file itself gives it another id. */
  | "own id";

export interface Reason {
  kind: ReasonKind;
  difference: string;
  count: number;
}

/** The plan as temporary tables on disk: memory stays flat however many files there are. */
export interface PlanTable {
  add(entry: PlanEntry): void;
  /** A document on its way: of it only the id matters any more. */
  addPending(path: string, part: number, id: string, action: "new" | "changed"): void;
  /** With the hash of the content where it is the content that says so. */
  addSkip(path: string, reason: string, part?: number, content?: string): void;
  addFailure(path: string, reason: string, part?: number): void;
  /** Makes the entries findable by id and path; after the last of them. */
  index(): void;
  /** Counts what needs no entry. */
  countUp(action: PlanAction, count: number): void;
  /** A recorded file that is no longer there. */
  addGone(path: string, content: string): void;
  /** A recorded file that a pattern leaves out. */
  addExcluded(path: string): void;
  /** A file that counted as gone or excluded, and was found after all. */
  takeBack(path: string): void;
  /** Recorded files that no input found, with whether a pattern left them out. */
  unfound(): IterableIterator<{ path: string; isExcluded: boolean }>;
  /** A gone file of this content, for a new file that is the same under another path. */
  renamedFrom(content: string): string | undefined;
  /** Counts a document that other options changed, or gave another id. */
  addReason(kind: ReasonKind, difference: string): void;
  /** How many documents were changed by which options, most frequent first. */
  reasons(): readonly Reason[];
  /** `path` is that of the file; "" for none. `message` names the file too. */
  warn(path: string, message: string): void;
  count(action: PlanAction): number;
  /** Entries in order; all, or only those of some actions. */
  entries(actions?: readonly PlanAction[]): IterableIterator<PlanEntry>;
  /** Whether a file was found, but nobody read it. */
  isLeftOut(path: string): boolean;
  /** Ids of the documents that a file gives. */
  idsOf(path: string): string[];
  /** The first warnings, and how many there were in all. */
  warnings(): { shown: readonly FileWarning[]; count: number };
  /** Facts about the documents that were read, counted. */
  readonly notices: NoticeCounts;
  readonly database: Database;
}

const batchSize = 512;

/** A warning often begins with the path of its file. */
export interface FileWarning {
  path: string;
  message: string;
}

// A warning per file of a large folder would be noise, and memory.
const warningsKept = 50;

const tables = `
  DROP TABLE IF EXISTS temp.plan;
  DROP TABLE IF EXISTS temp.gone;
  CREATE TEMP TABLE plan (
    number INTEGER PRIMARY KEY, path TEXT NOT NULL, part INTEGER NOT NULL,
    id TEXT, action TEXT NOT NULL, detail TEXT NOT NULL DEFAULT '', content TEXT
  );
  DROP TABLE IF EXISTS temp.excluded;
  CREATE TEMP TABLE excluded (path TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TEMP TABLE gone (path TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX temp.gone_content ON gone (content);
`;

function toEntry(row: Row): PlanEntry {
  const text = (name: string): string | undefined =>
    row[name] === null ? undefined : String(row[name]);
  return {
    path: String(row["path"]),
    part: Number(row["part"]),
    id: text("id"),
    action: String(row["action"]) as PlanAction,
    detail: String(row["detail"]),
    content: text("content"),
  };
}

function toValues(each: PlanEntry): SqlValue[] {
  const { path, part, id, action, detail, content } = each;
  return [null, path, part, id ?? null, action, detail, content ?? null];
}

/** Makes the (empty) tables in the connection's temporary database. */
export function createPlanTable(database: Database): PlanTable {
  database.exec(tables);
  const insert = createInsert(database, "INSERT INTO temp.plan", 7);
  const insertDue = createInsert(database, "INSERT INTO temp.plan (path, part, id, action)", 4);
  const insertGone = createInsert(database, "INSERT OR IGNORE INTO temp.gone", 2);
  const selectGone = database.prepare("SELECT path FROM temp.gone WHERE content = ? LIMIT 1");
  const leftOut = database.prepare(
    "SELECT 1 AS yes FROM temp.plan WHERE path = ? AND action = 'skipped' AND content IS NULL LIMIT 1",
  );
  const idsOfPath = database.prepare("SELECT id FROM temp.plan WHERE path = ? AND id IS NOT NULL");
  const dropUnfound = ["gone", "excluded"].map((each) =>
    database.prepare(`DELETE FROM temp.${each} WHERE path = ?`),
  );
  let insertExcluded: Statement | undefined;
  const counts = new Map<PlanAction, number>();
  const reasons = new Map<string, Reason>();
  const warnings: FileWarning[] = [];
  let warningCount = 0;
  let goneCount = 0;
  let excludedCount = 0;
  let batch: SqlValue[][] = [];
  let pending: SqlValue[][] = [];
  let gone: SqlValue[][] = [];

  const flush = (): void => {
    const [entries, onTheirWay, missing] = [batch, pending, gone];
    [batch, pending, gone] = [[], [], []];
    if (entries.length + onTheirWay.length + missing.length === 0) return;
    // Not a transaction of the state: its lock is for those who write it.
    database.exec("BEGIN");
    insert(entries);
    insertDue(onTheirWay);
    insertGone(missing);
    database.exec("COMMIT");
  };
  const countUp = (action: PlanAction, count: number): void => {
    counts.set(action, (counts.get(action) ?? 0) + count);
  };
  const add = (entry: PlanEntry): void => {
    countUp(entry.action, 1);
    batch.push(toValues(entry));
    if (batch.length >= batchSize) flush();
  };
  const bare = { id: undefined, content: undefined };

  return {
    database,
    notices: createNoticeCounts(),
    add,
    addPending(path, part, id, action) {
      countUp(action, 1);
      pending.push([path, part, id, action]);
      if (pending.length >= batchSize) flush();
    },
    addSkip: (path, reason, part = 0, content?: string) =>
      add({ ...bare, path, part, action: "skipped", detail: reason, content }),
    addFailure: (path, reason, part = 0) =>
      add({ ...bare, path, part, action: "failed", detail: reason }),
    countUp,
    addGone(path, content) {
      goneCount++;
      gone.push([path, content]);
      if (gone.length >= batchSize) flush();
    },
    addExcluded(path) {
      if (excludedCount++ === 0)
        insertExcluded = database.prepare("INSERT OR IGNORE INTO temp.excluded VALUES (?)");
      insertExcluded?.run(path);
    },
    takeBack(path) {
      if (goneCount + excludedCount === 0) return;
      flush();
      for (const drop of dropUnfound) drop.run(path);
    },
    *unfound() {
      flush();
      if (goneCount + excludedCount === 0) return;
      const rows = database.prepare(
        "SELECT path, 0 AS excluded FROM temp.gone UNION ALL SELECT path, 1 FROM temp.excluded",
      );
      for (const row of rows.iterate()) {
        yield { path: String(row["path"]), isExcluded: row["excluded"] === 1 };
      }
    },
    renamedFrom(content) {
      if (goneCount === 0) return undefined;
      const row = selectGone.get(content);
      return row && String(row["path"]);
    },
    addReason(kind, difference) {
      const key = `${kind} ${difference}`;
      const reason = reasons.get(key);
      if (reason) reason.count++;
      else reasons.set(key, { kind, difference, count: 1 });
    },
    reasons: () => [...reasons.values()].toSorted((a, b) => b.count - a.count),
    warn(path, message) {
      warningCount++;
      if (warnings.length < warningsKept) warnings.push({ path, message });
    },
    index() {
      flush();
      // At once: keeping them up to date entry by entry would cost several times as much.
      database.exec(`
        CREATE INDEX temp.plan_id ON plan (replace(id, ' ', '_')) WHERE id IS NOT NULL;
        CREATE INDEX temp.plan_path ON plan (path);
      `);
    },
    count: (action) => counts.get(action) ?? 0,
    *entries(actions) {
      if (actions?.every((action) => !counts.has(action))) return;
      const names = actions?.map((each) => `'${each}'`).join(", ");
      const where = names === undefined ? undefined : `action IN (${names})`;
      for (const row of pagesOf(database, "temp.plan", ["number"], where)) yield toEntry(row);
    },
    isLeftOut: (path) => leftOut.get(path) !== undefined,
    idsOf: (path) => idsOfPath.all(path).map((row) => String(row["id"])),
    warnings: () => ({ shown: warnings, count: warningCount }),
  };
}

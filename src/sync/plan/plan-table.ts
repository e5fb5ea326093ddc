import type { Database, Row } from "../../database.ts";
import { createNoticeCounts, type NoticeCounts } from "./notice-counts.ts";
import { createRows, pagesOf } from "../state/tables.ts";

/** `other`: in another shard; `unselected`: unchanged since a commit. Both are planned for their ids only. */
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
  /** Document id; undefined when there is no document. */
  id: string | undefined;
  action: PlanAction;
  /** The changed fields, or the reason for `skipped` and `failed`. */
  detail: string;
  /** Hash of the file's bytes; undefined when the file was not read. */
  content: string | undefined;
  /** The pair that a rule or a row names for the document. */
  ownPair?: number | undefined;
  /** Where a file to send is; undefined if that is simply `path` below the project root. */
  absolutePath?: string | undefined;
}

/** A document to send, as the plan keeps it. */
export interface PlannedDocument {
  /** Increases from document to document. */
  number: number;
  path: string;
  part: number;
  id: string;
  absolutePath: string | undefined;
}

export type ReasonKind =
  | "changed"
  /** Other options give the document another id. */
  | "new id"
  /** The file itself names another id. */
  | "own id";

export interface Reason {
  kind: ReasonKind;
  difference: string;
  count: number;
}

/** The plan as temporary tables on disk, in constant memory. */
export interface PlanTable {
  add(entry: PlanEntry): void;
  /** `content` is the content hash, when the content is the reason for the skip. */
  addSkip(path: string, reason: string, part?: number, content?: string): void;
  addFailure(path: string, reason: string, part?: number): void;
  /** Turns a document of a dry plan into a failure. Call it after index(). */
  fail(entry: PlanEntry, reason: string): void;
  /** Creates the indexes on id and path. Call it after the last entry. */
  index(): void;
  /** Counts documents that need no entry. */
  countUp(action: PlanAction, count: number): void;
  /** A recorded file that no longer exists. */
  addGone(path: string, content: string): void;
  /** A recorded file that a pattern excludes. */
  addExcluded(path: string): void;
  /** Removes a file from the gone and excluded files: it was found after all. */
  markFound(path: string): void;
  /** Recorded files that no input found, but of no unreadable folder; whether a pattern excludes them. */
  unfound(): IterableIterator<{ path: string; isExcluded: boolean }>;
  /** A gone file with this content: the old path of a new file. */
  renamedFrom(content: string): string | undefined;
  /** Counts a document with changed content or another id because of its options. */
  addReason(kind: ReasonKind, difference: string): void;
  /** Number of documents for each difference in options, most frequent first. */
  reasons(): readonly Reason[];
  /** `path` is the path of the file, or "". `message` names the file too. */
  warn(path: string, message: string): void;
  count(action: PlanAction): number;
  /** Entries in order; all, or only the entries with these actions. */
  entries(actions?: readonly PlanAction[]): IterableIterator<PlanEntry>;
  /** The documents to send, in order; all, or those with these numbers. */
  planned(numbers?: readonly number[]): Iterable<PlannedDocument>;
  /** Whether a file was found but skipped without reading it. */
  isLeftOut(path: string): boolean;
  /** Ids of the documents of a file. */
  idsOf(path: string): string[];
  /** The first warnings, and the total number of warnings. */
  warnings(): { shown: readonly FileWarning[]; count: number };
  /** Counted facts about the documents that were read. */
  readonly notices: NoticeCounts;
  readonly database: Database;
}

/** A warning often begins with the path of its file. */
export interface FileWarning {
  path: string;
  message: string;
}

// One warning per file of a large folder would be noise and cost memory.
const warningsKept = 50;

const tables = `
  DROP TABLE IF EXISTS temp.plan;
  DROP TABLE IF EXISTS temp.gone;
  CREATE TEMP TABLE plan (
    number INTEGER PRIMARY KEY, path TEXT NOT NULL, part INTEGER NOT NULL,
    id TEXT, action TEXT NOT NULL, detail TEXT NOT NULL DEFAULT '', content TEXT, own_pair INTEGER,
    absolute_path TEXT
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
    ownPair: row["own_pair"] === null ? undefined : Number(row["own_pair"]),
  };
}

function toPlanned(row: Row): PlannedDocument {
  const absolutePath = row["absolute_path"];
  return {
    number: Number(row["number"]),
    path: String(row["path"]),
    part: Number(row["part"]),
    id: String(row["id"]),
    absolutePath: absolutePath === null ? undefined : String(absolutePath),
  };
}

/** Whether a folder above a path could not be read, so that its contents are unknown. */
export function createIsHidden(database: Database): (path: string) => boolean {
  const failed = database.prepare(
    "SELECT 1 AS yes FROM temp.plan WHERE path = ? AND action = 'failed' LIMIT 1",
  );
  return (path) => {
    if (failed.get(".")) return true;
    for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) {
      if (failed.get(path.slice(0, end))) return true;
    }
    return false;
  };
}

/** Creates the empty tables in the connection's temporary database. */
export function createPlanTable(database: Database): PlanTable {
  database.exec(tables);
  const planned = createRows(database, "INSERT INTO temp.plan", 9);
  const gone = createRows(database, "INSERT OR IGNORE INTO temp.gone", 2);
  const excluded = createRows(database, "INSERT OR IGNORE INTO temp.excluded", 1);
  const selectGone = database.prepare("SELECT path FROM temp.gone WHERE content = ? LIMIT 1");
  const leftOut = database.prepare(
    "SELECT 1 AS yes FROM temp.plan WHERE path = ? AND action = 'skipped' AND content IS NULL LIMIT 1",
  );
  const setFailed = database.prepare(
    "UPDATE temp.plan SET action = 'failed', detail = ? WHERE path = ? AND part = ? AND action = ?",
  );
  const idsOfPath = database.prepare("SELECT id FROM temp.plan WHERE path = ? AND id IS NOT NULL");
  const dropUnfound = ["gone", "excluded"].map((each) =>
    database.prepare(`DELETE FROM temp.${each} WHERE path = ?`),
  );
  const counts = new Map<PlanAction, number>();
  const reasons = new Map<string, Reason>();
  const warnings: FileWarning[] = [];
  let warningCount = 0;
  let goneCount = 0;
  let excludedCount = 0;

  const flush = (): void => {
    for (const rows of [planned, gone, excluded]) rows.flush();
  };
  const countUp = (action: PlanAction, count: number): void => {
    counts.set(action, (counts.get(action) ?? 0) + count);
  };
  const add = (entry: PlanEntry): void => {
    countUp(entry.action, 1);
    const { path, part, id = null, action, detail, content = null } = entry;
    const { ownPair = null, absolutePath = null } = entry;
    planned.add(null, path, part, id, action, detail, content, ownPair, absolutePath);
  };
  const bare = { id: undefined, content: undefined };

  return {
    database,
    notices: createNoticeCounts(),
    add,
    addSkip: (path, reason, part = 0, content?: string) =>
      add({ ...bare, path, part, action: "skipped", detail: reason, content }),
    addFailure: (path, reason, part = 0) =>
      add({ ...bare, path, part, action: "failed", detail: reason }),
    fail({ path, part, action }, reason) {
      countUp(action, -1);
      countUp("failed", 1);
      setFailed.run(reason, path, part, action);
    },
    countUp,
    addGone(path, content) {
      goneCount++;
      gone.add(path, content);
    },
    addExcluded(path) {
      excludedCount++;
      excluded.add(path);
    },
    markFound(path) {
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
      const isHidden = createIsHidden(database);
      for (const row of rows.iterate()) {
        const path = String(row["path"]);
        if (!isHidden(path)) yield { path, isExcluded: row["excluded"] === 1 };
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
      // Created after the inserts: updating them for each entry costs several times as much.
      database.exec(`
        CREATE INDEX temp.plan_id ON plan (replace(id, ' ', '_')) WHERE id IS NOT NULL;
        CREATE INDEX temp.plan_path ON plan (path, action);
      `);
    },
    count: (action) => counts.get(action) ?? 0,
    *entries(actions) {
      if (actions?.every((action) => !counts.has(action))) return;
      const names = actions?.map((each) => `'${each}'`).join(", ");
      const where = names === undefined ? undefined : `action IN (${names})`;
      for (const row of pagesOf(database, "temp.plan", ["number"], where)) yield toEntry(row);
    },
    *planned(numbers) {
      const isPlanned = "action IN ('new', 'changed')";
      if (numbers === undefined) {
        const columns = "number, path, part, id, absolute_path";
        for (const row of pagesOf(database, "temp.plan", ["number"], isPlanned, [], columns)) {
          yield toPlanned(row);
        }
        return;
      }
      const one = database.prepare("SELECT * FROM temp.plan WHERE number = ?");
      for (const number of numbers) {
        const row = one.get(number);
        if (row) yield toPlanned(row);
      }
    },
    isLeftOut: (path) => leftOut.get(path) !== undefined,
    idsOf: (path) => idsOfPath.all(path).map((row) => String(row["id"])),
    warnings: () => ({ shown: warnings, count: warningCount }),
  };
}

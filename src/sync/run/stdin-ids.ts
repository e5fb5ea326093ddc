import { hash } from "node:crypto";
import type { Database } from "../../database.ts";
import { createInsert } from "../state/insert.ts";

/** An id and its line. */
export interface LineId {
  id: string;
  line: number;
}

const table = `
  DROP TABLE IF EXISTS temp.seen;
  CREATE TEMP TABLE seen (id TEXT PRIMARY KEY, line INTEGER NOT NULL) WITHOUT ROWID;
`;

// Longer ids are stored as a hash; the first character separates the two kinds.
const longestKey = 256;

function keyOf(id: string): string {
  return id.length <= longestKey ? `=${id}` : `#${hash("sha256", id, "hex")}`;
}

/**
 * Remembers ids in a temporary table on disk, in constant memory. The returned function
 * expects the next ids in order, at most 64. It returns for each id the first line with
 * this id, or undefined if the id is new.
 */
export function createStdinIds(
  database: Database,
): (next: readonly LineId[]) => (number | undefined)[] {
  database.exec(table);
  const insert = createInsert(database, "INSERT INTO temp.seen", 2);
  const marks = (count: number): string => Array.from({ length: count }, () => "?").join(",");
  const select = (count: number) =>
    database.prepare(`SELECT id, line FROM temp.seen WHERE id IN (${marks(count)})`);
  const statements = new Map<number, ReturnType<typeof select>>();
  return (next) => {
    if (next.length === 0) return [];
    const keys = next.map(({ id }) => keyOf(id));
    const statement = statements.get(keys.length) ?? select(keys.length);
    statements.set(keys.length, statement);
    const lines = new Map(
      statement.all(...keys).map((row) => [String(row["id"]), Number(row["line"])]),
    );
    const fresh: [string, number][] = [];
    const before = next.map(({ line }, index) => {
      const key = keys[index] ?? "";
      const known = lines.get(key);
      if (known !== undefined) return known;
      lines.set(key, line);
      fresh.push([key, line]);
      return undefined;
    });
    // A plain BEGIN: transaction() would take the write lock of the state.
    database.exec("BEGIN");
    insert(fresh);
    database.exec("COMMIT");
    return before;
  };
}

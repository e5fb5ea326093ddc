import { hash } from "node:crypto";
import type { Database } from "../../database.ts";
import { createInsert } from "../state/insert.ts";

/** An id and the line it stands on. */
export interface LineId {
  id: string;
  line: number;
}

const table = `
  DROP TABLE IF EXISTS temp.seen;
  CREATE TEMP TABLE seen (id TEXT PRIMARY KEY, line INTEGER NOT NULL) WITHOUT ROWID;
`;

// Long ones by their hash; the first character keeps the two kinds apart.
const longestKey = 256;

function keyOf(id: string): string {
  return id.length <= longestKey ? `=${id}` : `#${hash("sha256", id, "hex")}`;
}

/**
 * Remembers ids in a temporary table on disk: memory stays flat however many
 * there are. The function takes the next ids in order, at most 64, and tells for
 * each the line on which it was before, if it was.
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
    // Not a transaction of the state: its lock is for those who write it.
    database.exec("BEGIN");
    insert(fresh);
    database.exec("COMMIT");
    return before;
  };
}

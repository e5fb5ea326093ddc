import type { Database } from "../../database.ts";

/** The options recorded with the documents and failures of some targets. */
export interface RecordedNumbers {
  /** The numbers of all options. */
  numbers(): number[];
  /** The number of the last options of a file; undefined for a file without a record. */
  of(path: string): number | undefined;
}

/** `keys` are those of the targets. */
export function createRecordedOptions(
  database: Database,
  keys: readonly string[],
): RecordedNumbers {
  const last = database.prepare(
    `SELECT options, at FROM (
       SELECT options, sent_at AS at FROM accepted WHERE target = ?1 AND path = ?2
       UNION ALL SELECT options, failed_at FROM failures WHERE target = ?1 AND path = ?2)
     WHERE options IS NOT NULL ORDER BY at DESC LIMIT 1`,
  );
  return {
    numbers: () =>
      ["accepted", "failures"].flatMap((table) =>
        keys.flatMap((key) =>
          database
            .prepare(`SELECT DISTINCT options FROM ${table} WHERE target = ? AND options NOT NULL`)
            .all(key)
            .map((row) => Number(row["options"])),
        ),
      ),
    of(path) {
      const rows = keys.map((key) => last.get(key, path)).filter((row) => row !== undefined);
      const newest = rows.toSorted((a, b) => Number(b["at"]) - Number(a["at"]))[0];
      return newest && Number(newest["options"]);
    },
  };
}

/** The paths of the files of which documents of some targets are recorded. */
export function recordedPaths(database: Database, keys: readonly string[]): string[] {
  return keys.flatMap((key) =>
    database
      .prepare("SELECT DISTINCT path FROM accepted WHERE target = ? AND path > ''")
      .all(key)
      .map((row) => String(row["path"])),
  );
}

import type { Database } from "../../database.ts";

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
export function readChanges(database: Database): TargetChanges[] {
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

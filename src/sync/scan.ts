import type { PathRange } from "../documents/scope.ts";
import type { Database } from "../database.ts";
import type { Targets } from "./target.ts";

/** What the state knows of one file, as far as deciding to leave it unread takes. */
export interface SeenFile {
  path: string;
  /** As in FileRecord. */
  seen: string;
  content: string;
  /** Documents of it that the service has as recorded. */
  accepted: number;
  /** Documents of it that are left out. */
  skipped: number;
  /** Documents that the service does not have, or not as recorded. */
  missing: number;
}

const pageSize = 1024;

// One row a part of a file: 1 for accepted as recorded, 2 for skipped, else 0.
const page = `
  SELECT f.path AS path, f.part AS part, f.seen AS seen, f.content AS content,
    CASE WHEN f.skipped IS NOT NULL THEN 2 WHEN a.whole = f.whole THEN 1 ELSE 0 END AS flag
  FROM files f LEFT JOIN accepted a
    ON a.target = ? || CASE WHEN ? THEN ? ELSE coalesce(f.cc_pair_id, ?) END AND a.id = f.id
  WHERE (f.path, f.part) > (?, ?) AND f.path >= ? AND f.path <= ?
  ORDER BY f.path, f.part LIMIT ${pageSize}`;

/**
 * The recorded files within the ranges, ordered by path (code points): one
 * ordered pass over the state, in pages, so that memory stays flat and the same
 * connection may write between them.
 */
export function* scanFiles(
  database: Database,
  { baseUrl, pair }: Targets,
  ranges: readonly PathRange[],
): Generator<SeenFile> {
  const statement = database.prepare(page);
  // As text: a driver may bind numbers as REAL, and "#2.0" is no target.
  const own = String(pair.ccPairId ?? "");
  const given = [`${baseUrl}#`, pair.fromFlag ? 1 : 0, own, own];
  for (const { from, to } of ranges) {
    let file: SeenFile | undefined;
    for (let last: [string, number] = ["", -1]; ;) {
      const rows = statement.all(...given, ...last, from, to);
      for (const row of rows) {
        const path = row["path"] as string;
        if (file?.path !== path) {
          if (file) yield file;
          const [seen, content] = [row["seen"] as string, row["content"] as string];
          file = { path, seen, content, accepted: 0, skipped: 0, missing: 0 };
        }
        // Parts that were read at different times: not to be trusted.
        if (row["seen"] !== file.seen) file.seen = "";
        if (row["flag"] === 1) file.accepted++;
        else if (row["flag"] === 2) file.skipped++;
        else file.missing++;
        last = [path, row["part"] as number];
      }
      if (rows.length < pageSize) break;
    }
    if (file) yield file;
  }
}

import type { PathRange } from "../documents/scope.ts";
import type { Database } from "../database.ts";
import type { Targets } from "./target.ts";

/** What the state knows of one file, as far as deciding to leave it unread takes. */
export interface SeenFile {
  path: string;
  /** As in FileRecord. */
  seen: string;
  /** The same; "" unless it was asked for. */
  content: string;
  /** Documents of it that the service has as recorded. */
  accepted: number;
  /** Documents of it that are left out. */
  skipped: number;
  /** Documents that the service does not have, or not as recorded. */
  missing: number;
}

const pageSize = 1024;
// No path below the project root holds an empty step; a stamp or hash holds neither mark.
const rowEnd = "//";

// One text a page: rows, and the values in them, would each cost a crossing from
// SQLite to JavaScript. One row a part of a file: 1 for accepted as recorded, 2
// for skipped, else 0.
const pageOf = (content: string): string => `
  SELECT group_concat(line, '${rowEnd}') AS lines FROM (
    SELECT CASE WHEN f.skipped IS NOT NULL THEN 2 WHEN a.whole = f.whole AND a.path IS f.path THEN 1 ELSE 0 END
      || ${content} || '|' || f.seen || '|' || f.part || '/' || f.path AS line
    FROM files f LEFT JOIN accepted a
      ON a.target = ? || CASE WHEN ? THEN ? ELSE coalesce(f.cc_pair_id, ?) END AND a.id = f.id
    WHERE (f.path, f.part) > (?, ?) AND f.path >= ? AND f.path <= ?
    ORDER BY f.path, f.part LIMIT ${pageSize})`;

/** Pages of lines, ordered by path and part; the last is the first that is not full. */
function* readPages(
  database: Database,
  { baseUrl, pair }: Targets,
  { from, to }: PathRange,
  withContent: boolean,
): Generator<string[]> {
  const statement = database.prepare(pageOf(withContent ? "f.content" : "''"));
  // As text: a driver may bind numbers as REAL, and "#2.0" is no target.
  const own = String(pair.ccPairId ?? "");
  const target = [`${baseUrl}#`, pair.fromFlag ? 1 : 0, own, own];
  for (let [path, part] = ["", -1]; ;) {
    const text = statement.get(...target, path, part, from, to)?.["lines"];
    if (typeof text !== "string") return;
    const lines = text.split(rowEnd);
    yield lines;
    const last = lines.at(-1) ?? "";
    if (lines.length < pageSize) return;
    const pathAt = last.indexOf("/") + 1;
    path = last.slice(pathAt);
    part = Number(last.slice(last.lastIndexOf("|", pathAt) + 1, pathAt - 1));
  }
}

const [acceptedCode, skippedCode] = [0x31, 0x32];

/**
 * The recorded files within the ranges, ordered by path (code points): one
 * ordered pass over the state, in pages, so that memory stays flat and the same
 * connection may write between them.
 */
export function* scanFiles(
  database: Database,
  targets: Targets,
  ranges: readonly PathRange[],
  withContent: boolean,
): Generator<SeenFile> {
  for (const range of ranges) {
    let file: SeenFile | undefined;
    for (const lines of readPages(database, targets, range, withContent)) {
      for (const line of lines) {
        const contentEnd = line.indexOf("|");
        const seenEnd = line.indexOf("|", contentEnd + 1);
        const path = line.slice(line.indexOf("/", seenEnd) + 1);
        const seen = line.slice(contentEnd + 1, seenEnd);
        if (file?.path !== path) {
          if (file) yield file;
          const content = line.slice(1, contentEnd);
          file = { path, seen, content, accepted: 0, skipped: 0, missing: 0 };
        }
        // Parts that were read at different times: not to be trusted.
        if (seen !== file.seen) file.seen = "";
        const flag = line.charCodeAt(0);
        if (flag === acceptedCode) file.accepted++;
        else if (flag === skippedCode) file.skipped++;
        else file.missing++;
      }
    }
    if (file) yield file;
  }
}

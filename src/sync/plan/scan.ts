import type { PathRange } from "../../documents/find/scope.ts";
import type { Database, Statement } from "../../database.ts";
import type { Targets } from "../state/target.ts";

/** The record of one file, reduced to the members that decide whether to read it. */
export interface RecordedFile {
  path: string;
  /** As in FileRecord. */
  seen: string;
  /** As in FileRecord; "" in a scan without content. */
  content: string;
  /** As in FileRecord. */
  parts: string | undefined;
  /** Number of its documents that the service has as recorded. */
  accepted: number;
  /** Number of its parts that were skipped. */
  skipped: number;
  /** Number of its documents that the service lacks or has in another version. */
  missing: number;
}

const pageSize = 1024;
// No path below the project root contains "//"; stamps and hashes contain neither "/" nor "|".
const rowEnd = "//";

// One text per page: each row and each value would cost a call from SQLite to JavaScript.
// One line per part of a file: 1 for accepted as recorded, 2 for skipped, 0 for the rest. A document
// made of other files has a line with 3 and these files before it (partsText() contains no "//").
// The table `accepted` is read only when the file has no target: each lookup costs as much
// as the rest of the query.
const pageOf = (target: string, content: string): string => `
  SELECT count(*) AS rows, group_concat(line, '${rowEnd}') AS lines FROM (
    SELECT coalesce('3' || f.parts || '${rowEnd}', '') || CASE WHEN f.skipped IS NOT NULL THEN 2 WHEN f.target = ${target} THEN 1
      ELSE EXISTS (SELECT 1 FROM accepted a
        WHERE a.target = ${target} AND a.id = f.id AND a.whole = f.whole AND a.path = f.path) END
      || ${content} || '|' || f.seen || '|' || f.part || '/' || f.path AS line
    FROM files f
    WHERE (f.path, f.part) > (?3, ?4) AND f.path >= ?5 AND f.path <= ?6
    ORDER BY f.path, f.part LIMIT ${pageSize})`;

// ?1 is the address with "#", ?2 the pair of the run; "" for none.
const [flagTarget, ownTarget] = ["(?1 || ?2)", "(?1 || coalesce(f.cc_pair_id, ?2))"];

/** Yields pages of lines, ordered by path and part; a page that is not full is the last. */
function* readPages(
  statement: Statement,
  { baseUrl, pair }: Targets,
  { from, to }: PathRange,
): Generator<string[]> {
  // As text: a driver may bind numbers as REAL, and "#2.0" is no target.
  const own = [`${baseUrl}#`, String(pair.ccPairId ?? "")];
  // SQLite seeks by this pair, not by the range. Another start value would scan the table up to it.
  for (let [path, part] = [from, -1]; ;) {
    const { rows, lines: text } = statement.get(...own, path, part, from, to) ?? {};
    if (typeof text !== "string") return;
    const lines = text.split(rowEnd);
    yield lines;
    const last = lines.at(-1) ?? "";
    if (Number(rows) < pageSize) return;
    const pathAt = last.indexOf("/") + 1;
    path = last.slice(pathAt);
    part = Number(last.slice(last.lastIndexOf("|", pathAt) + 1, pathAt - 1));
  }
}

const [acceptedCode, skippedCode, partsCode] = [0x31, 0x32, 0x33];

/**
 * Returns a function that yields the recorded files within ranges, ordered by path (code points).
 * It reads the state once and in pages: memory stays constant, and the same connection may write
 * between two pages.
 */
export function createScan(
  database: Database,
  targets: Targets,
  withContent: boolean,
): (ranges: readonly PathRange[]) => Generator<RecordedFile> {
  const target = targets.pair.fromFlag ? flagTarget : ownTarget;
  const statement = database.prepare(pageOf(target, withContent ? "f.content" : "''"));
  return (ranges) => scanFiles(statement, targets, ranges);
}

function* scanFiles(
  statement: Statement,
  targets: Targets,
  ranges: readonly PathRange[],
): Generator<RecordedFile> {
  for (const range of ranges) {
    let file: RecordedFile | undefined;
    let parts: string | undefined;
    for (const lines of readPages(statement, targets, range)) {
      for (const line of lines) {
        const flag = line.charCodeAt(0);
        if (flag === partsCode) {
          parts = line.slice(1);
          continue;
        }
        const contentEnd = line.indexOf("|");
        const seenEnd = line.indexOf("|", contentEnd + 1);
        const path = line.slice(line.indexOf("/", seenEnd) + 1);
        const seen = line.slice(contentEnd + 1, seenEnd);
        if (file?.path !== path) {
          if (file) yield file;
          const content = line.slice(1, contentEnd);
          file = { path, seen, content, parts, accepted: 0, skipped: 0, missing: 0 };
        }
        parts = undefined;
        // The parts were read at different times, so the stamp cannot be trusted.
        if (seen !== file.seen) file.seen = "";
        if (flag === acceptedCode) file.accepted++;
        else if (flag === skippedCode) file.skipped++;
        else file.missing++;
      }
    }
    if (file) yield file;
  }
}

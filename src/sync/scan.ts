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
// No path below the project root holds an empty step; a stamp or hash holds neither mark.
const rowEnd = "//";

// One text a page: rows, and the values in them, would each cost a crossing from
// SQLite to JavaScript. One row a part of a file: 1 for accepted as recorded, 2
// for skipped, else 0.
const page = `
  SELECT group_concat(line, '${rowEnd}') AS lines FROM (
    SELECT CASE WHEN f.skipped IS NOT NULL THEN 2 WHEN a.whole = f.whole AND a.path IS f.path THEN 1 ELSE 0 END
      || '|' || f.part || '|' || f.content || '|' || f.seen || '/' || f.path AS line
    FROM files f LEFT JOIN accepted a
      ON a.target = ? || CASE WHEN ? THEN ? ELSE coalesce(f.cc_pair_id, ?) END AND a.id = f.id
    WHERE (f.path, f.part) > (?, ?) AND f.path >= ? AND f.path <= ?
    ORDER BY f.path, f.part LIMIT ${pageSize})`;

interface Part {
  path: string;
  part: number;
  seen: string;
  content: string;
  flag: string;
}

function parsePart(line: string): Part {
  const partAt = line.indexOf("|") + 1;
  const contentAt = line.indexOf("|", partAt) + 1;
  const seenAt = line.indexOf("|", contentAt) + 1;
  const pathAt = line.indexOf("/", seenAt) + 1;
  return {
    flag: line.slice(0, partAt - 1),
    part: Number(line.slice(partAt, contentAt - 1)),
    content: line.slice(contentAt, seenAt - 1),
    seen: line.slice(seenAt, pathAt - 1),
    path: line.slice(pathAt),
  };
}

function* readParts(
  database: Database,
  { baseUrl, pair }: Targets,
  { from, to }: PathRange,
): Generator<Part> {
  const statement = database.prepare(page);
  // As text: a driver may bind numbers as REAL, and "#2.0" is no target.
  const own = String(pair.ccPairId ?? "");
  const target = [`${baseUrl}#`, pair.fromFlag ? 1 : 0, own, own];
  for (let last = { path: "", part: -1 }; ;) {
    const lines = statement.get(...target, last.path, last.part, from, to)?.["lines"];
    if (typeof lines !== "string") return;
    const parts = lines.split(rowEnd).map(parsePart);
    yield* parts;
    if (parts.length < pageSize) return;
    last = parts.at(-1) ?? last;
  }
}

/**
 * The recorded files within the ranges, ordered by path (code points): one
 * ordered pass over the state, in pages, so that memory stays flat and the same
 * connection may write between them.
 */
export function* scanFiles(
  database: Database,
  targets: Targets,
  ranges: readonly PathRange[],
): Generator<SeenFile> {
  for (const range of ranges) {
    let file: SeenFile | undefined;
    for (const { path, seen, content, flag } of readParts(database, targets, range)) {
      if (file?.path !== path) {
        if (file) yield file;
        file = { path, seen, content, accepted: 0, skipped: 0, missing: 0 };
      }
      // Parts that were read at different times: not to be trusted.
      if (seen !== file.seen) file.seen = "";
      if (flag === "1") file.accepted++;
      else if (flag === "2") file.skipped++;
      else file.missing++;
    }
    if (file) yield file;
  }
}

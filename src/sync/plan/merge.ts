import type { CollisionCheck } from "./collisions.ts";
import {
  type Listed,
  type FileFacts,
  type ListedFile,
  comparePaths,
} from "../../documents/files/source-file.ts";
import type { PlanInspector, LookItem } from "../../documents/inspect/inspection.ts";
import type { FormatName } from "../../documents/formats/format.ts";
import type { PathRange } from "../../documents/find/scope.ts";
import type { Shard } from "./decide.ts";
import type { State } from "../state/state.ts";
import type { Targets } from "../state/target.ts";
import type { Database, Statement } from "../../database.ts";
import type { PlanTable } from "./plan-table.ts";
import { stampIn } from "../state/records.ts";
import { pagesOf } from "../state/tables.ts";

/** The options of a run, for comparison with recorded options. */
export interface RunOptions {
  /** Their number in the state; undefined where the state does not contain them. */
  number: number | undefined;
  /** Difference from the options with a number, e.g. `sections headings → whole`; "" for none or unknown. */
  differenceFrom: (number: number) => string;
}

export interface PlanRequest extends CollisionCheck {
  /** Project root. */
  root: string;
  /** Lists the files ordered by path; files that only links lead to are last. */
  list: () => Iterable<Listed>;
  /** Path ranges of the recorded files of the same inputs. */
  ranges: readonly PathRange[];
  /** Whether a recorded file that is not listed counts as deleted. */
  isInScope: (path: string) => boolean;
  /** Whether a pattern excludes a recorded file. */
  isExcluded?: ((path: string) => boolean) | undefined;
  /**
   * With `--since`: whether a file is inspected; other files are left unchanged. `parts` are the
   * recorded ones, see partsText().
   */
  isSelected: ((listed: Listed, parts?: string) => boolean) | undefined;
  state: State;
  targets: Targets;
  options: RunOptions;
  /** Hash of everything except the file's bytes that shapes its payload. */
  mappingKey: (path: string) => string;
  /** Prefix that turns a path into an id; often "". */
  idPrefix: string;
  /** Format of a file, regardless of its extension; undefined where the extension decides. */
  formatFor?: ((path: string) => FormatName | undefined) | undefined;
  /** Facts from git and CODEOWNERS about a file. */
  factsOf?: ((path: string) => FileFacts | undefined) | undefined;
  inspector: PlanInspector;
  /** Compare the content of every file even when its stamp is unchanged. */
  checksum: boolean;
  /** Send unchanged documents too. */
  force: boolean;
  /** Nothing is sent and the state does not change: all files are read, to show what would be sent. */
  isDry: boolean;
  shard: Shard | undefined;
  /** Ends the plan between two batches. */
  signal: AbortSignal;
  /** Milliseconds of a monotonic clock. */
  elapsed: () => number;
  /** Called from time to time with the number of files found. */
  onProgress?: (files: number) => void;
  /** In a dry run: called with the body of each document that would be sent. */
  onPlanned?: ((body: Uint8Array) => void) | undefined;
  /** Called once when many documents are pending, so that the caller can prepare the upload. */
  onManyPending?: (() => void) | undefined;
}

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

/** A file to inspect. */
export interface Candidate {
  item: LookItem;
  seen: RecordedFile | undefined;
  mapping: string;
}

/**
 * Pairs each listed file with its record in the state. Both are ordered by path, except for files
 * that only links lead to: these are last in the list and are looked up one by one.
 */
export function* withRecords(
  request: PlanRequest,
  table: PlanTable,
): Generator<[Listed, RecordedFile | undefined]> {
  const { state, targets, ranges, isInScope } = request;
  const scan = createScan(state.database, targets, request.checksum);
  const records = scan(ranges);
  // The scan does not read contents: few files are gone, and reading every content is slow.
  const content = state.database.prepare(
    "SELECT content FROM files WHERE path = ? ORDER BY part LIMIT 1",
  );
  const addGone = ({ path }: RecordedFile): void => {
    if (isInScope(path)) table.addGone(path, String(content.get(path)?.["content"] ?? ""));
    else if (request.isExcluded?.(path)) table.addExcluded(path);
  };
  const linkedRecord = ({ path }: Listed): RecordedFile | undefined => {
    for (; !record.done; record = records.next()) addGone(record.value);
    table.markFound(path);
    return scan([{ from: path, to: path }]).next().value ?? undefined;
  };
  let record = records.next();
  for (const listed of request.list()) {
    if (listed.kind === "file" && listed.links) {
      yield [listed, linkedRecord(listed)];
      continue;
    }
    if (listed.kind === "file") {
      while (!record.done && comparePaths(record.value.path, listed.path) < 0) {
        addGone(record.value);
        record = records.next();
      }
    }
    const isKnown = !record.done && record.value.path === listed.path;
    yield [listed, isKnown ? record.value : undefined];
    if (isKnown) record = records.next();
  }
  for (; !record.done; record = records.next()) addGone(record.value);
}

/** Creates the Candidate of a listed file. */
export function lookItem(
  listed: ListedFile,
  seen: RecordedFile | undefined,
  request: PlanRequest,
): Candidate {
  const { path, absolutePath } = listed;
  const mapping = request.mappingKey(path);
  // A file with documents that the service lacks is always read.
  const isSettled = seen !== undefined && seen.missing === 0 && !request.force;
  const stamp = isSettled ? stampIn(seen.seen, mapping) : undefined;
  const item: LookItem = {
    path,
    absolutePath,
    stamp,
    content: stamp !== undefined && request.checksum ? seen?.content : undefined,
    parts: stamp === undefined ? undefined : seen?.parts,
    facts: request.factsOf?.(path),
  };
  return { item, seen: stamp === undefined ? undefined : seen, mapping };
}

/** Distinct paths of the recorded files in order; without files, paths of accepted documents. */
function* recordedPaths(database: Database): Generator<string> {
  // Seek from one path to the next: a file of rows may have a million records.
  const next = database.prepare("SELECT min(path) AS path FROM files WHERE path > ?");
  let last = "";
  for (;;) {
    const path = next.get(last)?.["path"];
    if (typeof path !== "string") break;
    yield (last = path);
  }
  if (last !== "") return;
  for (const { path } of pagesOf(database, "accepted", ["target", "path", "id"], "path > ''")) {
    yield String(path);
  }
}

/**
 * Returns the first recorded path when no recorded path exists. Returns undefined when one
 * exists or none is recorded. In most states the first path already decides.
 */
export function findLostPath(
  database: Database,
  exists: (path: string) => boolean,
): string | undefined {
  let first: string | undefined;
  for (const path of recordedPaths(database)) {
    if (exists(path)) return undefined;
    first ??= path;
  }
  return first;
}

import { type Listed, type ListedFile, comparePaths } from "../../documents/files/source-file.ts";
import type { PlanRequest } from "./plan-request.ts";
import type { LookItem } from "../../documents/inspect/inspection.ts";
import type { PlanTable } from "./plan-table.ts";
import { stampIn } from "../state/records.ts";
import { createScan, type RecordedFile } from "./scan.ts";

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

import type { Listed, ListedFile } from "../../documents/find/source-file.ts";
import type { PlanRequest } from "./plan-request.ts";
import type { LookItem } from "../../documents/inspect/inspection.ts";
import { comparePaths } from "../../documents/inspect/stamp.ts";
import type { PlanTable } from "./plan-table.ts";
import { stampIn } from "../state/records.ts";
import { createScan, type SeenFile } from "./scan.ts";

/** A file to be looked at. */
export interface Candidate {
  item: LookItem;
  seen: SeenFile | undefined;
  mapping: string;
}

/**
 * The listed files with what the state knows of them: both are ordered by path, but for files that
 * only links lead to. These come last, and are looked up one by one.
 */
export function* withRecords(
  request: PlanRequest,
  table: PlanTable,
): Generator<[Listed, SeenFile | undefined]> {
  const { state, targets, ranges, isInScope } = request;
  if (state.isRecordless) {
    for (const listed of request.list()) yield [listed, undefined];
    return;
  }
  const scan = createScan(state.database, targets, request.checksum);
  const records = scan(ranges);
  // Asked for only here: few files are gone, and every content would cost its crossing.
  const content = state.database.prepare(
    "SELECT content FROM files WHERE path = ? ORDER BY part LIMIT 1",
  );
  const addGone = ({ path }: SeenFile): void => {
    if (isInScope(path)) table.addGone(path, String(content.get(path)?.["content"] ?? ""));
    else if (request.isExcluded?.(path)) table.addExcluded(path);
  };
  const linkedRecord = ({ path }: Listed): SeenFile | undefined => {
    for (; !record.done; record = records.next()) addGone(record.value);
    table.takeBack(path);
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

/** What to look at, and what is known of it. */
export function lookItem(
  listed: ListedFile,
  seen: SeenFile | undefined,
  request: PlanRequest,
): Candidate {
  const { path, absolutePath } = listed;
  const mapping = request.mappingKey(path);
  // What the service lacks is read in any case.
  const isSettled = seen !== undefined && seen.missing === 0 && !request.force;
  const stamp = isSettled ? stampIn(seen.seen, mapping) : undefined;
  const item: LookItem = {
    path,
    absolutePath,
    stamp,
    content: stamp !== undefined && request.checksum ? seen?.content : undefined,
    facts: request.factsOf?.(path),
  };
  return { item, seen: stamp === undefined ? undefined : seen, mapping };
}

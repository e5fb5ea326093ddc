import type { Orphan } from "../orphans/orphans.ts";
import type { PlanTable } from "../plan/plan-table.ts";
import type { FailureRecord } from "../state/records.ts";
import { targetFor, type Target, type Targets } from "../state/target.ts";
import type { DifferenceTable } from "./difference-table.ts";

export interface LocalRequest {
  /** A dry plan of the folder. */
  table: PlanTable;
  targets: Targets;
  /** By target, the documents that the folder no longer yields. */
  orphansOf: (target: Target) => AsyncIterable<Orphan>;
  orphanTargets: readonly Target[];
}

/**
 * Adds what failed last time and what cannot be read. Call it first: for a failed document this is its
 * difference. A failure of a whole file stands for all its documents, a failure of a row for this row.
 */
export function collectFailures(
  { table, targets }: Pick<LocalRequest, "table" | "targets">,
  failures: Iterable<FailureRecord>,
  found: DifferenceTable,
): void {
  const ccPairId = targetFor(targets, undefined)?.ccPairId;
  const failed = new Set<string>();
  for (const { path, part, id } of failures) {
    const difference = { result: "failed", id, path, ccPairId } as const;
    if (path !== "" && part === 0) found.addFile(difference);
    else found.add(difference);
    failed.add(path);
  }
  for (const { path, part } of table.entries(["failed"])) {
    if (failed.has(path)) continue;
    failed.add(path);
    const difference = { result: "failed", id: "", path, ccPairId } as const;
    if (part === 0) found.addFile(difference);
    else found.add(difference);
  }
}

/** Adds what an upload would send, then what the folder no longer yields. */
export async function collectLocal(
  { table, targets, orphansOf, orphanTargets }: LocalRequest,
  found: DifferenceTable,
): Promise<void> {
  for (const { action, path, id = "", ownPair } of table.entries(["new", "changed"])) {
    const result = action === "new" ? "new" : "changed";
    found.add({ result, id, path, ccPairId: targetFor(targets, ownPair)?.ccPairId });
  }
  for (const target of orphanTargets) {
    for await (const { id, path, class: name } of orphansOf(target)) {
      found.add({ result: "gone", id, path, class: name, ccPairId: target.ccPairId });
    }
  }
}

import type { Orphan } from "../orphans/orphans.ts";
import type { PlanTable } from "../plan/plan-table.ts";
import type { FailureRecord } from "../state/records.ts";
import { targetFor, type Target, type Targets } from "../state/target.ts";
import type { DifferenceTable } from "./difference-table.ts";

export interface LocalRequest {
  /** A dry plan of the folder. */
  table: PlanTable;
  targets: Targets;
  /** The recorded failures of the inputs. */
  failures: Iterable<FailureRecord>;
  /** By target, the documents that the folder no longer yields. */
  orphansOf: (target: Target) => AsyncIterable<Orphan>;
  orphanTargets: readonly Target[];
}

/** Collects failures, then what is to be sent; a failed document counts once. */
function collectFiles({ table, targets, failures }: LocalRequest, found: DifferenceTable): void {
  const pairOf = (own: number | undefined) => targetFor(targets, own)?.ccPairId;
  const failed = new Set<string>();
  for (const { path, id } of failures) {
    failed.add(path);
    found.add({ result: "failed", id, path, ccPairId: pairOf(undefined) });
  }
  for (const { path } of table.entries(["failed"])) {
    if (failed.has(path)) continue;
    failed.add(path);
    found.add({ result: "failed", id: "", path, ccPairId: pairOf(undefined) });
  }
  for (const { action, path, id = "", ownPair } of table.entries(["new", "changed"])) {
    // The service lacks it, or another pair has it: that was found already.
    if (failed.has(path) || found.has("not-sent", path, id) || found.has("elsewhere", path, id))
      continue;
    const result = action === "new" ? "new" : "changed";
    found.add({ result, id, path, ccPairId: pairOf(ownPair) });
  }
}

/** Adds the differences between files and records. `found` may have those of the service already. */
export async function collectLocal(request: LocalRequest, found: DifferenceTable): Promise<void> {
  collectFiles(request, found);
  for (const target of request.orphanTargets) {
    for await (const { id, path, class: name } of request.orphansOf(target)) {
      found.add({ result: "gone", id, path, class: name, ccPairId: target.ccPairId });
    }
  }
}

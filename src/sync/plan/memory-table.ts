import type { Database } from "../../database.ts";
import { createNoticeCounts } from "./notice-counts.ts";
import type { FileWarning, PlanAction, PlanEntry, PlanTable } from "./plan-table.ts";

// Same limit as in plan-table.ts.
const warningsKept = 50;

/**
 * Creates a plan in memory, for a command without records on a machine without SQLite.
 * Memory grows with the number of files. Any use of `database` throws.
 */
export function createMemoryTable(database: Database): PlanTable {
  const entries: PlanEntry[] = [];
  const counts = new Map<PlanAction, number>();
  const warnings: FileWarning[] = [];
  let warningCount = 0;
  const countUp = (action: PlanAction, count: number): void => {
    counts.set(action, (counts.get(action) ?? 0) + count);
  };
  const add = (entry: PlanEntry): void => {
    countUp(entry.action, 1);
    entries.push(entry);
  };
  const bare = { id: undefined, content: undefined };
  return {
    database,
    add,
    addPending: (path, part, id, action) => add({ ...bare, path, part, id, action, detail: "" }),
    addSkip: (path, reason, part = 0, content?: string) =>
      add({ ...bare, path, part, action: "skipped", detail: reason, content }),
    addFailure: (path, reason, part = 0) =>
      add({ ...bare, path, part, action: "failed", detail: reason }),
    index() {},
    countUp,
    // Without records no file is missing, and no options differ.
    addGone() {},
    addExcluded() {},
    markFound() {},
    *unfound() {},
    addReason() {},
    reasons: () => [],
    notices: createNoticeCounts(),
    renamedFrom: () => undefined,
    warn(path, message) {
      warningCount++;
      if (warnings.length < warningsKept) warnings.push({ path, message });
    },
    count: (action) => counts.get(action) ?? 0,
    *entries(actions) {
      for (const each of entries) if (!actions || actions.includes(each.action)) yield each;
    },
    isLeftOut: (path) =>
      entries.some((each) => each.path === path && each.action === "skipped" && !each.content),
    idsOf: (path) =>
      entries.flatMap((each) => (each.path === path && each.id !== undefined ? [each.id] : [])),
    warnings: () => ({ shown: warnings, count: warningCount }),
  };
}

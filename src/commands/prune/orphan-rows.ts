import type { Column } from "../../output/formats/formats.ts";
import type { OrphanTable } from "../../sync/orphans/orphan-table.ts";

/** The columns of the list; `shown` formats a path for people. */
export function columnsOf(shown: (path: string) => string): Column<object>[] {
  const names = ["status", "path", "id", "class", "stored_id", "reason"] as const;
  return names.map((name) => ({
    name,
    value: (row) => (row as Record<string, unknown>)[name],
    ...(name === "path"
      ? { show: (value: unknown) => (value === null ? "" : shown(String(value))) }
      : {}),
    ...(name === "path" || name === "id" ? { cut: "start" as const } : {}),
    ...(name === "stored_id" ? { shown: false } : {}),
  }));
}

/** The documents that are removed, and those kept because another pair has them, as rows of the output. */
export function* rowsOf(orphans: OrphanTable): Generator<object> {
  for (const each of orphans.list()) {
    if (!each.isSelected && each.status !== "kept") continue;
    const { status, path, part, id, storedId, reason, problem } = each;
    yield {
      status,
      path: path === "" ? null : path,
      row: part === 0 ? null : part,
      id,
      class: each.class,
      stored_id: storedId ?? null,
      reason: problem ?? reason,
    };
  }
}

/** Members of a row, so that an unknown name in --fields is refused before any removal. */
export const sample = {
  status: "",
  path: "",
  row: null,
  id: "",
  class: "",
  stored_id: null,
  reason: "",
};

import { expect, it } from "vitest";
import { listMissing } from "../../../src/sync/orphans/orphans.ts";
import { createPlanTable } from "../../../src/sync/plan/plan-table.ts";
import { openTestState } from "../open-state.ts";

it.each([
  ["a/b/c.md", undefined, ["a/b/c.md"]],
  ["a/b/c.md", "a/b", []],
  ["a/b/c.md", "a", []],
  ["a/b/c.md", ".", []],
  ["a/b/c.md", "a/bb", ["a/b/c.md"]],
])("knows nothing of %s when the folder %s cannot be read", async (path, unreadable, expected) => {
  const state = await openTestState();
  const record = { target: "https://h#2", id: path, path, part: 0, whole: "w", fields: "f" };
  const rest = { updatedAt: undefined, storedId: undefined, sentAtMs: 1 };
  state.save({ accepted: [{ ...record, ...rest }] });
  const table = createPlanTable(state.database);
  table.addGone(path, "content");
  if (unreadable !== undefined) table.addFailure(unreadable, "the folder cannot be read");
  table.index();
  const missing = listMissing(table, "https://h#2", false);
  expect([...missing].map(({ id }) => id)).toEqual(expected);
  state.close();
});

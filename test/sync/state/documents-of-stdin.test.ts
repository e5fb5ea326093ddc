import { expect, it } from "vitest";
import { listMissing } from "../../../src/sync/orphans/orphans.ts";
import { findLostPath } from "../../../src/sync/plan/merge.ts";
import { createPlanTable } from "../../../src/sync/plan/plan-table.ts";
import type { State } from "../../../src/sync/state/state.ts";
import { expectConstant } from "../../cost.ts";
import { openTestState } from "../open-state.ts";

const target = "https://h#2";

/** A state with so many documents from stdin. */
async function openFilled(count: number): Promise<State> {
  const state = await openTestState();
  state.database
    .prepare(
      `INSERT INTO accepted (target, id, part, whole, fields, sent_at)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
        SELECT '${target}', 'rows/' || n, 0, 'w', 'f', 1 FROM numbers`,
    )
    .run(count);
  return state;
}

it("costs a run with files nothing", async () => {
  const sizes = [100, 300_000] as const;
  const states = new Map<number, State>();
  for (const size of sizes) states.set(size, await openFilled(size));
  expectConstant(sizes, (size) => {
    const { database } = states.get(size) ?? expect.fail();
    expect(findLostPath(database, () => false)).toBeUndefined();
    const table = createPlanTable(database);
    table.index();
    expect([...listMissing(table, target, false)]).toEqual([]);
  });
  for (const state of states.values()) state.close();
});

it("hides no document of a file that only `accepted` knows", async () => {
  const state = await openFilled(10);
  const record = { target, id: "b", path: "b.md", part: 0, whole: "w", fields: "f" };
  const rest = { updatedAt: undefined, storedId: undefined, sentAtMs: 1 };
  state.save({ accepted: [{ ...record, ...rest }] });
  expect(findLostPath(state.database, () => false)).toBe("b.md");
  expect(findLostPath(state.database, (path) => path === "b.md")).toBeUndefined();
  const table = createPlanTable(state.database);
  table.index();
  const missing = [...listMissing(table, target, false)];
  expect(missing.map(({ path }) => path)).toEqual(["b.md"]);
  state.close();
});

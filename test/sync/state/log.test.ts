import { expect, it } from "vitest";
import { openDatabase } from "../../../src/database.ts";
import { createLog } from "../../../src/sync/state/tables.ts";

it("keeps failures in order, gives them back from the first each time, also what came meanwhile", async () => {
  const database = await openDatabase(":memory:");
  const log = createLog<{ path: string; id?: string }>(database, "failed");
  expect([...log.list()]).toEqual([]);
  for (let number = 0; number < 700; number++) log.add({ path: `${number}` });
  const half = log.list();
  expect(half.next().value).toEqual({ path: "0" });
  log.add({ path: "last", id: "::\u0000\ud800" });
  expect([...half]).toHaveLength(700);
  const all = [...log.list()];
  expect(all.map(({ path }) => path)).toEqual([
    ...Array.from({ length: 700 }, (_, number) => `${number}`),
    "last",
  ]);
  expect(all.at(-1)).toEqual({ path: "last", id: "::\u0000\ud800" });
  expect([...createLog(database, "failed").list()]).toEqual([]);
  database.close();
});

import { expect, it } from "vitest";
import { openDatabase } from "../../../src/database.ts";
import { createFailureLog } from "../../../src/sync/state/failure-log.ts";

it("keeps failures in order, gives them back from the first each time, also what came meanwhile", async () => {
  const database = await openDatabase(":memory:");
  const log = createFailureLog<{ path: string; id?: string }>(database);
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
  expect([...createFailureLog(database).list()]).toEqual([]);
  database.close();
});

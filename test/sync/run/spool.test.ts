import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createSpool } from "../../../src/sync/run/spool.ts";
import { temporaryFolder } from "../../support.ts";

interface Head {
  name: string;
}

it.each([
  ["in memory", { inMemoryBytes: 10_000, mostBytes: 10_000 }, "", 5],
  ["in its file", { inMemoryBytes: 1, mostBytes: 10_000 }, "", 5],
  ["in both", { inMemoryBytes: 600, mostBytes: 10_000 }, "", 5],
  ["as far as there is room for bodies", { inMemoryBytes: 50, mostBytes: 100 }, "", 4],
  [
    "without bodies where nothing can be written",
    { inMemoryBytes: 500, mostBytes: 900 },
    "none",
    2,
  ],
])("gives back %s what was added", (_name, limits, folder, bodies) => {
  const spool = createSpool<Head>(join(temporaryFolder(), folder), limits);
  onTestFinished(() => spool.close());
  const names = ["a", "b", "c", "d", "e"];
  const body = Buffer.from("0123456789");
  for (const name of names) spool.add({ name }, body);
  const added = names.map((name, index) => ({
    head: { name },
    body: index < bodies ? body : undefined,
  }));
  const records = [...spool.records()];
  expect(records.map(({ head, body: kept }) => ({ head, body: kept }))).toEqual(added);
  const positions = records.map(({ position }) => position);
  expect(positions).toEqual([...new Set(positions)].toSorted((a, b) => a - b));
  expect(positions.map((position) => spool.read(position))).toEqual(records);
});

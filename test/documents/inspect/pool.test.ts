import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { InspectSetup, Looked, LookItem } from "../../../src/documents/inspect/inspection.ts";
import { createPool, type Pool } from "../../../src/documents/inspect/pool.ts";

const script = join(import.meta.dirname, "..", "..", "fixtures", "threads", "reader.cjs");
const setup: InspectSetup = {
  settings: { root: "/" },
  pair: { ccPairId: 2, fromFlag: false },
  keys: [],
};

function openPool(size: number, timeoutMs = 60_000): Pool {
  const pool = createPool(script, setup, { size, timeoutMs, maxOldGenerationSizeMb: 32 });
  onTestFinished(() => pool.close());
  return pool;
}

const itemsOf = (...paths: string[]): LookItem[] =>
  paths.map((path) => ({
    path,
    absolutePath: `/${path}`,
    stamp: undefined,
    content: undefined,
  }));

const textOf = (looked: Looked): string => {
  if (looked.kind === "document") return Buffer.from(looked.body).toString();
  return looked.kind === "failed" ? `failed: ${looked.reason}` : looked.kind;
};

it("answers every batch in order, with the bodies that belong to it", async () => {
  const pool = openPool(2);
  const batches = Array.from({ length: 40 }, (_, batch) =>
    Array.from({ length: 1 + (batch % 7) }, (_each, index) => `${batch}/ä-${index}.md`),
  );
  const looked = await Promise.all(batches.map((paths) => pool.look(itemsOf(...paths))));
  expect(looked.map((results) => results.map(textOf))).toEqual(batches);
});

it.each([
  ["hang", "hang.pdf: reading it took more than 0 s"],
  ["end", "end.pdf: the thread that read it ended unexpectedly"],
  ["memory", "memory.pdf: reading it needs too much memory"],
])("fails only the file at which a thread is lost: %s", async (name, reason) => {
  const pool = openPool(1, name === "hang" ? 300 : undefined);
  const first = pool.look(itemsOf("a.md", "b.md", `${name}.pdf`, "c.md"));
  const second = pool.look(itemsOf("d.md", `${name}.pdf`));
  expect((await first).map(textOf)).toEqual(["a.md", "b.md", `failed: ${reason}`, "c.md"]);
  expect((await second).map(textOf)).toEqual(["d.md", `failed: ${reason}`]);
  // The thread in its place goes on.
  expect((await pool.look(itemsOf("e.md"))).map(textOf)).toEqual(["e.md"]);
});

it("hands on a bug as what it is", async () => {
  await expect(openPool(1).look(itemsOf("bug.md"))).rejects.toThrow("a bug");
});

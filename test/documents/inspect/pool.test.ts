import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { InspectSetup, Looked, LookItem } from "../../../src/documents/inspect/inspection.ts";
import { openInspector } from "../../../src/documents/inspect/open-inspector.ts";
import { createPool, type Pool } from "../../../src/documents/inspect/pool.ts";
import { holdTime, until } from "../../held-time.ts";
import { patienceMs } from "../../patience.ts";
import { temporaryFolder } from "../../support.ts";

const script = join(import.meta.dirname, "..", "..", "fixtures", "threads", "reader.cjs");

function openPool(size: number, root = "/"): Pool {
  const pair = { ccPairId: 2, fromFlag: false };
  const setup: InspectSetup = { settings: { root }, pair };
  const pool = createPool(script, setup, {
    size,
    timeoutMs: patienceMs,
    maxOldGenerationSizeMb: 32,
  });
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

/** How often a thread came to a file that hangs. */
function hangsIn(root: string): number {
  const path = join(root, "hangs");
  return existsSync(path) ? statSync(path).size : 0;
}

it("answers every batch in order, with the bodies that belong to it", async () => {
  const pool = openPool(2);
  const batches = Array.from({ length: 40 }, (_, batch) =>
    Array.from({ length: 1 + (batch % 7) }, (_each, index) => `${batch}/ä-${index}.md`),
  );
  const looked = await Promise.all(batches.map((paths) => pool.look(itemsOf(...paths))));
  expect(looked.map((results) => results.map(textOf))).toEqual(batches);
});

it.each([
  ["hang", `hang.pdf: reading it took more than ${patienceMs / 1000} s`],
  ["end", "end.pdf: the thread that read it ended unexpectedly"],
  ["memory", "memory.pdf: reading it needs too much memory"],
])("fails only the file at which a thread is lost: %s", async (name, reason) => {
  const pass = name === "hang" ? holdTime() : undefined;
  const root = temporaryFolder();
  const pool = openPool(1, root);
  const first = pool.look(itemsOf("a.md", "b.md", `${name}.pdf`, "c.md"));
  const second = pool.look(itemsOf("d.md", `${name}.pdf`));
  for (const count of pass ? [1, 2] : []) {
    await until(() => hangsIn(root) === count);
    pass?.(patienceMs + 10_000);
  }
  expect((await first).map(textOf)).toEqual(["a.md", "b.md", `failed: ${reason}`, "c.md"]);
  expect((await second).map(textOf)).toEqual(["d.md", `failed: ${reason}`]);
  // The thread in its place goes on.
  expect((await pool.look(itemsOf("e.md"))).map(textOf)).toEqual(["e.md"]);
});

it("identifies files between other tasks", async () => {
  const pool = openPool(1);
  const looked = pool.look(itemsOf("a.md"));
  const ids = pool.identify(itemsOf("b.md", "own.md", "ä.md"));
  expect((await looked).map(textOf)).toEqual(["a.md"]);
  expect((await ids).map((each) => each?.id)).toEqual(["b.md", undefined, "ä.md"]);
});

it("leaves files to reading where a thread is lost that identifies them, and fails none", async () => {
  const pool = openPool(1);
  const lost = pool.identify(itemsOf("b.md", "end.md"));
  const looked = pool.look(itemsOf("c.md", "end.pdf", "d.md"));
  expect(await lost).toEqual([]);
  expect((await looked).map(textOf)).toEqual([
    "c.md",
    "failed: end.pdf: the thread that read it ended unexpectedly",
    "d.md",
  ]);
});

it("hands on a bug as what it is", async () => {
  await expect(openPool(1).look(itemsOf("bug.md"))).rejects.toThrow("a bug");
});

it.each(["html", "rst", "adoc", "docx", "pdf"])(
  "reads a file of %s in a thread",
  async (extension) => {
    const pair = { ccPairId: 2, fromFlag: false };
    const inspector = await openInspector(
      { settings: { root: temporaryFolder() }, pair },
      script,
      0,
    );
    onTestFinished(() => inspector.close());
    const looked = await inspector.look(itemsOf(`end.${extension}`));
    expect(looked.map(textOf)).toEqual([
      `failed: end.${extension}: the thread that read it ended unexpectedly`,
    ]);
  },
);

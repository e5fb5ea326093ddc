import { expect, it } from "vitest";
import type { Inspector, Looked } from "../../../src/documents/inspect/inspection.ts";
import { readAgain, readPending } from "../../../src/sync/run/pending.ts";
import type { PlannedDocument } from "../../../src/sync/plan/plan-table.ts";

const batch = 64;

/** A plan of documents. */
function tableOf(documents: readonly [path: string, part: number][]) {
  const all = documents.map(([path, part], index): PlannedDocument => ({
    number: index + 1,
    path,
    part,
    id: part === 0 ? path : `${path}#${part}`,
    absolutePath: undefined,
  }));
  return {
    planned: (numbers?: readonly number[]) =>
      numbers ? all.filter(({ number }) => numbers.includes(number)) : all,
  };
}

/** A plan of so many files, and the numbers of files read at a time. */
function start(files: number) {
  const table = tableOf(Array.from({ length: files }, (_, index) => [`${index}.md`, 0]));
  const read: number[] = [];
  const looked = ({ path }: { path: string }): Looked => ({
    kind: "failed",
    path,
    part: 0,
    reason: "",
  });
  const inspector: Inspector = {
    look: (items) => {
      read.push(items.length);
      return Promise.resolve(items.map(looked));
    },
    async *readRows() {},
  };
  return { documents: readPending({ table, inspector }), read };
}

it("reads one batch ahead of the one in use, and none for a reader that has left", async () => {
  const { documents, read } = start(4 * batch);
  expect(read).toEqual([]);
  expect((await documents.next()).value).toHaveLength(batch);
  expect(read).toEqual([batch, batch]);
  expect((await documents.next()).value).toHaveLength(batch);
  expect(read).toEqual([batch, batch, batch]);
  await documents.return(undefined);
  expect(read).toHaveLength(3);
});

it("gives every file once, in order", async () => {
  const { documents } = start(3 * batch + 1);
  const paths: string[] = [];
  for await (const each of documents) for (const { prepared } of each) paths.push(prepared.path);
  expect(paths).toEqual(Array.from({ length: 3 * batch + 1 }, (_, index) => `${index}.md`));
});

/** Rows of several files; how many of their readers are open. */
function startRows(files: readonly string[], rows: number) {
  const parts = Array.from({ length: rows }, (_, index) => index + 1);
  const table = tableOf(
    files.flatMap((path) => parts.map((part): [string, number] => [path, part])),
  );
  const open = new Set<string>();
  const inspector: Inspector = {
    look: () => Promise.resolve([]),
    async *readRows({ path }) {
      open.add(path);
      try {
        for (let part = 1; ; part++) yield { kind: "failed", path, part, reason: "" };
      } finally {
        open.delete(path);
      }
    },
  };
  return { table, inspector, open };
}

it("reads a file of rows once, and closes it before the next one and at the end", async () => {
  const { table, inspector, open } = startRows(["a.csv", "b.csv"], 2 * batch);
  let most = 0;
  let count = 0;
  for await (const each of readPending({ table, inspector })) {
    most = Math.max(most, open.size);
    count += each.length;
  }
  expect({ count, most, open: open.size }).toEqual({ count: 4 * batch, most: 1, open: 0 });
});

it("closes a file of rows for a reader that leaves", async () => {
  const { table, inspector, open } = startRows(["a.csv"], 4 * batch);
  const documents = readPending({ table, inspector });
  await documents.next();
  expect(open.size).toBe(1);
  await documents.return(undefined);
  expect(open.size).toBe(0);
  for await (const _ of readAgain([1], { table, inspector })) {
    expect(open.size).toBe(1);
  }
  expect(open.size).toBe(0);
});

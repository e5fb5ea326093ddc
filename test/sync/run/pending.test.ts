import { expect, it, onTestFinished } from "vitest";
import type { Inspector, Looked } from "../../../src/documents/inspect/inspection.ts";
import { readAgain, readPending, type SpoolHead } from "../../../src/sync/run/pending.ts";
import { createSpool } from "../../../src/sync/run/spool.ts";
import { temporaryFolder } from "../../support.ts";

const batch = 64;

/** A spool of so many files that were peeked at, and the numbers of files read at a time. */
function start(files: number) {
  const spool = createSpool<SpoolHead>(temporaryFolder());
  onTestFinished(() => spool.close());
  for (let index = 0; index < files; index++) {
    const path = `${index}.md`;
    const document = { kind: "peeked", path, part: 0, id: path } as const;
    spool.add({ document, absolutePath: undefined, known: { last: undefined } });
  }
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
  return { documents: readPending({ spool, inspector }), read };
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

/** Rows without a body in the spool, of several files; how many of their readers are open. */
function startRows(files: readonly string[], rows: number) {
  const spool = createSpool<SpoolHead>(temporaryFolder());
  onTestFinished(() => spool.close());
  for (const path of files) {
    for (let part = 1; part <= rows; part++) {
      const document = { kind: "peeked", path, part, id: `${path}#${part}` } as const;
      spool.add({ document, absolutePath: undefined, known: { last: undefined } });
    }
  }
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
  return { spool, inspector, open };
}

it("reads a file of rows once, and closes it before the next one and at the end", async () => {
  const { spool, inspector, open } = startRows(["a.csv", "b.csv"], 2 * batch);
  let most = 0;
  let count = 0;
  for await (const each of readPending({ spool, inspector })) {
    most = Math.max(most, open.size);
    count += each.length;
  }
  expect({ count, most, open: open.size }).toEqual({ count: 4 * batch, most: 1, open: 0 });
});

it("closes a file of rows for a reader that leaves", async () => {
  const { spool, inspector, open } = startRows(["a.csv"], 4 * batch);
  const documents = readPending({ spool, inspector });
  await documents.next();
  expect(open.size).toBe(1);
  await documents.return(undefined);
  expect(open.size).toBe(0);
  for await (const _ of readAgain(
    [...spool.records()].map(({ position }) => position).slice(0, 1),
    { spool, inspector },
  )) {
    expect(open.size).toBe(1);
  }
  expect(open.size).toBe(0);
});

import { expect, it, onTestFinished } from "vitest";
import type { Inspector, Looked } from "../../../src/documents/inspect/inspection.ts";
import { readPending, type SpoolHead } from "../../../src/sync/run/pending.ts";
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

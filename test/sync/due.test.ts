import { expect, it, onTestFinished, vi } from "vitest";
import type { Inspector, Looked } from "../../src/documents/inspect/inspection.ts";
import { readDue, type SpoolHead } from "../../src/sync/run/due.ts";
import { createSpool } from "../../src/sync/run/spool.ts";
import { temporaryFolder } from "../support.ts";

const batch = 64;

/** A spool of so many files that were glanced at, and the numbers of files read at a time. */
function start(files: number) {
  const spool = createSpool<SpoolHead>(temporaryFolder());
  onTestFinished(() => spool.close());
  for (let index = 0; index < files; index++) {
    const path = `${index}.md`;
    const document = { kind: "glanced", path, part: 0, id: path } as const;
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
  return { dues: readDue({ spool, inspector }), read };
}

it("reads the next batch a moment after one was used up, where batches last", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { dues, read } = start(4 * batch);
  // The first two at once: somebody waits for them.
  expect((await dues.next()).value).toHaveLength(batch);
  expect(read).toEqual([batch, batch]);

  vi.advanceTimersByTime(20);
  expect((await dues.next()).value).toHaveLength(batch);
  expect(read).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(4);
  expect(read).toHaveLength(3);

  // Used up at once: then there is no time to lose.
  expect((await dues.next()).value).toHaveLength(batch);
  expect(read).toHaveLength(4);
  expect((await dues.next()).value).toHaveLength(batch);
  expect((await dues.next()).done).toBe(true);
});

it("reads nothing any more for a reader that has left", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { dues, read } = start(4 * batch);
  await dues.next();
  vi.advanceTimersByTime(20);
  await dues.next();
  await dues.return(undefined);
  await vi.advanceTimersByTimeAsync(10);
  expect(read).toEqual([batch, batch]);
});

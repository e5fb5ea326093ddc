import { expect, it } from "vitest";
import type { Prepared } from "../../../src/documents/inspect/inspection.ts";
import { buildPlan } from "../../../src/sync/plan/plan.ts";
import { openTemporaryState } from "../../../src/sync/state/file/state-file.ts";

it("ends in the middle of a file of rows when it is told to", async () => {
  const state = await openTemporaryState();
  const abort = new AbortController();
  let given = 0;
  let isClosed = false;
  async function* readRows(): AsyncGenerator<Prepared> {
    try {
      while (given < 100_000) {
        // The signal is a macrotask, as a real one: rows alone never give it its turn.
        if (++given === 1000) setImmediate(() => abort.abort(new Error("told to")));
        yield {
          kind: "skipped",
          path: "a.csv",
          part: given,
          reason: "empty",
          stamp: "",
          content: "",
        };
      }
    } finally {
      isClosed = true;
    }
  }
  const progress: number[] = [];
  const planning = buildPlan({
    root: "/project",
    list: () => [{ kind: "file", path: "a.csv", absolutePath: "/project/a.csv" }],
    ranges: [],
    isInScope: () => true,
    isSelected: undefined,
    idPrefix: "",
    state,
    targets: { baseUrl: "https://host", pair: { ccPairId: 7, fromFlag: false } },
    options: { number: undefined, differenceFrom: () => "" },
    mappingKey: () => "m1",
    inspector: {
      identify: () => Promise.resolve([]),
      look: () => Promise.resolve([]),
      readRows,
    },
    checksum: false,
    force: false,
    isDry: true,
    shard: undefined,
    isCurrent: () => true,
    signal: abort.signal,
    onProgress: (files) => progress.push(files),
    // A second for each look at the clock.
    elapsed: (() => {
      let ms = 0;
      return () => (ms += 1000);
    })(),
  });
  await expect(planning).rejects.toThrow("told to");
  expect(given).toBeLessThan(2000);
  expect(isClosed).toBe(true);
  expect(progress).toContain(1);
  state.close();
});

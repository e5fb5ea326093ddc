import type { PlanRequest } from "../../../src/sync/plan/plan-request.ts";
import { describe, expect, it } from "vitest";
import type { Looked } from "../../../src/documents/inspect/inspection.ts";
import { createReadAhead } from "../../../src/sync/plan/read-ahead.ts";
import type { Candidate } from "../../../src/sync/plan/merge.ts";
import type { PlanEntries } from "../../../src/sync/plan/plan-entries.ts";

const candidate = (path: string): Candidate => ({
  item: { path, absolutePath: undefined, stamp: undefined, content: undefined },
  seen: undefined,
  mapping: "",
});

/** Takes files by name: `n…` are new, `r…` recorded, `x…` new ones that no glance tells. Tells how each went into the plan. */
async function plan(names: readonly string[], change: Partial<PlanRequest> = {}) {
  const planned: string[] = [];
  const looked: Looked = { kind: "same" };
  const entries: Partial<PlanEntries> = {
    add: (candidates) => void planned.push(...candidates.map(({ item }) => `read ${item.path}`)),
    addPeeked: ({ item }) => planned.push(`peeked ${item.path}`) > 0,
  };
  const peekedIds: string[] = [];
  const request: Partial<PlanRequest> = {
    mostReadFirst: 3,
    spool: {} as NonNullable<PlanRequest["spool"]>,
    inspector: {
      look: (items) => Promise.resolve(items.map(() => looked)),
      peekIds(items) {
        const paths = items.map(({ path }) => path);
        peekedIds.push(...paths);
        const idOf = (path: string) =>
          path.startsWith("x") ? undefined : { id: path, ownPair: undefined };
        return Promise.resolve(paths.map(idOf));
      },
      async *readRows() {},
    },
    ...change,
  };
  const looking = createReadAhead(request as PlanRequest, entries as PlanEntries);
  for (const name of names) {
    if (name === "rows") await looking.settle();
    else if (name.startsWith("r")) await looking.add(candidate(name));
    else await looking.addNew(candidate(name));
    if (name === "rows") planned.push("rows");
  }
  await looking.settle();
  return { planned, peekedIds };
}

describe("new files", () => {
  it.each<[files: string, planned: string]>([
    ["", ""],
    ["n1", "read n1"],
    ["n1 n2 n3", "read n1,read n2,read n3"],
    ["n1 n2 n3 n4", "peeked n1,peeked n2,peeked n3,peeked n4"],
    ["n1 n2 x3 n4 n5 x6", "peeked n1,peeked n2,peeked n4,peeked n5,read x3,read x6"],
    ["r1 n2 r3 n4 r5", "read r1,read r3,read r5,read n2,read n4"],
    ["n1 r2 n3 n4 r5 n6", "peeked n1,peeked n3,peeked n4,peeked n6,read r2,read r5"],
    ["n1 rows n2 n3 rows n4 n5", "read n1,rows,read n2,read n3,rows,peeked n4,peeked n5"],
  ])("are read with the plan only where they are few: %s", async (files, planned) => {
    const names = files.split(" ").filter(Boolean);
    expect((await plan(names)).planned.join(",")).toBe(planned);
  });

  it.each([{ mostReadFirst: undefined }, { spool: undefined }])(
    "are all read in their order, and not peeked at, with %j",
    async (change) => {
      const { planned, peekedIds } = await plan("n1 r2 n3 n4 n5 n6".split(" "), change);
      expect(planned.join(",")).toBe("read n1,read r2,read n3,read n4,read n5,read n6");
      expect(peekedIds).toEqual([]);
    },
  );
});

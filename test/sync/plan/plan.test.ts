import { describe, expect, it } from "vitest";
import type { Prepared } from "../../../src/documents/inspect/inspection.ts";
import { buildPlan } from "../../../src/sync/plan/plan.ts";
import { openTemporaryState } from "../../../src/sync/state/file/state-file.ts";
import { array, assert, constantFrom, oneof, property, record } from "../../property.ts";
import { partsOfPaths } from "../../../src/documents/parts/parts.ts";
import { forget } from "../../../src/sync/state/entries.ts";
import { createIncoming } from "../../../src/sync/transfer/import.ts";
import type { AcceptedRecord, FileRecord } from "../../../src/sync/state/records.ts";
import { createScan } from "../../../src/sync/plan/merge.ts";
import type { State } from "../../../src/sync/state/state.ts";
import type { Targets } from "../../../src/sync/state/target.ts";
import { openTestState } from "../open-state.ts";

describe("rows signal", () => {
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
});

describe("scan", () => {
  const baseUrl = "https://host";
  const everything = [{ from: "", to: "\u{10ffff}" }];

  function targetsOf(ccPairId: number | undefined, fromFlag = true): Targets {
    return { baseUrl, pair: { ccPairId, fromFlag } };
  }

  interface Sent {
    path: string;
    id?: string;
    whole?: string;
    pair?: number;
    /** Named by a rule, so that the file says so. */
    ownPair?: number | undefined;
  }

  function toFile({ path, id = path, whole = "w", pair = 2, ownPair }: Sent): FileRecord {
    const document = { id, ccPairId: ownPair, whole };
    const target = `${baseUrl}#${ownPair ?? pair}`;
    return { path, part: 0, seen: "s m", content: "c", document, skipped: undefined, target };
  }

  function toAccepted({ path, id = path, whole = "w", pair = 2, ownPair }: Sent): AcceptedRecord {
    const target = `${baseUrl}#${ownPair ?? pair}`;
    const rest = { fields: "", updatedAt: undefined, storedId: undefined, sentAtMs: 1 };
    return { target, id, path: path || undefined, part: 0, whole, ...rest };
  }

  /** As the recorder does after an upload; without a path, what came from stdin. */
  function send(state: State, ...all: Sent[]): void {
    const files = all.filter(({ path }) => path !== "").map(toFile);
    state.save({ files, accepted: all.map(toAccepted) });
  }

  /** Paths that a run would leave unread. */
  function settled(state: State, targets = targetsOf(2)): string[] {
    return [...createScan(state.database, targets, false)(everything)]
      .filter(({ missing }) => missing === 0)
      .map(({ path }) => path);
  }

  /** The same, of what is accepted alone. */
  function trulySettled(state: State, pair: number): string[] {
    const query = `SELECT f.path AS path FROM files f JOIN accepted a
    ON a.target = '${baseUrl}#${pair}' AND a.id = f.id AND a.whole = f.whole AND a.path = f.path
    ORDER BY f.path`;
    return state.database
      .prepare(query)
      .all()
      .map(({ path }) => String(path));
  }

  function importRecords(state: State, all: readonly Sent[]): void {
    const incoming = createIncoming(state.database);
    for (const each of all) {
      incoming.add({
        type: "accepted",
        record: { ...toAccepted(each), sentAtMs: 2 },
        options: undefined,
      });
      const file = { ...toFile(each), seen: "", target: undefined };
      incoming.add({ type: "file", record: file });
    }
    for (const _ of incoming.apply());
  }

  const a: Sent = { path: "a" };
  const forgetAll = { names: [], onlyFailed: false, ccPairId: undefined };

  describe("files that need not be read", () => {
    it.each<[string, (state: State) => void, string[]]>([
      ["what is recorded", () => {}, ["a", "b"]],
      ["an id dropped", (state) => state.dropAccepted(`${baseUrl}#2`, "a"), ["b"]],
      [
        "a path forgotten",
        (state) => forget(state.database, { ...forgetAll, names: [["a"]] }),
        ["b"],
      ],
      ["a pair forgotten", (state) => forget(state.database, { ...forgetAll, ccPairId: 2 }), []],
      [
        "another pair forgotten",
        (state) => forget(state.database, { ...forgetAll, ccPairId: 3 }),
        ["a", "b"],
      ],
      ["everything forgotten", (state) => forget(state.database, forgetAll), []],
      [
        "another text under the id from stdin",
        (state) => send(state, { path: "", id: "a", whole: "v" }),
        ["b"],
      ],
      [
        "the same text under the id from stdin",
        (state) => send(state, { path: "", id: "a" }),
        ["b"],
      ],
      ["the id from another path", (state) => send(state, { path: "c", id: "a" }), ["b", "c"]],
      [
        "a tombstone",
        (state) => state.save({ accepted: [toAccepted({ path: "a", whole: "t" })] }),
        ["b"],
      ],
      ["another text sent", (state) => send(state, { path: "a", whole: "v" }), ["a", "b"]],
      ["the rows of a file opened", (state) => state.openParts("a", [0], []), ["b"]],
      [
        "a later import of another text",
        (state) => importRecords(state, [{ path: "a", whole: "v" }]),
        ["b"],
      ],
    ])("%s", async (_name, change, expected) => {
      const state = await openTestState();
      send(state, a, { path: "b" });
      change(state);
      expect(settled(state)).toEqual(expected);
      state.close();
    });

    it("counts a file for each target that has it, whichever had it last", async () => {
      const state = await openTestState();
      send(state, a);
      expect(settled(state, targetsOf(3))).toEqual([]);
      send(state, { path: "a", pair: 3 });
      expect([2, 3].map((pair) => settled(state, targetsOf(pair)))).toEqual([["a"], ["a"]]);
      send(state, { path: "a", pair: 2, whole: "v" });
      expect([2, 3].map((pair) => settled(state, targetsOf(pair)))).toEqual([["a"], []]);
      state.close();
    });

    it("asks for the pair of the file itself unless a flag names one", async () => {
      const state = await openTestState();
      send(state, { path: "a", ownPair: 7 }, { path: "b" });
      expect(settled(state, targetsOf(2, false))).toEqual(["a", "b"]);
      expect(settled(state, targetsOf(7, true))).toEqual(["a"]);
      state.close();
    });

    it("keeps no claim of a target that has the document otherwise or not at all", async () => {
      const state = await openTestState();
      // Two files of one id in one batch: the second one's is what the service has.
      send(state, { path: "a", id: "x" }, { path: "b", id: "x" });
      state.save({ files: [toFile({ path: "c" })] });
      expect(["a", "b", "c"].map((path) => state.file(path)?.target)).toEqual([
        undefined,
        `${baseUrl}#2`,
        undefined,
      ]);
      expect(settled(state)).toEqual(["b"]);
      state.close();
    });

    it("finds the file of a changed record by the index", async () => {
      const state = await openTestState();
      const steps = state.database
        .prepare(
          "EXPLAIN QUERY PLAN UPDATE files SET target = NULL WHERE id IS NOT NULL AND replace(id, ' ', '_') = replace('a', ' ', '_') AND id = 'a' AND target = 't'",
        )
        .all();
      expect(String(steps[0]?.["detail"])).toContain("USING INDEX files_id");
      state.close();
    });

    it("yields the parts of a file, over pages", async () => {
      const state = await openTestState();
      const paths = Array.from({ length: 1500 }, (_, index) => `${1000 + index}.md`);
      const parts = (path: string): string | undefined =>
        path.endsWith("0.md") ? partsOfPaths([`a/${path}`, "x|y//z"]) : undefined;
      const sent = paths.map((path) => ({ path }));
      state.save({
        files: sent.map((each) => ({ ...toFile(each), parts: parts(each.path) })),
        accepted: sent.map(toAccepted),
      });
      const found = [...createScan(state.database, targetsOf(2), false)(everything)];
      expect(found.map(({ path }) => path)).toEqual(paths);
      expect(found.map((each) => each.parts)).toEqual(paths.map(parts));
      expect(found.every(({ accepted }) => accepted === 1)).toBe(true);
    });
  });

  it("says of any history what the accepted records say", async () => {
    const state = await openTestState();
    // Nothing of it has to survive.
    state.database.exec("PRAGMA synchronous = OFF");
    const sent = record({
      path: constantFrom("", "a", "b", "c"),
      id: constantFrom("x", "x y", "x_y"),
      whole: constantFrom("v", "w"),
      pair: constantFrom(2, 3),
    });
    const change = oneof(
      array(sent, { maxLength: 3 }).map((all) => (): void => send(state, ...all)),
      sent.map((each) => (): void => state.save({ accepted: [toAccepted(each)] })),
      sent.map((each) => (): void => {
        if (each.path !== "") state.save({ files: [toFile(each)] });
      }),
      sent.map(
        ({ pair, id }) =>
          (): void =>
            state.dropAccepted(`${baseUrl}#${pair}`, id),
      ),
      sent.map(({ id, path }) => (): void => {
        forget(state.database, { ...forgetAll, names: [[path || id]] });
      }),
      sent.map(
        ({ path }) =>
          (): void =>
            state.openParts(path || "a", [0], []),
      ),
      array(sent, { maxLength: 2 }).map((all) => (): void => {
        importRecords(
          state,
          all.filter(({ path }) => path !== ""),
        );
      }),
    );
    assert(
      property(array(change, { maxLength: 12 }), (changes) => {
        forget(state.database, forgetAll);
        for (const each of changes) each();
        for (const pair of [2, 3]) {
          expect(settled(state, targetsOf(pair))).toEqual(trulySettled(state, pair));
        }
      }),
    );
    state.close();
  });
});

import { describe, expect, it } from "vitest";
import {
  type DocumentState,
  type FileState,
  isRemoved,
  orphanClass,
  orphanClasses,
} from "../../../src/sync/orphans/orphan-classes.ts";
import {
  type Orphan,
  type OrphanTable,
  collectOrphans,
  listMissing,
  removeOrphans,
} from "../../../src/sync/orphans/orphans.ts";
import { createPlanTable } from "../../../src/sync/plan/plan-table.ts";
import { openTestState } from "../open-state.ts";
import { ApiError, CliError } from "../../../src/errors.ts";
import { type AcceptedRecord, tombstoneMark } from "../../../src/sync/state/records.ts";
import type { State } from "../../../src/sync/state/state.ts";

describe("orphan classes", () => {
  const documents: DocumentState[] = [
    "same options",
    "other options",
    "other pair",
    "row gone",
    "opted out",
  ];

  const table: Record<FileState, (string | undefined)[]> = {
    exists: [undefined, "other-options", undefined, "row-gone", "opted-out"],
    gone: ["gone", "gone", undefined, "gone", "gone"],
    excluded: ["excluded", "other-options", undefined, "excluded", "excluded"],
    unreadable: [undefined, undefined, undefined, undefined, undefined],
  };

  it.each(Object.entries(table))("a file that %s", (file, expected) => {
    const classes = (owner: "own" | "adopted" | "foreign"): unknown[] =>
      documents.map((document) => orphanClass(file as FileState, document, owner));
    expect(classes("own")).toEqual(expected);
    expect(classes("adopted")).toEqual(expected.map((name) => name && "adopted"));
    expect(classes("foreign")).toEqual(expected.map((name) => name && "foreign"));
  });

  it.each(orphanClasses)("a document of class %s", (name) => {
    const isUsual = name === "gone" || name === "row-gone";
    expect(isRemoved(name, [])).toBe(isUsual);
    expect(isRemoved(name, [name])).toBe(true);
    expect(isRemoved(name, ["gone"])).toBe(isUsual);
  });
});

describe("orphans", () => {
  it.each([
    ["a/b/c.md", undefined, ["a/b/c.md"]],
    ["a/b/c.md", "a/b", []],
    ["a/b/c.md", "a", []],
    ["a/b/c.md", ".", []],
    ["a/b/c.md", "a/bb", ["a/b/c.md"]],
  ])(
    "knows nothing of %s when the folder %s cannot be read",
    async (path, unreadable, expected) => {
      const state = await openTestState();
      const record = { target: "https://h#2", id: path, path, part: 0, whole: "w", fields: "f" };
      const rest = { updatedAt: undefined, storedId: undefined, sentAtMs: 1 };
      state.save({ accepted: [{ ...record, ...rest }] });
      const table = createPlanTable(state.database);
      table.addGone(path, "content");
      if (unreadable !== undefined) table.addFailure(unreadable, "the folder cannot be read");
      table.index();
      const missing = listMissing(table, "https://h#2", false);
      expect([...missing].map(({ id }) => id)).toEqual(expected);
      state.close();
    },
  );
});

describe("remove", () => {
  const target = "https://h#2";

  /** Records a file and its document under each target. */
  function record(state: State, path: string, targets: readonly string[]): void {
    const document = { id: path, ccPairId: 2, whole: "w" };
    const file = { path, part: 0, seen: "s", content: "c", document, skipped: undefined, target };
    state.save({ files: [file], accepted: targets.map((each) => acceptedRecord(path, each, "w")) });
  }

  function acceptedRecord(path: string, key: string, whole: string): AcceptedRecord {
    const unknown = { updatedAt: undefined, storedId: undefined };
    return { target: key, id: path, path, part: 0, whole, fields: "f", sentAtMs: 1, ...unknown };
  }

  /** Orphans of these paths, all to be removed. */
  async function orphansOf({ database }: State, paths: readonly string[]): Promise<OrphanTable> {
    async function* orphans(): AsyncGenerator<Orphan> {
      for (const path of paths) {
        const reason = "the file is gone";
        yield { id: path, path, part: 0, storedId: undefined, class: "gone", reason };
      }
    }
    return await collectOrphans(database, orphans(), () => true);
  }

  const request = {
    isGivenUp: () => false,
    concurrency: 1,
    signal: new AbortController().signal,
    onDone: () => {},
  };

  it("tries no further document once the service is given up", async () => {
    const state = await openTestState();
    const orphans = await orphansOf(state, ["a.md", "b.md", "c.md"]);
    const where = { method: "DELETE", url: "https://h/x" };
    const down = new ApiError("unreachable", "no connection", { ...where, retryable: true });
    const tried: string[] = [];
    const removal = removeOrphans({
      ...request,
      orphans,
      remove: async ({ id }) => {
        tried.push(id);
        throw down;
      },
      isGivenUp: () => tried.length === 2,
    });
    await expect(removal).rejects.toBe(down);
    expect(tried).toEqual(["a.md", "b.md"]);
    expect([...orphans.list()].map(({ status }) => status)).toEqual(["failed", "failed", "gone"]);
    state.close();
  });

  it("forgets the files of removed documents, also below a notice, but not for another pair", async () => {
    const state = await openTestState();
    const paths = ["deleted.md", "replaced.md", "shared.md", "left.md"];
    for (const path of paths) {
      record(state, path, path === "shared.md" ? [target, "https://h#3"] : [target]);
    }
    const orphans = await orphansOf(state, paths);
    await removeOrphans({
      ...request,
      orphans,
      remove: async ({ id }) => {
        if (id === "left.md") throw new CliError("usage", "no");
        if (id === "replaced.md") {
          state.save({ accepted: [acceptedRecord(id, target, tombstoneMark)] });
          return "tombstoned";
        }
        state.dropAccepted(target, id);
        return "deleted";
      },
    });
    expect(paths.filter((path) => state.file(path))).toEqual(["shared.md", "left.md"]);
    state.close();
  });
});

import { expect, it } from "vitest";
import { ApiError, CliError } from "../../../src/errors.ts";
import {
  collectOrphans,
  type OrphanTable,
  type Orphan,
  removeOrphans,
} from "../../../src/sync/orphans/orphans.ts";
import { tombstoneMark, type AcceptedRecord } from "../../../src/sync/state/records.ts";
import type { State } from "../../../src/sync/state/state.ts";
import { openTestState } from "../open-state.ts";

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

import { expect, it } from "vitest";
import { createPlanIds } from "../../../src/sync/plan/plan-ids.ts";
import { openTestState } from "../open-state.ts";

type Given = [id: string, path: string, part?: number];

const underscored = (id: string): string => id.replaceAll(" ", "_");

/** Adds documents in order; those without a path are not among the pending ones. */
async function check(
  given: readonly Given[],
  storedId?: (id: string) => string,
): Promise<{ hasDuplicates: boolean; kept: number; asked: number }> {
  const { database } = await openTestState();
  const pending: { id: string; path: string; part: number }[] = [];
  let asked = 0;
  const ids = createPlanIds({
    database,
    storedId,
    idPrefix: "p/",
    pending: () => {
      asked++;
      return pending;
    },
  });
  for (const [id, path, part = 0] of given) {
    if (path === "") ids.add(id);
    else {
      pending.push({ id, path, part });
      ids.addPending(id, path, part);
    }
  }
  const hasDuplicates = ids.hasDuplicates();
  const kept = Number(database.prepare("SELECT count(*) AS n FROM temp.ids").get()?.["n"]);
  return { hasDuplicates, kept, asked };
}

const paths = ["a.md", "b.md", "c.md"].map((path): Given => [`p/${path}`, path]);

it("keeps nothing of ids that are the paths of their files", async () => {
  expect(await check(paths)).toEqual({ hasDuplicates: false, kept: 0, asked: 0 });
});

it.each<[string, Given[], number]>([
  ["another id, after them", [...paths, ["x", "d.md"]], 4],
  ["another id, before them", [["x", "d.md"], ...paths], 4],
  ["a row of a file", [...paths, ["p/d.csv", "d.csv", 1]], 4],
  ["what is not pending", [...paths, ["p/d.md", ""]], 4],
  ["a path that is normalised", [...paths, ["p/é.md", "é.md"]], 4],
])("keeps all once there is %s", async (_name, given, kept) => {
  expect(await check(given)).toEqual({ hasDuplicates: false, kept, asked: 1 });
});

it.each<[string, Given[]]>([
  ["of a path and of another file after it", [...paths, ["p/b.md", "x.md"]]],
  ["of a path and of another file before it", [["p/b.md", "x.md"], ...paths]],
  ["of two other files", [...paths, ["x", "d.md"], ["x", "e.md"]]],
  ["of a path and of what is not pending", [...paths, ["p/b.md", ""]]],
  [
    "of two rows",
    [
      ["r", "d.csv", 1],
      ["r", "d.csv", 2],
    ],
  ],
  [
    "of two files of one normalised name",
    [
      ["p/é.md", "é.md"],
      ["p/é.md", "é.md"],
    ],
  ],
])("finds one id %s", async (_name, given) => {
  expect(await check(given)).toMatchObject({ hasDuplicates: true });
});

it("compares ids as the service stores them", async () => {
  const given: Given[] = [
    ["p/a_b.md", "a_b.md"],
    ["p/a b.md", "a b.md"],
  ];
  expect(await check(given)).toMatchObject({ hasDuplicates: false });
  expect(await check(given, underscored)).toMatchObject({ hasDuplicates: true });
  expect(await check(given.toReversed(), underscored)).toMatchObject({ hasDuplicates: true });
});

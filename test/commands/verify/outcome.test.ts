import { expect, it } from "vitest";
import { foundProblems } from "../../../src/commands/ingest/upload/check-sent.ts";
import { statusOf } from "../../../src/commands/verify/outcome.ts";
import { emptyCounts } from "../../../src/output/report/from/verify.ts";

it.each([
  [{ current: 3, present: 1 }, false, 0, "passed"],
  [{ current: 3, stale: 1, unknown: 1 }, false, 0, "failed"],
  [{ current: 3, unknown: 1 }, false, 0, "partial"],
  [{ current: 3 }, false, 1, "partial"],
  [{ hidden: 2 }, false, 0, "failed"],
  [{ hidden: 2 }, true, 0, "passed"],
  [{ hidden: 2, current: 1 }, true, 0, "failed"],
] as const)("%j, leak test %s, %i unread: %s", (counts, expectsHidden, unread, expected) => {
  expect(statusOf({ ...emptyCounts(), ...counts }, expectsHidden, unread)).toBe(expected);
});

it.each([
  [{ current: 1 }, { missing: 0, hidden: 0, unknown: 0 }, []],
  [{ unknown: 1 }, { missing: 0, hidden: 0, unknown: 0 }, ["partial"]],
  [{ unknown: 1 }, { missing: 1, hidden: 0, unknown: 0 }, ["checks-failed", "partial"]],
  [
    { stale: 1, unknown: 1 },
    { missing: 0, hidden: 1, unknown: 1 },
    ["checks-failed", "checks-failed"],
  ],
  [{ current: 1 }, { missing: 0, hidden: 0, unknown: 1 }, ["partial"]],
] as const)("of an upload %j, found missing before %j: %s", (counts, unfound, exits) => {
  const verified = { ...emptyCounts(), ...counts };
  const problems = foundProblems(verified, unfound, false);
  expect(problems.map(({ exit }) => exit)).toEqual(exits);
});

it("names everything that an earlier check did not find", () => {
  const unfound = { missing: 2, hidden: 1, unknown: 3 };
  const [problem] = foundProblems(undefined, unfound, false);
  expect(problem?.message).toBe(
    "2 documents of earlier runs were not in the index, 1 hidden, 3 undecided when last checked",
  );
});

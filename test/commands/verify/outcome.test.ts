import { expect, it } from "vitest";
import { statusOf } from "../../../src/commands/verify/outcome.ts";
import { emptyCounts } from "../../../src/output/verify.ts";

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

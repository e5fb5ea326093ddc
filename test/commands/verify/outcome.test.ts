import { expect, it } from "vitest";
import { failUnlessFound } from "../../../src/commands/ingest/upload/check-sent.ts";
import { CliError } from "../../../src/errors.ts";
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

it.each([
  [{ current: 1 }, undefined, undefined],
  [{ unknown: 1 }, undefined, "partial"],
  [{ unknown: 1 }, { missing: 1, hidden: 0, unknown: 0 }, "checks-failed"],
  [{ stale: 1, unknown: 1 }, { missing: 0, hidden: 1, unknown: 1 }, "checks-failed"],
  [{ current: 1 }, { missing: 0, hidden: 0, unknown: 1 }, "partial"],
] as const)("of an upload %j, found missing before %j: %s", async (counts, unfound, exit) => {
  const verified = { ...emptyCounts(), ...counts };
  const error: unknown = await failUnlessFound(verified, unfound, false).catch((thrown) => thrown);
  expect(error instanceof CliError ? error.exit : error).toBe(exit);
});

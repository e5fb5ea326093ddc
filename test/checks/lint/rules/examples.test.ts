import { describe, expect, it } from "vitest";
import type { Rule } from "../../../../src/checks/lint/rule.ts";
import { collidingId } from "../../../../src/checks/lint/rules/identity/colliding-id.ts";
import { duplicateId } from "../../../../src/checks/lint/rules/identity/duplicate-id.ts";
import { duplicateTitle } from "../../../../src/checks/lint/rules/identity/duplicate-title.ts";
import { missingTitle } from "../../../../src/checks/lint/rules/identity/missing-title.ts";
import { deadLink } from "../../../../src/checks/lint/rules/links/dead-link.ts";
import { missingAnchor } from "../../../../src/checks/lint/rules/links/missing-anchor.ts";
import { missingImage } from "../../../../src/checks/lint/rules/links/missing-image.ts";
import { sharedLink } from "../../../../src/checks/lint/rules/links/shared-link.ts";
import { nearDuplicate } from "../../../../src/checks/lint/rules/near-duplicates/near-duplicate.ts";
import { numbersDisagree } from "../../../../src/checks/lint/rules/near-duplicates/numbers-disagree.ts";
import { filesOf, lint } from "./pages.ts";

const rules: readonly Rule[] = [
  collidingId,
  duplicateId,
  duplicateTitle,
  missingTitle,
  deadLink,
  missingAnchor,
  missingImage,
  sharedLink,
  nearDuplicate,
  numbersDisagree,
];

describe("the examples of a rule", () => {
  it.each(rules.map((rule) => [rule.name, rule] as const))("%s", async (_, rule) => {
    expect(await lint(rule, filesOf(rule.bad))).toHaveLength(1);
    expect(await lint(rule, filesOf(rule.good))).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { identityRules } from "../../../../src/checks/lint/rules/identity.ts";
import { linkRules } from "../../../../src/checks/lint/rules/links.ts";
import { nearDuplicateRules } from "../../../../src/checks/lint/rules/near-duplicates.ts";
import { filesOf, lint } from "./pages.ts";

const rules = [...identityRules, ...linkRules, ...nearDuplicateRules];

describe("the examples of a rule", () => {
  it.each(rules.map((rule) => [rule.name, rule] as const))("%s", async (_, rule) => {
    expect(await lint(rule, filesOf(rule.bad))).toHaveLength(1);
    for (const each of rules) expect(await lint(each, filesOf(rule.good))).toEqual([]);
  });
});

import { expect, it } from "vitest";
import { costOf } from "../../../src/commands/eval/cases.ts";
import { parseSuite } from "../../../src/commands/eval/load-suite.ts";

const judged = { judge: { rubric: "names a number", threshold: 0.5 } };
const { cases } = parseSuite(
  JSON.stringify({
    version: 1,
    judge: { base_url: "http://127.0.0.1:9/v1", model: "m" },
    cases: [
      { id: "plain", question: "a", expect: ["answered", judged], repeat: 2 },
      { id: "leak", question: "b", profile: "intern", must_not_retrieve: ["a.md"], repeat: 3 },
      {
        id: "judged-leak",
        question: "c",
        profile: "intern",
        expect: [{ "not-retrieves": "a.md" }, judged],
      },
      { id: "draft", question: "d", expect: ["answered"], review: true },
    ],
  }),
  "suite.json",
);

it.each([
  ["answers", true, { cases: 3, questions: 2 + 4 + 2, calls: 16, judgeCalls: 2 + 1 }],
  ["answers", false, { cases: 3, questions: 8, calls: 16, judgeCalls: 0 }],
  ["retrieval", false, { cases: 2, questions: 2 + 2, calls: 8, judgeCalls: 0 }],
] as const)("the cost of eval %s, judged: %s", (kind, judges, cost) => {
  expect(costOf(cases, { calls: 2 }, { kind, judges })).toEqual(cost);
});

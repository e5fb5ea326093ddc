import type { EvalCase } from "../../../src/checks/eval/suite/suite.ts";

/** A case that expects nothing yet. */
export const plainCase: EvalCase = {
  id: "a",
  group: undefined,
  question: "leave?",
  agent: undefined,
  filters: {},
  profile: undefined,
  k: 5,
  match: "all",
  mustRetrieve: [],
  mustNotRetrieve: [],
  expect: [],
  repeat: 1,
  threshold: 1,
  needsReview: false,
  place: { file: "suite.yaml", line: 3, column: 5 },
};

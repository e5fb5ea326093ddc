import { hash } from "node:crypto";
import type { EvalCase, Judge } from "./suite.ts";

/** JSON whose members are in the order of their names. */
function stable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stable);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== "place");
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, stable(each)]),
  );
}

/**
 * Hash of what decides the results of a suite. Its layout, the order and the groups of its cases, and
 * cases that wait for a review do not count.
 */
export function digestOf(cases: readonly EvalCase[], judge: Judge | undefined): string {
  const counting = cases
    .filter(({ needsReview }) => !needsReview)
    .map(({ group: _group, needsReview: _mark, ...rest }) => rest)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const usesJudge = counting.some(({ expect }) => expect.some(({ word }) => word === "judge"));
  const basis = { cases: counting, judge: usesJudge ? judge : undefined };
  return hash("sha256", JSON.stringify(stable(basis)), "hex");
}

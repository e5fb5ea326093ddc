import { createHash } from "node:crypto";
import { leakWords } from "../leak-control.ts";
import type { EvalKind } from "../result.ts";
import type { EvalCase } from "./suite.ts";

/**
 * Digest of everything in a case that decides its result, as 16 hex digits. Group, place and the
 * order of a suite do not; nor k for answers; nor agent, words and repetitions for retrieval.
 */
export function caseDigest(of: EvalCase, kind: EvalKind): string {
  const { id, question, agent, filters, profile, k, match, repeat, threshold } = of;
  const wanted = of.mustRetrieve.map(({ document, relevance }) => [document, relevance]);
  const unwanted = of.mustNotRetrieve.map(({ document }) => document);
  const expect = of.expect.map(({ word, isNot, value }) => [word, isNot, value]);
  const asked = { id, question, filters, profile, match, wanted, unwanted };
  const more =
    kind === "answers" ? { agent, repeat, threshold, expect } : { k, leaks: leakWords(of) };
  return createHash("sha256")
    .update(JSON.stringify({ ...asked, ...more }))
    .digest("hex")
    .slice(0, 16);
}

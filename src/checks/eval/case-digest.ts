import { createHash } from "node:crypto";
import type { EvalCase } from "./suite.ts";

/**
 * Digest of everything in a case that decides its result, as 16 hex digits. Group, place and the
 * order of a suite do not.
 */
export function caseDigest(of: EvalCase): string {
  const { id, question, agent, filters, profile, k, match, repeat, threshold } = of;
  const wanted = of.mustRetrieve.map(({ document, relevance }) => [document, relevance]);
  const unwanted = of.mustNotRetrieve.map(({ document }) => document);
  const expect = of.expect.map(({ word, isNot, value }) => [word, isNot, value]);
  const asked = { id, question, agent, filters, profile, k, match, repeat, threshold };
  return createHash("sha256")
    .update(JSON.stringify({ ...asked, wanted, unwanted, expect }))
    .digest("hex")
    .slice(0, 16);
}

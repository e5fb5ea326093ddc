import { expect, it } from "vitest";
import { caseDigest } from "../../../../src/checks/eval/judge-case.ts";
import type { EvalCase } from "../../../../src/checks/eval/suite/suite.ts";
import { plainCase as plain } from "../plain-case.ts";

const { place } = plain;
const document = { path: "a.md" };
const contains = { word: "contains", isNot: false, value: "28", place };

it.each<[keyof EvalCase, Partial<EvalCase>, retrieval: boolean, answers: boolean]>([
  ["id", { id: "b" }, true, true],
  ["question", { question: "lunch?" }, true, true],
  ["filters", { filters: { tags: ["a=b"] } }, true, true],
  ["profile", { profile: "intern" }, true, true],
  ["match", { match: "any" }, true, true],
  ["mustRetrieve", { mustRetrieve: [{ document, relevance: 1, place }] }, true, true],
  ["mustNotRetrieve", { mustNotRetrieve: [{ document, relevance: 1, place }] }, true, true],
  ["k", { k: 1 }, true, false],
  ["agent", { agent: 3 }, false, true],
  ["expect", { expect: [contains] }, false, true],
  ["repeat", { repeat: 2 }, false, true],
  ["threshold", { threshold: 0.5 }, false, true],
  ["group", { group: "people" }, false, false],
  ["place", { place: { ...place, line: 9 } }, false, false],
])("the digest of a case changes with its %s where that decides its result", (...row) => {
  const [, change, retrieval, answers] = row;
  const changes = (kind: "retrieval" | "answers"): boolean =>
    caseDigest({ ...plain, ...change }, kind) !== caseDigest(plain, kind);
  expect([changes("retrieval"), changes("answers")]).toEqual([retrieval, answers]);
});

it("the digest of a case changes with the relevance of a document and with not-", () => {
  const wanting = (relevance: number): EvalCase => ({
    ...plain,
    mustRetrieve: [{ document, relevance, place }],
  });
  expect(caseDigest(wanting(2), "retrieval")).not.toBe(caseDigest(wanting(1), "retrieval"));
  const expecting = (isNot: boolean): EvalCase => ({ ...plain, expect: [{ ...contains, isNot }] });
  expect(caseDigest(expecting(true), "answers")).not.toBe(caseDigest(expecting(false), "answers"));
});

import { describe, expect, it } from "vitest";
import {
  caseDigest,
  collapseRuns,
  judgeCase,
  runThatShows,
  skipReason,
} from "../../../src/checks/eval/judge-case.ts";
import { type Reply, checkJudgement, readJudgement } from "../../../src/checks/eval/replies.ts";
import { createDocumentMatch } from "../../../src/checks/eval/documents.ts";
import type { EvalKind, EvalRun, RetrievedDocument } from "../../../src/checks/eval/result.ts";
import type { EvalCase } from "../../../src/checks/eval/suite/suite.ts";
import { plainCase, plainCase as plain } from "./sample.ts";

describe("judge case", () => {
  const plain: EvalCase = { ...plainCase, k: 2 };
  const { place } = plain;
  const wanted = (path: string) => ({ document: { path }, relevance: 1, place });
  const documentOf = (id: string | null, index = 0): RetrievedDocument => ({
    rank: index + 1,
    id,
    title: "Title",
    link: id === null ? "https://docs.example.com/x" : null,
    path: null,
    snippet: null,
  });
  const replyOf = (...ids: (string | null)[]): Reply => ({
    retrieved: ids.map(documentOf),
    cited: [],
    elapsedMs: 5,
    calls: 0,
  });
  const matches = createDocumentMatch({ idsOfPath: (path) => [path], storedIds: (id) => [id] });
  const rulesOf = (kind: EvalKind, judges = false) => ({ kind, judges, drafts: false, matches });
  const retrieval = rulesOf("retrieval");

  describe("collapseRuns", () => {
    it.each([
      ["PPP", 1, "passed"],
      ["PPF", 1, "flaky"],
      ["PPF", 2 / 3, "passed"],
      ["PFF", 2 / 3, "flaky"],
      ["FFF", 0.1, "failed"],
      ["PEP", 1, "error"],
      ["PEE", 1 / 3, "error"],
      ["FEP", 1, "flaky"],
      ["FEF", 1, "failed"],
      ["EEE", 1, "error"],
      ["FEF", 0.3, "error"],
    ])("%s with a threshold of %d is %s", (letters, threshold, outcome) => {
      const names = { P: "passed", F: "failed", E: "error" } as const;
      const runs = [...letters].map((letter) => ({ outcome: names[letter as "P"] }));
      expect(collapseRuns(runs, threshold)).toBe(outcome);
    });

    it("shows a failing run of a flaky case", () => {
      const run = (outcome: EvalRun["outcome"], elapsedMs: number): EvalRun => ({
        outcome,
        elapsedMs,
        retrieved: [],
        cited: [],
        checks: [],
        calls: 0,
      });
      const runs = [run("passed", 1), run("failed", 2)];
      expect(runThatShows(runs, "flaky")?.elapsedMs).toBe(2);
      expect(runThatShows(runs, "passed")?.elapsedMs).toBe(1);
    });
  });

  describe("a draft that is asked", () => {
    const draft = { ...plain, mustRetrieve: [wanted("b")], needsReview: true };
    const rules = { ...retrieval, drafts: true };

    it.each([
      ["passed", { runs: [replyOf("b")] }, "provisional: passed"],
      ["failed", { runs: [replyOf("a")] }, "provisional: failed"],
      [
        "error",
        { runs: [{ ...replyOf(), error: "no response" }] },
        "provisional: error: no response",
      ],
    ])("%s is provisional, and counts as skipped", (provisional, replies, reason) => {
      expect(skipReason(draft, rules)).toBe(undefined);
      const judged = judgeCase(draft, replies, rules);
      expect(judged).toMatchObject({ outcome: "skipped", provisional, reason });
      expect(judged.metrics).toEqual({ hit: null, recall: null, mrr: null, ndcg: null });
    });
  });

  describe("judgeCase", () => {
    it("counts the first k documents of a search, and all of an answer", () => {
      const third = { ...plain, mustRetrieve: [wanted("c")] };
      const replies = { runs: [replyOf("a", "b", "c")] };
      expect(judgeCase(third, replies, retrieval)).toMatchObject({ outcome: "failed", k: 2 });
      const answer = judgeCase(third, replies, rulesOf("answers"));
      expect(answer.outcome).toBe("passed");
      expect(answer).not.toHaveProperty("k");
    });

    it("cannot rule out a document among some without ids, only a link", () => {
      const absent = { ...plain, mustNotRetrieve: [wanted("a")] };
      const replies = { runs: [replyOf(null)] };
      expect(judgeCase(absent, replies, retrieval)).toMatchObject({
        outcome: "error",
        reason: expect.stringContaining("cannot tell whether a is among the documents"),
      });
      const link = { document: { link: "https://docs.example.com/y" }, relevance: 1, place };
      const byLink = { ...plain, mustNotRetrieve: [link] };
      expect(judgeCase(byLink, replies, retrieval).outcome).toBe("passed");
      // A failed check decides, whatever the undecided one is.
      const both = { ...absent, mustRetrieve: [link] };
      expect(judgeCase(both, replies, retrieval).outcome).toBe("failed");
      const any = { ...plain, match: "any" as const, mustRetrieve: [wanted("a"), wanted("b")] };
      expect(judgeCase(any, replies, retrieval).outcome).toBe("error");
      expect(judgeCase(any, { runs: [replyOf(null, "b")] }, retrieval).outcome).toBe("passed");
    });

    it("a case in error has 0 in each metric", () => {
      const one = { ...plain, mustRetrieve: [wanted("a")] };
      const failed = { ...replyOf("a"), error: "timeout" };
      expect(judgeCase(one, { runs: [failed] }, retrieval)).toMatchObject({
        outcome: "error",
        reason: "timeout",
        metrics: { hit: 0, recall: 0, mrr: 0, ndcg: 0 },
      });
    });

    it("a leak test counts only with a control that gets the document", () => {
      const leak = { ...plain, profile: "intern", mustNotRetrieve: [wanted("a")] };
      const runs = [replyOf("b")];
      const outcome = (control: Reply | undefined): string =>
        judgeCase(leak, { runs, control }, retrieval).outcome;
      expect(outcome(replyOf("a"))).toBe("passed");
      // Whoever gets the document at any rank gets it.
      expect(outcome(replyOf("b", "c", "a"))).toBe("passed");
      expect(outcome(replyOf("b", "c"))).toBe("error");
      expect(outcome(undefined)).toBe("error");
      expect(outcome({ ...replyOf("a"), error: "timeout" })).toBe("error");
      const late = { runs: [replyOf("b", "c", "a")], control: replyOf("a") };
      expect(judgeCase(leak, late, retrieval)).toMatchObject({
        outcome: "failed",
        checks: [{ word: "must_not_retrieve", detail: "came at rank 3" }],
      });
      const seen = judgeCase(leak, { runs: [replyOf("a")], control: replyOf("b") }, retrieval);
      expect(seen.outcome).toBe("failed");
    });
  });

  it("a leak test of `not-retrieves` counts in a search as well, at any rank", () => {
    const not = { word: "retrieves", isNot: true, value: [{ path: "a" }], place };
    const leak = { ...plain, profile: "intern", expect: [not] };
    expect(skipReason(leak, { kind: "retrieval", judges: false, drafts: false })).toBe(undefined);
    const judge = (...ids: (string | null)[]) =>
      judgeCase(leak, { runs: [replyOf(...ids)], control: replyOf("c", "b", "a") }, retrieval);
    expect(judge("b").outcome).toBe("passed");
    expect(judge("b", "c", "a")).toMatchObject({
      outcome: "failed",
      checks: [{ word: "not-retrieves", detail: "came at rank 3" }],
    });
    expect(judge(null).outcome).toBe("error");
  });

  it("ranks what a case names among what came, and marks what it is", () => {
    const named = {
      ...plain,
      mustRetrieve: [wanted("a"), wanted("gone")],
      mustNotRetrieve: [wanted("board")],
    };
    const reply = { ...replyOf("board", "a", "x"), cited: [documentOf("a")] };
    const judged = judgeCase(named, { runs: [reply] }, retrieval);
    expect(judged.expected.map(({ rank }) => rank)).toEqual([2, null]);
    expect(judged.unwanted).toEqual([{ document: { path: "board" }, path: "board", rank: 1 }]);
    expect(judged.retrieved.map(({ role }) => role)).toEqual(["unwanted", "expected", null]);
    expect(judged.cited.map(({ role }) => role)).toEqual(["expected"]);
  });

  it("skips drafts, and what a command does not check", () => {
    const answered = { word: "answered", isNot: false, value: true, place };
    const judge = { ...answered, word: "judge", value: { rubric: "good", threshold: 0.5 } };
    const reason = (more: Partial<EvalCase>, kind: EvalKind, judges = false) =>
      skipReason({ ...plain, ...more }, { kind, judges, drafts: false });
    expect(reason({ needsReview: true, expect: [answered] }, "answers")).toContain("drafted");
    expect(reason({ expect: [answered] }, "retrieval")).toContain("names no document");
    expect(reason({ expect: [answered] }, "answers")).toBe(undefined);
    expect(reason({ expect: [judge] }, "answers")).toContain("--judge");
    expect(reason({ expect: [judge] }, "answers", true)).toBe(undefined);
    expect(reason({ expect: [answered, judge] }, "answers")).toBe(undefined);
  });

  it.each([
    ['{"score": 0.5, "reason": "so"}', { score: 0.5, reason: "so" }],
    [' {"score": 0}\n', { score: 0, reason: "" }],
    ['```json\n{"score": 1}\n```', { score: 1, reason: "" }],
  ])("reads the judgement %j", (text, judgement) => {
    expect(readJudgement(text)).toEqual(judgement);
  });

  it.each([
    "",
    "good",
    "1",
    "null",
    "[]",
    '{"score": "1"}',
    '{"score": -0.1}',
    '{"score": 1.1}',
    '{"pass": true}',
    '{"score": 1} and {"score": 0}',
  ])("gives no score for %j", (text) => {
    const read = readJudgement(text);
    expect(read.score).toBe(undefined);
    expect(read.error).toContain("the judge's reply");
  });

  it("passes a score that reaches the threshold", () => {
    const expectation = {
      word: "judge",
      isNot: false,
      value: { rubric: "r", threshold: 0.7 },
      place,
    };
    const passes = (score: number) => checkJudgement(expectation, { index: 0, score, reason: "" });
    expect(passes(0.7)).toMatchObject({ check: { passed: true } });
    expect(passes(0.69)).toMatchObject({ check: { passed: false } });
  });
});

describe("case digest", () => {
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
    const expecting = (isNot: boolean): EvalCase => ({
      ...plain,
      expect: [{ ...contains, isNot }],
    });
    expect(caseDigest(expecting(true), "answers")).not.toBe(
      caseDigest(expecting(false), "answers"),
    );
  });
});

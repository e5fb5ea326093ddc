import { describe, expect, it } from "vitest";
import { costOf } from "../../../src/commands/eval/cases.ts";
import { parseSuite } from "../../../src/commands/eval/load-suite.ts";
import { createGate } from "../../../src/api/retry/gate.ts";
import { retrievedOf, timedGate } from "../../../src/commands/eval/ask.ts";
import { createTestContext, temporaryFolder } from "../../support.ts";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sectionLinesIn } from "../../../src/commands/eval/results.ts";

describe("cost", () => {
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
    expect(costOf(cases, { calls: 2 }, { kind, judges, drafts: false })).toEqual(cost);
  });
});

describe("ask", () => {
  it("documents that an administrator hides count for no case, and take no rank", () => {
    const found = { title: "T", link: null, text: "", source: null, updatedAt: null, score: null };
    const documents = ["hidden", "shown"].map((id) => ({ ...found, id, hidden: id === "hidden" }));
    expect(retrievedOf(documents, "leave?")).toMatchObject([{ id: "shown", rank: 1 }]);
  });

  it("the latency of an answer begins when its request is admitted", async () => {
    const { signal, ...clock } = createTestContext({});
    let nowMs = 0;
    const elapsed = (): number => nowMs;
    const gate = createGate({ ceiling: 1, clock, signal });
    await gate.enter();
    const timed = timedGate(gate, { elapsed });
    const entered = timed.gate.enter();
    nowMs = 70;
    gate.succeed(0);
    await entered;
    nowMs = 100;
    expect(timed.elapsedMs()).toBe(30);
  });
});

describe("the line of an expected section", () => {
  const lineOf = (text: string, link: string, path: string | null = "a.md") => {
    const root = temporaryFolder();
    writeFileSync(join(root, "a.md"), text);
    return sectionLinesIn(root)({ document: { link }, relevance: 1, path, rank: null });
  };
  const text = "---\ntitle: A\n---\n# Top\n\ntext\n\n## Annual leave\n\n## Größe & mehr\n";

  it.each([
    ["https://docs.example.com/a#annual-leave", 8],
    ["https://docs.example.com/a#gr%C3%B6%C3%9Fe--mehr", 10],
    ["https://docs.example.com/a#gone", undefined],
    ["https://docs.example.com/a#%", undefined],
    ["https://docs.example.com/a", undefined],
  ])("of %s is %s", (link, line) => {
    expect(lineOf(text, link)).toBe(line);
    expect(lineOf(`\ufeff${text.replaceAll("\n", "\r\n")}`, link)).toBe(line);
  });

  it("is not known without the file, or in a file with broken front matter", () => {
    expect(lineOf(text, "x#annual-leave", "gone.md")).toBe(undefined);
    expect(lineOf(text, "x#annual-leave", null)).toBe(undefined);
    expect(lineOf("---\n: [\n---\n# Top", "x#top")).toBe(undefined);
  });

  it("is not known for a document that is named by its path", () => {
    const lines = sectionLinesIn(temporaryFolder());
    const expected = { document: { path: "a.md" }, relevance: 1, path: "a.md", rank: null };
    expect(lines(expected)).toBe(undefined);
  });
});

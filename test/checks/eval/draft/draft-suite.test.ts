import { describe, expect, it } from "vitest";
import { draftSuite, type DraftCase } from "../../../../src/checks/eval/draft.ts";
import { parseSuite } from "../../../../src/commands/eval/load-suite.ts";
import * as fc from "../../../property.ts";

const draft: DraftCase = {
  name: "docs/leave",
  group: "docs",
  question: "What is in Leave?",
  mustRetrieve: [{ path: "docs/leave.md" }],
};

const parse = (drafts: readonly DraftCase[]) =>
  parseSuite(draftSuite(drafts, "files", ["Check it."]), "s.yaml").cases;

it("is text that people edit", () => {
  const asked: DraftCase = {
    name: "What about Friday?",
    group: "cited",
    question: "What about Friday?",
    mustRetrieve: [],
    remark: "answered with citations",
    proposed: [{ document: { id: "a b" }, title: "Friday\n- evil: true" }],
  };
  expect(draftSuite([draft, asked], "2 of 3 files", ["Write it.", "Check it."])).toBe(
    `# Drafted by \`knowctl eval init\` from 2 of 3 files.
# No case counts yet. For each case:
# 1. Write it.
# 2. Check it.
version: 1
cases:
  - id: docs-leave
    group: docs
    question: What is in Leave?
    must_retrieve:
      - docs/leave.md
    review: true
  # answered with citations
  - id: What-about-Friday
    group: cited
    question: What about Friday?
    # The stored answer cites these. Check them, and keep the right ones:
    # must_retrieve:
    #   - { id: a b } # Friday - evil: true
    review: true
`,
  );
});

describe("the draft", () => {
  it("gives each case an id of its own, whatever the case of its name", () => {
    const names = ["docs/Leave", "docs/leave", "docs leave", "???", "!!!"];
    const ids = parse(names.map((name) => ({ ...draft, name }))).map(({ id }) => id);
    expect(ids).toEqual(["docs-Leave", "docs-leave-2", "docs-leave-3", "case", "case-2"]);
  });

  it("gives different ids to names that differ in their Unicode normalisation only", () => {
    const names = ["fa\u00e7ade", "fac\u0327ade"];
    const ids = parse(names.map((name) => ({ ...draft, name }))).map(({ id }) => id);
    expect(ids).toEqual(["fa\u00e7ade", "fa\u00e7ade-2"]);
  });

  it("loads with a folder that is too long for a group", () => {
    const group = `${"deep/".repeat(19)}folde\u{1f600}`;
    expect(parse([{ ...draft, group }])[0]?.group).toHaveLength(100);
    expect(parse([{ ...draft, group: `a${group}` }])[0]?.group).toHaveLength(100);
  });

  it("keeps braces in a question: they name no variable", () => {
    const question = "What does {{ leave }} mean in a {{template}}?";
    expect(parse([{ ...draft, question }])[0]?.question).toBe(question);
  });

  it("marks each case for review", () => {
    expect(parse([draft, draft]).every(({ needsReview }) => needsReview)).toBe(true);
  });

  it("loads again as drafted, whatever the texts are", () => {
    const text = fc.string({ unit: "binary", minLength: 1, maxLength: 40 });
    const loads = (question: string, path: string): void => {
      fc.pre(question.trim() !== "");
      const mustRetrieve = [{ id: path }];
      const [loaded] = parse([
        { ...draft, name: path, group: path, question, mustRetrieve, remark: question },
      ]);
      expect(loaded).toMatchObject({
        question: question.toWellFormed().trim(),
        group: path.toWellFormed(),
        mustRetrieve: [{ document: { id: path.toWellFormed() } }],
      });
    };
    fc.assert(fc.property(text, text, loads), fc.few(50));
  });
});

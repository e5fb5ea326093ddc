import { describe, expect, it } from "vitest";
import { checkSuite } from "../../../src/checks/eval/suite/check-suite.ts";
import { parseSuite } from "../../../src/commands/eval/load-suite.ts";
import { type DraftCase, draftSuite } from "../../../src/checks/eval/draft/suite-text.ts";
import * as fc from "../../property.ts";

describe("check suite", () => {
  const paths = ["docs/people/holidays.md", "docs/people/leave.md", "docs/travel/costs.md"];
  const leftOut = new Map([
    ["docs/draft.md", "a draft"],
    ["docs/old/plan.md", "excluded"],
  ]);

  /** Messages with their lines. */
  function problems(cases: string): string[] {
    const suite = parseSuite(`version: 1\ncases:\n${cases}`, "s.yaml");
    const found = checkSuite(suite, { paths, leftOut: (path) => leftOut.get(path) });
    return found.map(({ place, message }) => `${place.line}:${place.column}: ${message}`);
  }

  const withPart = (part: string): string[] => problems(`  - { id: a, question: q, ${part} }\n`);

  it("accepts a suite that can hold", () => {
    const all = problems(`  - id: a
    question: q
    must_retrieve: [docs/people/holidays.md, { id: anything }]
    must_not_retrieve: [{ link: "https://example.com" }]
    expect: [{ contains: 28 days }, { not-contains: 30 days }, { cites: docs/people/leave.md }]
`);
    expect(all).toEqual([]);
  });

  describe("documents", () => {
    it.each([
      ["docs/people/holiday.md", "does not exist; the nearest is docs/people/holidays.md"],
      ["docs/costs.md", "does not exist; the nearest is docs/travel/costs.md"],
      ["docs/people/zzzzzzzz.md", "does not exist"],
      ["../other/a.md", "is outside the project"],
      ["https://docs.example.com/a", 'is no path: write {link: "https://docs.example.com/a"}'],
      [String.raw`docs\people\leave.md`, "write it as docs/people/leave.md"],
      ["docs/draft.md", "is not uploaded: a draft"],
      ["docs/old/plan.md", "is not uploaded: excluded"],
    ])("%s %s", (path, message) => {
      for (const member of ["must_retrieve", "must_not_retrieve"]) {
        const [found] = withPart(`${member}: ['${path}']`);
        expect(found, member).toContain(message);
      }
      expect(withPart(`expect: [{ not-cites: '${path}' }]`)[0]).toContain(message);
    });
  });

  describe("expectations that cannot hold", () => {
    it.each([
      ["expect: [{ contains: 28 days }, { not-contains: 28 days }]", /not-contains in line 3/],
      ['expect: [{ contains: 28 days }, { not-contains: "28" }]', /cannot contain "28 days"/],
      ["expect: [{ contains: Days }, { not-icontains: days }]", /cannot contain "Days"/],
      ["expect: [{ icontains: Days }, { not-icontains: days }]", /cannot contain "Days"/],
      ["expect: [{ contains-all: [a, b] }, { not-contains-any: [b, c] }]", /cannot contain "b"/],
      [
        "expect: [{ contains-any: [a, b] }, { not-contains: a }, { not-contains: b }]",
        /"a" or "b"/,
      ],
      ["expect: [{ regex: a }, { not-regex: a }]", /regex and not-regex \(line 3\) exclude/],
      ["expect: [is-json, not-is-json]", /exclude each other/],
      ["expect: [{ latency: 100 }, { not-latency: 200 }]", /exclude each other/],
      ["expect: [{ min-sources: 3 }, { not-min-sources: 2 }]", /exclude each other/],
      ["expect: [answered, not-answered]", /exclude each other/],
      ["expect: [declined, answered]", /exclude each other/],
      ["expect: [declined, { min-sources: 1 }]", /exclude each other/],
      ["expect: [declined, { cites: { id: a } }]", /exclude each other/],
      ["expect: [{ cites: [{ id: a }] }, { not-cites: [{ id: b }, { id: a }] }]", /id a is both/],
      ["expect: [{ cites: { id: a } }, { not-retrieves: { id: a } }]", /id a is both/],
      [
        "must_retrieve: [{ id: a }], must_not_retrieve: [{ id: a }]",
        /id a is both wanted and unwanted/,
      ],
      ["must_retrieve: [{ id: a }, { id: a }]", /id a is named twice/],
      ["must_retrieve: [{ id: a }, { id: b }], k: 1", /2 documents cannot be among the first 1/],
    ])("%s", (part, message) => {
      const found = withPart(part);
      expect(found).toHaveLength(1);
      expect(found[0]).toMatch(message);
    });

    it.each([
      "expect: [{ icontains: Days }, { not-contains: days }]",
      "expect: [{ contains-any: [a, b] }, { not-contains: a }]",
      "expect: [{ contains-all: [a, b] }, { not-contains-all: [a, c] }]",
      "expect: [{ latency: 200 }, { not-latency: 100 }]",
      "expect: [{ min-sources: 2 }, { not-min-sources: 3 }]",
      "must_retrieve: [{ id: a }, { id: b }], k: 2",
      "expect: [{ min-sources: 6 }]",
      "expect: [{ retrieves: { id: a } }, { not-cites: { id: a } }]",
      "must_retrieve: [{ id: a }, { id: b }], k: 1, match: any",
      "must_retrieve: [{ id: a }, { id: b }], must_not_retrieve: [{ id: a }], match: any",
    ])("does not refuse what can hold: %s", (part) => {
      expect(withPart(part)).toEqual([]);
    });
  });

  describe("a suite without a case that counts", () => {
    it("is empty", () => {
      expect(problems("  []\n")).toEqual(["1:1: the suite has no cases"]);
    });

    it("has only drafts", () => {
      expect(withPart("k: 1, review: true")[0]).toMatch(/^1:1: each case waits for a review/);
    });

    it("has a case that expects nothing", () => {
      expect(withPart("k: 1")).toEqual([
        "3:5: the case a expects nothing: add must_retrieve, must_not_retrieve or expect",
      ]);
    });
  });

  it("lets drafts name what is gone", () => {
    const draft = "  - { id: b, question: q, must_retrieve: [gone.md], review: true }\n";
    const counts = "  - { id: a, question: q, must_retrieve: [{ id: a }] }\n";
    expect(problems(counts + draft)).toEqual([]);
  });
});

describe("draft suite", () => {
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
});

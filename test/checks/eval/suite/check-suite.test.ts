import { describe, expect, it } from "vitest";
import { checkSuite } from "../../../../src/checks/eval/suite/check-suite.ts";
import { parseSuite } from "../../../../src/commands/eval/load-suite.ts";

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
    ["expect: [{ contains-any: [a, b] }, { not-contains: a }, { not-contains: b }]", /"a" or "b"/],
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

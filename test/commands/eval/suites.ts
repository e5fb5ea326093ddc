/** Suites that the loader and the JSON Schema accept, by what they show. */
export const validSuites: Readonly<Record<string, string>> = {
  "the suite of the docs": `version: 1
defaults: { k: 5, agent: 3, repeat: 1, threshold: 1 }
variables: { product: Handbook }
cases:
  - id: leave-days
    group: people
    question: How many days of leave does {{product}} give?
    must_retrieve: [docs/people/holidays.md, { link: "https://docs.example.com/leave", relevance: 2 }]
    must_not_retrieve: [docs/people/holidays-2023.md]
    expect:
      - contains: 28 days
      - cites: [docs/people/holidays.md]
      - min-sources: 1
  - id: no-leak
    question: Where is the secret plan?
    profile: intern
    must_not_retrieve: [docs/board/plan.md]
`,
  "no cases": "version: 1\ncases: []\n",
  "every member": `version: 1
$schema: ./eval-suite.schema.json
defaults:
  agent: HR assistant
  filters: { source_types: [file], document_sets: [People], tags: ["team=people"], since: 30d }
  profile: intern
  k: 10
  match: any
  repeat: 3
  threshold: 0.6
variables: { year: 2026, größe: viel }
judge: { base_url: "http://localhost:11434/v1", model: small, key_variable: JUDGE_KEY }
cases:
  - id: Fälle.1_a-b
    group: a
    question: What about {{year}}?
    agent: 0
    filters: { since: "2026-01-31T08:00:00Z" }
    k: 1
    match: all
    must_retrieve: [{ id: a }, { path: b.md, relevance: 0.5 }]
    expect:
      - not-icontains: no
      - contains-any: [a, b]
      - not-contains-all: [a, b]
      - regex: "^a+$"
      - is-json
      - not-is-json: true
      - is-json: { type: object, required: [a] }
      - latency: 5000
      - cites: a.md
      - not-cites: { id: a }
      - retrieves: [a.md, { link: "https://d.example.com" }]
      - not-min-sources: 4
      - answered
      - not-declined: true
      - judge: { rubric: "Says {{year}}.", threshold: 0.8 }
    repeat: 5
    threshold: 1
    review: true
`,
};

/** Parts of a case that neither accepts, with a part of the message. */
export const invalidCases: readonly (readonly [part: string, message: RegExp])[] = [
  ["k: 0", /:6:8: cases\[0\]\.k: expected at least 1/],
  ["k: 1.5", /expected a whole number, found the number 1\.5/],
  ["threshold: 1.5", /threshold: expected at most 1/],
  ["threshold: 0", /threshold: expected more than 0/],
  ["repeat: 101", /repeat: expected at most 100/],
  ["review: yes", /review: expected true or false, found text/],
  ["agent: 1.5", /agent: expected the id or the name of an agent/],
  ["match: some", /match: expected all or any, found text/],
  ["filters: { tags: [people] }", /tags\[0\]: expected KEY=VALUE/],
  ["filters: { since: soon }", /since: expected 7d, 12h or a date/],
  [
    "filters: { tag: [a=b] }",
    /:6:16: unknown member cases\[0\]\.filters\.tag; did you mean "tags"/,
  ],
  ["must_retrieve: a.md", /must_retrieve: expected a list, found text/],
  ["must_retrieve: []", /must_retrieve: may not be empty/],
  ["must_retrieve: [3]", /\[0\]: expected a path, \{id: …\} or \{link: …\}, found the number 3/],
  ["must_retrieve: [{ path: a, id: b }]", /exactly one of path, id, link/],
  ["must_retrieve: [{ pth: a }]", /unknown member .*\.pth; did you mean "path"/],
  ["must_retrieve: [{ path: a, relevance: 0 }]", /relevance: expected more than 0/],
  ["must_not_retrieve: [{ path: a, relevance: 2 }]", /unknown member .*\.relevance/],
  ["must_retreive: [a.md]", /:6:5: unknown member .*; did you mean "must_retrieve"/],
  ["expect: contains", /expect: expected a list/],
  ["expect: [answerd]", /found "answerd"; did you mean "answered"/],
  ["expect: [contains]", /expected a word with its value, found "contains"/],
  ["expect: [{ contain: a }]", /unknown member .*\.contain; did you mean "contains"/],
  ["expect: [{ contains: 2026 }]", /expected text, found the number 2026; put it in quotes/],
  ['expect: [{ contains: "" }]', /may not be empty/],
  ["expect: [{ contains: a, regex: b }]", /write one word in each item/],
  ["expect: [{}]", /write one word in each item/],
  ["expect: [{ contains-any: a }]", /expected a list, found text/],
  ["expect: [{ latency: fast }]", /expected a number, found text/],
  ["expect: [{ answered: false }]", /expected true/],
  ["expect: [{ is-json: 3 }]", /expected true or a JSON Schema/],
  ["expect: [{ cites: [] }]", /may not be empty/],
  ["expect: [{ cites: [a.md, 3] }]", /cites\[1\]: expected a path/],
  ["expect: [{ judge: { rubric: good } }]", /judge\.threshold is missing/],
];

import { describe, expect, it } from "vitest";
import { createDocumentMatch } from "../../../src/checks/eval/documents.ts";
import { type WordInput, checkExpectation } from "../../../src/checks/eval/words.ts";
import { documentWith } from "./sample.ts";
import { parseSuite } from "../../../src/commands/eval/load-suite.ts";
import { checkJson, schemaProblem, schemaProblems } from "../../../src/checks/eval/is-json.ts";

describe("words", () => {
  const matches = createDocumentMatch({ idsOfPath: (path) => [path], storedIds: (id) => [id] });
  const place = { file: "s.yaml", line: 1, column: 1 };
  const doc = (id: string) => documentWith({ id });

  function input(part: Partial<WordInput>): WordInput {
    return { answer: "", cited: [], retrieved: [], elapsedMs: 0, matches, ...part };
  }

  /** True or false, or the text of the error. */
  function outcome(word: string, value: unknown, part: Partial<WordInput>): boolean | string {
    const isNot = word.startsWith("not-");
    const expectation = { word: isNot ? word.slice(4) : word, isNot, value, place };
    const result = checkExpectation(expectation, input(part));
    return "error" in result ? result.error : result.check.passed;
  }

  function detail(word: string, value: unknown, part: Partial<WordInput>): string | undefined {
    const isNot = word.startsWith("not-");
    const expectation = { word: isNot ? word.slice(4) : word, isNot, value, place };
    const result = checkExpectation(expectation, input(part));
    return "error" in result ? undefined : result.check.detail;
  }

  describe("words about the text", () => {
    const part = { answer: "You have 28 days of Leave at the café.", elapsedMs: 120 };
    it.each([
      ["contains", "28 days", true],
      ["contains", "leave", false],
      ["contains", "cafe\u0301", true],
      ["not-contains", "leave", true],
      ["icontains", "leave", true],
      ["not-icontains", "LEAVE", false],
      ["contains-any", ["30 days", "28 days"], true],
      ["contains-any", ["30 days"], false],
      ["not-contains-any", ["30 days", "28 days"], false],
      ["not-contains-any", ["30 days", "29 days"], true],
      ["contains-all", ["28", "Leave"], true],
      ["contains-all", ["28", "leave"], false],
      ["not-contains-all", ["28", "leave"], true],
      ["regex", String.raw`\b\d{2} days`, true],
      ["regex", "^days", false],
      ["not-regex", "^days", true],
      ["latency", 120, true],
      ["latency", 119, false],
      ["not-latency", 119, true],
    ])("%s %j: %s", (word, value, expected) => {
      expect(outcome(word, value, part)).toBe(expected);
    });

    it("shows what is missing", () => {
      expect(detail("contains-all", ["28", "x", "z"], part)).toBe('missing "x", "z"');
      expect(detail("not-contains-any", ["28"], part)).toBe('found "28"');
    });

    // A word that failed here would pass as its negation.
    it("ends an expression that would backtrack for ever: no verdict for its negation", () => {
      const slow = { answer: `${"a".repeat(60)}!` };
      expect(outcome("not-regex", "(a+)+$", slow)).toMatch(/takes too long/);
    });
  });

  it("is-json: an answer that is no JSON passes its negation", () => {
    for (const [answer, expected] of [
      ["{}", true],
      ["28 days", false],
    ] as const) {
      expect(outcome("is-json", true, { answer })).toBe(expected);
      expect(outcome("not-is-json", true, { answer })).toBe(!expected);
    }
  });

  describe("words about documents", () => {
    const part = { cited: [doc("a"), { ...doc("a"), rank: 2 }], retrieved: [doc("a"), doc("b")] };
    it.each([
      ["cites", [{ id: "a" }], true],
      ["cites", [{ id: "a" }, { path: "b" }], false],
      ["not-cites", [{ id: "b" }], true],
      ["not-cites", [{ id: "b" }, { id: "a" }], false],
      ["retrieves", [{ path: "a" }, { path: "b" }], true],
      ["retrieves", [{ id: "c" }], false],
      ["not-retrieves", [{ id: "c" }, { id: "b" }], false],
      ["not-retrieves", [{ id: "c" }, { id: "d" }], true],
      ["min-sources", 1, true],
      ["min-sources", 2, false],
      ["not-min-sources", 2, true],
    ])("%s %j: %s", (word, value, expected) => {
      expect(outcome(word, value, part)).toBe(expected);
    });

    it("names the documents", () => {
      expect(detail("cites", [{ id: "a" }, { path: "b" }], part)).toBe("not cited: b");
      expect(detail("not-retrieves", [{ id: "b" }], part)).toBe("retrieved: id b");
    });
  });

  describe("answered and declined", () => {
    const cited = [doc("a")];
    it.each([
      ["You have 28 days.", cited, "answered"],
      ["I couldn’t find anything about that.", [], "declined"],
      ["Das kann ich nicht beantworten.", [], "declined"],
      ["Je n’ai pas trouvé cette information.", [], "declined"],
      ["No encontré nada sobre eso.", [], "declined"],
      ["Não encontrei nada.", [], "declined"],
    ])("%s is decided", (answer, documents, state) => {
      const part = { answer, cited: documents };
      expect(outcome("answered", true, part)).toBe(state === "answered");
      expect(outcome("declined", true, part)).toBe(state === "declined");
      expect(outcome("not-answered", true, part)).toBe(state === "declined");
      expect(outcome("not-declined", true, part)).toBe(state === "answered");
    });

    it.each([
      ["You have 28 days.", []],
      ["I could not find the new number; the old one is 28.", cited],
      ["", []],
      ["[[1]](https://example.com/a) [2].", cited],
      ["Wie ich konnte keinem entgehen.", []],
    ])("%s cannot be decided: an error for each of the words", (answer, documents) => {
      for (const word of ["answered", "declined", "not-answered", "not-declined"]) {
        expect(outcome(word, true, { answer, cited: documents }), word).toMatch(/cannot tell/);
      }
    });
  });
});

describe("is json", () => {
  type Schema = Record<string, unknown>;

  const judge = (schema: Schema | true, answer: string): string | boolean | undefined => {
    const verdict = checkJson(schema, { answer });
    return "error" in verdict ? verdict.error : (verdict.detail ?? verdict.passed);
  };

  describe("a schema", () => {
    it.each<[Schema, valid: unknown[], invalid: unknown[]]>([
      [{}, [1, "a"], []],
      [{ type: "integer" }, [1, -2, 1.0], [1.5, "1", null]],
      [{ type: ["string", "null"] }, ["a", null], [1]],
      [{ type: "object" }, [{}], [[], null]],
      [{ required: ["a"] }, [{ a: 1 }, 3], [{}, { b: 1 }]],
      [{ properties: { a: { type: "string" } } }, [{ a: "x" }, {}, 3], [{ a: 1 }]],
      [{ properties: { a: true }, additionalProperties: false }, [{ a: 1 }], [{ a: 1, b: 1 }]],
      [{ additionalProperties: { type: "number" } }, [{ a: 1 }], [{ a: "x" }]],
      [{ items: { type: "integer" } }, [[], [1]], [["a"], [1, "a"]]],
      [{ contains: { const: 1 } }, [[2, 1]], [[], [2]]],
      [
        { uniqueItems: true },
        [[1, 2], [{ a: 1 }]],
        [
          [
            { a: 1, b: 2 },
            { b: 2, a: 1 },
          ],
        ],
      ],
      [{ minItems: 1, maxItems: 2 }, [[1]], [[], [1, 2, 3]]],
      [{ minLength: 2, maxLength: 2 }, ["ab", "😀😀"], ["a", "abc"]],
      [{ pattern: "^a+$" }, ["aa", 3], ["b"]],
      [{ minimum: 1, exclusiveMaximum: 3 }, [1, 2.5], [0.5, 3]],
      [{ maximum: 3, exclusiveMinimum: 1 }, [3, 1.5], [1, 3.5]],
      [{ enum: [1, { a: [2] }] }, [1, { a: [2] }], [2, { a: [] }]],
      [{ const: { a: 1 } }, [{ a: 1 }], [{ a: 2 }, null]],
      [{ anyOf: [{ type: "string" }, { minimum: 3 }] }, ["a", 3], [1]],
      [{ oneOf: [{ type: "number" }, { type: "integer" }] }, [1.5], [1, "a"]],
      [{ allOf: [{ required: ["a"] }, { required: ["b"] }] }, [{ a: 1, b: 1 }], [{ a: 1 }]],
      [{ not: { type: "string" } }, [1], ["a"]],
      [{ required: ["toString"] }, [3], [{}]],
      [{ $schema: "http://json-schema.org/draft-07/schema#", type: "string" }, ["a"], [1]],
      [
        { $defs: { n: { properties: { a: { $ref: "#/$defs/n" }, b: false } } }, $ref: "#/$defs/n" },
        [{ a: { a: {} } }],
        [{ a: { a: { b: 1 } } }],
      ],
    ])("%j", async (schema, valid, invalid) => {
      expect(await schemaProblem(schema)).toBeUndefined();
      for (const each of valid) expect(judge(schema, JSON.stringify(each))).toBe(true);
      for (const each of invalid) expect(judge(schema, JSON.stringify(each))).toMatch(/./);
    });
  });

  describe("the answer", () => {
    const schema = {
      type: "object",
      required: ["days"],
      properties: { days: { type: "integer" } },
    };
    it.each<[Schema | true, answer: string, said: string | boolean | RegExp]>([
      [true, '{"days": 28}', true],
      [true, "28 days", "the answer is not JSON"],
      [true, '```json\n{"days": 28}\n```', "the answer is not JSON"],
      [schema, '{"days": 28}', true],
      [schema, '{"days": "28"}', "days: must be integer"],
      [schema, "{}", "must have required property 'days'"],
      [{ items: { items: false } }, "[[], [1]]", "1.0: boolean schema is false"],
      [{ properties: { "a/b~c": false } }, '{"a/b~c": 1}', "a/b~c: boolean schema is false"],
      [{ pattern: "(a+)+$" }, JSON.stringify(`${"a".repeat(60)}!`), /takes too long/],
      [
        { properties: { a: { $ref: "#" } }, required: ["a"] },
        '{"a":'.repeat(50_000) + "1" + "}".repeat(50_000),
        /nested too deeply/,
      ],
    ])("%j", async (value, answer, said) => {
      if (value !== true) expect(await schemaProblem(value)).toBeUndefined();
      if (said instanceof RegExp) expect(judge(value, answer)).toMatch(said);
      else expect(judge(value, answer)).toBe(said);
    });
  });

  let deep: Schema = {};
  for (let depth = 0; depth < 20_000; depth++) deep = { not: deep };

  it.each<[Schema, RegExp]>([
    [{ typ: "string" }, /typ is not supported; did you mean "type"\?/],
    [{ type: "strin" }, /type must be equal to one of the allowed values/],
    [{ required: "a" }, /required must be array/],
    [{ pattern: "(" }, /pattern|regular expression/],
    [{ properties: { a: { minimum: "1" } } }, /properties\.a\.minimum must be number/],
    [{ anyOf: [{ items: { nope: 1 } }] }, /nope is not supported/],
    [{ format: "email" }, /format "email"/],
    [{ toString: 1 }, /toString is not supported/],
    [{ $async: true, required: ["a"] }, /\$async/],
    [{ $ref: "#/x" }, /can't resolve reference #\/x/],
    [{ $ref: "http://127.0.0.1:9/schema.json" }, /can't resolve reference http/],
    [{ $ref: "file:///etc/passwd" }, /can't resolve reference file/],
    [{ $ref: "#" }, /refers to itself/],
    [{ allOf: [{ $ref: "#" }] }, /refers to itself/],
  ])("a schema that would not be applied as written is refused: %j", async (schema, message) => {
    expect(await schemaProblem(schema)).toMatch(message);
  });

  it("a schema that is nested too deeply is refused", async () => {
    expect(await schemaProblem(deep)).toMatch(/nested too deeply/);
  });

  it("is an error of the suite, with its place", async () => {
    const suite = `version: 1
cases:
  - id: a
    question: Q?
    expect:
      - is-json: { $ref: "http://127.0.0.1:9/x" }`;
    expect(await schemaProblems(parseSuite(suite, "s.yaml"))).toMatchObject([
      {
        place: { line: 6, column: 9 },
        message: expect.stringMatching(/^is-json: .*can't resolve/),
      },
    ]);
  });
});

import { describe, expect, it } from "vitest";
import { parseSuite } from "../../../src/commands/eval/load-suite.ts";
import { checkJson, schemaProblem, schemaProblems } from "../../../src/checks/eval/is-json.ts";

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
  const schema = { type: "object", required: ["days"], properties: { days: { type: "integer" } } };
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
    { place: { line: 6, column: 9 }, message: expect.stringMatching(/^is-json: .*can't resolve/) },
  ]);
});

import { describe, expect, it } from "vitest";
import {
  findMismatch,
  schemaProblem,
  type JsonSchema,
} from "../../../../src/checks/eval/words/json-schema.ts";

describe("findMismatch", () => {
  it.each<[JsonSchema, valid: unknown[], invalid: unknown[]]>([
    [true, [1, null], []],
    [false, [], [1, null]],
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
  ])("%j", (schema, valid, invalid) => {
    expect(schemaProblem(schema)).toBeUndefined();
    for (const each of valid) expect(findMismatch(schema, each), String(each)).toBeUndefined();
    for (const each of invalid) expect(findMismatch(schema, each), String(each)).toBeDefined();
  });

  it("reads no members of the prototype", () => {
    expect(findMismatch({ required: ["toString"] }, {})).toBe('"toString" is missing');
  });
});

it.each<[unknown, RegExp]>([
  ["x", /a schema is an object/],
  [{ typ: "string" }, /typ is not supported; did you mean "type"\?/],
  [{ type: "strin" }, /type takes one or more of null/],
  [{ required: "a" }, /required takes a list of texts/],
  [{ pattern: "(" }, /pattern takes a regular expression/],
  [{ properties: { a: { minimum: "1" } } }, /minimum at properties.a takes a number/],
  [{ anyOf: [{ items: { nope: 1 } }] }, /nope is not supported at anyOf\[0\].items/],
  [{ $ref: "#/x" }, /\$ref is not supported/],
  [{ toString: 1 }, /toString is not supported/],
])("a schema that would not be applied as written is refused: %j", (schema, message) => {
  expect(schemaProblem(schema)).toMatch(message);
});

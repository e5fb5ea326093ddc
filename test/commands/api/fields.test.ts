import { describe, expect, it } from "vitest";
import {
  createBody,
  createQuery,
  splitField,
  typedValue,
  type Field,
} from "../../../src/commands/api/request.ts";

const fields = (...given: string[]): Field[] =>
  given.map((each) => {
    const [name, value] = splitField("-f", each);
    return value === undefined ? { name } : { name, value };
  });

describe("fields become a body", () => {
  it.each<[string[], string]>([
    [["a=1", "b=x=y"], '{"a":"1","b":"x=y"}'],
    [["a="], '{"a":""}'],
    [["a[b]=1", "a[c][d]=2"], '{"a":{"b":"1","c":{"d":"2"}}}'],
    [["a[]=1", "a[]=2"], '{"a":["1","2"]}'],
    [["a[]"], '{"a":[]}'],
    [["a[]", "a[]=1"], '{"a":["1"]}'],
    [["a[][b]=1", "a[][c]=2", "a[][b]=3"], '{"a":[{"b":"1","c":"2"},{"b":"3"}]}'],
    [["a[][b][]=1", "a[][b][]=2"], '{"a":[{"b":["1","2"]}]}'],
    [["a[b][]=1"], '{"a":{"b":["1"]}}'],
    [["__proto__[x]=1", "constructor=2"], '{"__proto__":{"x":"1"},"constructor":"2"}'],
  ])("%j", (given, body) => {
    expect(JSON.stringify(createBody(fields(...given)))).toBe(body);
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  it.each([
    [["a=1", "a=2"]],
    [["a=1", "a[b]=2"]],
    [["a[b]=1", "a=2"]],
    [["a[]=1", "a[b]=2"]],
    [["a[][]=1"]],
    [["[a]=1"]],
    [["a]b=1"]],
    [["a[b=1"]],
    [[`a${"[b]".repeat(30)}=1`]],
  ])("%j is refused", (given) => {
    expect(() => createBody(fields(...given))).toThrow(
      expect.objectContaining({ exit: "usage", hints: [expect.any(String)] }),
    );
  });

  it.each(["a[]", "a[b]"])("a null and %s contradict each other", (name) => {
    expect(() =>
      createBody([
        { name: "a", value: null },
        { name, value: 1 },
      ]),
    ).toThrow(expect.objectContaining({ exit: "usage" }));
  });

  it.each(["a", "=x", ""])("%j has no name and value", (given) => {
    expect(() => splitField("--field", given)).toThrow("--field: expected name=value");
  });
});

describe("typed values", () => {
  it.each<[string, unknown]>([
    ["true", true],
    ["false", false],
    ["null", null],
    ["0", 0],
    ["-12", -12],
    ["007", "007"],
    ["1.5", "1.5"],
    ["True", "True"],
    ["", ""],
    ["9007199254740991", 9007199254740991],
  ])("%j is %j", (text, value) => {
    expect(typedValue("a", text)).toBe(value);
  });

  it("a number that would lose digits is refused", () => {
    expect(() => typedValue("a", "9007199254740993")).toThrow("the number is too large");
  });
});

describe("fields become a query", () => {
  it.each<[Field[], string]>([
    [[{ name: "q", value: "a b&c" }], "q=a+b%26c"],
    [
      [
        { name: "s[]", value: "x" },
        { name: "s[]", value: 2 },
      ],
      "s=x&s=2",
    ],
    [[{ name: "n", value: null }], "n="],
    [[{ name: "b", value: true }], "b=true"],
  ])("%j", (given, query) => {
    expect(createQuery(given)).toBe(query);
  });

  it("but no objects", () => {
    expect(() => createQuery([{ name: "a[b]", value: "1" }])).toThrow(
      "only texts and lists of texts",
    );
  });
});

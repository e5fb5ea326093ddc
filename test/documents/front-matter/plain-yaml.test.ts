import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { parseMatter } from "../../../src/documents/front-matter/matter.ts";
import { parsePlainYaml } from "../../../src/documents/front-matter/plain-yaml.ts";
import { toValue } from "../../../src/documents/front-matter/values.ts";

function parsed(block: string): unknown {
  try {
    return toValue(parseMatter(block, "yaml"));
  } catch (error) {
    return { refused: String(error) };
  }
}

const asJson = (value: unknown): string => JSON.stringify(value);

describe("plain YAML", () => {
  it.each([
    "title: A title\ntags: [a, b c, 'd', \"e\"]\nupdated: 2026-01-02\nowner: Ann <ann@example.com>",
    "tags:\n- one\n- 'two'\nurl: https://example.com/#part",
    "a: \"x\"\nb: 'y'  \nc:\nd: []\ne: [ a ]\nf: 'null'\ng: nullable\nh: a#b",
    "title: Über uns, 日本語 – ’quoted’",
  ])("is read as js-yaml reads it: %j", (block) => {
    const plain = parsePlainYaml(block);
    expect(plain).toBeDefined();
    expect(Object.getPrototypeOf(plain)).toBeNull();
    expect(asJson(plain)).toBe(asJson(parsed(block)));
  });

  it.each([
    "a: 1\na: 2",
    "a: x\n  y",
    "a:\n  - x\n    y",
    "a:\n  - x\n   - y",
    "a:\n  b: c",
    "a: [x, [y]]",
    "a: [x,]",
    "a: [x: y]",
    "a: {b: c}",
    "a: |\n  x",
    "a: &b x",
    "a: *b",
    "a: !!str x",
    'a: "\\n"',
    "a: 'it''s'",
    "a: null",
    "a: ~",
    "a:\n- NULL",
    "a: [Null]",
    "a: x # comment",
    "# comment\na: x",
    "a: x\n\nb: y",
    "a:x",
    "a: b: c",
    "a:\n  - one\n  - two: three",
    "a: x:",
    "a:\tx",
    "a: x\u2028y",
    "a: \ufeffx",
    "a: \u00a0x",
    "<<: x",
    "? a",
    '"a": x',
    "1: x",
    "__proto__: x",
    "constructor:\n- x",
    "a: x\n...",
    "---\na: x",
    "",
    `a: ${"x".repeat(3000)}`,
  ])("is left to the parser when it is less plain: %j", (block) => {
    expect(parsePlainYaml(block)).toBeUndefined();
  });

  const marks = [...`ab1_ -.:#,[]{}"'\\&*!|>%@\`?~<=/()é中’\u2028\u1680\u00a0\t`];
  const pieces = [
    "\n",
    "\n- ",
    "\n  - ",
    "k: ",
    "\nb: ",
    ": ",
    " #",
    "---",
    "...",
    "<<",
    "[a, b]",
    "null",
    "~",
  ];
  const scalar = fc
    .array(fc.constantFrom(...marks, "word", "a b", ...pieces), { maxLength: 4 })
    .map((parts) => parts.join(""));
  const line = fc.oneof(
    scalar,
    scalar.map((text) => ` ${text}`),
    scalar.map((text) => ` "${text}"`),
    fc.array(scalar, { maxLength: 3 }).map((items) => ` [${items.join(", ")}]`),
    fc
      .array(fc.tuple(fc.nat(2), scalar), { maxLength: 3 })
      .map((items) => items.map(([indent, item]) => `\n${" ".repeat(indent)}- ${item}`).join("")),
  );
  const block = fc
    .array(line, { minLength: 1, maxLength: 4 })
    .map((lines) => lines.map((each, index) => `k${index}:${each}`).join("\n"));

  it("is read as js-yaml reads it, or not at all", () => {
    const property = fc.property(fc.oneof(block, scalar), (text) => {
      const plain = parsePlainYaml(text);
      if (plain) expect(asJson(plain)).toBe(asJson(parsed(text)));
    });
    fc.assert(property);
  });
});

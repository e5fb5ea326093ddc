import { describe, expect, it } from "vitest";
import { expectLinear } from "../../cost.ts";
import { bodyOf, readText } from "./rst-text.ts";

describe("a hostile text", () => {
  it.each([
    ["unclosed marks", "`a *b **c ``d |e _`f "],
    ["marks", "*`_[|\\"],
    ["roles", ":a:`b` :a:`c"],
    ["references", "a_ `b`_ [1]_ |c| "],
    ["nested lists on a line", "- 1. * "],
    ["nested directives on a line", ".. note:: "],
    ["titles", "a\n=\n\n"],
    ["targets", ".. _a: b_\n.. _b: a_\na_\n\n"],
    ["footnotes", ".. [#] a [#]_\n"],
    ["literal blocks", "a::\n\n  b\n\n"],
    ["options and fields", "-a, -b  c\n:d: e\n"],
    ["borders", "== ==\n+--+--+\n"],
    ["tables", "== ==\na  b\n== ==\n\n+--+\n|a |\n+--+\n\n"],
    ["grids", "+--+--+\n|a |b |\n+--+  |\n|c |  |\n+--+--+\n"],
    ["directives", ".. a::\n   :b: c\n\n   d\n\n"],
    ["open quotes", '.. csv-table::\n\n   "a\n\n'],
  ])("costs what its size does: %s", (_name, piece) => {
    expectLinear(20_000, (count) => {
      const { body } = readText(piece.repeat(count));
      expect(body.length).toBeLessThan(40 * piece.length * count);
    });
  });

  it.each([
    ["lists", (depth: number) => `${"  ".repeat(depth)}- a\n\n`],
    ["quotations", (depth: number) => `${" ".repeat(depth)}a\n\n`],
    ["directives", (depth: number) => `${"   ".repeat(depth)}.. note::\n\n`],
  ])("%s nested a thousand deep", (_name, line) => {
    const text = Array.from({ length: 1000 }, (_, depth) => line(depth)).join("");
    expect(bodyOf(`${text}end`)).toContain("end");
  });

  it("a cell beside twenty thousand rows", () => {
    expectLinear(20_000, (count) => {
      const { body } = readText(`+--+--+\n${"|a |b |\n|  +--+\n".repeat(count)}|  |  |\n+--+--+\n`);
      expect(body.length).toBeLessThan(200 * count);
    });
  });

  it.each(["a", "- ", ".. ", ":a ", "`", "+-", "= ", "\n", "a\n\n"])(
    "eight megabytes of %j",
    (piece) => {
      const { isMarkdown } = readText(piece.repeat((8 * 1024 * 1024) / piece.length));
      expect(isMarkdown).toBe(true);
    },
  );

  it("substitutions of substitutions add little", () => {
    const definitions = Array.from({ length: 20 }, (_, index) => {
      return `.. |a${index}| replace:: ${`|a${index + 1}| `.repeat(20)}\n`;
    });
    const text = `${definitions.join("")}\n|a0|\n`;
    expect(readText(text).body.length).toBeLessThan(4 * 1024 * 1024);
  });

  it("more than a million lines are plain text", () => {
    const parsed = readText("a\n".repeat(1_000_000));
    expect(parsed.warnings).toEqual(["docs/a.rst: more than 1000000 lines: read as plain text"]);
    expect(parsed.body).toHaveLength(2_000_000);
  });
});

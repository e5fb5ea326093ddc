import { describe, expect, it } from "vitest";
import { createCitationFinder } from "../../../src/sandbox/chat/model/citations.ts";

const citable = [
  { documentId: "a", link: "https://a" },
  { documentId: "b", link: "" },
];

function found(text: string, size: number, documents = citable): string {
  const finder = createCitationFinder(documents);
  const parts = [];
  for (let at = 0; at < text.length; at += size)
    parts.push(...finder.push(text.slice(at, at + size)));
  parts.push(...finder.end());
  return parts
    .map((part) => ("text" in part ? part.text : `{${part.documentId}${part.number}}`))
    .join("");
}

const cases: [string, string][] = [
  ["So it is [1].", "So it is {a1}."],
  ["[1][2]", "{a1}{b2}"],
  ["[1, 2] and [1,2;1]", "{a1}{b2} and {a1}{b2}{a1}"],
  ["[[1]](https://elsewhere) x", "{a1} x"],
  ["[[2]] x", "{b2} x"],
  ["【1】【2†source.md】", "{a1}{b2}"],
  // Numbers that no document has.
  ["[3] [0] [[7]](x) [1, 9]", "   {a1}"],
  ["in [2024] and [1234]", "in [2024] and [1234]"],
  // No citations at all.
  ["[1](https://link)", "[1](https://link)"],
  ["[a] [] [1 [1a] [-1] [ 1 ]", "[a] [] [1 [1a] [-1] [ 1 ]"],
  ["【no end", "【no end"],
  ["[[1", "[[1"],
  ["[[1]](no end\n[1]", "{a1}(no end\n{a1}"],
  ["an `x[1]` here [1]", "an `x[1]` here {a1}"],
  ["an `open [1]\nand [1]", "an `open [1]\nand {a1}"],
  ["``a`[1]``[1]", "``a`[1]``{a1}"],
  ["```js\nx[1] `` y[2]\n```\n[1]", "```js\nx[1] `` y[2]\n```\n{a1}"],
  ["````\n```\n[1]\n````[1]", "````\n```\n[1]\n````{a1}"],
  ["```\nopen [1]", "```\nopen [1]"],
  ["", ""],
];

describe("citations in a model's text", () => {
  it.each(cases)("%j", (text, expected) => {
    for (const size of [1, 2, 3, 5, 1_000])
      expect([size, found(text, size)]).toEqual([size, expected]);
  });

  it("leaves numbers alone where no document was given", () => {
    expect(found("x[1] and 【1】 and [[1]](y)", 1, [])).toBe("x[1] and 【1】 and ");
  });

  it("holds back no more than it must", () => {
    const finder = createCitationFinder(citable);
    expect(finder.push("plain text")).toEqual([{ text: "plain text" }]);
    expect(finder.push(" and [")).toEqual([{ text: " and " }]);
    expect(finder.push("x")).toEqual([{ text: "[x" }]);
  });

  it("reads hostile text in linear time", () => {
    for (const text of [
      "[".repeat(200_000),
      "[[1]](".repeat(50_000),
      "`[".repeat(100_000),
      "【".repeat(200_000),
    ]) {
      expect(found(text, 64).length).toBeGreaterThan(0);
    }
  });
});

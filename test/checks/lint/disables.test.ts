import { describe, expect, it } from "vitest";
import { disablesIn, isDisabled } from "../../../src/checks/lint/place.ts";

/** The lines on which the rule `r` is off. */
function linesOff(text: string): number[] {
  const disables = disablesIn(text);
  let offset = 0;
  const off: number[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (isDisabled(disables, "r", offset)) off.push(index + 1);
    offset += line.length + 1;
  }
  return off;
}

describe("knowctl-disable-next-line", () => {
  it.each([
    ["Markdown", "<!-- knowctl-disable-next-line r -- why -->\nx\ny\n", [2]],
    ["without a reason", "<!-- knowctl-disable-next-line r -->\nx\ny\n", [2]],
    ["several rules", "<!-- knowctl-disable-next-line a,r , b -- why -->\nx\n", [2]],
    ["another rule", "<!-- knowctl-disable-next-line a -- not r -->\nx\n", []],
    ["blank lines between", "<!-- knowctl-disable-next-line r -->\n\n\nx\ny\n", [4]],
    ["CRLF", "<!-- knowctl-disable-next-line r -- why -->\r\nx\r\ny\r\n", [2]],
    ["MDX", "{/* knowctl-disable-next-line r -- why */}\nx\ny\n", [2]],
    ["reStructuredText", ".. knowctl-disable-next-line r -- why\n\nx\ny\n", [3]],
    ["AsciiDoc", "// knowctl-disable-next-line r -- why\nx\ny\n", [2]],
    ["a fence", "<!-- knowctl-disable-next-line r -->\n```sh\na\n\nb\n```\ny\n", [2, 3, 4, 5, 6]],
    [
      "a block of AsciiDoc",
      "// knowctl-disable-next-line r\n[source]\n----\na\n----\ny",
      [2, 3, 4, 5],
    ],
    [
      "a directive of reStructuredText",
      ".. knowctl-disable-next-line r\n\n.. code-block:: sh\n\n   a\n\n   b\ny",
      [3, 4, 5, 6, 7],
    ],
    ["text in code", "```\n<!-- knowctl-disable-next-line r -->\nx\n```\n", []],
    ["a comment within a line", "x <!-- knowctl-disable-next-line r -->\nx\n", []],
    ["the last line", "x\n<!-- knowctl-disable-next-line r -->", []],
  ])("%s", (_name, text, lines) => {
    const ownLine = text.split("\n").findIndex((line) => line.includes("knowctl-")) + 1;
    expect(linesOff(text).filter((line) => line !== ownLine)).toEqual(lines);
  });

  it("knows where each rule is named", () => {
    const text = "a\n<!-- knowctl-disable-next-line one, two -- three -->\nx\n";
    const names = disablesIn(text).flatMap(({ rules }) =>
      rules.map(({ name, start, end }) => [name, text.slice(start, end)]),
    );
    expect(names).toEqual([
      ["one", "one"],
      ["two", "two"],
    ]);
  });
});

import * as fc from "../../property.ts";
import { expect, it } from "vitest";
import { scanJson } from "../../../src/documents/text/json-text.ts";
import { readJson } from "../../../src/documents/formats/json.ts";
import { failure } from "../folder.ts";
import { rowsIn, rowsOf, textsOf } from "./rows.ts";

it.each([
  ['{"text":"a"}', ['1 line 1: "a"']],
  ['\ufeff\n [ {"text":"a"} ,\n\n{"text":"b"}]\n', ['1 line 2: "a"', '2 line 4: "b"']],
  ["[]", []],
  [
    '[{"text":"a"}, 7, {"text":"c"}]',
    [
      '1 line 1: "a"',
      "2 line 1: data:1:16: expected an object; write a document, or an object with a member for the text",
      '3 line 1: "c"',
    ],
  ],
  ['{"id":"a","title":"A","sections":[{"text":"x"}]}', ["1 line 1: document"]],
])("%j", (text, rows) => {
  expect(textsOf(readJson, text)).toEqual(rows);
});

it.each([
  ["", "data: no JSON: it is empty"],
  [" \n", "data: no JSON: it is empty"],
  ["[1,\n  2", "data:2:4: JSON is broken at the end"],
  ['[{"text":"a"},]', 'data:1:15: JSON is broken at "]"'],
  ['{"text":"a"}\n{"text":"b"}', 'data:2:1: JSON is broken at "{"'],
  ['{"text":"a\nb"}', 'data:1:9: JSON is broken at "\\""'],
])("broken JSON fails before the first row: %j", (text, message) => {
  const rows = rowsIn(readJson, text);
  expect(failure(() => rows.next())).toBe(message);
});

it("long strings do not overflow the stack", () => {
  const value = JSON.stringify({ text: 'x\n"'.repeat(1_000_000) });
  expect(scanJson(value, 0)).toEqual({ end: value.length });
  expect(rowsOf(readJson, `[${value}]`)).toMatchObject([{ kind: "text" }]);
});

it("scanning agrees with JSON.parse on any text", () => {
  const piece = fc.constantFrom(
    '"',
    "\\",
    "u00e4",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "1",
    "-",
    ".5",
    "e3",
    "true",
    " ",
    "\n",
    "a",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.array(piece).map((all) => all.join("")),
      ),
      (text) => {
        const extent = scanJson(text, 0);
        const isWhole = "end" in extent && text.slice(extent.end).trim() === "";
        let parses = true;
        try {
          JSON.parse(text);
        } catch {
          parses = false;
        }
        expect(isWhole).toBe(parses);
      },
    ),
  );
});

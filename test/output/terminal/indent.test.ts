import * as fc from "../../property.ts";
import { expect, it } from "vitest";
import { createIndenter } from "../../../src/output/terminal/indent.ts";

it.each([
  ['{"a":[1,2,{"b":"x,y:{"}],"c":{},"d":[]}'],
  ["[ ]"],
  ['"a\\"b\\\\"'],
  ["12345678901234567890.10"],
  ["null"],
])("%s is laid out as JSON.stringify does", (json) => {
  const digits = /^\d/.test(json) ? json : JSON.stringify(JSON.parse(json), undefined, 2);
  expect(createIndenter()(json)).toBe(digits);
});

it("keeps values apart that stand one after the other", () => {
  expect(createIndenter()('{"a":1}\n{"b":2} 3')).toBe('{\n  "a": 1\n}\n{\n  "b": 2\n}\n3');
});

it("gives the same however the text is cut, and the same data", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(), (value, at) => {
      const json = JSON.stringify(value);
      const cut = at % (json.length + 1);
      const layOut = createIndenter();
      const pieces = layOut(json.slice(0, cut)) + layOut(json.slice(cut));
      expect(pieces).toBe(createIndenter()(json));
      expect(JSON.parse(pieces)).toEqual(JSON.parse(json));
    }),
  );
});

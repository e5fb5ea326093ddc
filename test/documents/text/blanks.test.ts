import { describe, expect, it } from "vitest";
import { countVisible, withLoneBlanks } from "../../../src/documents/text/blanks.ts";
import * as fc from "../../property.ts";

const everyUnit = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));

describe("white space", () => {
  it.each([
    ["each character", everyUnit.join("")],
    ["each between letters", everyUnit.join("a")],
    ["each twice", everyUnit.map((unit) => `a${unit}${unit}`).join("")],
  ])("is what a pattern takes for it: %s", (_name, text) => {
    expect(withLoneBlanks(text)).toBe(text.replaceAll(/\s+/g, " "));
    expect(countVisible(text)).toBe(text.replaceAll(/\s+/g, "").length);
  });

  it("is one blank for each run", () => {
    const units = fc.constantFrom("a", " ", "\t", "\n", "\u00a0", "\u2003", "é", "語");
    fc.assert(
      fc.property(fc.array(units), (parts) => {
        const text = parts.join("");
        expect(withLoneBlanks(text)).toBe(text.replaceAll(/\s+/g, " "));
        expect(countVisible(text)).toBe(text.replaceAll(/\s+/g, "").length);
      }),
    );
  });
});

import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import {
  graphemeAfter,
  graphemeBefore,
  graphemesOf,
} from "../../../src/output/terminal/editor/graphemes.ts";

const unit = fc.constantFrom("a", "休", "e\u0301", "👩‍💻", "🇩🇪", "\n", "각");

describe("the characters of a text", () => {
  it("are those of the segmenter, however long the text is", () => {
    fc.assert(
      fc.property(fc.array(unit, { minLength: 200, maxLength: 1200 }), (units) => {
        // Neighbours could join to one character; a space keeps them apart.
        const text = units.join(" ");
        const found = [...graphemesOf(text)];
        const all = [...new Intl.Segmenter().segment(text)];
        expect(found).toEqual(all.map(({ segment, index }) => ({ segment, index })));
        const middle = found[found.length >> 1]!;
        expect(graphemeAfter(text, middle.index)).toBe(middle.index + middle.segment.length);
        expect(graphemeBefore(text, middle.index + middle.segment.length)).toBe(middle.index);
      }),
    );
  });

  it("end at the ends of the text, and an endless one is cut", () => {
    expect([graphemeBefore("a", 0), graphemeAfter("a", 1)]).toEqual([0, 1]);
    const endless = `e${"\u0301".repeat(2000)}`;
    expect([...graphemesOf(endless)].map(({ segment }) => segment).join("")).toBe(endless);
  });
});

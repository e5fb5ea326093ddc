import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { createLayouter } from "../../../src/output/terminal/editor/layout.ts";
import { displayWidth } from "../../../src/output/terminal/width.ts";

const lay = (text: string, cursor: number, width: number) => createLayouter()(text, cursor, width);

describe("the layout of a text", () => {
  it.each([
    ["one row", "abc", 1, 5, ["abc"], [0, 1]],
    ["a broken line", "abcdefg", 6, 5, ["abcde", "fg"], [1, 1]],
    ["the cursor behind a full row", "abcde", 5, 5, ["abcde", ""], [1, 0]],
    ["behind a full row, a line below", "abcde\nx", 5, 5, ["abcde", "", "x"], [1, 0]],
    ["wide characters", "休休休", 2, 5, ["休休", "休"], [1, 0]],
    ["combining characters", "e\u0301e\u0301", 4, 5, ["e\u0301e\u0301"], [0, 2]],
    ["several lines", "a\n\nbc", 2, 5, ["a", "", "bc"], [1, 0]],
    ["a tab", "\ta", 1, 5, ["  a"], [0, 2]],
    ["a bidirectional override", "\u202ea", 1, 20, ["<U+202E>a"], [0, 8]],
  ] as const)("%s", (_name, text, cursor, width, rows, [row, column]) => {
    expect(lay(text, cursor, width)).toEqual({ rows, cursorRow: row, cursorColumn: column });
  });

  it("fits the width, and shows every character in its order", () => {
    const unit = fc.constantFrom("a", "b", " ", "休", "e\u0301", "👩‍💻", "\n", "é");
    fc.assert(
      fc.property(fc.string({ unit }), fc.integer({ min: 2, max: 9 }), (text, width) => {
        const { rows, cursorRow, cursorColumn } = lay(text, text.length, width);
        expect(rows.join("")).toBe(text.replaceAll("\n", ""));
        for (const row of rows) expect(displayWidth(row)).toBeLessThanOrEqual(width);
        expect(cursorRow).toBe(rows.length - 1);
        expect(cursorColumn).toBe(displayWidth(rows.at(-1)!));
      }),
    );
  });
});

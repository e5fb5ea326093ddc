import { describe, expect, it } from "vitest";
import { snippetOf } from "../../../src/output/search/results.ts";
import * as fc from "../../property.ts";

const hitsOf = (marked: string, query: string): string[] => {
  const { text, hits } = snippetOf(marked, query);
  return hits.map(([from, to]) => text.slice(from, to));
};

describe("the snippet of a result", () => {
  it("takes the service's marks, and no others", () => {
    expect(snippetOf("Staff take\n <hi>leaves</hi> of leave", "leave").text).toBe(
      "Staff take leaves of leave",
    );
    expect(hitsOf("Staff take <hi>leaves</hi> of leave", "leave")).toEqual(["leaves"]);
  });

  it("else marks the words that begin with a word of the query", () => {
    expect(hitsOf("Leave, leaves and cleave; Ünder", "leave ünd a.* (")).toEqual([
      "Leave",
      "leave",
      "Ünd",
    ]);
  });

  it("is the part around the first hit", () => {
    const { text, hits } = snippetOf(
      `${"before ".repeat(100)}wombat${" after".repeat(100)}`,
      "wombat",
    );
    expect(text).toMatch(/^… before .*wombat after .*after …$/);
    expect(text.length).toBeLessThan(260);
    expect(hits.map(([from, to]) => text.slice(from, to))).toEqual(["wombat"]);
  });

  it("is well formed and short, whatever the text", () => {
    const part = fc.constantFrom("a ", "wombat", "<hi>", "</hi>", "😀", "x".repeat(300), " ", "\n");
    fc.assert(
      fc.property(fc.array(part, { maxLength: 80 }), (parts) => {
        const { text, hits } = snippetOf(parts.join(""), "wombat");
        expect(text.length).toBeLessThanOrEqual(250);
        expect(text.isWellFormed()).toBe(true);
        expect(text).not.toMatch(/<\/?hi>/);
        for (const [from, to] of hits) {
          expect(from >= 0 && from <= to && to <= text.length).toBe(true);
        }
      }),
    );
  });
});

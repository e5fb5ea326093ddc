import { describe, expect, it } from "vitest";
import { compareText } from "../../../src/checks/verify/compare-text.ts";
import { createFurtherText, judgeAlone } from "../../../src/checks/verify/judge-text.ts";
import * as fc from "../../property.ts";
import { chunkText, type ChunkStyle } from "./chunker.ts";

const paragraph =
  "Every employee gets 28 days of leave a year. Ask your lead two weeks before, " +
  "in the form under People > Leave. Unused days move to March of the next year, at most 5 of them.";
const sections = [
  `# Leave\n\n${paragraph}`,
  `Leave > Sick leave\n\nCall before 10:00. ${paragraph.replaceAll("28", "30")}`,
  "Leave > Übersicht\n\n病気休暇は年間十日です。前日までに連絡してください。\n\n| a | b |\n| - | - |\n| 1.5 | -2 |",
];
const title = "Leave policy";
const plain: ChunkStyle = { size: 120, overlap: 0, title: false, summary: false, midWord: false };

function verdictOf(sent: readonly string[], chunks: readonly string[]): string {
  return judgeAlone(compareText({ titles: [title], sections: sent }, chunks));
}

describe("the comparison with chunks", () => {
  it.each<[string, Partial<ChunkStyle>]>([
    ["cut at spaces", {}],
    ["cut within words", { midWord: true }],
    ["that overlap", { overlap: 40 }],
    ["that overlap by more than half", { overlap: 90 }],
    ["with the title", { title: true, overlap: 30 }],
    ["in one piece", { size: 10_000 }],
  ])("finds the text in chunks %s", (_, style) => {
    expect(verdictOf(sections, chunkText(sections, title, { ...plain, ...style }))).toBe("same");
  });

  it("finds a word that is cut behind a repetition which stands apart", () => {
    const words = Array.from({ length: 60 }, (_, index) => `wordly${index}x`);
    const text = words.join("\n");
    const cut = text.indexOf("wordly30") + 4;
    const chunks = [text.slice(0, cut), `${text.slice(cut - 104, cut)}\n\n${text.slice(cut)}`];
    expect(verdictOf([text], chunks)).toBe("same");
  });

  it("takes further text for an older version only where other documents have none", () => {
    const found = compareText(
      { titles: [title], sections },
      chunkText(sections, title, { ...plain, size: 400, summary: true }),
    );
    expect(judgeAlone(found)).toBe("more");
    const decided = (verdict: "same" | "more", count: number, chunks = found.chunks) => {
      const further = createFurtherText();
      for (let each = 0; each < count; each++) further.count(verdict, chunks);
      return further.decide(found.chunks);
    };
    expect(decided("same", 5)).toBe("other");
    expect(decided("same", 4)).toBe("more");
    // Context that the service adds, or old versions of all documents.
    expect(decided("more", 500)).toBe("more");
    // Documents of one chunk say nothing about those of several.
    expect(decided("same", 500, found.chunks > 1 ? 1 : 2)).toBe("more");
  });

  it.each<[string, (text: string) => string]>([
    ["a changed number", (text) => text.replace("28 days", "30 days")],
    ["a changed word", (text) => text.replace("two weeks", "three weeks")],
    ["a changed sign", (text) => text.replace("| -2 |", "| 2 |")],
    ["a changed decimal", (text) => text.replace("1.5", "15")],
    ["a changed character of Japanese", (text) => text.replace("十日", "五日")],
    ["a word too few", (text) => text.replace("at most 5", "at 5")],
    ["a word too many", (text) => text.replace("Call before", "Please call before")],
    ["another first word", (text) => text.replace("# Leave", "# Absence")],
    ["another last word", (text) => text.replace("-2 |", "-3 |")],
    ["two sections in another order", (text) => text.split("\n\n").toReversed().join("\n\n")],
  ])("finds %s in the index", (_, change) => {
    const old = sections.map(change);
    expect(old).not.toEqual(sections);
    for (const style of [
      plain,
      { ...plain, overlap: 40, title: true },
      { ...plain, size: 10_000 },
      { ...plain, size: 64, overlap: 32, summary: true },
    ])
      expect(verdictOf(sections, chunkText(old, title, style))).toBe("other");
  });

  it("finds a text that the index holds although it was removed", () => {
    const old = [...sections, "Leave > Strike\n\nThis section was removed in the new version."];
    expect(verdictOf(sections, chunkText(old, title, plain))).toBe("other");
    const one = chunkText(old, title, { ...plain, size: 10_000 });
    expect(verdictOf(sections, one)).toBe("more");
  });

  it("needs every chunk, and compares a document without text", () => {
    const chunks = chunkText(sections, title, plain);
    expect(verdictOf(sections, chunks.slice(0, -1))).toBe("other");
    expect(verdictOf([], [""])).toBe("same");
    expect(verdictOf([], [title])).toBe("same");
  });

  it("takes a paragraph that only half of the chunks have for one of an older version", () => {
    const removed = "Managers once approved every single request by signed telegram.";
    const [first = "", second = "", third = ""] = sections;
    expect(verdictOf([first, second], [`${first}\n\n${removed}`, second])).toBe("other");
    expect(verdictOf(sections, [`${first}\n\n${removed}`, `${second} ${removed}`, third])).toBe(
      "more",
    );
  });

  it("names the first words that are not there", () => {
    const old = sections.map((text) => text.replace("28 days", "30 days"));
    const { firstLacking } = compareText({ titles: [], sections }, [old.join("\n\n")]);
    expect(firstLacking).toMatch(/^28 days of leave/);
  });

  it("is linear for a text of one character", () => {
    const text = "a".repeat(400_000);
    const found = compareText({ titles: [], sections: [text] }, [text.slice(0, -1), "b"]);
    expect(judgeAlone(found)).toBe("other");
  });
});

const word = fc.oneof(
  fc.constantFrom(
    "leave",
    "28",
    "the",
    "of",
    "days",
    "-5",
    "1.5",
    "(see",
    "above)",
    "年次休暇",
    "über",
    "a",
  ),
  fc.string({ minLength: 1, maxLength: 12 }),
);
const sentence = fc
  .array(word, { minLength: 3, maxLength: 60 })
  .map((words) => `${words.join(" ")}.\n`);
const styles = fc.record({
  size: fc.integer({ min: 120, max: 900 }),
  overlap: fc.integer({ min: 0, max: 35 }),
  title: fc.boolean(),
  summary: fc.constant(false),
  midWord: fc.boolean(),
});

describe("any text", () => {
  it("is found in its own chunks, however they are cut", () => {
    fc.assert(
      fc.property(fc.array(sentence, { minLength: 1, maxLength: 8 }), styles, (text, style) => {
        expect(verdictOf(text, chunkText(text, title, style))).toBe("same");
      }),
    );
  });

  it("is never lacking because of context that the service adds", () => {
    fc.assert(
      fc.property(fc.array(sentence, { minLength: 1, maxLength: 8 }), styles, (text, style) => {
        const chunks = chunkText(text, title, { ...style, size: 300, summary: true });
        expect(compareText({ titles: [title], sections: text }, chunks).isComplete).toBe(true);
      }),
    );
  });

  it("is another text where one word of it changed", () => {
    fc.assert(
      fc.property(
        fc.array(sentence, { minLength: 1, maxLength: 6 }),
        styles,
        fc.nat(),
        (text, style, at) => {
          const words = text.join("").split(" ");
          words[at % words.length] = "changed77";
          const old = [words.join(" ")];
          expect(verdictOf(text, chunkText(old, title, style))).not.toBe("same");
        },
      ),
    );
  });
});

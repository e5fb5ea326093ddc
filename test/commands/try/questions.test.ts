import { describe, expect, it } from "vitest";
import { headedOf, questionsOf } from "../../../src/commands/try/try.ts";

describe("questions", () => {
  it("ask for a heading of three documents, spread over all", () => {
    const documents = Array.from({ length: 9 }, (_, number) => ({
      title: `T${number}`,
      headings: [`a${number}`, `b${number}`],
    }));
    expect(questionsOf(documents)).toEqual([
      'What about "a0" in "T0"?',
      'What about "b3" in "T3"?',
      'What about "a6" in "T6"?',
    ]);
  });

  it("ask for several headings of a document where there are fewer than three", () => {
    const found = questionsOf([
      { title: "Leave", headings: ["Annual", "Sick days", "Parental"] },
      { title: "Travel", headings: ["Trains"] },
    ]);
    expect(found).toEqual([
      'What about "Annual" in "Leave"?',
      'What about "Trains" in "Travel"?',
      'What about "Parental" in "Leave"?',
    ]);
  });

  it("take a heading that is a question as it is", () => {
    expect(questionsOf([{ title: "FAQ", headings: ["Who pays?"] }])).toEqual(["Who pays?"]);
  });

  it("ask for the document where there are no headings; these documents come last", () => {
    const found = questionsOf([
      { title: "Notes", headings: [] },
      { title: "Rooms", headings: ["Visitors"] },
    ]);
    expect(found).toEqual(['What about "Visitors" in "Rooms"?', 'What is in "Notes"?']);
    expect(questionsOf([])).toEqual([]);
  });
});

it("a document gives its title, and the last part of each heading once", () => {
  const sections = [{ text: "T\n\nx" }, { text: "T > A > B\n\ny" }, { text: "T > A > B\n\nz" }, {}];
  const document = { id: "t.md", semantic_identifier: "T", sections, source: "file", metadata: {} };
  expect(headedOf(document)).toEqual({ title: "T", headings: ["B"] });
});

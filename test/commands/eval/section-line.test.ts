import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sectionLinesIn } from "../../../src/commands/eval/results.ts";
import { temporaryFolder } from "../../support.ts";

describe("the line of an expected section", () => {
  const lineOf = (text: string, link: string, path: string | null = "a.md") => {
    const root = temporaryFolder();
    writeFileSync(join(root, "a.md"), text);
    return sectionLinesIn(root)({ document: { link }, relevance: 1, path, rank: null });
  };
  const text = "---\ntitle: A\n---\n# Top\n\ntext\n\n## Annual leave\n\n## Größe & mehr\n";

  it.each([
    ["https://docs.example.com/a#annual-leave", 8],
    ["https://docs.example.com/a#gr%C3%B6%C3%9Fe--mehr", 10],
    ["https://docs.example.com/a#gone", undefined],
    ["https://docs.example.com/a#%", undefined],
    ["https://docs.example.com/a", undefined],
  ])("of %s is %s", (link, line) => {
    expect(lineOf(text, link)).toBe(line);
    expect(lineOf(`\ufeff${text.replaceAll("\n", "\r\n")}`, link)).toBe(line);
  });

  it("is not known without the file, or in a file with broken front matter", () => {
    expect(lineOf(text, "x#annual-leave", "gone.md")).toBe(undefined);
    expect(lineOf(text, "x#annual-leave", null)).toBe(undefined);
    expect(lineOf("---\n: [\n---\n# Top", "x#top")).toBe(undefined);
  });

  it("is not known for a document that is named by its path", () => {
    const lines = sectionLinesIn(temporaryFolder());
    const expected = { document: { path: "a.md" }, relevance: 1, path: "a.md", rank: null };
    expect(lines(expected)).toBe(undefined);
  });
});

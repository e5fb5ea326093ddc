import { expect, it } from "vitest";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { secretsOf } from "../../../src/output/terminal/redact.ts";
import { wrapLines, wrapWords } from "../../../src/output/terminal/width.ts";
import { createTestContext } from "../../support.ts";

it.each([
  ["fits", 10, ["fits"]],
  ["two  blanks", 20, ["two  blanks"]],
  ["breaks between words", 14, ["breaks between", "words"]],
  ["averyveryverylongword after", 8, ["averyveryverylongword", "after"]],
  ["run `knowctl retry` again", 12, ["run", "`knowctl retry`", "again"]],
  ["an open ` tick and more words", 12, ["an open `", "tick and", "more words"]],
])("breaks %j at %i columns", (text, width, rows) => {
  expect(wrapWords(text, width)).toEqual(rows);
});

it("begins further rows below the first word", () => {
  expect(wrapLines("  → one two three\nshort\nfour five six seven", 13)).toBe(
    "  → one two\n    three\nshort\nfour five\n  six seven",
  );
});

it("keeps a line that is a command whole", () => {
  for (const line of ["  KEY=a knowctl chat one two", "$ knowctl chat one two"]) {
    expect(wrapLines(line, 12)).toBe(line);
  }
});

it("takes time that grows with the text alone", () => {
  const words = (count: number): string => "`a b ".repeat(count);
  expect(wrapLines(words(200_000), 40).length).toBeGreaterThan(1_000_000);
});

it.each([24, 40, 60])("hides a secret before it breaks a line at %i columns", async (columns) => {
  const context = createTestContext({ isTTY: true, columns });
  const phrase = "correct horse battery staple of eight words in all";
  secretsOf(context).add(phrase);
  const output = createOutput(context, {});
  for (let words = 0; words < 12; words++) {
    await output.warn(`${"word ".repeat(words)}the server says ${phrase} is wrong`);
  }
  expect(context.stderrText()).not.toMatch(/horse|battery|staple/);
  expect(context.stderrText()).toContain("***");
});

it("breaks nothing off a terminal, where a program may read the lines", async () => {
  const context = createTestContext();
  await createOutput(context, {}).note("word ".repeat(40));
  expect(context.stderrText()).toBe(`${"word ".repeat(40)}\n`);
});

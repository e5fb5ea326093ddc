import { describe, expect, it } from "vitest";
import { createPainter } from "../../../../src/output/chat/markdown/code.ts";
import { createDocument } from "../../../../src/output/chat/markdown/document.ts";
import { renderText } from "../../../../src/output/terminal/text.ts";

const size = 100_000;
const times = (part: string): string => part.repeat(Math.ceil(size / part.length));

/** Of a table, which is held until its columns are known; of anything else. */
const mostHeld = { table: 100_000, other: 20_000 };

const texts: [string, string][] = [
  "[",
  "[]",
  "[a](",
  "[a](b)",
  "![",
  "[[1]](",
  "*",
  "*a ",
  "**a ",
  "*a*",
  "_a",
  "~~a",
  "`",
  "`a",
  "``a`",
  "&a",
  "<",
  "<a",
  "https://",
  "h",
  "\\",
  "> ",
  "- ",
  "1. ",
  "- [ ] ",
  "#",
  "-",
  "=",
  "x",
  " ",
  "    x\n",
  "a\n",
  "\n",
  "a | b\n",
  "日",
  "\u0301",
  "\u200d",
  "\u{1f1e9}",
  "\t",
  "\u001b[",
  "> > > > > > > > > > > > > > > x\n",
  "- x\n  ",
  "|",
].map((part) => [part, times(part)]);
texts.push(
  [
    "a list as deep as its lines",
    Array.from({ length: 400 }, (_, at) => `${"  ".repeat(at)}- x\n`).join(""),
  ],
  ["targets", `[a](${times("(")}`],
  ["code in one line", `\`\`\`js\n${times("x")}`],
  ["code of strings", `\`\`\`js\n${times("/* ${`")}`],
  ["lines of code", `\`\`\`ts\n${times("a<b(\n")}`],
  ["the name of a language", `\`\`\`${times("x")}`],
);
const tables: [string, string][] = [
  ["bars", times("|")],
  ["rows", `|a|b|\n|-|-|\n${times("|a|b|\n")}`],
  [
    "columns",
    `|${"a|".repeat(5000)}\n|${"-|".repeat(5000)}\n${times(`|${"*a*|".repeat(5000)}\n`)}`,
  ],
  ["marks in a cell", `|a|\n|-|\n|${times("**a")}|\n`],
  ["cells of marks", `|a|\n|-|\n${times(`|${"**a".repeat(1000)}|\n`)}`],
];

/** Feeds in small pieces; the most that was held, and the characters that were written. */
function measure(source: string): { held: number; written: number } {
  const terminal = { columns: () => 80, canRedraw: true };
  const look = { hasColour: true, hasLinks: true, shortensMarkers: true };
  const document = createDocument(terminal, look, createPainter);
  let held = 0;
  let written = 0;
  for (let at = 0; at < source.length; at += 499) {
    document.feed(source.slice(at, at + 499));
    written += renderText(document.take(), true).length;
    held = Math.max(held, document.held);
  }
  document.end();
  written += renderText(document.take(), true).length;
  return { held, written };
}

/** A character of a table may become a cell with two sequences of style around it. */
const mostPerCharacter = 40;

describe("the colours of code", () => {
  it("end where a block is very long: some parsers take quadratic time", () => {
    const painter = createPainter("sh");
    let lines = 0;
    while (lines < 50_000 && painter?.("$(") !== undefined) lines++;
    expect(lines).toBeGreaterThan(10_000);
    expect(lines).toBeLessThan(30_000);
  });

  it("survive what its parser does not", () => {
    const painter = createPainter("js");
    for (const line of ["__proto__ constructor", "}}}}", "`${`${`", "/[[[", "\\u{110000}"]) {
      expect(
        painter?.(line)
          ?.map((cell) => cell.text)
          .join("") ?? line,
      ).toBe(line);
    }
    expect(createPainter("__proto__")).toBeUndefined();
  });
});

// What a character costs is bounded by what is held when it comes, so that must not grow.
describe("hostile Markdown", () => {
  it.each(texts)("of %j is neither collected nor drawn again and again", (_name, source) => {
    const { held, written } = measure(source);
    expect(held).toBeLessThan(mostHeld.other);
    expect(written).toBeLessThan(source.length * mostPerCharacter + 1000);
  });

  it.each(tables)("as a table of %s is held within bounds", (_name, source) => {
    const { held, written } = measure(source);
    expect(held).toBeLessThan(mostHeld.table);
    expect(written).toBeLessThan(source.length * mostPerCharacter + 1000);
  });
});

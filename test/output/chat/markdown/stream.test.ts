import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openDrawing } from "../../../../src/output/chat/markdown.ts";
import { draw } from "./draw.ts";
import { openTerminal } from "./terminal.ts";

// Pieces of Markdown, whole and broken, and what an attacker would send.
const fragment = fc.constantFrom(
  "# ",
  "## A\n",
  "- ",
  "1. ",
  "> ",
  "  ",
  "    ",
  "\n",
  "\n\n",
  "```js\n",
  "```",
  "~~~\n",
  "---\n",
  "===\n",

  "**",
  "*",
  "_",
  "__",
  "~~",
  "`",
  "``",
  "[a",
  "](",
  "](https://x.y/z)",
  "[[1]](https://x.y)",
  "![",
  ")",
  "]",

  "| a | b |\n",
  "|--|:-:|\n",
  "|",
  " | ",
  "<b>",
  "<https://x.y>",
  "https://x.y/a_b",
  "&amp;",
  "&#27;",
  "&#x202e;",
  "\\",

  "word ",
  "longer words here ",
  "日本語",
  "e\u0301",
  "👩‍👩‍👧",
  "🇩🇪",
  "\t",
  "const x = `a${1}`; /*\n",
  "*/\n",
  "x".repeat(30),

  "\u001b[31m",
  "\u001b]52;c;eA==\u0007",
  "\u009b2J",
  "\u202e",
  "\r",
  "\u0000",
  "[x](javascript:a)",
  "[x](https://y.z/\u001b]8;;)",
);
const source = fc.array(fragment, { maxLength: 40 }).map((parts) => parts.join(""));

describe("any Markdown", () => {
  it("looks the same wherever its stream is cut (150 cases)", async () => {
    const cuts = fc.array(fc.nat(400), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(source, cuts, fc.constantFrom(12, 30, 80), async (text, at, columns) => {
        const edges = [...new Set([0, ...at.filter((each) => each < text.length), text.length])];
        edges.sort((a, b) => a - b);
        const pieces = edges.slice(1).map((end, index) => text.slice(edges[index], end));
        const whole = await draw([text], { columns });
        const cut = await draw(pieces, { columns });
        expect(await cut.looks()).toEqual(await whole.looks());
      }),
      { numRuns: 150 },
    );
  });

  it("sends a terminal only sequences of our own, and never one that leaves the row (150 cases)", async () => {
    await fc.assert(
      fc.asyncProperty(source, async (text) => {
        const written = (await draw(text, { columns: 30 })).written();
        const rest = written.replaceAll(
          /\u001b\[[\d;]*m|\r?\u001b\[(?:K|\d+D\u001b\[K)|\u001b\]8;;(?:(?:https?:\/\/|mailto:)[!-~]+)?\u001b\\/g,
          "",
        );
        expect(rest).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
        );
      }),
      { numRuns: 150 },
    );
  });

  it("never changes a row once another one stands below it (40 cases)", async () => {
    await fc.assert(
      fc.asyncProperty(source, async (text) => {
        const terminal = openTerminal({ columns: 30 });
        const drawing = await openDrawing(terminal.output, { shortensMarkers: false });
        let before: string[] = [];
        for (const character of text) {
          await terminal.output.write(...(await drawing.add(character)));
          const rows = await terminal.looks();
          // A line of code that runs over the edge takes several rows, its last one is the open one.
          const above = before.slice(0, -1);
          expect(rows.slice(0, above.length)).toEqual(above);
          before = rows;
        }
      }),
      { numRuns: 40 },
    );
  }, 60_000);

  it("loses none of its letters (150 cases)", async () => {
    const words = fc.array(
      fc.constantFrom(
        "one",
        "two",
        "**three",
        "four**",
        "`five",
        "six`",
        "[seven",
        "eight](",
        "*nine",
        "> ten",
        "- eleven",
        "# twelve",
        "\n",
        "\n\n",
        "|thirteen|\n",
        "|--|\n",
        "&fourteen",
        "<fifteen",
        "\\sixteen",
        "```\n",
      ),
      { maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(words, async (list) => {
        const rows = await (await draw([list.join(" ")], { columns: 40 })).rows();
        const letters = (text: string): string => text.replaceAll(/[^a-z]/g, "");
        expect(letters(rows.join(""))).toBe(letters(list.join(" ")));
      }),
      { numRuns: 150 },
    );
  });
});

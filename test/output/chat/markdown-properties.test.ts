import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { openDrawing } from "../../../src/output/chat/markdown.ts";
import { draw, openTerminal } from "./terminal.ts";

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
  "\ud83d",
  "\udc4d",

  "- [ ] ",
  "- [x] ",
  "  - ",
  "    - ",
  "   1. ",
  "2) ",
  "+ ",
  ">> z\n",
  "> - y\n",
  "***",
  "***\n",
  "    code\n",
  "````md\n",
  "\r\n",
  "word  \n",
  "\\\n",
  "<br>",
  "</div>\n",
  "a*b*c ",
  ":",

  "a | b\n",
  "--|--\n",
  "|---|\n",
  "| x | y | z |\n",
  "| `a|b` | \\| |\n",

  "👍🏽",
  "❤️",
  "\u200d",
  "\ufe0f",
  "कि",
  "\u1100\u1161\u11a8",
  "\u00a0",
  "\u2028",
  "\u3000",
  "、",
  "[日本](https://x.y/日)",
  "&Tab;",
  "&NewLine;",
  "&nbsp;",
);
/** Anything. */
const source = fc.array(fragment, { maxLength: 40 }).map((parts) => parts.join(""));
/** A terminal, also a very narrow one. */
const options = fc.record({
  columns: fc.oneof(fc.integer({ min: 4, max: 14 }), fc.constantFrom(30, 80)),
  color: fc.boolean(),
});

/** Words that stay on the screen, whatever stands around them. */
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

    "| a | b |\n",
    "|--|--|\n",
    "| `p|q` | r |\n",
    "| c\\|d |\n",
    "a | b",
    "|",
    "~~~\n",
    "  - nested",
    "    - deeper",
    "1. number",
    "- [ ] task",
    "* **bold** item",
    "    indented",
    "***all***",
    "~~gone~~",
    "___",
    "_",
    "snake_case_name",
    "supercalifragilistic",
    "日本",
    "👩‍👩‍👧",
    "\t",
    "\r\n",
    "  \n",
    "===\n",
    "---\n",
    "<https://k.l>",
    "https",
    "<div>\n",
  ),
  { maxLength: 60 },
);

describe("any Markdown", () => {
  it("sends a terminal only sequences of our own, and never one that leaves the row", async () => {
    await fc.assert(
      fc.asyncProperty(source, options, async (text, look) => {
        const drawn = await draw(text, look);
        // Whoever looks waits for the terminal: without it all of them would be kept to the end.
        await drawn.rows();
        const rest = drawn
          .written()
          .replaceAll(
            /\u001b\[[\d;]*m|\r?\u001b\[(?:K|\d+D\u001b\[K)|\u001b\]8;;(?:(?:https?:\/\/|mailto:)[!-~]+)?\u001b\\/g,
            "",
          );
        expect(rest).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
        );
      }),
      fc.few(60),
    );
  });

  it("never changes a row once another one stands below it", async () => {
    await fc.assert(
      fc.asyncProperty(source, options, async (text, look) => {
        const terminal = openTerminal(look);
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
      fc.few(15),
    );
  });

  it("loses none of its letters", async () => {
    await fc.assert(
      fc.asyncProperty(words, options, fc.boolean(), async (list, look, isCut) => {
        const text = list.join(" ");
        // What stands behind a fence is the name of a language, of which only a word is shown.
        fc.pre(!/(?:```|~~~)[^\n]*[a-z]/.test(text));
        const rows = await (await draw(isCut ? text : [text], look)).rows();
        const letters = (from: string): string => from.replaceAll(/[^a-z]/g, "");
        const shown = letters(rows.join(""));
        const meant = letters(text);
        // A table that is too wide is a list: its headers stand in front of every cell.
        if (!text.includes("--")) {
          expect(shown).toBe(meant);
          return;
        }
        for (const letter of new Set(meant)) {
          const count = shown.split(letter).length;
          expect(count).toBeGreaterThanOrEqual(meant.split(letter).length);
        }
      }),
      fc.few(60),
    );
  });

  it("fills no row that the terminal would have to break", async () => {
    await fc.assert(
      fc.asyncProperty(words, options, async (list, look) => {
        const text = list.join(" ");
        // Code is not wrapped.
        fc.pre(!/```|~~~|\t| {4}/.test(text));
        const drawn = await draw([text], look);
        expect(await drawn.lines()).toEqual(await drawn.rows());
      }),
      fc.few(60),
    );
  });
});

/** A piece of Markdown, and what a reader must see of it in this order. `@@`: the next number. */
interface Block {
  lines: string[];
  seen: string[];
}

const word = fc.constantFrom("one", "**two**", "*three*", "`four`", "~~five~~", "si_x", "日本");
const phrase = fc.array(word, { minLength: 1, maxLength: 5 });
const bare = (text: string): string => text.replaceAll(/[*`~]/g, "");

function tableOf(cells: string[], columns: number, hasEdge: boolean): Block {
  const row = (list: string[]): string => (hasEdge ? `| ${list.join(" | ")} |` : list.join(" | "));
  const rows = [0, 1, 2].map((at) => row(cells.slice(at * columns, (at + 1) * columns)));
  const rule = row(Array.from({ length: columns }, () => "--"));
  const seen = cells.slice(0, 3 * columns).map(bare);
  return { lines: [rows[0] ?? "", rule, ...rows.slice(1)], seen };
}

function itemOf(marker: string, { lines, seen }: Block): Block {
  const width = marker.replace("@@", "100").length;
  const [first = "", ...more] = lines;
  const rest = more.map((line) => (line === "" ? "" : " ".repeat(width) + line));
  const label = marker.includes("@@") ? marker.trim() : "•";
  return { lines: [marker + first, ...rest], seen: [label, ...seen] };
}

function taskOf(box: string, text: string[]): Block {
  return { lines: [`- ${box} ${text.join(" ")}`], seen: ["•", box, ...text.map(bare)] };
}

function joined(blocks: readonly Block[], between: string[]): Block {
  return {
    lines: blocks.flatMap(({ lines }, index) => (index > 0 ? [...between, ...lines] : lines)),
    seen: blocks.flatMap((block) => block.seen),
  };
}

const marker = fc.constantFrom("- ", "* ", "+   ", "@@. ", "@@) ", "@@.  ");
const cells = fc.array(word, { minLength: 9, maxLength: 9 });
const { blocks } = fc.letrec<{ block: Block; blocks: Block }>((tie) => ({
  blocks: fc.array(tie("block"), { minLength: 1, maxLength: 3 }).map((all) => joined(all, [""])),
  block: fc.oneof(
    // Lists and what they begin with are where most can go wrong.
    { depthSize: "small" },
    {
      weight: 4,
      arbitrary: fc.array(phrase, { minLength: 1, maxLength: 3 }).map((lines) => ({
        lines: lines.map((line) => line.join(" ")),
        seen: lines.flat().map(bare),
      })),
    },
    fc.tuple(fc.constantFrom("#", "###"), phrase).map(([hashes, text]) => ({
      lines: [`${hashes} ${text.join(" ")}`],
      seen: text.map(bare),
    })),
    fc.tuple(fc.constantFrom("```", "~~~~"), phrase).map(([fence, code]) => ({
      lines: [`${fence}js`, ...code, fence],
      seen: ["js", ...code],
    })),
    // Behind a list it belongs to the last item, as text.
    phrase.map((code) => ({
      lines: code.map((line) => `    ${bare(line)}`),
      seen: code.map(bare),
    })),
    fc.constant<Block>({ lines: ["___"], seen: [] }),
    fc.tuple(cells, fc.constantFrom(1, 2, 3), fc.boolean()).map(([list, columns, hasEdge]) =>
      // One column is a table only with bars at its edges.
      tableOf(list, columns, hasEdge || columns === 1),
    ),
    tie("blocks").map(({ lines, seen }) => ({
      lines: lines.map((line) => (line === "" ? ">" : `> ${line}`)),
      seen,
    })),
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.array(tie("blocks"), { minLength: 1, maxLength: 3 }), marker, fc.boolean())
        .map(([items, mark, isLoose]) =>
          joined(
            items.map((each) => itemOf(mark, each)),
            isLoose ? [""] : [],
          ),
        ),
    },
    fc.tuple(fc.constantFrom("[x]", "[_]"), phrase).map(([box, text]) => taskOf(box, text)),
  ),
}));

function numbered(text: string): string {
  let number = 99;
  return text.replaceAll("@@", () => String(++number));
}

it("shows the words, markers and numbers of any blocks in their order", async () => {
  await fc.assert(
    fc.asyncProperty(
      blocks,
      fc.boolean(),
      fc.constantFrom("\n", "\r\n"),
      async (all, isCut, end) => {
        const source = numbered(all.lines.join(end)).replaceAll("[_]", "[ ]");
        const drawn = await draw(isCut ? source : [source], { columns: 300 });
        const shown = (await drawn.rows())
          .join("\n")
          .replaceAll(/[│─┼╭╰]/g, " ")
          .replaceAll(/[◦▪]/g, "•")
          .replaceAll("[ ]", "[_]");
        expect(shown.split(/\s+/).filter(Boolean)).toEqual(
          numbered(all.seen.join(" ")).split(" ").filter(Boolean),
        );
      },
    ),
    fc.few(60),
  );
});

it("looks the same wherever the stream of any blocks is cut", async () => {
  const cuts = fc.array(fc.nat(400), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(blocks, cuts, options, async (all, at, look) => {
      const text = numbered(all.lines.join("\n")).replaceAll("[_]", "[ ]");
      const edges = [...new Set([0, ...at.filter((each) => each < text.length), text.length])];
      edges.sort((a, b) => a - b);
      const pieces = edges.slice(1).map((end, index) => text.slice(edges[index], end));
      const whole = await draw([text], look);
      const cut = await draw(pieces, look);
      expect(await cut.looks()).toEqual(await whole.looks());
    }),
    fc.few(60),
  );
});

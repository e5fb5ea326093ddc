import { describe, expect, it } from "vitest";
import { openDrawing, rendersMarkdown, writeAnswer } from "../../../src/output/chat/markdown.ts";
import { draw, openTerminal, rowsOf } from "./terminal.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createPainter } from "../../../src/output/chat/markdown/code.ts";
import { createDocument } from "../../../src/output/chat/markdown/document.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { renderText } from "../../../src/output/terminal/text.ts";
import { expectLinear } from "../../cost.ts";
import { createTestContext, projectFolder } from "../../support.ts";

describe("markdown", () => {
  const plain = { columns: 40 };

  describe("blocks", () => {
    const cases: [string, string, string[]][] = [
      ["join the lines of a paragraph", "a\nb\n\n\nc", ["a b", "", "c"]],
      ["break a line at two spaces or a backslash", "a  \nb\\\nc", ["a", "b", "c"]],
      ["hide the marks of headings", "# A\n## B ##\ntext", ["A", "B", "text"]],
      ["know headings by the line below", "A\n===\nB\n---", ["A", "B"]],
      ["number lists as the source does", "3. a\n4. b", ["3. a", "4. b"]],
      ["number lists on that repeat a number", "1. a\n1. b\n1. c", ["1. a", "2. b", "3. c"]],
      ["nest lists", "1. a\n   - b\n     * c\n2. d", ["1. a", "   • b", "     ◦ c", "2. d"]],
      ["show tasks", "- [ ] a\n- [x] b", ["• [ ] a", "• [x] b"]],
      ["show an item without text", "-\n- b", ["•", "• b"]],
      ["go on in an item without its indent", "- a\nb\n\nc", ["• a b", "", "c"]],
      ["keep several paragraphs in an item", "- a\n\n  b", ["• a", "", "  b"]],
      ["keep several paragraphs in an item of a quote", "> - a\n>\n>   b", ["│ • a", "│", "│   b"]],
      [
        "number on behind an empty line of a quote",
        "> 1. a\n> \n> 1. b",
        ["│ 1. a", "│", "│ 2. b"],
      ],
      ["put a bar beside quotes", "> a\n> > b\n\nc", ["│ a", "│ │ b", "", "c"]],
      ["go on in a quote without its mark", "> a\nb", ["│ a b"]],
      ["know a rule from a list and from emphasis", "***\n\n* a", ["─".repeat(39), "", "• a"]],
      ["know an item that begins with marks", "* **a** b\n* ***c***", ["• a b", "• c"]],
      ["know an item that begins with dashes", "- --a\n- -- b", ["• --a", "• -- b"]],
      ["take no number in prose for a list", "in\n1999. yes", ["in 1999. yes"]],
      ["show HTML as text, a line each", "<p>\n<b>a</b>", ["<p>", "<b>a</b>"]],
      [
        "show the code of a fence as it is",
        "```js\n a  b\n\n*c*\n```\nd",
        ["╭─ js", " a  b", "", "*c*", "╰─", "d"],
      ],
      ["end a fence with the answer", "~~~\na", ["╭─", "a", "╰─"]],
      ["end a fence only with its own mark", "````\n```\n````", ["╭─", "```", "╰─"]],
      [
        "take the indent of a list off its code",
        "- a\n  ```\n  b\n    c\n  ```\n- d",
        ["• a", "╭─", "b", "  c", "╰─", "• d"],
      ],
      [
        "keep code that is indented too little",
        "1. a\n   ```\nb\n   ```\n2. c",
        ["1. a", "╭─", "b", "╰─", "2. c"],
      ],
      ["keep indented code", "a\n\n    b  c\n", ["a", "", "    b  c"]],
      ["show the marker of an item of code", "1.     a\n2. b", ["1.", "    a", "2. b"]],
      [
        "show the marker of an item that is a table",
        "1. a | b\n   --|--",
        ["1. a │ b", "   ──┼──"],
      ],
      [
        "show the box of a task that is a table",
        "- [ ] a | b\n  --|--",
        ["• [ ] a │ b", "  ──────┼──"],
      ],
      ["take inline code for no fence", "```a``` b", ["a b"]],
      ["wrap between words", "word ".repeat(10), ["word ".repeat(8).trim(), "word word"]],
      [
        "hang the rows of an item",
        `- ${"word ".repeat(9)}`,
        ["• word word word word word word word", "  word word"],
      ],
      ["break a word that is longer than a row", "x".repeat(50), ["x".repeat(39), "x".repeat(11)]],
      ["break Japanese between characters", "日".repeat(25), ["日".repeat(19), "日".repeat(6)]],
    ];
    it.each(cases)("%s", async (_name, source, expected) => {
      expect(await rowsOf(source, plain)).toEqual(expected);
    });

    it("stay within half the row, however deep they nest", async () => {
      const rows = await rowsOf(`${"> ".repeat(60)}${"word ".repeat(20)}`, { columns: 30 });
      for (const row of rows) expect(row.length).toBeLessThan(30);
      expect(rows.filter((row) => row.includes("word word")).length).toBeGreaterThan(3);
    });

    it.each([2, 3, 4, 5, 6, 8, 12])("of tasks stay within %d columns", async (columns) => {
      const drawn = await draw(["- [ ] task\n- [x] *done*\n  1. [ ] more words"], { columns });
      expect(await drawn.lines()).toEqual(await drawn.rows());
      expect((await drawn.rows()).join("").replaceAll(/[^a-wyz]/g, "")).toBe("taskdonemorewords");
    });

    it.each([1, 2, 3, 8])("are drawn in a window of %d columns", async (columns) => {
      const rows = await rowsOf("# Ab\n- cd\n> ef\n\n|a|b|\n|-|-|\n|1|2|", { columns });
      expect(rows.join("").replace(/[^\w]/g, "")).toContain("Ab");
    });
  });

  describe("tables", () => {
    const table = "| Name | Days |\n|:--|--:|\n| Annual leave | 30 |\n| `a\\|b` | *5* |\n";
    it("are aligned", async () => {
      expect(await rowsOf(table, plain)).toEqual([
        "Name         │ Days",
        "─────────────┼─────",
        "Annual leave │   30",
        "a|b          │    5",
      ]);
    });

    it("need no bars at the edge", async () => {
      expect(await rowsOf("a | b\n--|--\n1 | 2\n\nx", plain)).toEqual([
        "a │ b",
        "──┼──",
        "1 │ 2",
        "",
        "x",
      ]);
    });

    it("become a list where they do not fit", async () => {
      expect(await rowsOf(table, { columns: 18 })).toEqual([
        "• Name: Annual",
        "    leave",
        "  Days: 30",
        "• Name: a|b",
        "  Days: 5",
      ]);
    });

    it("show the headers where a column without any cell is to be filled in", async () => {
      expect(await rowsOf("| Name | Sign |\n|--|--|\n| Al | |", { columns: 11 })).toEqual([
        "• Name",
        "  Sign",
        "• Name: Al",
      ]);
    });

    it.each([2, 3, 4, 5, 6, 7, 8, 9])("stay within %d columns as a list", async (columns) => {
      const drawn = await draw([`- x\n\n  ${table.replaceAll("\n", "\n  ")}`], { columns });
      expect(await drawn.lines()).toEqual(await drawn.rows());
    });

    it("keep the cells of a row that has more of them than the first row", async () => {
      const wider = "| a | b |\n|---|--:|\n| 1 | 2 | 3 | 4 |\n| 5 |\n";
      expect(await rowsOf(wider, plain)).toEqual([
        "a │ b │   │",
        "──┼───┼───┼──",
        "1 │ 2 │ 3 │ 4",
        "5 │   │   │",
      ]);
      expect(await rowsOf(wider, { columns: 8 })).toEqual([
        "• a: 1",
        "  b: 2",
        "  3",
        "  4",
        "• a: 5",
      ]);
    });

    it("measure wide and combining characters", async () => {
      const rows = await rowsOf("|a|b|\n|-|-|\n|日本|x|\n|e\u0301|y|\n|👩‍👩‍👧|z|", plain);
      expect(rows.slice(2)).toEqual(["日本 │ x", "e\u0301    │ y", "👩‍👩‍👧   │ z"]);
    });

    it("show the line that is coming while they are held", async () => {
      const terminal = await draw([], plain);
      const drawing = await openDrawing(terminal.output, { shortensMarkers: false });
      const add = async (text: string): Promise<string[]> => {
        await terminal.output.write(...(await drawing.add(text)));
        return await terminal.rows();
      };
      expect(await add("a\n\n| Na")).toEqual(["a", "", "| Na"]);
      expect(await add("me | B |\n|-")).toEqual(["a", "", "| Name | B |"]);
      expect(await add("|-|\n| one | tw")).toEqual(["a", "", "| one | tw"]);
      expect(await add("o |\n\nb")).toEqual([
        "a",
        "",
        "Name │ B",
        "─────┼────",
        "one  │ two",
        "",
        "b",
      ]);
    });

    it("show a tab of the line that is coming as the one column it is taken for", async () => {
      const whole = "|--|:-:|\n\t# ```js\n";
      const cut = await draw([whole.slice(0, 15), whole.slice(15)], { columns: 12 });
      expect(await cut.rows()).toEqual(await rowsOf(whole, { columns: 12 }));
    });

    it("are text without a row of dashes", async () => {
      expect(await rowsOf("| a | b |\n| c |\n\nd", plain)).toEqual(["| a | b |", "| c |", "", "d"]);
    });

    it("go on with the same columns when they are very long", async () => {
      const source = `|a|b|\n|-|-|\n${"|one|two|\n".repeat(500)}|a very long one|two|\n`;
      const rows = await rowsOf(source, plain);
      expect(rows.slice(0, 3)).toEqual(["a   │ b", "────┼────", "one │ two"]);
      expect(rows.slice(-2)).toEqual(["• a: a very long one", "  b: two"]);
    });
  });

  const wide = { columns: 200 };

  async function lookOf(source: string, options = {}): Promise<string | undefined> {
    return (await (await draw(source, { ...wide, ...options })).looks())[0]?.trimEnd();
  }

  describe("inline text", () => {
    // Each character is followed by its look: b old, i talic, u nderlined, s truck, 6 cyan.
    const looks: [string, string, string][] = [
      ["bold", "**a** b", "ab b"],
      ["italic", "*a* _b_", "ai bi"],
      ["both", "***a***", "abi"],
      ["struck out", "~~a~~ ~b~", "as bs"],
      ["code, where marks are text", "`*a*` ``b`c``", "*6a6*6 b6`6c6"],
      ["nested", "**a *b* c**", "abb bbi bbcb".replace("abb bbi bbcb", "ab bbbi bcb")],
      ["text, without a partner", "**a *b `c", "**a *b `c"],
      ["text, with spaces around", "2 * 3 * 4 ** 5", "2 * 3 * 4 ** 5"],
      ["text inside a word", "a_b_c", "a_b_c"],
      ["text, escaped", "\\*a\\* \\`b\\`", "*a* `b`"],
      ["text, as a pattern", "*.md and **/x", "*.md and **/x"],
    ];
    it.each(looks)("is %s", async (_name, source, expected) => {
      expect(await lookOf(source)).toBe(expected);
    });

    const texts: [string, string, string][] = [
      ["decodes references", "&lt;b&gt; &amp; &copy; &#65; &x; &", "<b> & © A &x; &"],
      ["keeps HTML", "a <b>*x*</b> <!-- c -->", "a <b>x</b> <!-- c -->"],
      ["shows an image as a link", "![cat](https://x.y/c.png)", "image: cat"],
      ["keeps brackets that are no link", "[a] [b] (c) a[0] [x](", "[a] [b] (c) a[0] [x]("],
      ["reads titles and angles", '[a](<https://x.y/b c> "t") [d](https://x.y/(e) "f")', "a d"],
      ["shortens markers", "x [[1]](https://x.y/z)[[2]]()", "x [1][2]"],
    ];
    it.each(texts)("%s", async (_name, source, expected) => {
      expect((await rowsOf(source, wide))[0]).toBe(expected);
    });

    it("leaves marks of two rows hidden, and takes back those without a partner in the last one", async () => {
      expect(await rowsOf("**aaaa bbbb cccc** d", { columns: 10 })).toEqual([
        "aaaa bbbb",
        "cccc d",
      ]);
      expect(await rowsOf("aaaa bbbb **cccc d", { columns: 10 })).toEqual([
        "aaaa bbbb",
        "**cccc d",
      ]);
    });

    it("keeps the marks without colour", async () => {
      const source = "# A\n**b** *c* `d` [e](https://x.y) ~~f~~";
      expect(await rowsOf(source, { ...wide, color: false })).toEqual([
        "# A",
        "**b** *c* `d` e (https://x.y) ~~f~~",
      ]);
    });
  });

  describe("links", () => {
    const addresses: [string, string, string | undefined][] = [
      ["https", "[a](https://x.y/z)", "https://x.y/z"],
      ["http", "[a](http://x.y)", "http://x.y/"],
      ["mail", "<a@x.y>", "mailto:a@x.y"],
      ["bare", "see https://x.y/z.", "https://x.y/z"],
      ["a look-alike host", "[a](https://ехample.com/)", "https://xn--"],
      ["javascript", "[a](javascript:alert)", undefined],
      ["file", "[a](file:///etc/passwd)", undefined],
      ["an end of the sequence", "[a](https://x.y/\u001b\\z)", undefined],
      ["a space", "[a](<https://x.y/ z>)", "https://x.y/%20z"],
    ];
    it.each(addresses)("of %s", async (_name, source, url) => {
      const terminal = await draw([source], wide);
      const found = /\u001b\]8;;([^\u001b]+)\u001b\\/.exec(terminal.written())?.[1];
      if (url === undefined) {
        // Node 24 encodes the character that stands for the control.
        expect(found === undefined || /^https:\/\/x\.y\/(?:\^|%5E)/.test(found)).toBe(true);
      } else expect(found).toMatch(new RegExp(`^${url.replaceAll(/[.?]/g, "\\$&")}`));
    });

    it("have their address beside them where the terminal has no links", async () => {
      const options = { ...wide, env: { TERM: "xterm" } };
      expect(await rowsOf("[a](https://x.y) https://z.y", options)).toEqual([
        "a (https://x.y) https://z.y",
      ]);
    });

    it("have their address beside them where it is none to click on, or the text names another", async () => {
      expect(await rowsOf("[a](docs/x.md) [b.com](https://evil.y)", wide)).toEqual([
        "a (docs/x.md) b.com (https://evil.y)",
      ]);
    });
  });
});

describe("markdown stream", () => {
  async function openBoth(columns: number, options = {}) {
    const terminal = openTerminal({ columns, ...options });
    const drawing = await openDrawing(terminal.output, { shortensMarkers: false });
    const add = async (text: string): Promise<string[]> => {
      await terminal.output.write(...(await drawing.add(text)));
      return await terminal.rows();
    };
    return { terminal, drawing, add };
  }

  describe("a stream on a terminal", () => {
    it("appears at once, and takes its look when that is known", async () => {
      const { add } = await openBoth(30);
      expect(await add("Hel")).toEqual(["Hel"]);
      expect(await add("lo *wor")).toEqual(["Hello wor"]);
      expect(await add("ld* and **bo")).toEqual(["Hello world and bo"]);
      expect(await add("ld")).toEqual(["Hello world and bold"]);
      expect(await add("**\n\n```js\nlet")).toEqual(["Hello world and bold", "", "╭─ js", "let"]);
    });

    it("writes nothing again of what stays the same", async () => {
      const { terminal, add } = await openBoth(30);
      await add("one two");
      const before = terminal.written().length;
      await add(" three");
      expect(terminal.written().slice(before)).toBe(" three");
    });

    it("keeps what terminals draw one beside the other when the row is redrawn", async () => {
      const { terminal, drawing, add } = await openBoth(30);
      await add(`👩‍👩‍👧👩‍👩‍👧${"x".repeat(24)}`);
      await add("xxxxxx");
      await terminal.output.write(...(await drawing.end()));
      expect((await terminal.rows()).join("")).toBe(`👩‍👩‍👧👩‍👩‍👧${"x".repeat(30)}`);
    });

    // This emulator cuts the cursor's row off instead of breaking it, as xterm does: what it has
    // taken away cannot be told here.
    it.each([21, 10])(
      "goes on below when the window is made narrower, to %d columns",
      async (columns) => {
        const { terminal, drawing, add } = await openBoth(30);
        await add("# Title\n\none two three four fi");
        await terminal.resize(columns);
        await add("ve six seven **eight** nine");
        await terminal.output.write(...(await drawing.end()));
        const text = (await terminal.rows()).join("").replaceAll(" ", "");
        expect(text).toMatch(/^Titleonetwo/);
        expect(text).toMatch(/vesixseveneightnine$/);
        expect(text.match(/one|two/g)).toHaveLength(2);
      },
    );

    it("goes on in wider rows when the window is made wider", async () => {
      const { terminal, drawing, add } = await openBoth(20);
      await add("one two three four five six");
      await terminal.resize(60);
      await add(" seven eight nine ten eleven twelve");
      await terminal.output.write(...(await drawing.end()));
      expect(await terminal.rows()).toEqual([
        "one two three four",
        "five six seven eight nine ten eleven twelve",
      ]);
    });

    it.each([
      ["text", "one tw", "o **three**", ["one tw", "(aside)", "o three"]],
      ["text at its end", "one", "", ["one", "(aside)"]],
      ["code", "```\none tw", "o\n```", ["╭─", "one tw", "(aside)", "o", "╰─"]],
      ["code at its end", "```\none", "\ntwo\n```", ["╭─", "one", "(aside)", "two", "╰─"]],
      ["a table", "|a|\n|-|\n|b", "|\n", ["(aside)", "a", "─", "b"]],
    ])("leaves room for something else in the middle of %s", async (_name, one, two, expected) => {
      const { terminal, drawing, add } = await openBoth(40);
      await add(one);
      await terminal.output.write(...drawing.leave(), "(aside)\n");
      await add(two);
      await terminal.output.write(...(await drawing.end()));
      expect(await terminal.rows()).toEqual(expected);
    });

    it("redacts a secret that stands in two rows, and in two pieces", async () => {
      const secret = "abcdefghijklmnopqrstuvwxyz0123456789";
      const { terminal, drawing, add } = await openBoth(20, { secret });
      for (const part of ["the key ", secret.slice(0, 9), secret.slice(9), " is it"])
        await add(part);
      await terminal.output.write(...(await drawing.end()));
      expect(await terminal.rows()).toEqual(["the key *** is it"]);
      expect(terminal.written()).not.toContain("abc");
    });

    it("copies code exactly, also where it is wider than the window", async () => {
      const code = "const a = 1; // a long comment that does not fit\n  if (a) {\n\n    b();\n}";
      for (const columns of [10, 20, 80]) {
        const terminal = await draw([`\`\`\`js\n${code}\n\`\`\`\n`], { columns });
        expect((await terminal.lines()).slice(1, -1).join("\n")).toBe(code);
      }
      expect((await draw(["```\n\ta\tb"], { columns: 10 })).written()).toContain("\ta\tb\n");
    });

    it("gives code its colours line by line, what a line leaves open included", async () => {
      const looks = await (await draw("```js\n/* a\nb */ let c = `d\ne`;\n```")).looks();
      expect(looks[2]).toContain("bd");
      expect(looks[2]).toContain("l5e5t5");
      expect(looks[3]).toContain("e2`2");
    });
  });

  describe("what an answer is drawn as", () => {
    const cases: [string, { isTTY: boolean; env?: Record<string, string> }, boolean][] = [
      ["a terminal", { isTTY: true }, true],
      ["a terminal without colour", { isTTY: true, env: { NO_COLOR: "1" } }, true],
      ["a dumb terminal", { isTTY: true, env: { TERM: "dumb" } }, false],
      ["CI", { isTTY: true, env: { CI: "true" } }, false],
      ["a pipe", { isTTY: false }, false],
      ["a pipe with colours", { isTTY: false, env: { FORCE_COLOR: "1" } }, false],
    ];
    it.each(cases)("auto on %s", (_name, options, expected) => {
      const output = createOutput(createTestContext(options));
      expect(rendersMarkdown(output)).toBe(expected);
      expect(rendersMarkdown(output, "markdown")).toBe(true);
      expect(rendersMarkdown(output, "plain")).toBe(false);
    });

    it("Markdown in a pipe, when that is asked for: whole rows, no sequences", async () => {
      const test = createTestContext();
      await writeAnswer(createOutput(test), "# A\n**b** [c](https://x.y)\n\n|a|\n|-|\n|1|", {
        mode: "markdown",
      });
      expect(test.stdoutText()).toBe("# A\n**b** c (https://x.y)\n\na\n─\n1\n");
    });

    it("the text itself in a pipe", async () => {
      const test = createTestContext();
      await writeAnswer(createOutput(test), "# A\n**b**\u001b[1m");
      expect(test.stdoutText()).toBe("# A\n**b**^[[1m\n");
    });
  });

  const rich = readFileSync(join(projectFolder, "test/fixtures/markdown/rich.md"), "utf8");

  describe("an answer rich in Markdown", () => {
    it.each([24, 40, 80, 200])(
      "looks the same at %d columns, whole or character by character",
      async (columns) => {
        const whole = await draw([rich], { columns });
        const cut = await draw(rich, { columns });
        expect(await cut.looks()).toEqual(await whole.looks());
      },
    );
  });

  describe("half a character", () => {
    it.each(["a\ud83d", "a\ud83d[b](c)", "a\udc4db"])(
      "alone is one that has a column (%j)",
      async (source) => {
        const rows = [source.toWellFormed().replace("[b](c)", "b (c)")];
        expect(await (await draw([source])).rows()).toEqual(rows);
        expect(await (await draw(source.split(""))).rows()).toEqual(rows);
      },
    );

    it("joins the other one", async () => {
      expect(await (await draw(["a\ud83d", "\udc4db"])).rows()).toEqual(["a\u{1f44d}b"]);
    });
  });

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

  // Each part many times; of all, the cost grows with the length alone.
  const parts = [
    "[",
    "[a](",
    "[a](b)",
    "![",
    "[[1]](",
    "*",
    "*a ",
    "**a ",
    "***a__",
    "_a*",
    "~~a",
    "`a",
    "<a",
    "&a",
    "https://",
    "\\",
    "> ",
    "- ",
    "1. ",
    "- [ ] ",
    "#",
    "x",
    " ",
    "    x\n",
    "a\n",
    "日",
    "\u0301",
    "\u200d",
    "\u{1f1e9}",
    "\t",
    "-\t",
    "\u001b[",
    "- x\n  ",
    "|",
    "a | b\n",
    "- > 1. ",
    "<!--\n",
    "|a|\n|-|\n",
    "```js\n/* ${`\n",
    "~~~\n",
  ];
  const texts: [string, (size: number) => string][] = parts.map((part) => [
    JSON.stringify(part),
    (size) => part.repeat(Math.ceil(size / part.length)),
  ]);
  const row = (cell: string, count: number): string => `|${`${cell}|`.repeat(count)}\n`;
  texts.push(
    [
      "a list as deep as its lines",
      (size) => Array.from({ length: size / 40 }, (_, at) => `${"  ".repeat(at)}- x\n`).join(""),
    ],
    ["quotes as deep as their lines", (size) => `${"> ".repeat(200)}x\n`.repeat(size / 400)],
    ["a target", (size) => `[a](${"(".repeat(size)}`],
    ["code in one line", (size) => `\`\`\`js\n${"x".repeat(size)}`],
    ["the name of a language", (size) => `\`\`\`${"x".repeat(size)}`],
    ["rows of a table", (size) => `|a|b|\n|-|-|\n${"|a|b|\n".repeat(size / 6)}`],
    ["columns", (size) => row("a", size / 8) + row("-", size / 8) + row("*a*", size / 8)],
    ["marks in a cell", (size) => `|a|\n|-|\n|${"**a".repeat(size / 3)}|\n`],
  );

  /** A character may become a cell with two sequences of style around it. */
  const mostPerCharacter = 40;

  /** Draws a text in pieces; the number of characters that are written. */
  function write(source: string): number {
    const terminal = { columns: () => 80, canRedraw: true };
    const look = { hasColour: true, hasLinks: true, shortensMarkers: true };
    const document = createDocument(terminal, look, createPainter);
    let written = 0;
    for (let at = 0; at < source.length; at += 499) {
      document.feed(source.slice(at, at + 499));
      written += renderText(document.take(), true).length;
    }
    document.end();
    return written + renderText(document.take(), true).length;
  }

  describe("hostile Markdown", () => {
    it.each(texts)("of %s costs what its length does", (_name, sourceOf) => {
      const source = sourceOf(20_000);
      expect(write(source)).toBeLessThan(source.length * mostPerCharacter + 1000);
      expectLinear(20_000, (size) => write(sourceOf(size)));
    });
  });
});

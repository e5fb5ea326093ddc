import { describe, expect, it } from "vitest";
import { openDrawing } from "../../../src/output/chat/markdown.ts";
import { draw, rowsOf } from "./terminal.ts";

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
    ["number on behind an empty line of a quote", "> 1. a\n> \n> 1. b", ["│ 1. a", "│", "│ 2. b"]],
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
    ["show the marker of an item that is a table", "1. a | b\n   --|--", ["1. a │ b", "   ──┼──"]],
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
    expect(await rowsOf("**aaaa bbbb cccc** d", { columns: 10 })).toEqual(["aaaa bbbb", "cccc d"]);
    expect(await rowsOf("aaaa bbbb **cccc d", { columns: 10 })).toEqual(["aaaa bbbb", "**cccc d"]);
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

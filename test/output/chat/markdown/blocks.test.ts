import { describe, expect, it } from "vitest";
import { draw, rowsOf } from "./draw.ts";

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
    const { openDrawing } = await import("../../../../src/output/chat/markdown.ts");
    const drawing = await openDrawing(terminal.output, { shortensMarkers: false });
    const add = async (text: string): Promise<string[]> => {
      await terminal.output.write(...(await drawing.add(text)));
      return await terminal.rows();
    };
    expect(await add("a\n\n| Na")).toEqual(["a", "| Na"]);
    expect(await add("me | B |\n|-")).toEqual(["a", "|-"]);
    expect(await add("|-|\n| one | tw")).toEqual(["a", "| one | tw"]);
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

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createPainter } from "../../../src/output/chat/markdown/code.ts";
import { createDocument } from "../../../src/output/chat/markdown/document.ts";
import { openDrawing, rendersMarkdown, writeAnswer } from "../../../src/output/chat/markdown.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { renderText } from "../../../src/output/terminal/text.ts";
import { expectLinear } from "../../cost.ts";
import { createTestContext, projectFolder } from "../../support.ts";
import { draw, openTerminal } from "./terminal.ts";

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
    for (const part of ["the key ", secret.slice(0, 9), secret.slice(9), " is it"]) await add(part);
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

import { describe, expect, it } from "vitest";
import { findLinks } from "../../../../src/documents/map/links/rewrite-links.ts";
import { expectLinear } from "../../../cost.ts";

const targetsIn = (text: string): string[] => findLinks(text).map(({ target }) => target);

describe("links of Markdown text", () => {
  it.each([
    ["[a](b.md) and [c](d.md#e 'title')", ["b.md", "d.md#e"]],
    ["[a](<b c.md>) [d]( e.md )", ["b c.md", "e.md"]],
    ["[a](b\\_c.md?x=1&amp;y=2)", ["b_c.md?x=1&y=2"]],
    ["[a](b(1).md)", ["b(1).md"]],
    ["[![alt](image.png)](page.md)", ["page.md"]],
    ["![alt](image.png)", []],
    ["[a [b] c](d.md)", ["d.md"]],
    ["\\[a](b.md)", []],
    ["[a](two words)", []],
    ["[a]()", []],
    ["`[a](b.md)` [c](d.md)", ["d.md"]],
    ["```\n[a](b.md)\n```\n[c](d.md)", ["d.md"]],
    ["<!--\n[a](b.md)\n-->\n[c](d.md)", ["d.md"]],
    ["x <!-- [a](b.md) --> [c](d.md) `<!-- [e](f.md)` [g](h.md) -->", ["d.md", "h.md"]],
    ["<!-- [b]: c.md -->\n[d]: e.md\n", ["e.md"]],
    ["[a]\n\n(b.md)", []],
    ["[a\n\nb](c.md)", []],
    ["[a][b]\n\n[b]: c.md 'Title'\n[d]: <e f.md>\n", ["c.md", "e f.md"]],
    ["[b]: c.md and more words\n", []],
    ["[a]:\n[b c]: d.md\n[e]:\n  f.md\n", ["d.md", "f.md"]],
    ["[^1]: note\n", []],
    ["    [b]: c.md\n", ["c.md"]],
    ['<a class="x" href="b.md?c&amp;d">e</a>', ["b.md?c&d"]],
    ["<a href='b.md'>e</a> <A HREF=c.md>d</A> <a>x</a> <a href={b}>x</a>", ["b.md", "c.md"]],
    ["<abbr href='b.md'>", []],
    ["<https://x.example/a.md>", []],
  ])("of %j are %j", (text, targets) => {
    expect(targetsIn(text)).toEqual(targets);
  });

  it("have the offsets of their addresses", () => {
    const text = "[a](<b.md>) <a href='c.md'>x</a>\n\n[d]: e.md\n";
    expect(findLinks(text).map(({ start, end }) => text.slice(start, end))).toEqual([
      "<b.md>",
      "'c.md'",
      "e.md",
    ]);
  });

  it.each([
    "[",
    "]",
    "](",
    "[a](",
    "[a](b",
    "[a](b ",
    "[a](<",
    "[a](b.md)",
    "[a]:",
    "[a]: b\n",
    "[a]: <",
    "<a ",
    "<a href=",
    '<a href="',
    "<a href='x\n",
    "(",
    "`",
    "\\",
    "[`",
  ])("are found in linear time in a repetition of %j", (part) => {
    expectLinear(400_000, (size) => findLinks(part.repeat(size / part.length)));
  });
});

import { describe, expect, it } from "vitest";
import { noIncludes } from "../../../src/documents/read/parts/includes.ts";
import { readRst } from "../../../src/documents/read/readers/rst/rst.ts";
import { scanStructure } from "../../../src/documents/markdown/structure.ts";
import { readOkAsync } from "../folder.ts";
import { bodyOf, readText } from "./rst-text.ts";

const inline = (text: string): string => bodyOf(`${text}\n`);

describe("titles", () => {
  it.each([
    ["underlined", "Hello *world*\n=============\n\ntext", "Hello world"],
    ["over- and underlined", "=====\n Big \n=====\n\nNext\n----\n", "Big"],
    [
      "after comments",
      ".. comment\n\n.. _label:\n\nThe ``code`` title\n~~~~~~~~~~~~~~~~~~\n",
      "The code title",
    ],
    ["roles", ":mod:`json` --- JSON\n====================\n", "json --- JSON"],
    ["a substitution", "About |x|\n=========\n\n.. |x| replace:: *this*\n", "About this"],
    ["a transition is none", "text\n\n-----\n\nmore\n", undefined],
    ["too short is none", "A long line of text\n---\n", undefined],
    ["a directive is none", ".. note::\n=========\n", undefined],
    ["none", "only text", undefined],
    ["an empty file", "", undefined],
    ["a table", "=====  =====\nA      B\n=====  =====\n", undefined],
    [
      "in the header of a proposal",
      "PEP: 8\nTitle: Style of\n  ``code``\nStatus: Active\n\nAbstract\n========\n",
      "PEP 8 – Style of code",
    ],
    ["fields of no proposal", "Title: A\n\nAbstract\n========\n", "Abstract"],
    ["after front matter", "---\nowner: Ada\n---\nA\n=\n", "A"],
  ])("%s", (_name, text, title) => {
    expect(readRst(text, "a.rst", { includes: noIncludes, componentAttributes: [] }).title).toBe(
      title,
    );
  });

  it("levels follow the order of the adornments", () => {
    const text = "One\n***\n\nTwo\n===\n\nThree\n-----\n\nOther\n=====\n\n-----\nFour?\n-----\n";
    expect(bodyOf(text)).toBe("# One\n\n## Two\n\n### Three\n\n## Other\n\n#### Four?");
  });

  it("have the anchors of docutils", () => {
    const text = [
      "Set up\n======\n\n`Set up <https://a.example>`_ [1]_\n\nSet up\n------\n",
      ".. _faq:\n\nFAQ\n---\n\n中文\n----\n\nÜber *Ångström* 2\n--------------------\n\n.. [1] note\n",
    ].join("\n");
    expect(readText(text).headings).toEqual([
      { text: "Set up", anchor: "set-up" },
      { text: "Set up", anchor: "id3" },
      { text: "FAQ", anchor: "faq" },
      { text: "中文", anchor: "id5" },
      { text: "Über Ångström 2", anchor: "uber-angstrom-2" },
    ]);
  });

  it("have anchors of the names of substitutions", () => {
    const text = "About |x|\n=========\n\n.. |x| replace:: this\n";
    expect(readText(text).headings).toEqual([{ text: "About this", anchor: "about-x" }]);
  });

  it("split a document into sections with links", async () => {
    const { document } = await readOkAsync(
      "A\n=\n\none\n\nB c\n---\n\ntwo\n\n::\n\n   # no heading\n",
      { sections: "headings", link: "https://x.example/{slug}" },
      "page.rst",
    );
    expect(document.sections).toEqual([
      { text: "A\n\none", link: "https://x.example/page#a" },
      { text: "A > B c\n\ntwo\n\n```\n# no heading\n```", link: "https://x.example/page#b-c" },
    ]);
  });
});

describe("running text", () => {
  it.each([
    ["literals", "``a *b* \\c``", "`a *b* \\c`"],
    ["a literal with a backtick", "``a`b``", "`` a`b ``"],
    ["emphasis", "*a* and **b c**", "*a* and **b c**"],
    ["stars in text", "2 * 3 * 4, **kwargs and *args", "2 * 3 * 4, **kwargs and *args"],
    ["a role", "See :func:`open` and :class:`~a.b.Klass`.", "See `open` and `Klass`."],
    ["a target without a blank", ":ref:`A<b>` :ref:`c\\<d>` :class:`V<T>`", "A c\\<d> `V<T>`"],
    ["a title and a target", ":doc:`The guide </guide>`, :ref:`x <y>`", "The guide, x"],
    ["a role behind", "`text`:sub:", "text"],
    ["raised text", "10\\ :sup:`6` x\\ :superscript:`k/2`", "10⁶ x^(k/2)"],
    ["a code role keeps angle brackets", ":code:`cp <file>`", "`cp <file>`"],
    ["a key and a menu", ":kbd:`Ctrl-C` :menuselection:`File --> &Open`", "`Ctrl-C` File --> Open"],
    ["braces", ":file:`/usr/{name}/lib`", "`/usr/name/lib`"],
    ["a numbered document", ":pep:`8`", "[PEP 8](https://peps.python.org/pep-0008/)"],
    [
      "a place in a numbered document",
      ":pep:`8#names` :rfc:`a <9#section-2.1>`",
      "[PEP 8#names](https://peps.python.org/pep-0008/#names) [a](https://datatracker.ietf.org/doc/html/rfc9.html#section-2.1)",
    ],
    ["a role with the name of a method", ":constructor:`8`", "`8`"],
    ["a document without a number", ":pep:`index`", "`index`"],
    ["an abbreviation", ":abbr:`LIFO (last in, first out)`", "LIFO (last in, first out)"],
    ["a link", "`the site <https://a.example/>`_", "[the site](https://a.example/)"],
    [
      "a link over two lines",
      "`the\nsite <https://a.example/>`__",
      "[the\nsite](https://a.example/)",
    ],
    ["escapes", "a\\ b \\*c\\* d\\\\e", "ab \\*c\\* d\\\\e"],
    ["an escape after a role", ":term:`role`\\ s", "roles"],
    ["unclosed marks", "`a ``b *c |d", "`a ``b *c |d"],
    ["names with underscores", "my_name_ and __init__", "my_name_ and __init__"],
    ["no comment", "a\n<!-- b", "a\n\\<\\!-- b"],
    ["no heading of Markdown", "text\n# no", "text\n\\# no"],
  ])("%s", (_name, text, body) => {
    expect(inline(text)).toBe(body);
  });

  it.each([
    [
      "a named target",
      "See Docs_.\n\n.. _Docs: https://a.example",
      "See [Docs](https://a.example).",
    ],
    [
      "a phrase",
      "`The docs`_\n\n.. _the docs:\n   https://a.example",
      "[The docs](https://a.example)",
    ],
    ["an alias", "A_\n\n.. _A: B_\n.. _B: https://b.example", "[A](https://b.example)"],
    [
      "anonymous targets",
      "`a`__ b__\n\n__ https://a\n.. __: https://b",
      "[a](https://a) [b](https://b)",
    ],
    ["a place on the page", "A_ and `A`_\n\n.. _A:\n\ntext", "A and A\n\ntext"],
    [
      "a title by its label",
      ":ref:`l`\n\n.. _l:\n\nThe title\n=========",
      "The title\n\n# The title",
    ],
    ["a substitution", "|x| |y|\n\n.. |x| replace:: *a*\n.. |y| unicode:: 0xA9 .. sign", "*a* ©"],
    ["a picture", "|x|\n\n.. |x| image:: a.png\n   :alt: Text", "![Text](a.png)"],
    ["markup of the page", "a |br| b\n\n.. |br| raw:: html\n\n   <br>", "a  b"],
    ["an unknown substitution", "|version|", "|version|"],
    [
      "footnotes",
      "a [#]_ [1]_ [#n]_ [CIT]_\n\n.. [1] one\n.. [#] two\n.. [#n] three\n.. [CIT] four",
      "a [2] [1] [3] [CIT]\n\n[1] one\n[2] two\n[3] three\n[CIT] four",
    ],
  ])("%s", (_name, text, body) => {
    expect(inline(text)).toBe(body);
  });
});

describe("blocks", () => {
  it.each([
    ["literal blocks", "Code::\n\n  a\n\n    b\n\nend", "Code:\n\n```\na\n\n  b\n```\n\nend"],
    ["a literal block alone", "::\n\n  a", "```\na\n```"],
    ["a quoted literal block", "::\n\n> a\n> b\n\nc", "```\n> a\n> b\n```\n\nc"],
    ["a doctest", ">>> 1 + 1\n2\n\ntext", "```pycon\n>>> 1 + 1\n2\n```\n\ntext"],
    ["lists", "* a\n  b\n\n  - c\n* d\n\n1. e\n#. f", "- a\n  b\n  - c\n- d\n1. e\n2. f"],
    [
      "numbers that count on",
      "5. a\n#. b\n\n   #. c\n   #. d\n\n#. e\n\ntext\n\n#. f\n#. g",
      "5. a\n6. b\n   1. c\n   2. d\n7. e\n\ntext\n\n1. f\n2. g",
    ],
    ["code in a list", "- a::\n\n     x\n\n- b", "- a:\n\n  ```\n  x\n  ```\n\n- b"],
    ["no list", "A. Einstein wrote\nthis", "A. Einstein wrote\nthis"],
    [
      "definitions",
      "term\n  Text\n\n  more\nnext : kind\n  b",
      "- term\n  Text\n\n  more\n\n- next : kind\n  b",
    ],
    ["fields", ":Author: Ada\n:param x: a\n   b", "- Author: Ada\n- param x: a\n  b"],
    ["fields of the build", ":orphan:\n:tocdepth: 2\n\ntext", "text"],
    ["options", "-a, --all=N  Text\n--b\n  more", "- `-a, --all=N`\n  Text\n- `--b`\n  more"],
    ["lines", "| a\n| b\n  c", "a\nb c"],
    ["a quotation", "a\n\n   b\n\n   -- C", "a\n\nb\n\n-- C"],
    ["a comment", "a\n\n.. no\n   text\n\nb\n\n..\n\n   c", "a\n\nb\n\nc"],
    [
      "a simple table",
      "===  ====\nA    B\n===  ====\n1    two\n     more\n3    *x*\n===  ====\n\nend",
      "A | B\n1 | two more\n3 | *x*\n\nend",
    ],
    [
      "a grid table",
      "+---+-----+\n| A | B   |\n+===+=====+\n| 1 | - a |\n|   | - b |\n+---+-----+\n| 2       |\n+---+-----+\n\nend",
      "A | B\n1 | - a - b\n2\n\nend",
    ],
    [
      "a grid table whose cells span rows",
      "+---+---+---+\n| A | B | C |\n+===+===+===+\n| a | b | c |\n+---+ x | d |\n| e |   |   |\n+---+---+---+\n| f     | g |\n|       +---+\n|       | h |\n+-------+---+",
      "A | B | C\na | b x | c d\ne | b x | c d\nf | g\nf | h",
    ],
    [
      "short code in a cell",
      "+-------+---+\n| ::    | b |\n|       |   |\n|  >> c |   |\n|  d    |   |\n+-------+---+",
      "`>> c d` | b",
    ],
    [
      "long code in a cell",
      `+----+${"-".repeat(205)}+\n| a  | ::${" ".repeat(202)}|\n|    |${" ".repeat(205)}|\n|    |  ${"b".repeat(203)}|\n+----+${"-".repeat(205)}+`,
      `a |\n\n\`\`\`\n${"b".repeat(203)}\n\`\`\``,
    ],
    [
      "code of several lines in a cell",
      "+----+-----+\n| a  | ::  |\n|    |     |\n|    |  b  |\n|    |   c |\n|    |   d |\n|    |  e  |\n+----+-----+",
      "a |\n\n```\nb\n c\n d\ne\n```",
    ],
    [
      "a grid table in a cell of another",
      "+---+---------+\n| a | +--+--+ |\n|   | |b |c | |\n|   | +--+--+ |\n|   | |d |e | |\n|   | +--+--+ |\n+---+---------+",
      "a | b | c d | e",
    ],
    ["wide characters", "====  ===\n中文  a\n====  ===\n", "中文 | a"],
  ])("%s", (_name, text, body) => {
    expect(bodyOf(text)).toBe(body);
  });

  it("a title in a directive is text", () => {
    const parsed = readText(".. note::\n\n   A\n   =\n\n   text");
    expect(parsed).toMatchObject({ headings: [], body: "**Note:**\n\nA\n\ntext\n" });
  });
});

describe("ignore regions", () => {
  const hidden = "<!-- knowctl:ignore -->\n\nB\n=\n\nx\n\n<!-- /knowctl:ignore -->";

  it.each([
    ["as text", hidden],
    ["as comments", hidden.replaceAll("<!--", ".. <!--")],
    ["without blank lines", "<!-- knowctl:ignore -->\nx\n<!-- /knowctl:ignore -->"],
  ])("%s", (_name, region) => {
    const parsed = readText(`A\n=\n\n${region}\n\nC\n=\n`);
    expect(parsed.body).toBe("# A\n\n# C\n");
    expect(parsed.headings).toHaveLength(2);
  });

  it("a region in a cell", () => {
    const rows = [
      ".. list-table::\n\n   * - a\n\n       .. <!-- knowctl:ignore -->\n\n       b\n",
      "       .. <!-- /knowctl:ignore -->\n\n       c",
      "     - d",
    ];
    expect(bodyOf(rows.join("\n"))).toBe("a c | d");
    expect(() => bodyOf(rows.toSpliced(1, 1).join("\n"))).toThrow("is never closed");
  });

  it("a region that is never closed fails", () => {
    expect(() => readText("a\n\n.. <!-- knowctl:ignore -->\n\nb")).toThrow(
      "docs/a.rst:3:1: the knowctl:ignore region is never closed",
    );
  });
});

it("headings are those that Markdown finds", () => {
  const text = "A\n=\n\n```\n\n~~~~\n\n- ```x\n\n::\n\n  ```\n  # b\n\nB\n-\n\n<pre>\n\nC\n-\n";
  const { body, headings } = readText(text);
  expect(scanStructure(body).headings).toHaveLength(headings?.length ?? 0);
  expect(headings?.map((heading) => heading.text)).toEqual(["A", "B", "C"]);
});

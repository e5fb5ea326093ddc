import { describe, expect, it, test } from "vitest";
import type { Parsed } from "../../../src/documents/read/reader.ts";
import { noIncludes, type Includes } from "../../../src/documents/read/includes.ts";
import { readRst } from "../../../src/documents/read/readers/rst/rst.ts";
import { scanStructure } from "../../../src/documents/markdown/structure.ts";
import { readOkAsync } from "../folder.ts";

/** Reads a text whose includes are the given files, by the target as written. */
function read(text: string, files: Record<string, string> = {}): Parsed {
  const includes: Includes = {
    parts: new Set(),
    read(target, chain) {
      const found = files[target];
      if (chain.includes(target)) return { problem: "a cycle" };
      return found === undefined ? { problem: "no such file" } : { text: found, path: target };
    },
  };
  return readRst(text, "docs/a.rst", { includes });
}

const bodyOf = (text: string, files?: Record<string, string>): string =>
  read(text, files).body.trim();
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
    ["after front matter", "---\nowner: Ada\n---\nA\n=\n", "A"],
  ])("%s", (_name, text, title) => {
    expect(readRst(text, "a.rst", { includes: noIncludes }).title).toBe(title);
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
    expect(read(text).headings).toEqual([
      { text: "Set up", anchor: "set-up" },
      { text: "Set up", anchor: "id3" },
      { text: "FAQ", anchor: "faq" },
      { text: "中文", anchor: "id5" },
      { text: "Über Ångström 2", anchor: "uber-angstrom-2" },
    ]);
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
    ["a title and a target", ":doc:`The guide </guide>`, :ref:`x <y>`", "The guide, x"],
    ["a role behind", "`text`:sub:", "text"],
    ["a code role keeps angle brackets", ":code:`cp <file>`", "`cp <file>`"],
    ["a key and a menu", ":kbd:`Ctrl-C` :menuselection:`File --> &Open`", "`Ctrl-C` File --> Open"],
    ["braces", ":file:`/usr/{name}/lib`", "`/usr/name/lib`"],
    ["a numbered document", ":pep:`8`", "[PEP 8](https://peps.python.org/pep-0008/)"],
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
    ["lists", "* a\n  b\n\n  - c\n* d\n\n1. e\n#. f", "- a\n  b\n  - c\n- d\n1. e\n1. f"],
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
    ["wide characters", "====  ===\n中文  a\n====  ===\n", "中文 | a"],
  ])("%s", (_name, text, body) => {
    expect(bodyOf(text)).toBe(body);
  });

  it("a title in a directive is text", () => {
    const parsed = read(".. note::\n\n   A\n   =\n\n   text");
    expect(parsed).toMatchObject({ headings: [], body: "**Note:**\n\nA\n\ntext\n" });
  });
});

describe("directives", () => {
  it.each([
    [
      "an admonition",
      ".. note:: One\n   two\n\n   three\n\nend",
      "**Note:**\n\nOne\ntwo\n\nthree\n\nend",
    ],
    ["with options", ".. tip::\n   :class: x\n\n   a", "**Tip:**\n\na"],
    ["a title", ".. admonition:: By the way\n\n   a", "**By the way**\n\na"],
    ["a version", ".. versionadded:: 3.1\n   Text *x*", "**Added in version 3.1:** Text *x*"],
    [
      "code",
      ".. code-block:: py\n   :caption: The file\n\n   a\n     b",
      "The file\n\n```py\na\n  b\n```",
    ],
    ["a picture", ".. image:: a.png\n   :alt: The\n     plan", "![The plan](a.png)"],
    ["a figure", ".. figure:: a.png\n\n   Caption\n\n   Legend", "![](a.png)\n\nCaption\n\nLegend"],
    ["a table", ".. table:: Name\n\n   == ==\n   a  b\n   == ==", "Name\n\na | b"],
    [
      "a list table",
      ".. list-table:: N\n   :header-rows: 1\n\n   * - a\n     - b\n   * - c\n     -",
      "N\n\na | b\nc |",
    ],
    ["a CSV table", '.. csv-table::\n   :header: x, y\n\n   "a, b", c', "x | y\na, b | c"],
    [
      "contents",
      ".. toctree::\n   :caption: Start\n   :maxdepth: 2\n\n   a\n   The B <b>\n\n.. contents:: X",
      "Start\n\n- The B",
    ],
    ["parts for a format", ".. only:: html\n\n   A\n   =\n\n   b", "# A\n\nb"],
    ["tabs", ".. tab-set::\n\n   .. tab-item:: Linux\n      :sync: a\n\n      x", "**Linux**\n\nx"],
    [
      "an object",
      ".. py:function:: f(a, *b)\n   g(c)\n   :noindex:\n\n   Text",
      "- `f(a, *b)`\n  `g(c)`\n  Text",
    ],
    ["a glossary", ".. glossary::\n\n   term\n     Text", "- term\n  Text"],
    ["math", ".. math:: a_b = c", "```math\na_b = c\n```"],
    ["dropped", ".. highlight:: c\n.. index:: x\n.. raw:: latex\n\n   a\n\nend", "end"],
  ])("%s", (_name, text, body) => {
    expect(read(text).leftOut).toBeUndefined();
    expect(bodyOf(text)).toBe(body);
  });

  test.each([
    [".. automodule:: a.b\n   :members:", "- `a.b`", "automodule a.b"],
    [".. youtube:: x\n\n   Text", "x\n\nText", "youtube"],
    [".. raw:: html\n\n   <b>x</b>", "", "raw html"],
  ])("counts %j", (text, body, what) => {
    const parsed = read(`a\n\n${text}\n`);
    expect(parsed.leftOut).toEqual([{ kind: "directive", what, line: 3 }]);
    expect(parsed.body.trim()).toBe(`a\n\n${body}`.trim());
  });
});

describe("included files", () => {
  it.each([
    ["text with titles", ".. include:: x", "B\n-\n\n|y|\n\n.. |y| replace:: z", "# A\n\n## B\n\nz"],
    [
      "a part",
      ".. include:: x\n   :start-after: (\n   :end-before: )",
      "a\n(b\nc)\nd",
      "# A\n\nb\nc",
    ],
    ["lines", ".. include:: x\n   :start-line: 1\n   :end-line: 2", "a\nb\nc", "# A\n\nb"],
    [
      "code",
      ".. literalinclude:: x\n   :language: c\n   :lines: 1,3-",
      "a\nb\nc\nd",
      "# A\n\n```c\na\nc\nd\n```",
    ],
    [
      "marked code",
      ".. literalinclude:: x\n   :start-after: in\n   :end-before: out",
      "in 1\na\nout",
      "# A\n\n```\na\n```",
    ],
    ["a table", ".. csv-table::\n   :file: x", "1,2\n3,4", "# A\n\n1 | 2\n3 | 4"],
  ])("%s", (_name, text, file, body) => {
    const parsed = read(`A\n=\n\n${text}\n`, { x: file });
    expect(parsed.body.trim()).toBe(body);
    expect(parsed.leftOut).toBeUndefined();
  });

  it.each([
    ["missing", ".. include:: gone", {}, "gone: no such file"],
    ["a cycle", ".. include:: x", { x: ".. include:: x" }, "x: a cycle"],
    [
      "an object of Python",
      ".. literalinclude:: x\n   :pyobject: f",
      { x: "a" },
      "x: the object f of a Python file",
    ],
    ["no such part", ".. include:: x\n   :start-after: q", { x: "a" }, "x: no such part"],
  ])("counts %s", (_name, text, files, what) => {
    const line = what.includes("cycle") ? undefined : 1;
    expect(read(text, files).leftOut).toEqual([{ kind: "include", what, line }]);
  });

  it("a path from the root of a Sphinx project", () => {
    const parsed = read(".. include:: /x.inc", { "/docs/x.inc": "text" });
    expect(parsed).toMatchObject({ body: "text\n" });
  });
});

describe("ignore regions", () => {
  const hidden = "<!-- knowctl:ignore -->\n\nB\n=\n\nx\n\n<!-- /knowctl:ignore -->";

  it.each([
    ["as text", hidden],
    ["as comments", hidden.replaceAll("<!--", ".. <!--")],
    ["without blank lines", "<!-- knowctl:ignore -->\nx\n<!-- /knowctl:ignore -->"],
  ])("%s", (_name, region) => {
    const parsed = read(`A\n=\n\n${region}\n\nC\n=\n`);
    expect(parsed.body).toBe("# A\n\n# C\n");
    expect(parsed.headings).toHaveLength(2);
  });

  it("a region that is never closed fails", () => {
    expect(() => read("a\n\n.. <!-- knowctl:ignore -->\n\nb")).toThrow(
      "docs/a.rst:3:1: the knowctl:ignore region is never closed",
    );
  });
});

it("headings are those that Markdown finds", () => {
  const text = "A\n=\n\n```\n\n~~~~\n\n- ```x\n\n::\n\n  ```\n  # b\n\nB\n-\n\n<pre>\n\nC\n-\n";
  const { body, headings } = read(text);
  expect(scanStructure(body).headings).toHaveLength(headings?.length ?? 0);
  expect(headings?.map((heading) => heading.text)).toEqual(["A", "B", "C"]);
});

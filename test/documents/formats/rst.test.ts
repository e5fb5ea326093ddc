import { describe, expect, it, test } from "vitest";
import { scanStructure } from "../../../src/documents/text/structure.ts";
import { noIncludes } from "../../../src/documents/parts/includes.ts";
import type { Includes, Parsed } from "../../../src/documents/formats/format.ts";
import { readRst } from "../../../src/documents/formats/rst/rst.ts";
import { expectLinear } from "../../cost.ts";
import { readFolder, readOkAsync } from "../folder.ts";

/** Reads a text whose includes are the given files, by the target as written. */
function readText(text: string, files: Record<string, string> = {}): Parsed {
  const includes: Includes = {
    parts: new Set(),
    readNote: () => undefined,
    pageWithUid: () => undefined,
    find: () => undefined,
    read(target, chain) {
      const found = files[target];
      const path = target.startsWith("/") ? target.slice(1) : `docs/${target}`;
      if (chain.includes(path)) return { problem: "a cycle" };
      return found === undefined ? { problem: "no such file" } : { text: found, path };
    },
  };
  return readRst(text, "docs/a.rst", { includes, componentAttributes: [] });
}

/** The Markdown of a text. */
const bodyOf = (text: string, files?: Record<string, string>): string =>
  readText(text, files).body.trim();

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
    ["between bars that are too short is none", "==\nA long line\n==\n", undefined],
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
    ["stars in text", "2 * 3 * 4, **kwargs and *args", "2 * 3 * 4, \\*\\*kwargs and \\*args"],
    ["a role", "See :func:`open` and :class:`~a.b.Klass`.", "See `open()` and `Klass`."],
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
      "[the site](https://a.example/)",
    ],
    ["escapes", "a\\ b \\*c\\* d\\\\e", "ab \\*c\\* d\\e"],
    ["an escape after a role", ":term:`role`\\ s", "roles"],
    ["unclosed marks", "`a ``b *c |d", "\\`a \\`\\`b *c |d"],
    ["names with underscores", "my_name_ and __init__", "my_name\\_ and \\_\\_init\\_\\_"],
    ["tags", "Use <name> here", "Use \\<name> here"],
    ["no comment", "a\n<!-- b", "a \\<\\!-- b"],
    ["no heading of Markdown", "text\n# no", "text # no"],
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
    ["markup of the page", "a |br| b\n\n.. |br| raw:: html\n\n   <br>", "a\nb"],
    ["a picture on the next line", "|x|\n\n.. |x|\n   image:: a.png", "![x](a.png)"],
    ["one with a text", "|x|\n\n.. |x|\n  image:: a.png\n     :alt: A", "![A](a.png)"],
    ["a reference by number", ":numref:`Figure %s <x>` :numref:`y`", "Figure y"],
    ["an unknown substitution", "|version|", "|version|"],
    [
      "footnotes",
      "a [#]_ [1]_ [#n]_ [CIT]_\n\n.. [1] one\n.. [#] two\n.. [#n] three\n.. [CIT] four",
      "a [2] [1] [3] [CIT]\n\n[1] one\n\n[2] two\n\n[3] three\n\n[CIT] four",
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
    ["lists", "* a\n  b\n\n  - c\n* d\n\n1. e\n#. f", "- a b\n  - c\n- d\n\n1. e\n2. f"],
    [
      "numbers that count on",
      "5. a\n#. b\n\n   #. c\n   #. d\n\n#. e\n\ntext\n\n#. f\n#. g",
      "5. a\n6. b\n   1. c\n   2. d\n7. e\n\ntext\n\n1. f\n2. g",
    ],
    ["code in a list", "- a::\n\n     x\n\n- b", "- a:\n\n  ```\n  x\n  ```\n\n- b"],
    ["no list", "A. Einstein wrote\nthis", "A. Einstein wrote this"],
    [
      "definitions",
      "term\n  Text\n\n  more\nnext : kind\n  b",
      "- term: Text\n\n  more\n\n- next : kind: b",
    ],
    ["fields", ":Author: Ada\n:param x: a\n   b", "- Author: Ada\n- Parameters: x – a b"],
    ["fields of the build", ":orphan:\n:tocdepth: 2\n\ntext", "text"],
    ["options", "-a, --all=N  Text\n--b\n  more", "- `-a, --all=N`: Text\n- `--b`: more"],
    ["lines", "| a\n| b\n  c", "a\nb c"],
    ["a quotation", "a\n\n   b\n\n   -- C", "a\n\n> b\n>\n> -- C"],
    ["a comment", "a\n\n.. no\n   text\n\nb\n\n..\n\n   c", "a\n\nb\n\n> c"],
    [
      "a simple table",
      "===  ====\nA    B\n===  ====\n1    two\n     more\n3    *x*\n===  ====\n\nend",
      "| A | B |\n| --- | --- |\n| 1 | two more |\n| 3 | *x* |\n\nend",
    ],
    [
      "a grid table",
      "+---+-----+\n| A | B   |\n+===+=====+\n| 1 | - a |\n|   | - b |\n+---+-----+\n| 2       |\n+---+-----+\n\nend",
      "| A | B |\n| --- | --- |\n| 1 | - a - b |\n| 2 |\n\nend",
    ],
    [
      "a grid table whose cells span rows",
      "+---+---+---+\n| A | B | C |\n+===+===+===+\n| a | b | c |\n+---+ x | d |\n| e |   |   |\n+---+---+---+\n| f     | g |\n|       +---+\n|       | h |\n+-------+---+",
      "| A | B | C |\n| --- | --- | --- |\n| a | b x | c d |\n| e | b x | c d |\n| f | f | g |\n| f | f | h |",
    ],
    [
      "a target with a blank before its colon",
      ".. _`NEP 1` : https://x.example/\n\n`NEP 1`_",
      "[NEP 1](https://x.example/)",
    ],
    [
      "short code in a cell",
      "+-------+---+\n| ::    | b |\n|       |   |\n|  >> c |   |\n|  d    |   |\n+-------+---+",
      "```\n>> c\nd\n```\n\nb",
    ],
    [
      "code between the rows of a table",
      "+-------+---+\n| A     | B |\n+=======+===+\n| a     | b |\n+-------+---+\n| ::    | c |\n|       |   |\n|  x    |   |\n|  y    |   |\n+-------+---+\n| d     | e |\n+-------+---+",
      "| A | B |\n| --- | --- |\n| a | b |\n\n```\nx\ny\n```\n\nc\n\n| A | B |\n| --- | --- |\n| d | e |",
    ],
    [
      "long code in a cell",
      `+----+${"-".repeat(205)}+\n| a  | ::${" ".repeat(202)}|\n|    |${" ".repeat(205)}|\n|    |  ${"b".repeat(203)}|\n+----+${"-".repeat(205)}+`,
      `|  |  |\n| --- | --- |\n| a | \`${"b".repeat(203)}\` |`,
    ],
    [
      "code of several lines in a cell",
      "+----+-----+\n| a  | ::  |\n|    |     |\n|    |  b  |\n|    |   c |\n|    |   d |\n|    |  e  |\n+----+-----+",
      "a\n\n```\nb\n c\n d\ne\n```",
    ],
    [
      "a grid table in a cell of another",
      "+---+---------+\n| a | +--+--+ |\n|   | |b |c | |\n|   | +--+--+ |\n|   | |d |e | |\n|   | +--+--+ |\n+---+---------+",
      "a\n\n|  |  |\n| --- | --- |\n| b | c |\n| d | e |",
    ],
    [
      "two tables",
      "== ==\na  b\n== ==\n\n== ==\nc  d\n== ==",
      "|  |  |\n| --- | --- |\n| a | b |\n\n|  |  |\n| --- | --- |\n| c | d |",
    ],
    ["letters and Roman numbers", "a. b\nb. c\n\ni. d\nii. e", "- a. b\n- b. c\n\n- i. d\n- ii. e"],
    ["wide characters", "====  ===\n中文  a\n====  ===\n", "|  |  |\n| --- | --- |\n| 中文 | a |"],
  ])("%s", (_name, text, body) => {
    expect(bodyOf(text)).toBe(body);
  });

  it("a title in a directive is text", () => {
    const parsed = readText(".. note::\n\n   A\n   =\n\n   text");
    expect(parsed).toMatchObject({ headings: [], body: "Note: A\n\ntext\n" });
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
    expect(bodyOf(rows.join("\n"))).toContain("| a c | d |");
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

describe("directives", () => {
  it.each([
    ["an admonition", ".. note:: One\n   two\n\n   three\n\nend", "Note: One two\n\nthree\n\nend"],
    ["with options", ".. tip::\n   :class: x\n\n   a", "Tip: a"],
    ["a title", ".. admonition:: By the way\n\n   a", "**By the way**\n\na"],
    ["a version", ".. versionadded:: 3.1\n   Text *x*", "**Added in version 3.1:** Text *x*"],
    [
      "kinds of objects",
      ".. class:: A(b)\n\n   .. py:method:: c()\n      :async:\n      :staticmethod:\n\n   .. classmethod:: d()\n\n.. py:decorator:: e\n\n.. cpp:class:: class F\n\n.. exception:: G",
      "- `class A(b)`:\n  - `async static c()`\n  - `classmethod d()`\n- `@e`\n- `class F`\n- `exception G`",
    ],
    [
      "types and defaults of objects",
      ".. confval:: a\n   :type: ``str``\n   :default: ``'b'`` or\n     :ref:`c <d>`\n\n   Sets *it*.\n\n.. py:attribute:: e\n   :type: dict[str, *f]\n   :value: 1",
      "- `a`: Type: `str`\n\n  Default: `'b'` or c\n\n  Sets *it*.\n\n- `e`: Type: `dict[str, *f]`\n\n  Value: `1`",
    ],
    [
      "code",
      ".. code-block:: py\n   :caption: The file\n\n   a\n     b",
      "The file\n\n```py\na\n  b\n```",
    ],
    [
      "code with markup",
      ".. |v| replace:: 1.2\n\n.. parsed-literal::\n\n   pip **x**\\ ==\\ |v| <tag> \\*a\n     `docs <https://x.example>`_ ``b`` :ref:`Install <i>`\n\n- .. parsed-literal:: *c*",
      "```\npip x==1.2 <tag> *a\n  docs b Install\n```\n\n- ```\n  c\n  ```",
    ],
    [
      "code with markup in a cell",
      "= =\na b\n= =\nc .. parsed-literal:: *d*\n= =",
      "| a | b |\n| --- | --- |\n| c | `d` |",
    ],
    ["a picture", ".. image:: a.png\n   :alt: The\n     plan", "![The plan](a.png)"],
    ["a figure", ".. figure:: a.png\n\n   Caption\n\n   Legend", "![](a.png)\n\nCaption\n\nLegend"],
    [
      "a table",
      ".. table:: Name\n\n   == ==\n   a  b\n   == ==",
      "Name\n\n|  |  |\n| --- | --- |\n| a | b |",
    ],
    [
      "a list table",
      ".. list-table:: N\n   :header-rows: 1\n\n   * - a\n     - b\n   * - c\n     -",
      "N\n\n| a | b |\n| --- | --- |\n| c |",
    ],
    [
      "a CSV table",
      '.. csv-table::\n   :header: x, y\n\n   "a, b", c',
      "| x | y |\n| --- | --- |\n| a, b | c |",
    ],
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
      "- `f(a, *b)`\n  `g(c)`: Text",
    ],
    ["a glossary", ".. glossary::\n\n   term\n     Text", "- term: Text"],
    ["a box of an unknown name", ".. configuration-block::\n\n   Text", "Text"],
    ["HTML of the page", ".. raw:: html\n\n   <b>x</b> <a href=y>z</a>", "**x** [z](y)"],
    ["notes to the authors", "a\n\n.. todo:: b\n\nc", "a\n\nc"],
    ["parts of another format", ".. only:: latex or man\n\n   a\n\nb", "b"],
    ["targets of a project", "a\n\n.. setting:: DEBUG\n\nb", "a\n\nb"],
    [
      "fields of an object",
      ".. function:: f\n\n   :param colour: red\n   :type colour: str\n   :param int size: big\n   :raises ValueError: if not\n   :returns: all\n   :rtype: int",
      "- `f`:\n  - Parameters: colour (str) – red\n  - Parameters: size (int) – big\n  - Raises: ValueError – if not\n  - Returns: all\n  - Return type: int",
    ],
    ["math", ".. math:: a_b = c", "```math\na_b = c\n```"],
    ["dropped", ".. highlight:: c\n.. index:: x\n.. raw:: latex\n\n   a\n\nend", "end"],
  ])("%s", (_name, text, body) => {
    expect(readText(text).leftOut).toBeUndefined();
    expect(bodyOf(text)).toBe(body);
  });

  test.each([
    [".. automodule:: a.b\n   :members:", "- `a.b`", "automodule a.b"],
    [".. jinja:: build", "- `build`", "jinja build"],
    [".. youtube:: x\n\n   Text", "x\n\nText", "youtube"],
    [".. raw:: html\n   :file: x.html", "", "raw html x.html"],
  ])("counts %j", (text, body, what) => {
    const parsed = readText(`a\n\n${text}\n`);
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
      "# A\n\nb c",
    ],
    ["lines", ".. include:: x\n   :start-line: 1\n   :end-line: 2", "a\nb\nc", "# A\n\nb"],
    [
      "code",
      ".. literalinclude:: x\n   :language: c\n   :lines: 1,3-",
      "a\nb\nc\nd",
      "# A\n\n```c\na\nc\nd\n```",
    ],
    [
      "an object of Python",
      ".. literalinclude:: x\n   :pyobject: C.f",
      "def f():\n  no\nclass C:\n  @a\n  @b(1)\n  async def f(\n    x,\n  ):\n    return 1\n\n    # end\n  def g(): no",
      "# A\n\n```\n  @a\n  @b(1)\n  async def f(\n    x,\n  ):\n    return 1\n\n    # end\n```",
    ],
    [
      "code from a line up to a line",
      ".. literalinclude:: x\n   :start-at: b\n   :end-at: c",
      "a\nb\nc\nd",
      "# A\n\n```\nb\nc\n```",
    ],
    [
      "marked code",
      ".. literalinclude:: x\n   :start-after: in\n   :end-before: out",
      "in 1\na\nout",
      "# A\n\n```\na\n```",
    ],
    [
      "a table",
      ".. csv-table::\n   :file: x",
      "1,2\n3,4",
      "# A\n\n|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |",
    ],
    [
      "Markdown",
      ".. include:: x\n   :parser: myst_parser.sphinx_\n\nend",
      "---\na: b\n---\n## B `c`\n\n*d* [e](f.md)\n\n- g\n\n  ```py\n  # h\n  ```\n",
      "# A\n\n## B `c`\n\n*d* [e](f.md)\n\n- g\n\n  ```py\n  # h\n  ```\n\nend",
    ],
    [
      "Markdown in a list",
      "- i\n\n  .. include:: x\n     :parser: markdown",
      "# b\n\nc",
      "# A\n\ni\n\n# b\n\nc",
    ],
  ])("%s", (_name, text, file, body) => {
    const parsed = readText(`A\n=\n\n${text}\n`, { x: file });
    expect(parsed.body.trim()).toBe(body);
    expect(parsed.leftOut).toBeUndefined();
  });

  it("gives titles of Markdown the anchors of docutils", () => {
    const text = "A\n=\n\n.. include:: x\n   :parser: myst\n\nB\n=\n";
    const { headings } = readText(text, { x: "# A\n\n## The `b` [c](d)\n\ne\n" });
    expect(headings?.map(({ text: title }) => title)).toEqual(["A", "A", "The b c", "B"]);
    expect(headings?.map(({ anchor }) => anchor)).toEqual(["a", "id1", "the-b-c", "b"]);
  });

  it.each([
    ["missing", ".. include:: gone", {}, "gone: no such file"],
    ["a cycle", ".. include:: x", { x: ".. include:: x" }, "x: a cycle"],
    [
      "an object of Python",
      ".. literalinclude:: x\n   :pyobject: f",
      { x: "def g():\n  pass" },
      "x: no such part",
    ],
    [
      "a table of too many cells",
      ".. csv-table::\n   :file: x",
      { x: "a,".repeat(1_000_001) },
      "x: the page has more than 1000000 lines and cells",
    ],
    ["no such part", ".. include:: x\n   :start-after: q", { x: "a" }, "x: no such part"],
  ])("counts %s", (_name, text, files, what) => {
    const line = what.includes("cycle") ? undefined : 1;
    expect(readText(text, files).leftOut).toEqual([{ kind: "include", what, line }]);
  });

  it("a page repeats a part of itself", () => {
    const include = ".. include:: a.rst\n   :start-after: (\n   :end-before: )\n";
    const parsed = readText(`.. (\n\nOne\n\n.. )\n\n${include}`);
    expect(parsed.body).toBe("One\n\nOne\n");
    expect(parsed.leftOut).toMatchObject([{ kind: "comment" }, { kind: "comment" }]);
    expect(readText(`.. (\n\n${include}`).leftOut).toMatchObject([
      { kind: "comment" },
      { what: "a.rst: a cycle" },
    ]);
  });

  it("a path from the root of a Sphinx project", () => {
    const parsed = readText(".. include:: /x.inc", { "/docs/x.inc": "text" });
    expect(parsed).toMatchObject({ body: "text\n" });
  });
});

describe("the configuration of Sphinx", () => {
  const configuration = [
    'release = "2.1"',
    'rst_epilog = """',
    ".. |br| raw:: html",
    "",
    "   <br>",
    ".. |us| replace:: The *team*",
    ".. _site: https://a.example",
    '"""',
  ].join("\n");

  const textIn = async (
    text: string,
    folder = "docs/",
    extra = "",
  ): Promise<string | undefined> => {
    const files = { [`${folder}conf.py`]: configuration + extra, "docs/a.rst": text };
    return (await readFolder(files, "docs/a.rst")).parsed?.body.trim();
  };

  it("defines what the page does not", async () => {
    const text = "|us| |release| a |br| b |other| site_\n";
    expect(await textIn(text)).toBe("The *team* 2.1 a\nb |other| [site](https://a.example)");
    expect(await textIn(`${text}\n.. |us| replace:: We\n`)).toContain("We 2.1");
  });

  it("stands in a folder above", async () => {
    expect(await textIn("|release|", "")).toBe("2.1");
  });

  it("is read only for a substitution that is missing", async () => {
    const text = "site_ |x|\n\n.. |x| replace:: y\n\n+---+\n| a |\n+---+\n";
    expect(await textIn(text)).toBe("site_ y\n\na");
  });

  it("defines roles for addresses", async () => {
    const extra =
      "\nextlinks = {\n  'bug': ('https://a.example/%s', 'no %s'),  # bugs\n  'src': ('https://b.example/%s.py', None),\n}\n";
    expect(await textIn(":bug:`7` :bug:`this <8>` :src:`x/y` :other:`z`", "docs/", extra)).toBe(
      "[no 7](https://a.example/7) [this](https://a.example/8) https://b.example/x/y.py `z`",
    );
  });

  it("decides about the parentheses of functions", async () => {
    expect(await textIn(":func:`a` :py:meth:`~b.c` :func:`d()` :func:`e <f>`")).toBe(
      "`a()` `c()` `d()` `e`",
    );
    expect(await textIn(":func:`a`", "docs/", "\nadd_function_parentheses = False\n")).toBe("`a`");
  });
});

describe("labels of other files", () => {
  const files = {
    "docs/conf.py": "",
    "docs/x/b.rst":
      ".. _a b:\n.. _`Other: label`:\n\nThe :mod:`json` *title*\n=======================\n\n.. _fig:\n\n.. figure:: a.png\n   :alt: A\n\n   A caption of\n   two lines\n\n.. _bare:\n\nText.\n\n=====\nOver\n=====\n",
    "docs/c.md": "(myst-label)=\n\n## From Markdown\n",
    "docs/.hidden/d.rst": ".. _hidden:\n\nHidden\n======\n",
  };
  const refs = async (text: string, more: Record<string, string> = {}) =>
    await readFolder({ ...files, ...more, "docs/y/a.rst": `${text}\n` }, "docs/y/a.rst");
  const bodyOfRefs = async (text: string, more?: Record<string, string>) =>
    (await refs(text, more)).parsed?.body.trim();

  it.each([
    [":ref:`a B`", String.raw`[The json \*title\*](../x/b.rst#a-b)`],
    [":std:ref:`Other: label`", String.raw`[The json \*title\*](../x/b.rst#other-label)`],
    [":ref:`own <a b>`", "[own](../x/b.rst#a-b)"],
    [":ref:`fig`", "[A caption of two lines](../x/b.rst#fig)"],
    [":ref:`bare` :ref:`Text <bare>`", "bare [Text](../x/b.rst#bare)"],
    [":ref:`myst-label`", "[From Markdown](../c.md#myst-label)"],
    [":ref:`hidden` :ref:`none` :ref:`T <none>`", "hidden none T"],
    [":ref:`genindex` :ref:`search`", "Index Search Page"],
    [".. _a b:\n\nMine\n====\n\n:ref:`a b`", "# Mine\n\nMine"],
  ])("%s", async (text, body) => {
    expect(await bodyOfRefs(text)).toBe(body);
  });

  it("are sections where an extension makes them labels", async () => {
    const more = { "docs/conf.py": "extensions = ['sphinx.ext.autosectionlabel']" };
    expect(await bodyOfRefs(":ref:`Over` :ref:`x <x/b:Over>`", more)).toBe(
      "[Over](../x/b.rst#over) [x](../x/b.rst#over)",
    );
    expect(await bodyOfRefs(":ref:`Over`")).toBe("Over");
  });

  it("are parts of the page", async () => {
    expect((await refs(":ref:`a b`")).parts).toContain("b.rst");
    expect((await refs(":ref:`none`")).stamp).toBe("");
  });

  it("are unknown without a site", async () => {
    const page = "docs/y/a.rst";
    const reading = await readFolder({ ...files, [page]: ":ref:`a b`\n" }, page, {
      generator: "none",
    });
    expect(reading.parsed?.body.trim()).toBe("a b");
  });
});

it("the description of an object can have sections", () => {
  const { headings } = readText("A\n=\n\n.. class:: B\n\n   Use\n   ---\n\n   text\n");
  expect(headings?.map(({ text }) => text)).toEqual(["A", "Use"]);
});

it("objects have the names of their module", async () => {
  const text =
    ".. module:: m.n\n\n.. function:: f(a.b)\n\n.. class:: C\n\n   .. method:: g()\n\n.. method:: C.h()\n\n.. currentmodule:: None\n\n.. function:: k()\n";
  const names = "`m.n.f(a.b)`|`class m.n.C`|`g()`|`C.h()`|`k()`";
  expect([...bodyOf(text).matchAll(/`[^`]+`/g)].join("|")).toBe(names);
  const files = { "conf.py": "add_module_names = False", "a.rst": text };
  expect((await readFolder(files, "a.rst")).parsed?.body).toContain("`f(a.b)`");
});

describe("other pages", () => {
  const files = {
    "b.rst": "..\n   x\n\n================\nAbout :mod:`b` B\n================\n",
    "/docs/c.rst": "C\n=\n",
  };

  it("are named by their titles, and linked", () => {
    expect(bodyOf(":doc:`b` :doc:`/c` :doc:`Text </c>` :doc:`none`", files)).toBe(
      "[About b B](b.rst) [C](c.rst) [Text](c.rst) none",
    );
  });

  it("are the entries of a table of contents", () => {
    const entries = "   b.rst\n   Own <b>\n   Site <https://a.example>\n   none\n   d/*\n   self\n";
    const all = "- [About b B](b.rst)\n- [Own](b.rst)\n- [Site](https://a.example)";
    expect(bodyOf(`.. toctree::\n\n${entries}`, files)).toBe(all);
    expect(bodyOf(`.. toctree::\n   :hidden:\n   :caption: No\n\n${entries}`, files)).toBe("");
  });

  it("are read for the first hundred names", () => {
    const names = Array.from({ length: 120 }, (_, index) => `p${index}`);
    const pages = Object.fromEntries(names.map((name) => [`${name}.rst`, "T\n===\n"]));
    const body = bodyOf(names.map((name) => `:doc:\`${name}\``).join(" "), pages);
    expect(body.match(/\[T\]/g)).toHaveLength(100);
    expect(body).toContain(" p119");
  });
});

describe("a hostile text", () => {
  it.each([
    ["unclosed marks", "`a *b **c ``d |e _`f "],
    ["marks", "*`_[|\\"],
    ["roles", ":a:`b` :a:`c"],
    ["references", "a_ `b`_ [1]_ |c| "],
    ["nested lists on a line", "- 1. * "],
    ["nested directives on a line", ".. note:: "],
    ["titles", "a\n=\n\n"],
    ["targets", ".. _a: b_\n.. _b: a_\na_\n\n"],
    ["footnotes", ".. [#] a [#]_\n"],
    ["literal blocks", "a::\n\n  b\n\n"],
    ["options and fields", "-a, -b  c\n:d: e\n"],
    ["borders", "== ==\n+--+--+\n"],
    ["tables", "== ==\na  b\n== ==\n\n+--+\n|a |\n+--+\n\n"],
    ["grids", "+--+--+\n|a |b |\n+--+  |\n|c |  |\n+--+--+\n"],
    ["directives", ".. a::\n   :b: c\n\n   d\n\n"],
    ["open quotes", '.. csv-table::\n\n   "a\n\n'],
  ])("costs what its size does: %s", (_name, piece) => {
    const work = (count: number): void => {
      const { body } = readText(piece.repeat(count));
      expect(body.length).toBeLessThan(40 * piece.length * count);
    };
    expectLinear(10_000, work, 16);
  });

  it.each([
    ["lists", (depth: number) => `${"  ".repeat(depth)}- a\n\n`],
    ["quotations", (depth: number) => `${" ".repeat(depth)}a\n\n`],
    ["directives", (depth: number) => `${"   ".repeat(depth)}.. note::\n\n`],
  ])("%s nested a thousand deep", (_name, line) => {
    const text = Array.from({ length: 1000 }, (_, depth) => line(depth)).join("");
    expect(bodyOf(`${text}end`)).toContain("end");
  });

  it("a cell beside twenty thousand rows", () => {
    const work = (count: number): void => {
      const { body } = readText(`+--+--+\n${"|a |b |\n|  +--+\n".repeat(count)}|  |  |\n+--+--+\n`);
      expect(body.length).toBeLessThan(200 * count);
    };
    expectLinear(10_000, work, 16);
  });

  it.each(["a", "- ", ".. ", ":a ", "`", "+-", "= ", "\n", "a\n\n"])(
    "eight megabytes of %j",
    (piece) => {
      const { isMarkdown } = readText(piece.repeat((8 * 1024 * 1024) / piece.length));
      expect(isMarkdown).toBe(true);
    },
  );

  it("substitutions of substitutions add little", () => {
    const definitions = Array.from({ length: 20 }, (_, index) => {
      return `.. |a${index}| replace:: ${`|a${index + 1}| `.repeat(20)}\n`;
    });
    const text = `${definitions.join("")}\n|a0|\n`;
    expect(readText(text).body.length).toBeLessThan(4 * 1024 * 1024);
  });

  it("more than a million lines are plain text", () => {
    const parsed = readText("a\n".repeat(1_000_000));
    expect(parsed.warnings).toEqual(["docs/a.rst: more than 1000000 lines: read as plain text"]);
    expect(parsed.body).toHaveLength(2_000_000);
  });
});

import { describe, expect, it, test } from "vitest";
import { bodyOf, readText } from "./rst-text.ts";

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
      "kinds of objects",
      ".. class:: A(b)\n\n   .. py:method:: c()\n      :async:\n      :staticmethod:\n\n   .. classmethod:: d()\n\n.. py:decorator:: e\n\n.. cpp:class:: class F\n\n.. exception:: G",
      "- `class A(b)`\n  - `async static c()`\n  - `classmethod d()`\n- `@e`\n- `class F`\n- `exception G`",
    ],
    [
      "types and defaults of objects",
      ".. confval:: a\n   :type: ``str``\n   :default: ``'b'`` or\n     :ref:`c <d>`\n\n   Sets *it*.\n\n.. py:attribute:: e\n   :type: dict[str, *f]\n   :value: 1",
      "- `a`\n  Type: `str`\n  Default: `'b'` or\n  c\n  Sets *it*.\n- `e`\n  Type: `dict[str, *f]`\n  Value: `1`",
    ],
    [
      "code",
      ".. code-block:: py\n   :caption: The file\n\n   a\n     b",
      "The file\n\n```py\na\n  b\n```",
    ],
    [
      "code with markup",
      ".. |v| replace:: 1.2\n\n.. parsed-literal::\n\n   pip **x**\\ ==\\ |v| <tag> \\*a\n     `docs <https://x.example>`_ ``b`` :ref:`Install <i>`\n\n- .. parsed-literal:: *c*",
      "```\npip x==1.2 <tag> *a\n  docs b Install\n```\n\n  ```\n  c\n  ```",
    ],
    [
      "code with markup in a cell",
      "= =\na b\n= =\nc .. parsed-literal:: *d*\n= =",
      "a | b\nc | `d`",
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
    ["a box of an unknown name", ".. configuration-block::\n\n   Text", "Text"],
    ["math", ".. math:: a_b = c", "```math\na_b = c\n```"],
    ["dropped", ".. highlight:: c\n.. index:: x\n.. raw:: latex\n\n   a\n\nend", "end"],
  ])("%s", (_name, text, body) => {
    expect(readText(text).leftOut).toBeUndefined();
    expect(bodyOf(text)).toBe(body);
  });

  test.each([
    [".. automodule:: a.b\n   :members:", "- `a.b`", "automodule a.b"],
    [".. youtube:: x\n\n   Text", "x\n\nText", "youtube"],
    [".. raw:: html\n\n   <b>x</b>", "", "raw html"],
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
      "# A\n\n- i\n\n  # b\n\n  c",
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
      { x: "a" },
      "x: the object f of a Python file",
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

  it("defines what the page does not", () => {
    const files = { "/docs/conf.py": configuration };
    const text = "|us| |release| a |br| b |other| site_\n";
    expect(bodyOf(text, files)).toBe("The *team* 2.1 a  b |other| [site](https://a.example)");
    expect(bodyOf(`${text}\n.. |us| replace:: We\n`, files)).toContain("We 2.1");
  });

  it("stands in a folder above", () => {
    expect(bodyOf("|release|", { "/conf.py": configuration })).toBe("2.1");
  });

  it("is read only for a substitution that is missing", () => {
    const files = { "/docs/conf.py": configuration };
    const text = "site_ |x|\n\n.. |x| replace:: y\n\n+---+\n| a |\n+---+\n";
    expect(bodyOf(text, files)).toBe("site_ y\n\na");
  });
});

it("the description of an object can have sections", () => {
  const { headings } = readText("A\n=\n\n.. class:: B\n\n   Use\n   ---\n\n   text\n");
  expect(headings?.map(({ text }) => text)).toEqual(["A", "Use"]);
});

describe("other pages", () => {
  const files = {
    "b.rst": "..\n   x\n\n================\nAbout :mod:`b` B\n================\n",
    "/docs/c.rst": "C\n=\n",
  };

  it("are named by their titles, and linked", () => {
    expect(bodyOf(":doc:`b` :doc:`Text </c>` :doc:`none`", files)).toBe(
      "[About b B](b.rst) [Text](c.rst) none",
    );
  });

  it("are the entries of a table of contents", () => {
    const entries = "   b\n   Own <b>\n   Site <https://a.example>\n   none\n   d/*\n   self\n";
    const all = "- [About b B](b.rst)\n- [Own](b.rst)\n- [Site](https://a.example)";
    expect(bodyOf(`.. toctree::\n\n${entries}`, files)).toBe(all);
    const named = "- [Own](b.rst)\n- [Site](https://a.example)";
    expect(bodyOf(`.. toctree::\n   :hidden:\n\n${entries}`, files)).toBe(named);
  });

  it("are read for the first hundred names", () => {
    const names = Array.from({ length: 120 }, (_, index) => `p${index}`);
    const pages = Object.fromEntries(names.map((name) => [`${name}.rst`, "T\n===\n"]));
    const body = bodyOf(names.map((name) => `:doc:\`${name}\``).join(" "), pages);
    expect(body.match(/\[T\]/g)).toHaveLength(100);
    expect(body).toContain(" p119");
  });
});

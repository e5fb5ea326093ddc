import { describe, expect, it } from "vitest";
import { createIncludes } from "../../../src/documents/parts/includes.ts";
import { readMarkdown } from "../../../src/documents/formats/markdown/markdown.ts";
import { anchorsOf } from "../../../src/documents/text/heading-text.ts";
import type { PageSite, Parsed } from "../../../src/documents/formats/format.ts";
import { expectLinear } from "../../cost.ts";
import { writeFiles } from "../../service.ts";
import { temporaryFolder } from "../../support.ts";
import { around } from "./around.ts";
import { readFolder } from "../folder.ts";

const site = (generator: PageSite["generator"]): PageSite => ({
  generator,
  prefix: "",
  value: () => undefined,
  data: () => ({}),
});

/** The body without the blank lines that directives leave. */
const tidy = ({ body }: Parsed): string => body.replace(/\n{3,}/g, "\n\n").trim();
const plain = (text: string): string => tidy(readMarkdown(text, "a.md", around));
const read = (text: string, path = "a.md"): Parsed =>
  readMarkdown(text, path, { ...around, site: site("jupyterbook") });
const myst = (text: string): string => tidy(read(text));
const quarto = (text: string): string =>
  tidy(readMarkdown(text, "a.qmd", { ...around, site: site("quarto") }));

describe("parts of pages that mystmd embeds", () => {
  const files = {
    "b.md": [
      "---\ntitle: B\n---",
      "(para)=\nOne *two*\nthree.\n\nNo.",
      "(head)=\n# Head\n\nIn.\n\n# Next\n\nNo.",
      ":::{note}\n:label: box\nBoxed ![](#para)\n:::",
      '+++ {"label": "block"}\nFirst.\n\nSecond.\n+++\nNo.',
      "```{list-table}\n:label: rows\n\n* - a\n  - b\n```",
      "(twice)=\n:::{embed} #twice\n:::\n",
      "```{code-cell}\n:label: cell\nx\n```",
    ].join("\n\n"),
    "myst.yml": "",
  };
  const readIn = (text: string) => {
    const root = temporaryFolder();
    writeFiles(root, files);
    const includes = createIncludes(root);
    return readMarkdown(text, "a.md", { ...around, includes, site: site("myst") });
  };
  it.each([
    ["![](#para)", "One *two*\nthree."],
    ["a\n![](#para)\nb", "a\n\nOne *two*\nthree.\n\nb"],
    ["```{embed} #head\n```", "**Head**\n\nIn."],
    [":::{embed} box\n:::", "**Note**\n\nBoxed ![](#para)"],
    ["![](#block)", "First.\n\nSecond."],
    ["![](#rows)", "| | |\n| --- | --- |\n| a | b |"],
    [":::{figure} #para\nCaption.\n:::", "One *two*\nthree.\n\nCaption."],
    ["(own)=\nMine.\n\n![](#own)", "Mine.\n\nMine."],
  ])("%s", (text, expected) => {
    const parsed = readIn(text);
    expect(tidy(parsed).replace(/\|  \|  \|/, "| | |")).toBe(expected);
    expect(parsed.leftOut ?? []).toEqual([]);
  });

  it.each(["![](#nothing)", "![](#cell)", "![](#twice)", "(own)=\n:::{embed} own\n:::"])(
    "are counted without a part: %s",
    (text) => {
      expect(readIn(text).leftOut?.map(({ kind }) => kind)).toEqual(["include"]);
    },
  );

  it("show an example as written, too", () => {
    expect(tidy(readIn("````{myst}\n:::{tip}\nGo.\n:::\n````"))).toBe(
      "```markdown\n:::{tip}\nGo.\n:::\n```\n\n**Tip**\n\nGo.",
    );
  });

  it("do not grow without end", () => {
    const many = Array.from(
      { length: 12 },
      (_, at) =>
        `(l${at})=\n${Array.from({ length: 12 }, (__, to) => `:::{embed} l${to}\n:::`).join("\n")}\n`,
    );
    expect(readIn(many.join("\n")).body.length).toBeLessThan(3_000_000);
  });
});

describe("directives in Markdown", () => {
  it.each([
    ["a box", "```{note}\nBe *calm*.\n```", "**Note**\n\nBe *calm*."],
    ["a box of colons", ":::{warning} Mind it.\n:::", "**Warning**\n\nMind it."],
    [
      "a box with a title",
      "```{admonition} My box\n:class: tip\nText.\n```",
      "**My box**\n\nText.",
    ],
    [
      "options as YAML",
      "```{figure} a.png\n---\nalt: A lamp\nname: lamp\n---\nOn.\n```",
      "![A lamp](a.png)\n\nOn.",
    ],
    ["a version", "```{versionadded} 3.1 Blinks.\n```", "**Added in version 3.1:** Blinks."],
    [
      "code",
      "```{code-block} python\n:caption: Lamp\n\nx = 1\n```",
      "Lamp\n\n```python\n\nx = 1\n```",
    ],
    ["a cell", "```{code-cell} ipython3\n:tags: [hide-input]\nx\n```", "```python\nx\n```"],
    [
      "a removed cell",
      "a\n\n```{code-cell}\n---\ntags:\n  - remove-cell\n---\nx\n```\n\nb",
      "a\n\nb",
    ],
    ["a list of pages", "a\n\n```{toctree}\nb\n```\n\nc", "a\n\nc"],
    [
      "tabs",
      "````{tab-set}\n```{tab-item} One\n1\n```\n```{tab-item} Two\n2\n```\n````",
      "**One**\n\n1\n\n**Two**\n\n2",
    ],
    [
      "a table of lists",
      "```{list-table} Lamps\n:header-rows: 1\n* - Name\n  - Light\n* - A|B\n  - red\n    dim\n```",
      "**Lamps**\n\n| Name | Light |\n| --- | --- |\n| A\\|B | red dim |",
    ],
    [
      "a table of records",
      '```{csv-table}\n:header: a,b\n"x, y",1\n"q""",2\n```',
      '| a | b |\n| --- | --- |\n| x, y | 1 |\n| q" | 2 |',
    ],
    [
      "a directive in a list",
      "1. a\n\n   ```{tip}\n   b\n   ```\n\n2. c",
      "1. a\n\n   **Tip**\n\n   b\n\n2. c",
    ],
    ["a directive as a list item", "- ```{tip}\n  b\n  ```", "- **Tip**\n\n  b"],
    [
      "an example of a directive",
      "````md\n```{note}\nx\n```\n````",
      "````md\n```{note}\nx\n```\n````",
    ],
    ["raw HTML", "```{raw} html\n<b>x</b>\n```\n```{raw} latex\n\\x\n```", "<b>x</b>"],
    ["HTML for other pages", "```{only} latex\nx\n```\na\n```{only} html\nb\n```", "a\n\nb"],
    ["formulas", "```{math}\n:label: e\na = b\n```", "$$\na = b\n$$"],
    [
      "a proof",
      "```{prf:theorem} Pythagoras\n:label: t\nText.\n```",
      "**Theorem (Pythagoras)**\n\nText.",
    ],
    [
      "an exercise",
      "```{exercise-start}\n:label: e\n```\nDo.\n```{exercise-end}\n```",
      "**Exercise**\n\nDo.",
    ],
    [
      "a card with a link",
      ":::{card} T\n:link: https://x.org\nText\n:::",
      "[T](https://x.org)\n\nText",
    ],
    [
      "reStructuredText",
      "```{eval-rst}\n.. note:: Be :ref:`calm <x>`.\n\n   .. code-block:: sh\n\n      ls\n\n.. a comment\n\nEnd of `it <https://x.org>`_.\n```",
      "**Note**\n\nBe calm.\n\n```sh\n\nls\n```\n\nEnd of [it](https://x.org).",
    ],
    ["marks that nothing closes", ":::{note}\na", "**Note**\n\na"],
  ])("reads %s", (_name, text, expected) => {
    expect(myst(text)).toBe(expected);
  });

  it("reads a fence with the name of a directive without knowing the generator", () => {
    expect(plain("```{note}\na\n```")).toBe("**Note**\n\na");
    expect(plain("```{mermaid}\na\n```\n\n% b {ref}`c`")).toBe(
      "```mermaid\na\n```\n\n% b {ref}`c`",
    );
    expect(plain(":::{wonder} b\na\n:::")).toBe("**b**\n\na");
  });

  it("keeps the content of unknown directives, and counts them", () => {
    const { body, leftOut } = read("a\n\n```{wonder} B\nc\n```\n\n```{box}\nd\n```\n");
    expect(body.replace(/\n+/g, " ").trim()).toBe("a **B** c d");
    expect(leftOut).toEqual([{ kind: "directive", what: "wonder", line: 3 }]);
  });

  it("makes no sections of headings in a directive", () => {
    expect(myst(":::{note}\n## A\n\n```sh\n# b\n```\n:::")).toBe(
      "**Note**\n\n**A**\n\n```sh\n# b\n```",
    );
    const mystmd = { ...around, site: site("myst") };
    expect(tidy(readMarkdown(":::{note}\n# A\n\nb\n:::\n:::{tip} C\nd\n:::", "a.md", mystmd))).toBe(
      "**A**\n\nb\n\n**C**\n\nd",
    );
  });

  it("includes files", () => {
    const root = temporaryFolder();
    writeFiles(root, {
      "docs/part.md": "---\ntitle: P\n---\none\n\n```{tip}\ntwo\n```\n",
      "docs/code.py": "a = 1\nb = 2\nc = 3\n",
      "docs/loop.md": "```{include} loop.md\n```\n",
      "docs/old.rst": ".. tip:: three\n",
      "news.md": "[a](docs/x.md) [b](other.md)\n",
    });
    const inDocs = (text: string): Parsed =>
      readMarkdown(text, "docs/a.md", {
        ...around,
        site: site("myst"),
        includes: createIncludes(root),
      });
    expect(tidy(inDocs("```{include} part.md\n```"))).toBe("one\n\n**Tip**\n\ntwo");
    expect(tidy(inDocs("```{include} old.rst\n```"))).toBe("**Tip**\n\nthree");
    expect(tidy(inDocs("```{literalinclude} code.py\n:language: python\n:lines: 2-\n```"))).toBe(
      "```python\nb = 2\nc = 3\n```",
    );
    expect(tidy(inDocs("```{include} ../news.md\n:relative-docs: docs/\n```"))).toBe(
      "[a](../docs/x.md) b",
    );
    expect(inDocs("```{include} no.md\n```").leftOut).toEqual([
      { kind: "include", what: "no.md: no such file", line: 1 },
    ]);
    expect(inDocs("```{include} loop.md\n```").leftOut?.[0]?.what).toContain("a cycle");
  });
});

describe("MyST", () => {
  it.each([
    [
      "a role",
      "See {abbr}`MyST (a language)` and {kbd}`Ctrl`.",
      "See MyST (a language) and `Ctrl`.",
    ],
    ["a role over two lines", "a {ref}`two\nlines <x>` b", "a two\nlines b"],
    ["an unknown role", "{wonder}`text`", "text"],
    ["a role that is escaped", "\\{ref}`x`", "\\{ref}`x`"],
    ["raised text", "H{sub}`2`O {math}`x^2`", "H<sub>2</sub>O $x^2$"],
    ["names of objects", "{py:func}`~a.b.c` {class}`D`", "`c` `D`"],
    ["an icon", "a {octicon}`star` b", "a  b"],
    ["a comment", "a\n\n% secret\n% more\n\nb", "a\n\nb"],
    ["a block break", 'a\n\n+++ {"tags": []}\n\nb', "a\n\nb"],
    [
      "code in a cell with the marks of its table",
      "````{list-table}\n* - ````md\n    {x}`y`\n    ````\n  - b\n````",
      "|  |  |\n| --- | --- |\n| ````md {x}`y` ```` | b |",
    ],
    ["a label of a paragraph", "(here)=\nText", "Text"],
    [
      "a label without a title",
      "[](#eq:b)\n\n:::{math}\n:label: eq:b\nx\n:::",
      "[eq:b](#eq-b)\n\n$$\nx\n$$",
    ],
    ["a span", "[a *b*]{.red} c", "a *b* c"],
    [
      "an own heading id",
      "(my_label)=\n# Title\n\nSee {ref}`my_label`, {ref}`it <my_label>`, [](#my_label).",
      "# Title {#my-label}\n\nSee [Title](#my-label), [it](#my-label), [Title](#my-label).",
    ],
  ])("reads %s", (_name, text, expected) => {
    expect(myst(text)).toBe(expected);
  });

  it("resolves links to names, and drops those of objects that are not here", () => {
    const root = temporaryFolder();
    writeFiles(root, { LICENSE: "Free." });
    const text =
      "(one)=\n# One\n\n[a](one) [`b`](#one) [c](py.Lamp) [d](LICENSE) [e](#two) [g](gone.md) `[f](py.Lamp)`";
    const includes = createIncludes(root);
    const { body } = readMarkdown(text, "a.md", { ...around, includes, site: site("jupyterbook") });
    expect(body.split("\n").at(-1)).toBe(
      "[a](#one) [`b`](#one) c [d](LICENSE) [e](#two) [g](gone.md) `[f](py.Lamp)`",
    );
  });

  it("is R Markdown as well", async () => {
    const text = "# A\n\n```{r, echo = FALSE}\nhidden()\n```\n\n```{r}\nshown()\n```\n";
    const { document } = await readFolder({ "a.Rmd": text, "b.md": "[A](a.html)\n" }, "a.Rmd");
    const [section] = document.sections;
    expect(section?.text?.replace(/\n{3,}/g, "\n\n")).toBe("# A\n\n```r\nshown()\n```\n\n");
  });

  it("leads to its own label, which another page has as well", () => {
    const root = temporaryFolder();
    const text = ":::{math}\n:label: eq:b\nx\n:::\n\n[](#eq:b) {ref}`eq:b`\n";
    writeFiles(root, { "b.md": text });
    const includes = createIncludes(root);
    const { body } = readMarkdown(text, "a.md", { ...around, includes, site: site("myst") });
    expect(body).toContain("[eq:b](#eq-b) [eq:b](#eq-b)");
  });

  it("counts comments, and knows the ids that are no headings", () => {
    const { leftOut, ids } = read("% a\n\n(x)=\nText\n\n```{note}\n:name: y z\n```\n");
    expect(leftOut).toEqual([{ kind: "comment", what: "", line: 1 }]);
    expect(ids).toEqual(["x", "y-z"]);
  });

  it("shows the title of another page, and of substitutions", () => {
    const root = temporaryFolder();
    writeFiles(root, {
      "conf.py":
        'extensions = ["myst_parser"]\nmyst_substitutions = {\n  "name": "Lamp *2*",\n  "n": f"{1}",\n}\n',
      "b/c.md": "# The other *page*\n",
      "d.rst": "Old\n===\n",
    });
    const text = "{doc}`b/c` [](b/c.md) [x](b/c.md) {{ name }} {{ n }} {{ other }}";
    const parsed = readMarkdown(text, "a.md", {
      ...around,
      site: site("sphinx"),
      includes: createIncludes(root),
    });
    expect(parsed.body).toBe(
      "[The other page](b/c.md) [The other page](b/c.md) [x](b/c.md) Lamp *2* {{ n }} {{ other }}",
    );
  });

  const expressions =
    'Of {{ env.docname | upcase }}: {{ "a" | append: "b" }} {{ env.config.version }} {{ other }} $\\frac{a_1}{{b.c}}$';
  const withConfig = (name: string, text: string, generator: PageSite["generator"]): Parsed => {
    const root = temporaryFolder();
    writeFiles(root, { [name]: text });
    const includes = createIncludes(root);
    return readMarkdown(expressions, "b/a.md", { ...around, includes, site: site(generator) });
  };

  it.each([
    [
      "conf.py",
      'extensions = ["myst_parser"]\nmyst_enable_extensions = ["substitution"]',
      "sphinx",
    ],
    ["_config.yml", "title: Lamps", "jupyterbook"],
    ["_config.yml", "parse:\n  myst_enable_extensions: [substitution]", "jupyterbook"],
  ] as const)("shows expressions, and counts those of the build: %s", (name, text, generator) => {
    const { body, leftOut } = withConfig(name, text, generator);
    expect(body).toBe("Of B/A: ab  {{ other }} $\\frac{a_1}{{b.c}}$");
    const what = "{{ env.config.version }}";
    expect(leftOut).toEqual([{ kind: "expression", what, line: 1 }]);
  });

  it.each([
    ["conf.py", 'extensions = ["myst_parser"]\nmyst_enable_extensions = ["deflist"]', "sphinx"],
    ["_config.yml", "parse:\n  myst_enable_extensions: [deflist]", "jupyterbook"],
    ["myst.yml", "title: Lamps", "myst"],
  ] as const)("shows braces as they are without the extension: %s", (name, text, generator) => {
    expect(withConfig(name, text, generator).body).toBe(expressions);
  });

  it("counts names that a configuration computes", () => {
    const root = temporaryFolder();
    const config =
      'myst_enable_extensions = ["substitution"]\nmyst_substitutions = {"made": table()}\n';
    writeFiles(root, { "conf.py": config });
    const includes = createIncludes(root);
    const { body, leftOut } = readMarkdown("A {{ made }} {{ other }}", "a.md", {
      ...around,
      includes,
      site: site("sphinx"),
    });
    expect(body).toBe("A  {{ other }}");
    expect(leftOut).toEqual([{ kind: "expression", what: "{{ made }}", line: 1 }]);
  });

  it("leaves what is nested too deeply as it is", () => {
    const marks = (at: number): string => "`".repeat(100 - at);
    const levels = Array.from({ length: 60 }, (_each, at) => at);
    const open = levels.map((at) => `${marks(at)}{wonder}`).join("\n");
    const { body } = read(`${open}\nx\n${levels.toReversed().map(marks).join("\n")}`);
    expect(body).toContain(`${marks(40)}{wonder}`);
  });

  it("reads hostile text in linear time", () => {
    expectLinear(20_000, (size) => void read("{ref}`".repeat(size)));
    expectLinear(20_000, (size) => void read("[](".repeat(size)));
    expectLinear(20_000, (size) => void read("{{ a.b $x {{ c".repeat(size)));
    expectLinear(20_000, (size) => void read("{{ a.b }} $x$ $$y ".repeat(size)));
    expectLinear(20_000, (size) => void read(":::{note}\n".repeat(size)));
    expectLinear(20_000, (size) => void read("[".repeat(size) + "]{.a}".repeat(size)));
    expectLinear(20_000, (size) => void read("[](a.md) `a` ".repeat(size)));
    expectLinear(20_000, (size) => void read("````{list-table}\n* - ".repeat(size)));
  });
});

describe("labels of other pages", () => {
  const files = {
    "b/far.md": "(far)=\n\n# Far away\n\nText.\n",
    "b/old.rst": ".. _old:\n\nOld page\n========\n",
    "b/deep.md": "(units/far)=\n\n# Far units\n\nText.\n",
    "b/plain.md": "# Plain\n\n(units/plain)=\n\nA paragraph.\n",
    "a/x.md":
      "{ref}`far` {ref}`it <far>` [](#old) {ref}`nowhere` [it](units/far) [p](no/page) [q](units/plain) {ref}`units/plain`\n",
  };
  it.each(["myst.yml", "conf.py"])("have titles and links in a site of %s", async (config) => {
    const text = config === "conf.py" ? "extensions = ['myst_parser']\n" : "";
    const all = { ...files, [config]: text };
    const { document } = await readFolder(all, "a/x.md");
    expect(document.sections[0]?.text).toBe(
      "[Far away](../b/far.md#far) [it](../b/far.md#far) [Old page](../b/old.rst#old) nowhere [it](../b/deep.md#units-far) [p](no/page) [q](../b/plain.md#units-plain) units/plain\n",
    );
  });
});

describe("references of Quarto", () => {
  const page = [
    "# A {#sec-a}",
    "See @fig-two, [@fig-one; @tbl-x], [-@eq-e], [Fig @fig-one], @Sec-c, @lst-l, @nte-n and @fig-sub-c.",
    "![One](1.png){#fig-one width=50%}",
    "```{python}\n#| label: fig-two\n#| fig-cap: Two\nx\n```",
    "```{r}\n#| label: fig-plain\nx\n```",
    "| a |\n|---|\n| b |\n\n: Rows {#tbl-x .striped}",
    "$$\nx\n$$ {#eq-e}",
    '```{#lst-l .python lst-cap="L"}\n@fig-one {#fig-no}\n```',
    "::: {#fig-sub layout-ncol=2}\n\n![](a.png){#fig-sub-a}\n\n![](b.png){#fig-sub-b}\n\n![](c.png){#fig-sub-c}\n\nAll *three*.\n\n:::",
    "::: {#nte-n .callout-note}\nn\n:::",
    "## B\n\n## No {.unnumbered}\n\n## C {#sec-c}",
    "@fig-gone [@fig-one; @who] a@fig-one \\@fig-one `@fig-one` @knuth84 [see @fig-one](x.md)",
  ].join("\n\n");

  it("are the numbers of the page, and captions have them", () => {
    const shown = quarto(page);
    expect(shown).toContain(
      "See [Figure 2](#fig-two), [Figure 1](#fig-one), [Table 1](#tbl-x), [1](#eq-e), [Fig 1](#fig-one), [Section 1.2](#sec-c), [Listing 1](#lst-l), [Note 1](#nte-n) and [Figure 3 (c)](#fig-sub-c).",
    );
    expect(quarto("## B {#sec-b}\n\n@sec-b")).toContain("\n\n[Section 1](#sec-b)");
    expect(shown).toContain("![Figure 1: One](1.png)");
    expect(shown).toContain("Figure 2: Two");
    expect(shown).toContain("\n\nFigure 3: All *three*.\n");
    expect(shown).toContain("Listing 1: L\n\n```python");
    expect(shown).toContain(": Table 1: Rows");
    expect(shown).toContain("@fig-one {#fig-no}");
    expect(shown).toContain(
      "@fig-gone [@fig-one; @who] a@fig-one \\@fig-one `@fig-one` @knuth84 [see @fig-one](x.md)",
    );
  });

  it("have the numbers of chapters in a book, also of other chapters", async () => {
    const chapters = "[index.qmd, pre.qmd, {part: p.qmd, chapters: [a.qmd, sub/b.qmd]}]";
    const files = {
      "_quarto.yml": `project: {type: book, render: ["*.qmd"]}\nbook:\n  chapters: ${chapters}\n`,
      "index.qmd": "# Start {.unnumbered}\n",
      "pre.qmd": "# Before {-}\n\n## X {#sec-x}\n\n![P](p.png){#fig-p}\n",
      "p.qmd": "# Part\n",
      "a.qmd":
        "---\ntitle: First\n---\n\n## M {#sec-m}\n\n![I](i.png){#fig-i}\n\n@sec-k @sec-k2 @fig-i @sec-x @fig-p\n",
      "sub/b.qmd": "# K {#sec-k}\n\n## K2 {#sec-k2}\n\n@fig-i @sec-m @sec-k\n",
      "c/_quarto.yml": "book:\n  chapters: [gone.qmd, a.qmd]\n",
      "c/a.qmd": "# A\n\n## B {#sec-b}\n\n@sec-b\n",
      "other.qmd": "@fig-i @fig-o\n\n![o](o.png){#fig-o}\n",
    };
    const textOf = async (path: string): Promise<string> =>
      (await readFolder(files, path)).document.sections.map(({ text }) => text).join("\n");
    expect(await textOf("a.qmd")).toContain(
      "![Figure 1.1: I](i.png)\n\n[Chapter 2](sub/b.qmd#sec-k) [Section 2.1](sub/b.qmd#sec-k2) [Figure 1.1](#fig-i) @sec-x [Figure 1](pre.qmd#fig-p)",
    );
    expect(await textOf("sub/b.qmd")).toContain(
      "[Figure 1.1](../a.qmd#fig-i) [Section 1.1](../a.qmd#sec-m) [Chapter 2](#sec-k)",
    );
    expect(await textOf("c/a.qmd")).toContain("\n\n@sec-b");
    expect(await textOf("other.qmd")).toContain("[Figure 1.1](a.qmd#fig-i) @fig-o\n\n![o](o.png)");
  });

  it("have the numbers of chapters that are notebooks", async () => {
    const cells = (...sources: string[]): string =>
      JSON.stringify({
        nbformat: 4,
        metadata: { kernelspec: { language: "python" } },
        cells: sources.map((source) =>
          source.startsWith("#|")
            ? { cell_type: "code", source: [source], outputs: [] }
            : { cell_type: "markdown", source: [source] },
        ),
      });
    const files = {
      "_quarto.yml": "book:\n  chapters: [index.qmd, a.ipynb, b.qmd, c.ipynb]\n",
      "index.qmd": "# Start {.unnumbered}\n",
      "a.ipynb": cells("# M {#sec-m}", '#| label: fig-p\n#| fig-cap: "P"\nplot()', "## N {#sec-n}"),
      "b.qmd": "# K {#sec-k}\n\n@sec-m @sec-n @fig-p\n",
      "c.ipynb": cells("# L", "as in @sec-k"),
      "d.ipynb": "no JSON",
    };
    const textOf = async (path: string): Promise<string> =>
      (await readFolder(files, path)).document.sections.map(({ text }) => text).join("\n");
    expect(await textOf("b.qmd")).toContain(
      "[Chapter 1](a.ipynb#sec-m) [Section 1.1](a.ipynb#sec-n) [Figure 1.1](a.ipynb#fig-p)",
    );
    expect(await textOf("c.ipynb")).toContain("as in [Chapter 2](b.qmd#sec-k)");
  });

  it("have the dates that Quarto reads, the month first", async () => {
    const dateOf = async (date: string): Promise<unknown> => {
      const files = { "_quarto.yml": "", "a.qmd": `---\ndate: ${date}\n---\n\nA.\n` };
      return (await readFolder(files, "a.qmd")).document.doc_updated_at;
    };
    expect(await dateOf("3/22/2023")).toBe("2023-03-22T00:00:00Z");
    expect(await dateOf("03-04-2023")).toBe("2023-03-04T00:00:00Z");
    expect(await dateOf("last-modified")).toBeUndefined();
    expect(await dateOf("'`r Sys.Date()`'")).toBeUndefined();
    await expect(dateOf("22/03/2023")).rejects.toThrow("a.qmd:2:1: front matter date: not a date");
  });

  it("are found in linear time", () => {
    for (const part of ["[@fig-a;", "@fig-", "[", "::: {#fig-a}\n", "![a](b){#fig-a}"])
      expectLinear(5000, (size) => quarto(part.repeat(size)));
  });
});

describe("Quarto", () => {
  it.each([
    ["a callout", "::: {.callout-note}\nText\n:::", "**Note**\n\nText"],
    ["a callout with a title", '::: {.callout-tip title="Do"}\nText\n:::', "**Do**\n\nText"],
    [
      "a callout with a heading",
      "::: {.callout-tip collapse=true}\n## Do\n\nText\n:::",
      "**Do**\n\nText",
    ],
    [
      "tabs",
      "::: {.panel-tabset}\n## One\n\n1\n\n### In\n\n## Two\n\n2\n:::\n\n## After",
      "**One**\n\n1\n\n### In\n\n**Two**\n\n2\n\n## After",
    ],
    [
      "content for the web",
      '::: {.content-visible when-format="html"}\na\n:::\n::: {.content-hidden when-format="html"}\nb\n:::',
      "a",
    ],
    [
      "content for books",
      '::: {.content-visible when-format="pdf"}\na\n\n```{r}\nx\n```\n:::\nb',
      "b",
    ],
    ["a box in a box", ":::: {.column-margin}\n::: {.x}\na\n:::\n::::\nb", "a\n\nb"],
    ["a span", "[a]{.smallcaps} ![b](c.png){width=50%}", "a ![b](c.png)"],
    [
      "a cell",
      '```{r}\n#| label: fig-a\n#| fig-cap: "Lamps"\nplot(x)\n```',
      "```r\nplot(x)\n```\n\nFigure 1: Lamps",
    ],
    ["a cell without code", '```{r, echo=FALSE, fig.cap="Lamps"}\nplot(x)\n```', "Lamps"],
    [
      "the label of a cell in its first line",
      '```{r fig-a, fig.cap="Lamps"}\nx\n```',
      "```r\nx\n```\n\nFigure 1: Lamps",
    ],
    ["a cell that is left out", "a\n\n```{python}\n#| include: false\nx\n```\n\nb", "a\n\nb"],
    ["a computed value", "a `r nrow(x)` b `{python} y` c `r`", "a  b  c `r`"],
    ["a raw block", "```{=html}\n<b>x</b>\n```\n\n```{=latex}\n\\x\n```", "<b>x</b>"],
    ["attributes of code", '```{.python filename="a.py"}\nx\n```', "a.py\n\n```python\nx\n```"],
    ["a cell as it is written", "```{{python}}\nx\n```", "````python\n```{python}\nx\n```\n````"],
    [
      "attributes of headings",
      "## A {.unnumbered}\n\n## B {-}\n\n## C {#c .x}",
      "## A\n\n## B\n\n## C {#c .x}",
    ],
    [
      "the caption of a table",
      '| a |\n|---|\n\n: Lamps {#tbl-a tbl-colwidths="[1]"}',
      "| a |\n|---|\n\n: Table 1: Lamps",
    ],
  ])("reads %s", (_name, text, expected) => {
    expect(quarto(text)).toBe(expected);
  });

  it("shows the values of shortcodes, also in code", () => {
    const root = temporaryFolder();
    writeFiles(root, { "_variables.yml": "lamp: {name: Sun}\n", "_p.qmd": "{{< meta kind >}}\n" });
    const text =
      "---\nkind: desk\n---\n{{< var lamp.name >}} {{< var no >}} {{< kbd Ctrl-C mac=X >}} {{{< var a >}}}{{< fa star >}}\n\n`{{< meta kind >}}`\n\n{{< include _p.qmd >}}\n\n```sh\n{{< meta kind >}}\n```";
    const includes = createIncludes(root);
    const parsed = readMarkdown(text, "a.qmd", { ...around, includes, site: site("quarto") });
    expect(tidy(parsed)).toBe(
      "Sun {{< var no >}} `Ctrl-C` {{< var a >}}\n\n`desk`\n\ndesk\n\n```sh\ndesk\n```",
    );
  });

  it("includes files in code, but not where a page shows how", () => {
    const root = temporaryFolder();
    writeFiles(root, { "a.json": "---\n1\n", "b.md": "---\ntitle: B\n---\nb" });
    const text =
      "```json\n{{< include a.json >}}\n```\n\n```md\n{{< include b.md >}}\n{{{< include b.md >}}}\n```\n\n`{{< include b.md >}}`";
    const includes = createIncludes(root);
    const parsed = readMarkdown(text, "a.qmd", { ...around, includes, site: site("quarto") });
    expect(tidy(parsed)).toBe(
      "```json\n---\n1\n```\n\n```md\n---\ntitle: B\n---\nb\n{{< include b.md >}}\n```\n\n`{{< include b.md >}}`",
    );
  });

  it("knows the metadata of folders, and shows what it is for", () => {
    const root = temporaryFolder();
    writeFiles(root, { "a/_metadata.yml": "tool: {name: Lamp, on: true}\n" });
    const text =
      '{{< meta tool.name >}}\n\n::: {.content-visible when-meta="tool.on"}\nb\n:::\n\n::: {.content-visible when-meta="tool.off"}\nc\n:::\n\n::: {.content-hidden unless-meta="tool.on"}\nd\n:::\n\n::: {.content-visible when-profile="x"}\ne\n:::';
    const includes = createIncludes(root);
    const parsed = readMarkdown(text, "a/b/c.qmd", { ...around, includes, site: site("quarto") });
    expect(tidy(parsed)).toBe("Lamp\n\nb\n\nd");
  });

  it("leaves out TeX, but not formulas", () => {
    expect(
      quarto("a\\index{b \\texttt{c}} $\\frac{1}{2}$ `\\index{d}` \\newpage $$\\sum_{i}$$"),
    ).toBe("a $\\frac{1}{2}$ `\\index{d}` \\newpage $$\\sum_{i}$$");
  });

  it("keeps what is hidden if that is asked for", () => {
    const kept = readMarkdown(
      "% no\n\n```{r, echo=FALSE}\ny\n```\n\n::: {.hidden}\na\n:::\n",
      "a.qmd",
      { ...around, keepsHidden: true },
    );
    expect(tidy(kept)).toBe("% no\n\n```r\ny\n```\n\na");
    expect(kept.leftOut).toBeUndefined();
  });

  it("hides code where the page says it", () => {
    expect(
      quarto(
        "---\nexecute:\n  echo: false\n---\n\n```{r}\nx\n```\n\n```{r}\n#| echo: true\ny\n```",
      ),
    ).toBe("```r\ny\n```");
  });

  it("counts what it hides and computes", () => {
    const { leftOut } = readMarkdown("a `r x`\n\n```{r, echo=FALSE}\ny\n```\n", "a.qmd", around);
    expect(leftOut).toEqual([
      { kind: "expression", what: "`r x`", line: 1 },
      { kind: "hidden", what: "r", line: 3 },
    ]);
  });
});

describe("attribute lists", () => {
  it.each([
    [
      "a cell",
      "| a | b |\n| --- | --- |\n| c {: .x } | d { .y } |",
      "| a | b |\n| --- | --- |\n| c  | d  |",
    ],
    ["a list item", "- a {: .x }\n- {:.x} b\n1. c { .x #y }\n- d {e}", "- a\n- b\n1. c\n- d {e}"],
    [
      "a link",
      '[a](b){ .x } [c](d){: target="_blank"} [e](f){target=_blank}',
      "[a](b) [c](d) [e](f)",
    ],
    ["an image", "![a](b.png){ width=50% align=left } $x_{i=1}$", "![a](b.png) $x_{i=1}$"],
    ["code", "`a{ .x }` `[a](b){ .x }`", "`a{ .x }` `[a](b){ .x }`"],
  ])("are no text of %s", (_name, text, expected) => {
    expect(plain(text)).toBe(expected);
  });
});

describe("anchors", () => {
  const anchors = (style: "myst" | "quarto" | "sphinx", ...titles: string[]): string[] =>
    anchorsOf(
      titles.map((text, at) => ({ text, level: at === 0 ? 1 : 2, start: 0, end: 0 })),
      style,
    );

  it("are those of mystmd, whose pages have no anchor for their title", () => {
    expect(
      anchors("myst", "T", "The niño’s 3.4", "1. A (b)", "T {#own}", "A `b_c`", "A b c"),
    ).toEqual(["", "the-ni-os-3-4", "id-1-a-b", "own", "a-b-c", "a-b-c-1"]);
  });

  it("are those of docutils in Sphinx", () => {
    const titles = ["Tïtle One", "2. A `b_c` d", "Same", "Same", "Same", "42", "T {#own}"];
    const ids = ["title-one", "a-b-c-d", "same", "id1", "id2", "id3", "own"];
    expect(anchors("sphinx", ...titles)).toEqual(ids);
  });

  it("are those of Pandoc in Quarto", () => {
    expect(anchors("quarto", "1. A.b_c: d", "Über *alles*", "42", "42")).toEqual([
      "a.b_c-d",
      "über-alles",
      "section",
      "section-1",
    ]);
  });
});

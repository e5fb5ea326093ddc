import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Found, LintPage } from "../../../../src/checks/lint/rule.ts";
import { missingImage } from "../../../../src/checks/lint/rules/images.ts";
import { deadLink, missingInclude } from "../../../../src/checks/lint/rules/dead-links.ts";
import { missingAnchor, sharedLink } from "../../../../src/checks/lint/rules/links.ts";
import { wikiLinks } from "../../../../src/checks/lint/rules/wiki-links.ts";
import { expectLinear } from "../../../cost.ts";
import { check, lint, lines, openPages } from "./pages.ts";

const other = { "b.md": "# B\n\nText.\n" };

describe("dead links", () => {
  it("are those that an upload counts, each with its place", async () => {
    const ignored = "<!-- knowctl:ignore -->\n[x](gone.md)\n<!-- /knowctl:ignore -->\n";
    const text = `---\ntitle: A\n---\n${ignored}[b](b.md) [c](gone.md#x)\n\n\`[d](gone.md)\` <a href="no/">e</a> [f]\n${ignored}[f]: <gone.md>\n[g]: <gone.md>\n`;
    const pages = await openPages({ ...other, "a.md": text }, { links: "rewrite" });
    expect(lines(check(deadLink, pages), pages)).toEqual([
      "a.md:7:15: the link leads to no file: gone.md#x",
      "a.md:9:24: the link leads to no file: no/",
      "a.md:13:6: the link leads to no file: gone.md",
    ]);
    expect(pages[0]?.source?.slice(...spanOf(check(deadLink, pages)[0]))).toBe("gone.md#x");
  });

  it("are no addresses that the front matter of an Eleventy site may make", async () => {
    const text = { "a.md": "[x](use/) [y](gone.md) [z](../no)\n" };
    expect(await lint(deadLink, { ...text, "eleventy.config.js": "" })).toEqual([
      "a.md:1:15: the link leads to no file: gone.md",
    ]);
    expect(await lint(deadLink, text)).toHaveLength(2);
  });

  it("are no words in parentheses behind a reference", async () => {
    const text = "[a][1](words.md) [b] [2](gone.md)\n\n[1]: https://x.example/\n";
    const second = "a.md:1:26: the link leads to no file: gone.md";
    expect(await lint(deadLink, { "a.md": text })).toEqual([second]);
    expect(await lint(deadLink, { "a.md": text.replace("[1]:", "[3]:") })).toEqual([
      "a.md:1:8: the link leads to no file: words.md",
      second,
    ]);
  });

  it("are no views of notebooks that Quarto makes", async () => {
    const files = { "_quarto.yml": "", "a.qmd": "[x](n-preview.html) [y](n.html)\n" };
    expect(await lint(deadLink, files)).toEqual(["a.qmd:1:25: the link leads to no file: n.html"]);
  });

  it("are no names of labels and objects in Markdown of Sphinx", async () => {
    const text =
      "# A\n\n[](Relay.db_url) [x](some-label) [y](gone.md) [z](sub/gone) [](#Relay.url)\n";
    const files = { "docs/conf.py": "", "docs/a.md": text };
    expect(await lint(deadLink, files)).toEqual([
      "docs/a.md:3:38: the link leads to no file: gone.md",
      "docs/a.md:3:51: the link leads to no file: sub/gone",
    ]);
    expect(await lint(missingAnchor, files)).toEqual([]);
    expect(await lint(missingAnchor, { "docs/a.md": text })).toHaveLength(1);
  });

  it("are found in text that a reader makes, where the file has the same address", async () => {
    const mdx =
      'import X from "./x.js"\n\n# A\n\n{/* gone.md */}\n\n<X>[a](gone.md)</X> [b](my-gone.md)\n';
    expect(await lint(deadLink, { ...other, "a.mdx": mdx })).toEqual([
      "a.mdx:7:8: the link leads to no file: gone.md",
      "a.mdx:7:25: the link leads to no file: my-gone.md",
    ]);
  });

  it("are links of notes to names that no file has, with the first place of each", async () => {
    const vault = {
      ".obsidian/app.json": "{}",
      "a.md": "[[b]] ![[pic.png]]\n\n- [[x/Gone#A|text]] [[other]]\n",
      "c/b.md": "[[#B]]\n\n# B\n\nText.\n",
      "c/pic.png": "",
    };
    expect(await lint(deadLink, vault)).toEqual([
      "a.md:3:5: the link leads to no file: x/Gone#A",
      "a.md:3:23: the link leads to no file: other",
    ]);
    expect(await lint(missingImage, vault)).toEqual([]);
    expect(await lint(missingAnchor, vault)).toEqual([]);
  });

  it("name the file where only capital letters differ", async () => {
    const files = {
      "docs/a.md": "# A\n\n[x](about/B.md#y) [z](../docs/c.md)\n",
      "docs/About/b.md": "B\n",
    };
    const pages = await openPages(files);
    // Windows and macOS find the file.
    const ignoresCase = existsSync(join(pages[0]!.settings.root, "DOCS"));
    const expected = [
      "docs/a.md:3:5: the link leads to no file: about/B.md#y; only capital letters differ from docs/About/b.md",
      "docs/a.md:3:23: the link leads to no file: ../docs/c.md",
    ];
    expect(lines(check(deadLink, pages), pages)).toEqual(expected.slice(ignoresCase ? 1 : 0));
  });

  it("are not those of a Hugo site that differ from their files in capital letters", async () => {
    const files = { "content/a.md": "[x](../promtail-api/)\n", "content/Promtail-API.md": "# P\n" };
    expect(await lint(deadLink, files, { linkStyle: "hugo" })).toEqual([]);
    expect(await lint(deadLink, files, { linkStyle: "mkdocs" })).toHaveLength(1);
  });

  it("of included text have no place", async () => {
    const files = { "a.md": "# A\n\n{!_part.txt!}\n", "_part.txt": "[x](gone.md)\n", ...other };
    expect(await lint(deadLink, files)).toEqual(["a.md: the link leads to no file: gone.md"]);
  });

  it("are not in text that is no Markdown, in rows, and in skipped pages", async () => {
    const skipped = "---\ndraft: true\n---\n[x](gone.md)\n";
    expect(await lint(deadLink, { "a.txt": "[x](gone.md)\n", "b.md": skipped })).toEqual([]);
    const [page] = await openPages({ "a.md": "[x](gone.md)\n" });
    expect(check(deadLink, [{ ...page!, part: 1 }])).toEqual([]);
  });
});

const spanOf = (found: { span?: { start: number; end: number } | undefined } | undefined) =>
  [found?.span?.start ?? 0, found?.span?.end ?? 0] as const;

describe("images", () => {
  it("without a file are reported, with their place", async () => {
    const text =
      '# A\n\n![x](img/gone.png "T") ![y](img/here.png)\n\n<img alt="z" src="./gone.svg">\n';
    const files = { "docs/a.md": text, "docs/img/here.png": "png" };
    expect(await lint(missingImage, files)).toEqual([
      "docs/a.md:3:6: the image has no file: img/gone.png",
      "docs/a.md:5:19: the image has no file: ./gone.svg",
    ]);
  });

  it.each([
    "![x](https://x.example/y.png)",
    "![x](/img/y.png)",
    "![x](../../outside.png)",
    "![x](logo.png)",
    "![x]({{ site }}/y.png)",
    "![x](@site/static/y.png) ![x](~/y.png)",
    "![x](require('./y.png').default) ![x](<%= y %>)",
    "`![x](gone.png)`",
    '{{< figure src="images/gone.png" >}}',
  ])("elsewhere are none of the project: %s", async (text) => {
    const files = { "docs/a.md": `# A\n\n${text}\n`, "static/logo.png": "png" };
    expect(await lint(missingImage, files)).toEqual([]);
  });
});

describe("anchors", () => {
  it("that no heading and no id makes are reported, in the page and in others", async () => {
    const files = {
      "a.md":
        "# A page\n\n[x](#a-pag) [y](b.md#setup) [z](b#nothing) [w](gone.md#x) [v](b.md#b-nothing)\n",
      "b.md": "# B\n\n## Set up\n\nText.\n",
    };
    expect(await lint(missingAnchor, files)).toEqual([
      "a.md:3:5: the page has no anchor #a-pag; similar: a-page",
      "a.md:3:17: b.md has no anchor #setup; similar: set-up",
      "a.md:3:33: b.md has no anchor #nothing",
      "a.md:3:63: b.md has no anchor #b-nothing",
    ]);
  });

  it.each([
    ["## Set up, now!", "set-up-now"],
    ["## Qu&eacute; es", "qu%C3%A9-es"],
    ["## Set up: now & then", "set-up-now--then"],
    ["## Set up: now & then", "set-up-now-then"],
    ["## `a.b()` call", "ab-call"],
    ["## `a.b()` call", "a-b-call"],
    ["## Überblick", "%C3%BCberblick"],
    ["## Überblick", "uberblick"],
    ["## 1. First", "1-first"],
    ["## 1. First", "first"],
    ["## Notes\n\nx\n\n## Notes", "notes-1"],
    ["## Notes\n\nx\n\n## Notes", "notes_1"],
    ["## A {#own-id}", "own-id"],
    ["## A { #own .x }", "own"],
    ["## A {/* #own */}", "own"],
    ["## A [#own]", "own"],
    ['<a name="own"></a>', "own"],
    ["<div id=own>x</div>", "own"],
    ["<h3>Own <b>id</b></h3>", "own-id"],
    ["Under lined\n===", "under-lined"],
    ["- # In a list", "in-a-list"],
    ["## A [link](https://x.example/y) here", "a-link-here"],
    ["## Name [![badge](https://x.example/y.svg)](https://x.example)", "name"],
    [`## Name${" [![badge](https://x.example/y.svg)](https://x.example)".repeat(20)}`, "name"],
    ["## 概要 と 使い方", "概要-と-使い方"],
    ["## $?\n\n## $^", "section-1"],
    ["* `argument` - Text.", "argument"],
    ["Text.", "top"],
    ["Text[^1].\n\n[^1]: Note", "fn1"],
    ["Text.", "L12-L20"],
    ["Text.", "tab/linux"],
    ["## Set up\n\n### On `macOS`", "Set-up-On-macOS"],
    ["Text.", ":~:text=Text"],
    ["Text.", "/route"],
  ])("exist whatever generator makes them: %s #%s", async (text, anchor) => {
    const files = { "a.md": `[x](b.md#${anchor})\n`, "b.md": `# B\n\n${text}\n` };
    expect(await lint(missingAnchor, files)).toEqual([]);
  });

  it.each([
    ["b.md", "{{< toc >}}"],
    ["b.md", "<!-- md:setting x -->"],
    ["b.mdx", 'import Part from "./_part.mdx"\n\n<Part />'],
    ["b.md", "<StackSelector />"],
    ["b.md", "<script>\nmake();\n</script>"],
    ["b.rst", "Text"],
    ["b.html", "<p>Text.</p>"],
  ])("that a program may make are not reported: %s %j", async (path, text) => {
    const files = { "a.md": `[x](${path}#gone)\n`, [path]: `${text}\n` };
    expect(await lint(missingAnchor, files)).toEqual([]);
  });

  it.each([
    "```vue\n{{ name }}\n<script setup>\n<Table />\n```",
    "A `Map<String, List<Row> >` or `<script>` and `{{ name }}`.",
    "```js\nimport Part from './part.mdx'\n```",
  ])("are reported where only examples show programs: %j", async (text) => {
    const files = { "a.md": "[x](b.md#gone)\n", "b.md": `# B\n\n${text}\n` };
    expect(await lint(missingAnchor, files)).toEqual([
      expect.stringContaining("a.md:1:5: b.md has no anchor #gone"),
    ]);
  });

  it("are not what a program makes of a name", async () => {
    const text = "# A\n\nAs @github[#1](#1) and @ref[b](#b) say.\n";
    expect(await lint(missingAnchor, { "a.md": text })).toEqual([
      expect.stringContaining("the page has no anchor #b"),
    ]);
  });

  it("that a page names several times are one finding", async () => {
    const files = { "a.md": "# A\n\n[x](#no) [y](#no) [z](#none)\n" };
    expect(await lint(missingAnchor, files)).toEqual([
      "a.md:3:5: the page has no anchor #no",
      "a.md:3:23: the page has no anchor #none",
    ]);
  });

  it("that a program fills in are not reported", async () => {
    const people =
      "<!-- ALL-CONTRIBUTORS-LIST:START -->[x](#code-y)<!-- ALL-CONTRIBUTORS-LIST:END -->";
    const text = `# A\n\n<a class="ref" href="#fig-1"></a> ${people} <a href="#x">x</a>\n`;
    expect(await lint(missingAnchor, { "a.md": text })).toEqual([
      "a.md:3:126: the page has no anchor #x; similar: a",
    ]);
  });

  it("of the page a part belongs to are not reported", async () => {
    expect(await lint(missingAnchor, { "part.md": "[x](#gone)\n" })).toEqual([]);
  });

  it("of pages that are not read are not reported", async () => {
    const pages = await openPages({ "a.md": "[x](b.md#gone)\n", ...other });
    expect(check(missingAnchor, pages)).toHaveLength(1);
    expect(check(missingAnchor, pages.slice(0, 1))).toEqual([]);
  });

  it("of AsciiDoc exist as Asciidoctor makes them, with those of included files", async () => {
    const page = [
      "= A",
      "",
      "<<_set_up>> <<set-up>> <<Set Up>> <<own>> <<item>> <<cell>> <<book>> <<part>> <<inner>> <<Label>>",
      "<<gone>> xref:b.adoc#_b_part[] xref:b.adoc#no[x] +<<code>>+",
      "",
      "== Set up",
      "",
      "[#own.lead]",
      "Text. [[item,Label]]Text.",
      "",
      "|===",
      "|A a|",
      "[[cell]]",
      "|===",
      "",
      "* [[[book]]] Book.",
      "",
      "include::part.txt[]",
      "",
    ].join("\n");
    const files = {
      "a.adoc": page,
      "b.adoc": "= B\n\n== B part\n\nText.\n",
      "part.txt": "[[part]]\nText.\n\n|===\na|\n[[inner]]\nText.\n|===\n",
    };
    expect(await lint(missingAnchor, files)).toEqual([
      "a.adoc:4:3: the page has no anchor #gone",
      "a.adoc:4:37: b.adoc has no anchor #no",
    ]);
  });

  it("of an AsciiDoc book are those of all its chapters", async () => {
    const files = {
      "a.adoc": "= A\n\n<<of-b>> <<of-none>> xref:b.adoc#of-c[x]\n",
      "b.adoc": "= B\n\n[[of-b]]\nText.\n",
      "c.adoc": "= C\n\n[[of-c]]\nText.\n",
    };
    const pages = await openPages(files);
    expect(lines(check(missingAnchor, pages), pages)).toEqual([
      "a.adoc:3:12: the page has no anchor #of-none",
    ]);
    expect(check(missingAnchor, pages, false)).toEqual([]);
    // The book includes a file that is not here.
    const lacking = { ...files, "book.adoc": "= Book\n\ninclude::gone.adoc[]\n\nText.\n" };
    expect(await lint(missingAnchor, lacking)).toEqual([]);
  });

  it("of a page of Antora are its own, whatever else was read", async () => {
    const files = {
      "modules/ROOT/pages/a.adoc": "= A\n\n<<of-b>> xref:b.adoc#gone[x]\n",
      "modules/ROOT/pages/b.adoc": "= B\n\n[[of-b]]\nText.\n",
    };
    const pages = await openPages(files);
    expect(lines(check(missingAnchor, pages, false), pages)).toEqual([
      "modules/ROOT/pages/a.adoc:3:3: the page has no anchor #of-b",
      "modules/ROOT/pages/a.adoc:3:15: modules/ROOT/pages/b.adoc has no anchor #gone",
    ]);
  });

  it("of a page whose list a template of Quarto writes are unknown", async () => {
    const files = { "a.qmd": "[x](b.qmd#gone)\n", "_quarto.yml": "" };
    expect(await lint(missingAnchor, { ...files, "b.qmd": "# B\n\nText.\n" })).toHaveLength(1);
    const list = "---\nlisting: posts\n---\n\n# B\n\nText.\n";
    expect(await lint(missingAnchor, { ...files, "b.qmd": list })).toEqual([]);
  });

  it("in a text that several pages include have one cause", async () => {
    const page = (title: string): string => `= ${title}\n\ninclude::partial$c.adoc[]\n`;
    const files = {
      "modules/ROOT/pages/a.adoc": page("A"),
      "modules/ROOT/pages/b.adoc": page("B"),
      "modules/ROOT/pages/d.adoc": "= D\n\nText.\n",
      "modules/ROOT/partials/c.adoc": "See xref:d.adoc#gone[D].\n\n* xref:d.adoc#no[D]\n",
      "antora.yml": "name: a\n",
    };
    const pages = await openPages(files);
    const found = check(missingAnchor, pages);
    const message = (id: string): string =>
      `modules/ROOT/pages/d.adoc has no anchor #${id}; it stands in modules/ROOT/partials/c.adoc`;
    expect(lines(found, pages)).toEqual([
      `modules/ROOT/pages/a.adoc:3:1: ${message("gone")}`,
      `modules/ROOT/pages/a.adoc:3:1: ${message("no")}`,
      `modules/ROOT/pages/b.adoc:3:1: ${message("gone")}`,
      `modules/ROOT/pages/b.adoc:3:1: ${message("no")}`,
    ]);
    expect(new Set(found.map(({ cause }) => cause?.key)).size).toBe(2);
  });

  it.each(["include::gone.adoc[]", "include::{generated}[]", "openapi::api.json[]"])(
    "of AsciiDoc that a program or a missing file may add are not reported: %s",
    async (line) => {
      expect(await lint(missingAnchor, { "a.adoc": `= A\n\n<<gone>>\n\n${line}\n` })).toEqual([]);
    },
  );

  it("of HTML are its ids and names", async () => {
    const page = (text: string): string =>
      `<!DOCTYPE html><title>T</title><body><h1>T</h1>\n${text}\n</body>\n`;
    const files = {
      "a.html": page(
        '<p><a href="#one">x</a> <a href="#two">x</a> <a href="#a%26b">x</a> <a href="#gone">x</a> <a href="b.html#no">x</a> <a href="b.html#TOP2">x</a></p><p id=one>x</p><a name="two"></a><b id="a&amp;b">x</b>',
      ),
      "b.html": page('<section id="top2">Text.</section>'),
    };
    expect(await lint(missingAnchor, files)).toEqual([
      "a.html:2:78: the page has no anchor #gone; similar: one",
      "a.html:2:100: b.html has no anchor #no",
    ]);
  });

  it.each([
    "<script src=x.js></script>",
    "{{ content }}",
    "{% include x %}",
    "<?php toc() ?>",
    "<my-page></my-page>",
  ])("of HTML that a program may add are not reported: %s", async (text) => {
    const html = `<html><title>T</title><h1>T</h1><a href="#gone">x</a>${text}</html>\n`;
    expect(await lint(missingAnchor, { "a.html": html })).toEqual([]);
    const data = '<script type="application/ld+json">{}</script>';
    expect(await lint(missingAnchor, { "a.html": html.replace(text, data) })).toHaveLength(1);
    const part = `<h1>T</h1><a href="#gone">x</a>\n`;
    expect(await lint(missingAnchor, { "a.html": part })).toEqual([]);
  });

  it("of reStructuredText are the targets of the page", async () => {
    const text = [
      "A page",
      "======",
      "",
      "gone_ and `Gone too`_, `text <gone_>`_; known_, `A page`_, `in text`_, inner_, note_, named_.",
      "Not: ``code_``, self.private_*, `x <https://x.example/a_>`_, `y`__, _`in text`.",
      "",
      ".. _known: https://x.example",
      ".. _`inner`:",
      "__ https://x.example",
      ".. [#note] Note.",
      "",
      ".. figure:: a.png",
      "   :name: named",
      "",
    ].join("\n");
    expect(await lint(missingAnchor, { "a.rst": text })).toEqual([
      "a.rst:4:1: the page has no target gone",
      "a.rst:4:11: the page has no target gone too",
      "a.rst:4:31: the page has no target gone",
    ]);
    for (const more of ["\n.. include:: gone.txt\n", "\n.. custom::\n", "\n{% if x %}\n"]) {
      expect(await lint(missingAnchor, { "a.rst": text + more }), more).toEqual([]);
    }
    const files = { "a.rst": text, "conf.py": 'rst_epilog = open("links.txt").read()\n' };
    expect(await lint(missingAnchor, files)).toEqual([]);
  });

  it("cost linear time, however often a page is linked", async () => {
    const headings = Array.from({ length: 1000 }, (_, index) => `## Heading ${index}\n\n`).join("");
    const pages = await openPages({ "a.md": "[x](b.md#gone)\n", "b.md": headings });
    const [page, target] = pages;
    expectLinear(20_000, (size) => {
      const lines = Array.from(
        { length: size / 50 },
        (_, at) => `[x](b.md#gone${at}) [y](#no${at})\n`,
      );
      const body = `# A\n\n${lines.join("")}`;
      const copy: LintPage = { ...page!, source: body, parsed: { ...page!.parsed, body } };
      const copies = Array.from({ length: 50 }, (_, at) => ({ ...copy, path: `a${at}.md` }));
      const found = check(missingAnchor, [...copies, target!]);
      expect(found.length).toBeGreaterThan(size);
    });
  });
});

describe("hostile pages", () => {
  it.each([
    "{#a",
    "{: #a",
    "[[",
    "<h1>",
    "<h1 a",
    "\n",
    "# ",
    "# a",
    "id=",
    "id ",
    "<!-- a",
    "a[](",
  ])("cost linear time: %j", async (piece) => {
    const [page] = await openPages({ "a.md": "# A\n\n[x](#a)\n" });
    expectLinear(200_000, (size) => {
      const body = `# A\n\n${piece.repeat(size / piece.length)}\n\n[x](#gone)\n`;
      const hostile: LintPage = { ...page!, source: body, parsed: { ...page!.parsed, body } };
      for (const rule of [deadLink, missingImage]) check(rule, [hostile]);
      check(missingAnchor, [hostile]);
    });
  });
});

describe("hostile pages of other formats", () => {
  it.each([
    ["a.adoc", "<<a"],
    ["a.adoc", "[#"],
    ["a.adoc", "[[a"],
    ["a.adoc", "id="],
    ["a.adoc", "[](#x)"],
    ["a.adoc", "a::"],
    ["a.html", "<html "],
    ["a.html", "<script "],
    ["a.html", "id="],
    ["a.html", 'id="'],
    ["a.html", "name "],
    ["a.html", "a-"],
  ])("cost linear time: %s %j", async (path, piece) => {
    const [page] = await openPages({ [path]: "<html>= A\n\n<<a>>\n" });
    expectLinear(200_000, (size) => {
      const source = piece.repeat(size / piece.length);
      const body = `# A\n\n${"[x](#gone) ".repeat(size / 1000)}`;
      check(missingAnchor, [{ ...page!, source, parsed: { ...page!.parsed, body } }]);
    });
  });
});

describe("links of documents", () => {
  const page = (link: string): string =>
    `---\nlink: ${link}\n---\n# Title ${link.length}\n\nText.\n`;

  it("that two share are reported, whatever anchors their sections have", async () => {
    const files = {
      "a.md": page("https://x.example/a"),
      "b.md": `${page("https://x.example/a")}\n## More\n\nText.\n`,
      "c.md": page("https://x.example/c#a"),
      "d.md": page("https://x.example/c#b"),
      "e.md": page("https://x.example/c#bb"),
      "f.md": "No link.\n",
      "g.md": "No link.\n",
    };
    const expected = ["b.md: the document has the link of a.md"];
    expect(await lint(sharedLink, files)).toEqual(expected);
    expect(await lint(sharedLink, files, { sections: "headings" })).toEqual(expected);
  });

  it("that a template makes of several pages are reported", async () => {
    const files = { "one/index.md": "# A\n", "two/index.md": "# B\n" };
    expect(await lint(sharedLink, files, { link: "https://x.example/{name}" })).toEqual([
      "two/index.md: the document has the link of one/index.md",
    ]);
    expect(await lint(sharedLink, files, { link: "https://x.example/{slug}" })).toEqual([]);
  });
});

describe("missing images of Quarto", () => {
  it("have the extension of its format", async () => {
    const files = { "a.qmd": "![x](plan) ![y](gone)\n", "plan.png": "x" };
    expect(await lint(missingImage, { ...files, "_quarto.yml": "" })).toEqual([
      "a.qmd:1:17: the image has no file: gone",
    ]);
    expect(await lint(missingImage, files)).toHaveLength(2);
  });
});

describe("links of wikis", () => {
  it("are one finding for a folder, at the first", async () => {
    const files = {
      "a.md": "# A\n\nSee [[Other page]] and ![[plan.png|300]].\n",
      "b.md": "# B\n\n[[toc]] [[A]]\n",
    };
    expect(await lint(wikiLinks, files)).toEqual([
      "a.md:3:5: 3 links of a wiki in 2 pages are sent as they stand, such as [[Other page]]; ingest.generator: obsidian resolves it",
    ]);
  });

  it("are names of files in the site of a generator that has no such links", async () => {
    const files = {
      "a.md": "# A\n\nThe [[Call]] of [[B|the object]].\n",
      "mkdocs.yml": "site_name: A\n",
    };
    expect(await lint(wikiLinks, files)).toEqual([]);
    expect(await lint(wikiLinks, { ...files, "docs/b.md": "# B\n" })).toEqual([
      "a.md:3:17: [[B|the object]] is sent as it stands; ingest.generator: obsidian resolves it",
    ]);
  });

  it.each(["[[1, 2], [3]]", "`[[Page]]`", "\\[[Page]]", "[[x]](y.md)", "[[ -f a ]]"])(
    "are no arrays, tests of shells, code or examples: %s",
    async (text) => {
      expect(await lint(wikiLinks, { "a.md": `# A\n\n${text}\n` })).toEqual([]);
    },
  );
});

describe("includes without a file", () => {
  it("are found in each format, where the page names them", async () => {
    const files = {
      "mkdocs.yml": "markdown_extensions: [pymdownx.snippets]\n",
      "docs/a.md": '# A\n\nText.\n\n--8<-- "gone.md"\n\n```\n--8<-- "docs/b.adoc"\n```\n',
      "docs/b.adoc": "= B\n\ninclude::gone.adoc[]\n\ninclude::{parts}/gone.adoc[]\n",
      "docs/c.mdx": 'import Gone from "./gone.mdx";\n\nText.\n\n<Gone />\n',
      "docs/templates/e.md": '# E\n\nText.\n\n--8<-- "gone.md"\n',
      "docs/d.rst": ".. include:: gone.txt\n\nText.\n\n.. include:: b.adoc\n",
    };
    expect(await lint(missingInclude, files)).toEqual([
      "docs/a.md:5:1: the include has no file: gone.md",
      "docs/b.adoc:3:1: the include has no file: gone.adoc",
      "docs/c.mdx:5:1: the include has no file: ./gone.mdx",
      "docs/d.rst:1:1: the include has no file: gone.txt",
    ]);
  });

  it("have the cause of the first folder that is absent, or of a build that writes ignored files", async () => {
    const pages = await openPages({
      ".gitignore": "list-*.md\n",
      "docs/a.md": ["made/x/1.md", "made/y/2.md", "list-a.md", "list-b.md", "3.md"]
        .map((name) => `--8<-- "docs/${name}"\n\n`)
        .join("# A\n\n"),
      "mkdocs.yml": "markdown_extensions: [{pymdownx.snippets: {base_path: .}}]\n",
    });
    const causes = check(missingInclude, pages).map((found) => (found as Found).cause);
    expect(causes.map((cause) => [cause?.key, cause?.least])).toEqual([
      ["docs/made", 0],
      ["docs/made", 0],
      ["ignored", 0],
      ["ignored", 0],
      ["docs", 3],
    ]);
  });

  it("have the cause of their folder, or of the module of Antora that they name", async () => {
    const pages = await openPages({
      "a/antora.yml": "name: a\n",
      "b/antora.yml": "name: b\n",
      "a/modules/m/pages/a.adoc":
        "= A\n\ninclude::partial$x.adoc[]\n\ninclude::b:n:partial$y.adoc[]\n\ninclude::o:partial$z.adoc[]\n",
      "one/a.md": '# A\n\n--8<-- "parts/x.md"\n',
      "two/a.md": '# A\n\n--8<-- "parts/x.md"\n',
    });
    const keys = check(missingInclude, pages).map((found) => (found as Found).cause?.key);
    expect(keys).toEqual([
      "a/modules/m/pages/partial$",
      "b:n:partial$",
      "a/modules",
      "one/parts",
      "two/parts",
    ]);
  });
});

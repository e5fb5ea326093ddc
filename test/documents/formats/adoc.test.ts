import { describe, expect, it } from "vitest";
import { scanStructure } from "../../../src/documents/text/structure.ts";
import { createIncludes, noIncludes } from "../../../src/documents/parts/includes.ts";
import type { Includes, Parsed } from "../../../src/documents/formats/format.ts";
import { readAdoc } from "../../../src/documents/formats/adoc/adoc.ts";
import * as fc from "../../property.ts";
import { expectLinearLater } from "../../cost.ts";
import { createFolder, readFolder, readOkAsync } from "../folder.ts";

const parse = (text: string, path = "a.adoc", includes: Includes = noIncludes): Promise<Parsed> =>
  readAdoc(text, path, { includes, componentAttributes: [] });
const bodyOf = async (text: string): Promise<string> => (await parse(text)).body.trim();

/** The first of some files, with the others beside it. */
async function parseFiles(files: Record<string, string>): Promise<Parsed> {
  const [path = "", text = ""] = Object.entries(files)[0] ?? [];
  return await parse(text, path, createIncludes(createFolder(files)));
}

describe("running text", () => {
  it.each([
    [
      "marks",
      "*a* _b_ **c**d __e__f #g# [.path]#h# `i` ``j``k",
      "**a** *b* **c**d *e*f g h `i` `j`k",
    ],
    [
      "adjacent texts with roles",
      "[.key]##JVM since##[.ok]##3.38.0## [.a]##b##c[.d]##e## ##f##[.g]**h**",
      "JVM since 3.38.0 bce f **h**",
    ],
    ["code with a role", "[.a]`b` c [.d]``e`` [0]`f`", "`b` c `e` `f`"],
    [
      "names of attributes in literal text",
      ":a: x\n\n`+{a}+` `+++{a}+++` +{a}+ ++{a}++ pass:[{a}] pass:a[{a}] {a} + {a} + {a} `{a}`",
      "`{a}` `{a}` {a} {a} {a} x x + x + x `x`",
    ],
    ["no marks", "2 * 3 * 4, a_b_c, * d, C:\\x", "2 * 3 * 4, a_b_c, * d, C:\\x"],
    ["marks that never end", "*a _b `c #d", "*a _b \\`c #d"],
    ["escaped marks", "\\*a* \\`b` \\{c}", "\\*a\\* \\`b\\` {c}"],
    [
      "literal text",
      "`+*a*+` +*b*+ ++_c_++ pass:[*d*] $$*e*$$",
      "`*a*` \\*b\\* \\_c\\_ \\*d\\* \\*e\\*",
    ],
    ["backticks in code", "``a`b``", "`` a`b ``"],
    [
      "marks of different kinds",
      "`a~2^3:b` ^c~10`), `~!@#$^&*`",
      "`a~2^3:b` ^c~10\\`), `~!@#$^&*`",
    ],
    [
      "links of images",
      "xref:a.adoc[image:b.png[,220,align=left]] https://c.example[image:d.png[D,width=1]]",
      "![b](b.png) ![D](d.png)",
    ],
    ["notes after a word", "afootnote:[B] cfootnote:d[E]", "a[1] c[2]\n\n1. B\n2. E"],
    ["escaped ends of names", "a@\\{1\\} {b\\} \\{c\\}", "a@{1} {b} {c}"],
    [
      "entities",
      "a&#64;b `c&#x40;d` &copy; &amp;lt; &times_t &copyx; `+&#64;+`",
      "a@b `c@d` © \\&lt; &times_t ©x; `&#64;`",
    ],
    ["raised and lowered", "E=mc^2^ H~2~O a^b", "E=mc² H2O a^b"],
    ["printed quotation marks", "\"`a`\" '`b`' it`'s", "“a” ‘b’ it’s"],
    ["a line break", "a +\nb", "a\nb"],
    [
      "addresses",
      "https://x.example/a[A] https://x.example/b",
      "[A](https://x.example/a) https://x.example/b",
    ],
    [
      "links",
      "link:a%20b.html[A *b*,window=_blank] link:c[D^] link:++e f++[g]",
      "[A **b**](a%20b.html) [D](c) [g](<e f>)",
    ],
    ["mail", "mailto:a@x.example[Ada]", "[Ada](mailto:a@x.example)"],
    [
      "other pages",
      "xref:b.adoc#c[B] xref:d/e.adoc[] <<f.adoc#,F>>",
      "[B](b.adoc#c) [e](d/e.adoc) [F](f.adoc)",
    ],
    ["brackets in a text", "link:x[a[0\\]]", "[a\\[0\\]](x)"],
    ["keys and menus", "kbd:[Ctrl+C] btn:[OK] menu:File[Save > As]", "Ctrl+C OK File > Save > As"],
    ["index terms", "a ((b)) (((c,d))) indexterm:[e] [[f]]g", "a b g"],
    ["images", "image:i.png[An image] image:a-b.png[]", "![An image](i.png) ![a b](a-b.png)"],
    [
      "footnotes",
      "a footnote:[see https://x.example[X].] b footnote:n[N] c footnote:n[]",
      "a [1] b [2] c [2]\n\n1. see [X](https://x.example).\n2. N",
    ],
    ["attributes", ":a: 1\n:b: {a}2\n\n{a} {b} {c} {A} `{a}` {nbsp}{plus}", "1 12 {c} 1 `1` +"],
    ["long attributes", ":a: 1 \\\n2\n\n{a}", "1 2"],
    ["attributes that are unset", ":a: 1\n:!a:\n\n{a}", "{a}"],
    ["counters", "{counter:n} {counter:n}", "1 2"],
    ["entities", "&copy; &lt;b&gt; `&lt;`", "© \\<b> `<`"],
    ["unknown macros", "cve:2020[x] a::b", "x a::b"],
    [
      "texts of unknown macros",
      "A term:lamp[,lamps] term:bulb[^] term:b[c^] term:Old lamp[].",
      "A lamps bulb c Old lamp.",
    ],
    [
      "names with blanks",
      "A term:Old lamp[,Old lamps] and note:an array x[0] b:c d [e].",
      "A Old lamps and note:an array x[0] b:c d [e].",
    ],
  ])("%s", async (_name, text, body) => {
    expect(await bodyOf(text)).toBe(body);
  });
});

describe("markup within markup", () => {
  it.each([
    ["an apostrophe", "it\\'s", "it's"],
    ["tags are text", "Use <name> here", "Use \\<name> here"],
    ["tags in a title", "== Use <tag> here", "## Use \\<tag> here"],
    ["code in a reference", "xref:b.adoc[[.cmd]`lamp`]", "[`lamp`](b.adoc)"],
    ["quotes in code", '[subs="+quotes"]\n----\n$ *cmd* _file_\n----', "```\n$ cmd file\n```"],
    ["a block title after a list", "* a\n\n.T\n----\nb\n----", "- a\n\nT\n\n```\nb\n```"],
  ])("%s", async (_name, text, body) => {
    expect(await bodyOf(text)).toBe(body);
  });
});

describe("references without a text", () => {
  it("show the title of the page", async () => {
    const { body } = await parseFiles({
      "modules/ROOT/pages/a.adoc":
        ":product: Tool\n\nxref:b.adoc[] xref:b.adoc#part[] xref:it:c.adoc[] xref:gone.adoc[]",
      "modules/ROOT/pages/b.adoc": "// note\n:k: v\n\n= Use {product}[1] `now`\n",
      "modules/it/pages/c.adoc": "No title\n\n== Section\n",
    });
    expect(body.trim()).toBe(
      "[Use Tool\\[1\\] `now`](b.adoc) [Use Tool\\[1\\] `now`](b.adoc#part) [c](../../it/pages/c.adoc) [gone](gone.adoc)",
    );
  });

  it("show the name of a file that Git LFS has not fetched", async () => {
    const hash = "0".repeat(64);
    const { body } = await parseFiles({
      "a.adoc": "xref:b.adoc[]",
      "b.adoc": `version https://git-lfs.github.com/spec/v1\noid sha256:${hash}\nsize 5\n`,
    });
    expect(body.trim()).toBe("[b](b.adoc)");
  });

  it("lead from the navigation of a module to its pages", async () => {
    const { body } = await parseFiles({
      "modules/ROOT/nav.adoc": "* xref:b.adoc[]\n* xref:it:c.adoc[]\n",
      "modules/ROOT/pages/b.adoc": "= Use\n",
      "modules/it/pages/c.adoc": "= Order\n",
    });
    expect(body.trim()).toBe("- [Use](pages/b.adoc)\n- [Order](../it/pages/c.adoc)");
  });

  it("show the section of the same page", async () => {
    const { body } = await parse("xref:a.adoc#_two[] xref:a.adoc#_two[T]\n\n== Two\n");
    expect(body).toContain("[Two](#_two) [T](#_two)\n");
  });
});

describe("blocks", () => {
  it.each([
    ["comments", "// a\n\nb\n// c\nd\n\n////\ne\n////\n", "b d"],
    [
      "code",
      "[source,java]\n.Title\n----\na {b} *c*\n\n== d\n----",
      "Title\n\n```java\na {b} *c*\n\n== d\n```",
    ],
    [
      "code with attributes",
      ':b: 1\n\n[source,subs="attributes+"]\n----\n{b}\n----',
      "```\n1\n```",
    ],
    ["code between backticks", "```js\na\n```", "```js\na\n```"],
    ["literal paragraphs", "a\n\n  $ b\n  c", "a\n\n```\n$ b\nc\n```"],
    ["code that never ends", "----\na\n\nb", "```\na\n\nb\n```"],
    ["callouts", "----\na <.>\nb <.>\n----\n<.> A\n<.> B", "```\na <1>\nb <2>\n```\n\n1. A\n2. B"],
    [
      "admonitions",
      "NOTE: a\n\n[TIP]\nb\n\n[WARNING]\n.T\n====\nc\n====",
      "NOTE: a\n\nTIP: b\n\nWARNING: T\n\nc",
    ],
    ["sidebars and examples", ".T\n****\na\n\n====\nb\n====\n****\nc", "T\n\na\n\nb\n\nc"],
    ["quotations", "[quote, Ada, Book]\n____\na\n____", "> a\n\n— Ada, Book"],
    ["verses", "[verse]\n____\na\nb\n____", "> a\n> b"],
    ["HTML", '++++\n<p>a <a href="b">c</a></p><script>d</script>\n++++', "a [c](b)"],
    [
      "numbers of titles",
      ".A\n====\na\n====\n\n.B\n[example]\nb\n\n.C\n|===\n|c\n|===\n\n.D\nimage::d.png[d]\n\nimage::e.png[e,title=E]",
      "Example 1. A\n\na\n\nExample 2. B\n\nb\n\nTable 1. C\n\nc\n\n![d](d.png)\n\nFigure 1. D\n\n![e](e.png)\n\nFigure 2. E",
    ],
    [
      "titles without numbers",
      '.A\n[TIP]\n====\na\n====\n\n.B\n[%collapsible]\n====\nb\n====\n\n.C\n----\nc\n----\n\n[caption="Own "]\n.D\n|===\n|d\n|===\n\n:table-caption!:\n\n.E\n|===\n|e\n|===',
      "TIP: A\n\na\n\nB\n\nb\n\nC\n\n```\nc\n```\n\nOwn D\n\nd\n\nE\n\ne",
    ],
    [
      "numbers of listings",
      ":listing-caption: Listing\n\n.A\n----\na\n----\n\n.B\n....\nb\n....\n\n.C\n[source]\nc",
      "Listing 1. A\n\n```\na\n```\n\nB\n\n```\nb\n```\n\nListing 2. C\n\n```\nc\n```",
    ],
    ["images", ":imagesdir: img\n\n.T\nimage::a.png[Alt, 100]", "![Alt](img/a.png)\n\nFigure 1. T"],
    ["videos", "video::abc[youtube]", "[video](https://www.youtube.com/watch?v=abc)"],
    [
      "lists",
      "* a\nb\n** c\n* d\n\n. e\n.. f\n. g\n\nh",
      "- a b\n  - c\n- d\n  1. e\n     - a. f\n  2. g\n\nh",
    ],
    [
      "blocks of list items",
      "* a\n+\n----\nb\n----\n+\nc\n* d",
      "- a\n\n  ```\n  b\n  ```\n\n  c\n\n- d",
    ],
    ["blocks of outer list items", "* a\n** b\n\n+\nc", "- a\n  - b\n\n  c"],
    ["lists in blocks of list items", "* a\n+\n--\n* b\n\nc\n--\n* d", "- a\n  - b\n\n  c\n\n- d"],
    [
      "description lists",
      "a:: b\nc\nd::\n\ne\nf::\n* g\nh;; i",
      "- a: b c\n- d: e\n- f:\n  - g\n    - h: i",
    ],
    [
      "titles with a line below them, after a list",
      "a::\n  b\n\n[[c]]\nCode\n----\n\n* d\n\nMore\n----\ne\n\n* f\n+\nRun:\n----\ng\n----",
      "- a: b\n\n## Code\n\n- d\n\n## More\n\ne\n\n- f\n\n  Run:\n\n```\ng\n```",
    ],
    ["a short block", "====\nblock\n====\n\nc", "block\n\nc"],
    ["code in a block", "====\nRun:\n----\na\n----\n====", "Run:\n\n```\na\n```"],
    ["C++ is no description", "std::vector a::b", "std::vector a::b"],
    [
      "tables",
      '[cols="1,2"]\n|===\n|A |B\n\n|a\n|b *c*\n2+|d \\| e\n|===',
      "| A | B |\n| --- | --- |\n| a | b **c** |\n| d \\| e |",
    ],
    [
      "tables by the first line",
      "|===\n|A |B\n|a\n|b\n|===",
      "|  |  |\n| --- | --- |\n| A | B |\n| a | b |",
    ],
    [
      "cells in several rows and columns",
      '[cols="1,1,1"]\n|===\n.2+|A |b |c\n|d |e\n2+|wide .3+|f\n|g |h\n2.2+|i\n|j |k |l\n|===',
      "|  |  |  |\n| --- | --- | --- |\n| A | b | c |\n| A | d | e |\n| wide | wide | f |\n| g | h | f |\n| i | i | f |\n| i | i | j |",
    ],
    ["lists apart", ". a\n// b\n. c\n\n//-\n\n. d\n* e", "1. a\n2. c\n\n1) d\n   - e"],
    [
      "long cells in several rows",
      `|===\n|A |B\n\n.2+|${"x".repeat(300)}\n|a\n|b\n|===`,
      `| A | B |\n| --- | --- |\n| ${"x".repeat(300)} | a |\n|  | b |`,
    ],
    [
      "numbers of lists",
      "[start=4]\n. a\n. b\n\n[[x]]\nt\n\n7. c\n8. d",
      "4. a\n5. b\n\nt\n\n7. c\n8. d",
    ],
    [
      "code in cells",
      '[cols="2*a"]\n|===\n|[source]\n----\n[1, "*b* {x}"]\n\n--\n----\nend\n|\n....\n=====\n....\n|===',
      '```\n[1, "*b* {x}"]\n\n--\n```\n\nend\n\n```\n=====\n```',
    ],
    [
      "repeated cells",
      "[cols=3*]\n|===\n3*|a\na|\n* b\n|c |d\n|===",
      "|  |  |  |\n| --- | --- | --- |\n| a | a | a |\n| - b | c | d |",
    ],
    [
      "tables of commas",
      '[format=csv]\n|===\na,"b"\n|===\n\n,===\nc,d\n,===',
      "|  |  |\n| --- | --- |\n| a | b |\n\n|  |  |\n| --- | --- |\n| c | d |",
    ],
    [
      "quoted values of commas",
      ',===\na, "b, ""c"" d"\n"e\nf",g\n"h\n,===',
      '|  |  |\n| --- | --- |\n| a | b, "c" d |\n| e f | g |',
    ],
    ["tables of tabs", "[format=tsv]\n|===\na\tb, c\n|===", "|  |  |\n| --- | --- |\n| a | b, c |"],
    [
      "marks as values",
      "|===\n|a |[ b] |--\n\n|+ |.... |[c]\n|===",
      "| a | [ b] | — |\n| --- | --- | --- |\n| + | …. | [c] |",
    ],
    [
      "comments in tables",
      "|===\n|a |b\n//|c |d\n// e\n|f |g\n|===",
      "|  |  |\n| --- | --- |\n| a | b |\n| f | g |",
    ],
    ["values of several lines", ":a: b +\n  c +\nd\n:e: f \\\ng\n\n{a} {e}", "b c d f g"],
    ["breaks", "a\n\n'''\n\n<<<\n\nb", "a\n\nb"],
    ["what Markdown would read", "-- a\n\n#a\n\n<b> c", "— a\n\n#a\n\n\\<b> c"],
    ["authors", "= T\nAda <a@x.example>\n:a: 1\n\nb", "# T\n\nAda \\<a@x.example>\n\nb"],
    [
      "ignore regions in tables",
      "|===\n|a\n// <!-- knowctl:ignore -->\n|b\n// <!-- knowctl:ignore -->\n// <!-- /knowctl:ignore -->\n|b\n// <!-- /knowctl:ignore -->\n|c\n|===",
      "a\n\nc",
    ],
    [
      "ignore regions",
      "a\n\n// <!-- knowctl:ignore -->\nb\n\n// <!-- /knowctl:ignore -->\n\nc",
      "a\n\nc",
    ],
  ])("%s", async (_name, text, body) => {
    expect(await bodyOf(text)).toBe(body);
  });
});

describe("conditions", () => {
  it.each([
    ["ifdef::a[]\nb\nendif::[]\nc", "c"],
    [":a: 1\nifdef::a[]\nb\nendif::a[]\nc", "b c"],
    ["ifndef::a[b]\nifdef::a[c]", "b"],
    ["ifdef::a[]\nifdef::b[]\nc\nendif::[]\nd\nendif::[]\ne", "e"],
    ["ifdef::a,backend-html5[b]\nifdef::a+backend-html5[c]", "b"],
    [':a: 2\nifeval::[{a} > 1]\nb\nendif::[]\nifeval::["{a}" == "3"]\nc\nendif::[]', "b"],
    ["----\nifdef::a[]\nb\nendif::[]\nc\n----", "```\nc\n```"],
    ["\\ifdef::a[]", "ifdef::a[]"],
    ["endif::[]\na\nifdef::b[]\nc", "a"],
  ])("%j", async (text, body) => {
    expect(await bodyOf(text)).toBe(body);
  });
});

describe("headings", () => {
  it("have the anchors that Asciidoctor makes", async () => {
    const { headings, body } = await parse(
      "= T\n\n== Über `a.b`, C++!\na\n\n[#own]\n== B\n\n[[c-1]]\n=== C\n\n== B [[d]]\n\n== A\n\n== A\n\nSetext\n------\n\n[discrete]\n== E\n\n:idprefix:\n:idseparator: -\n\n== F g - h",
    );
    expect(headings?.map(({ anchor }) => anchor)).toEqual([
      undefined,
      "_über_a_b_c",
      "own",
      "c-1",
      "d",
      "_a",
      "_a_2",
      "_setext",
      "_e",
      "f-g-h",
    ]);
    expect(body).toContain("# T\n\n## Über `a.b`, C++!\n\na\n\n## B\n\n### C\n");
  });

  it("are what references without a text show", async () => {
    const { body } = await parse(
      "<<own>> <<_two,2>> <<Two *b*>> <<Two b>> <<none>> <<img>>\n\n[#own]\n== One {x}\n\n== Two *b*\n\n[[img]]\n.Title\nimage::a[]",
    );
    expect(body.split("\n")[0]).toBe(
      "[One {x}](#own) 2 [Two **b**](#_two_b) [Two b](<#Two b>) [none](#none) [Title](#img)",
    );
  });

  it("are sections with links", async () => {
    const { document } = await readOkAsync(
      "= Guide to *X*\n\na\n\n== First\n\nb\n\n=== xref:c.adoc[Second] `d`\n\ne",
      { sections: "headings", link: "https://x.example/{slug}" },
      "a.adoc",
    );
    expect(document.title).toBe("Guide to X");
    expect(document.sections).toEqual([
      { text: "Guide to X\n\na", link: "https://x.example/a" },
      { text: "Guide to X > First\n\nb", link: "https://x.example/a#_first" },
      {
        text: "Guide to X > First > Second d\n\ne",
        link: "https://x.example/a#_second_d",
      },
    ]);
  });
});

describe("includes", () => {
  it("are read with their levels, tags and lines", async () => {
    const { body, leftOut } = await parseFiles({
      "d/a.adoc":
        "= T\n\n:dir: ../parts\n\n== A\n\ninclude::{dir}/b.adoc[leveloffset=+1]\n\n[source]\n----\ninclude::c.rb[tag=x,indent=0]\n----\n\n----\ninclude::c.rb[lines=2..3;-1]\n----\n\n== E",
      "parts/b.adoc": "== B\n\n:v: 7\n\ninclude::sub.adoc[]\n",
      "parts/sub.adoc": "sub {v}",
      "d/c.rb": "# tag::x[]\n  one\n  # tag::y[]\n    two\n  # end::y[]\n# end::x[]\nthree\n",
    });
    expect(body).toBe(
      "# T\n\n## A\n\n### B\n\nsub 7\n\n```\none\n  two\n```\n\n```\n  one\n  # tag::y[]\n```\n\n## E\n",
    );
    expect(leftOut).toEqual([]);
  });

  it.each([
    ["x", "b"],
    ["!x", "a\nc"],
    ["*", "b"],
    ["**", "a\nb\nc"],
    ["**;!x", "a\nc"],
  ])("the tags %s choose lines", async (tags, lines) => {
    const files = {
      "a.adoc": `----\ninclude::b.txt[tags=${tags}]\n----`,
      "b.txt": "a\ntag::x[]\nb\nend::x[]\nc",
    };
    expect((await parseFiles(files)).body).toBe(`\`\`\`\n${lines}\n\`\`\`\n`);
  });

  it("what cannot be included is counted, and the page goes on", async () => {
    const { body, leftOut } = await parseFiles({
      "a.adoc":
        "---\ntitle: T\n---\na\n\ninclude::none.adoc[]\ninclude::../out.adoc[]\ninclude::https://x.example/a[]\ninclude::none.adoc[opts=optional]\ninclude::a.adoc[]\ninclude::bin[]\ninclude::b.adoc[tag=z]\ninclude::b.adoc[]\n\nz",
      bin: "\0\u0001",
      "b.adoc": "include::none.adoc[]\nb",
    });
    expect(body).toBe("a\n\nb\nz\n".replace("b\nz", "b\n\nz"));
    expect(leftOut?.map(({ what, line }) => `${line} ${what}`)).toEqual([
      "6 none.adoc: no such file",
      "7 ../out.adoc: it lies outside the project root",
      "8 https://x.example/a: it lies outside the project root",
      "10 a.adoc: a cycle: a.adoc → a.adoc",
      expect.stringMatching(/^11 bin: /),
      "12 b.adoc: no tag z",
      "undefined none.adoc: no such file",
    ]);
  });

  it("follow the folders and attributes of Antora", async () => {
    const path = "docs/modules/m/pages/x/a.adoc";
    const files = {
      "docs/modules/m/pages/x/a.adoc":
        '{v} {soft} {both}\n\nifeval::["{page-component-version}" == "2"]\ntwo\nendif::[]\n\ninclude::partial$p.adoc[]\n\n----\ninclude::ROOT:example$e.txt[]\n----\n\ninclude::other:m:partial$p.adoc[]\n\nxref:b.adoc#c[B] xref:ROOT:d.adoc[] xref:1.0@other:m:e.adoc[E] image:i.png[I]\n\ninclude::{partialsdir}/p.adoc[]',
      "docs/antora.yml":
        "name: n\nversion: 2\nasciidoc:\n  attributes:\n    v: 1.10\n    soft: s@\n    off: false\n    both: '{v}-{soft}'\n",
      "docs/modules/m/partials/p.adoc": "part",
      "docs/modules/ROOT/examples/e.txt": "example",
    };
    const { body, leftOut } = (await readFolder(files, path)).parsed ?? {};
    expect(body).toBe(
      "1.10 s 1.10-s\n\ntwo\n\npart\n\n```\nexample\n```\n\n[B](../b.adoc#c) [d](../../../ROOT/pages/d.adoc) E ![I](../../images/i.png)\n\npart\n",
    );
    expect(leftOut).toEqual([
      { kind: "include", what: expect.stringContaining("other:m:partial$p.adoc"), line: 13 },
    ]);
  });
});

it("attributes of Antora may stand in a playbook, and those of the component count first", async () => {
  const files = {
    "docs/modules/m/pages/a.adoc": "{v} {icon} {other}",
    "docs/antora.yml": "name: n\nversion: 2\nasciidoc: {attributes: {v: own}}\n",
    "antora-playbook.yml":
      "site: {title: S}\nname: p\nasciidoc: {attributes: {v: theirs, icon: '<svg></svg>i'}}\n",
    "local-antora-playbook.yml": "asciidoc: {attributes: {other: x}}\n",
  };
  const { body = "" } = (await readFolder(files, "docs/modules/m/pages/a.adoc")).parsed ?? {};
  expect(body.trim()).toBe("own i {other}");
  const { "antora-playbook.yml": text, ...others } = files;
  const published = { ...others, "local-antora-playbook.yml": "", "site.yml": text };
  delete (published as Record<string, string>)["local-antora-playbook.yml"];
  const ofSite = (await readFolder(published, "docs/modules/m/pages/a.adoc")).parsed;
  expect(ofSite?.body.trim()).toBe("own i {other}");
});

describe("what Asciidoctor leaves as written", () => {
  it.each([
    ["see configprop:a.b-c[] and javadoc:x.Y[*the* Y]", "see a.b-c and **the** Y"],
    ['gh:12[] dependency:a-b[scope="c"] xy:y[z, w=1]', "12 a-b z"],
    ["include-code::Sample[]\n\ntext", "text"],
    ['snippet::a.B[tags=c, title="d"]\n\ntab::x[One]', "One"],
    ["`kept:x[y]`\n\n----\nkept::x[y]\n----", "`kept:x[y]`\n\n```\nkept::x[y]\n```"],
    [String.raw`\xref:b.adoc[B] \link:b[C]`, "xref:b.adoc[B] link:b[C]"],
    ["a Note: [1] 10:30[x] std::x<y>[z] fe80::[x] a/b:c[d]", undefined],
  ])("%s", async (text, body) => {
    expect(await bodyOf(text)).toBe(body ?? (await bodyOf(text.replaceAll("[", "{startsb}"))));
  });

  it("is counted", async () => {
    const { leftOut } = await parse(
      "---\na: b\n---\n= T\n\n{x} {Y} {x} \\{z} `{w}`\n\na:b[] {x}\n\ncd::d[]\n\n----\n{v}\n----\n",
    );
    expect(leftOut).toEqual([
      { kind: "undefined", what: "x", line: 6 },
      { kind: "undefined", what: "y", line: 6 },
      { kind: "undefined", what: "x", line: 6 },
      { kind: "undefined", what: "x", line: 8 },
      { kind: "macro", what: "cd::d", line: 10 },
    ]);
  });

  it("is defined by the settings, unless the page says otherwise", async () => {
    const options = { attributes: { x: "one", y: "two" } };
    const reading = await readOkAsync(":y: own\n\n{x} {y}", options, "a.adoc");
    expect(reading.parsed?.body.trim()).toBe("one own");
    expect(reading.notices).toBeUndefined();
    const without = await readOkAsync("{x} {x}", {}, "a.adoc");
    expect(without.notices).toEqual([
      { kind: "undefined", name: "x", times: 2, example: "line 1" },
    ]);
  });

  it.each(["a:b[", "a:b[c] ", "{a} ", "aa:bb:", "aa::b[<", "aa:b c d e f ", "aa"])(
    "costs linear time: %s",
    async (piece) => {
      await expectLinearLater(2000, async (count) => {
        await parse(piece.repeat(count));
      });
    },
  );
});

describe("Antora", () => {
  const files = {
    "docs/antora.yml": "name: n\nversion: '2'\n",
    "docs/modules/m/pages/x/b.adoc": "= B\n",
    "docs/modules/m/pages/new.adoc":
      "= New\n:page-aliases: old.adoc, ROOT:gone, \\\n  x/older.adoc, image$drawn.adoc\n",
    "docs/modules/ROOT/pages/whole.adoc": "whole\n",
    "docs/modules/m/pages/_partials/two.adoc": "of version 2\n",
    "docs/modules/m/attachments/z.zip": "",
    "other/antora.yml": "name: other\nversion: ~\n",
    "other/modules/ROOT/pages/o.adoc": "= Other\n",
    "other/modules/k/images/i.png": "",
    "v1/antora.yml": "name: n\nversion: '1'\n",
    "v1/modules/m/pages/x/b.adoc": "= Old B\n",
  };
  const page = "docs/modules/m/pages/x/a.adoc";
  const bodyIn = async (text: string): Promise<string | undefined> =>
    (await readFolder({ ...files, [page]: text }, page)).parsed?.body.trim();

  it.each([
    ["xref:x/b.adoc[] xref:./b.adoc[]", "[B](b.adoc) [B](b.adoc)"],
    ["xref:2@n:m:x/b.adoc[] xref:n:m:x/b.adoc[]", "[B](b.adoc) [B](b.adoc)"],
    ["xref:1@n:m:x/b.adoc[]", "[Old B](../../../../../v1/modules/m/pages/x/b.adoc)"],
    [
      "xref:other::o.adoc[] xref:_@other::o.adoc#p[P]",
      "[Other](../../../../../other/modules/ROOT/pages/o.adoc) [P](../../../../../other/modules/ROOT/pages/o.adoc#p)",
    ],
    ["xref:none::o.adoc[] xref:3@n:m:x/b.adoc[T]", "o T"],
    [
      "xref:old.adoc[] xref:ROOT:gone.adoc[G] xref:x/older.adoc[]",
      "[New](../new.adoc) [G](../new.adoc) [New](../new.adoc)",
    ],
    ["xref:drawn.adoc[D] xref:foreign$x/b.adoc[F]", "[D](../drawn.adoc) [F](foreign$x/b.adoc)"],
    ["include::ROOT:whole.adoc[]", "whole"],
    [
      "include::partial$two.adoc[]\n\ninclude::n:m:partial$two.adoc[]",
      "of version 2\n\nof version 2",
    ],
    ["image::other:k:i.png[I]", "![I](../../../../../other/modules/k/images/i.png)"],
    ["image::https://a.example/i.png[I]", "![I](https://a.example/i.png)"],
    [
      "xref:attachment$z.zip[Z] link:{attachmentsdir}/z.zip[Z]",
      "[Z](../../attachments/z.zip) [Z](../../attachments/z.zip)",
    ],
    ["xref:../../../../../etc/passwd.adoc[P]", "[P](../etc/passwd.adoc)"],
  ])("%s", async (text, body) => {
    expect(await bodyIn(text)).toContain(body);
  });

  it("attributes that repeat others end", async () => {
    const lines = `asciidoc:\n  attributes:\n    a: ${"x".repeat(3000)}\n    b: '{a}{a}'\n`;
    const more = { ...files, "docs/antora.yml": `name: n\n${lines}`, [page]: "{b} y" };
    expect((await readFolder(more, page)).parsed?.body).not.toContain("x".repeat(3001));
  });

  it("a broken description of a component is none", async () => {
    const more = { ...files, "other/antora.yml": "name: [", [page]: "xref:other::o.adoc[O]" };
    expect((await readFolder(more, page)).parsed?.body.trim()).toBe("O");
  });
});

describe("bad input", () => {
  const pieces =
    "= == === # * ** . .. - -- ---- .... ==== **** ____ ++++ //// |=== | a| 2+| :: ;; ::: + [ ] [[ ]] [#a] [source] [NOTE] [quote] << >> ` `` _ __ ^ ~ ++ +++ $$ (( )) \" ' \\ { } {a} :a: :!a: 1. <1> <.> // ``` ~~~ --- === link: xref: image: image:: footnote:[ pass:[ https:// include:: ifdef::a[] endif::[] ifeval::[ .T NOTE: <!-- --> &lt; text a b".split(
      " ",
    );

  it("any text gives an answer whose headings are those that were written", async () => {
    const texts = fc.array(fc.constantFrom(...pieces, " ", "\n", "\n", "\n\n"), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(texts, async (list) => {
        const { body, headings } = await parse(list.join(""));
        expect(scanStructure(body).headings).toHaveLength(headings?.length ?? 0);
        expect(body).not.toContain("\0");
      }),
      { numRuns: 300 },
    );
  });

  // Of many sections the library compares the ids, and of each reference that does not end it reads
  // the rest of the paragraph: both cost more than their number.
  it.each([
    "<<a>> ",
    "link:a[b] ",
    "footnote:[a] ",
    "https://a[b] ",
    "a *b* `c` ",
    "* a\n",
    "a:: b\n",
    "|===\n|a\n|===\n\n",
    "// a\n\n",
    "[[a]]\na\n\n",
    "image::a.png[]\n\n",
  ])("many times %j costs no more than its length", async (piece) => {
    await expectLinearLater(4000, async (count) => {
      expect((await parse(piece.repeat(count))).body.length).toBeLessThan(40 * count + 1000);
    });
  });

  // What costs more than its length is ended by the limits of the worker.
  it.each([
    "*",
    "a *b ",
    "_",
    " `a",
    "`",
    "+",
    " +a",
    "[",
    "]",
    "{",
    "{a",
    "<<a ",
    "<<",
    "((",
    "((a ",
    "[[a ",
    "link:",
    "link:a[",
    "xref:a[b] ",
    "image:",
    "https://",
    "https://a[",
    "footnote:[",
    "footnote:[a] ",
    "pass:[",
    "\\",
    '"`',
    "'`a",
    "$$",
    "^a",
    "~",
    "&",
    "\\]",
    "[image:",
    "a\n",
    "\n",
    "* a\n",
    "** a\n* b\n",
    "a::\n",
    "a:: b\n",
    "a::\n\n",
    "== a\n\n",
    "==== \n",
    "====\n",
    "----\n",
    "|===\n",
    "|",
    "|a",
    "|===\n|a\n",
    "[a]\n",
    '[a="',
    ".T\n",
    ":a: {a}b\n",
    ":a: \\\n",
    "ifdef::a[]\n",
    "ifndef::a[]\n",
    "endif::[]\n",
    "include::a[]\n",
    "// \n",
    "a\n---\n\n",
    "+\n",
    "* a\n+\n====\n",
    "<<_a>> ",
    "<.>\n",
    "----\n<.>\n----\n",
    " a\n\n",
    "[[a]]\n",
  ])("many times %j gives an answer of about its length", async (piece) => {
    const { body } = await parse(piece.repeat(1000));
    expect(body.length).toBeLessThan(40 * 1000 * Math.max(2, piece.length) + 1000);
  });

  it.each([
    ["|===\n", "|a "],
    ["|===\n", "\\|"],
    ["|===\n", "5*|a "],
    ["|===\n|a |b |c\n", ".9999+|a "],
    ["[cols=1000*]\n|===\n", ".9999+|a "],
    ["[cols=*]\n|===\n", "|a\n"],
    ["[", "#a"],
    ["[", 'a="b",'],
    ["[", "','"],
    ["== ", "a "],
    ["== a", " "],
    ["a", " "],
    ["xref:", "a"],
    ["xref:", "a:"],
    ["image::", "a."],
    ["ifeval::[", " "],
    ["include::a[tags=", ";a"],
    [":a: b\n\n", "{a}"],
    [`== ${"a".repeat(5000)}\n\n`, `<<_${"a".repeat(200)}>> `],
  ])("%j, then many times %j gives an answer of about its length", async (start, piece) => {
    const { body } = await parse(`${start}${piece.repeat(1000)}b]\n\nc`);
    expect(body.length).toBeLessThan(700 * 1000 + 10_000);
  });

  it("reads a table of many rows", async () => {
    await expectLinearLater(8000, async (count) => {
      const { body } = await parse(`|===\n${"|a |b\n".repeat(count)}|===`);
      expect(body.split("\n").filter((line) => line === "| a | b |")).toHaveLength(count);
    });
  });

  it("a line of one character does not fill the stack of a pattern", async () => {
    expect((await parse(`${"-".repeat(24_000_000)}\n\nb`)).body).toContain("b");
  });

  it("attributes that grow by each other stop growing", async () => {
    const entries = Array.from({ length: 60 }, (_, at) => `:a${at + 1}: {a${at}}{a${at}}`);
    const { body } = await parse(`:a0: lol\n${entries.join("\n")}\n\n{a60}`);
    expect(body.length).toBeLessThan(10_000);
  });

  it("blocks that nest without end fail the file by its name", async () => {
    const fences = Array.from({ length: 20_000 }, (_, at) => "=".repeat((at % 5000) + 4));
    await expect(parse(fences.join("\n"))).rejects.toThrow(
      "a.adoc:201:1: blocks are nested more than 200 levels deep",
    );
  });

  it("lists that nest in blocks of lists give an answer", async () => {
    const { body } = await parse("* a\n+\n--\n".repeat(5000));
    expect(body.length).toBeLessThan(1_000_000);
  });

  it("reads no file and no address but included files of the project", async () => {
    const secret = "CANARY-of-this-test";
    const files = {
      "docs/a.adoc": [
        ":docinfo: shared,private\n:docinfodir: ..\n:data-uri:\n:allow-uri-read:\n:icons: image",
        ":stylesheet: ../canary.txt\n:linkcss!:\n:backend: docbook5\n:source-highlighter: highlight.js",
        ":stem:\n:safe-mode-level: 0\n:max-attribute-value-size: 9999999\n\n= T\n",
        "image::../canary.svg[opts=inline]\n\nimage:../canary.svg[opts=inline] icon:../canary[]\n",
        "include::../../canary.txt[]\n\ninclude::/etc/passwd[]\n\ninclude::{docdir}/../canary.txt[]\n",
        "include::http://127.0.0.1:9/canary[]\n\ninclude::../.hidden/canary.txt[]\n",
        '[cols="1a"]\n|===\n|include::/etc/passwd[]\n|===\n\n[plantuml,file=../canary.txt]\n----\na\n----\n',
        "[kroki]\n....\na\n....\n\nkroki::../canary.txt[]\n\nstem:[x]\n\n{docdir} {docfile} {user-home} end",
      ].join("\n"),
      ".hidden/canary.txt": secret,
      "canary.svg": `<svg><text>${secret}</text></svg>`,
      "docs/docinfo.html": secret,
      "docinfo-footer.html": secret,
    };
    const { body, leftOut } = await parseFiles(files);
    expect(body).toContain("end");
    expect(body).not.toMatch(new RegExp(`${secret}|root:|data:|${process.cwd()}`));
    expect(leftOut?.filter(({ kind }) => kind === "include").length).toBeGreaterThanOrEqual(5);
  });

  it("a file that includes itself ends", async () => {
    const { body, leftOut } = await parseFiles({
      "a.adoc": "include::b.adoc[]\n\nend",
      "b.adoc": "b\n\ninclude::b.adoc[]\n\ninclude::a.adoc[leveloffset=+1]\n",
    });
    expect(body).toBe("b\n\nend\n");
    expect(leftOut?.map(({ what }) => what)).toEqual([
      "b.adoc: a cycle: a.adoc → b.adoc → b.adoc",
      "a.adoc: a cycle: a.adoc → b.adoc → a.adoc",
    ]);
  });
});

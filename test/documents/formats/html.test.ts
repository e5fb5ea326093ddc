import { expectLinear } from "../../cost.ts";
import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { readHtml } from "../../../src/documents/formats/html.ts";
import { scanStructure } from "../../../src/documents/text/structure.ts";
import { CliError } from "../../../src/errors.ts";
import { failure, readOkAsync } from "../folder.ts";

const bodyOf = (text: string): string => readHtml(text, "a.html").body.trim();

describe("what a reader of the page reads", () => {
  it.each([
    [
      "emphasis",
      "<p><b>Note:</b>text <em>a</em><em>b</em> <i> c </i>d <b><i>e</i></b>",
      "Note:text *ab* *c* d ***e***",
    ],
    [
      "text that looks like marks",
      "<p>2*3*4 snake_case __init__ ~5 * a_b C:\\x \\*",
      "2\\*3\\*4 snake_case \\_\\_init\\_\\_ ~5 * a_b C:\\x \\\\\\*",
    ],
    [
      "text that looks like tags",
      "<p>Write &lt;img src=x.png&gt; &amp;lt; AT&amp;T a &lt; b",
      "Write \\<img src=x.png> \\&lt; AT&T a < b",
    ],
    ["text that looks like links", "<p>[a](b) ![c](d) [e] [^1]", "[a\\](b) ![c\\](d) [e] \\[^1]"],
    [
      "text that looks like blocks",
      "<p>- a<p>1. b<p>+ c<p>&gt; d<p>a | b<br>--- | ---<p>[x]: y",
      "\\- a\n\n1\\. b\n\n\\+ c\n\n\\> d\n\na | b\n\\--- | ---\n\n\\[x]: y",
    ],
    ["an exclamation before a link", "<p>now!<a href=x>y</a>", "now\\![y](x)"],
    [
      "lists in lists of numbers",
      "<ol><li>a<ul><li>b</ul><li>c<p>d</ol>",
      "1. a\n   - b\n\n2. c\n\n   d",
    ],
    [
      "lists that stand between items",
      "<ul><li>a<ul><li>b</ul></li><ul><li>c</ul></ul>",
      "- a\n  - b\n  - c",
    ],
    [
      "code in items",
      "<ul><li>a<pre><code class=language-js>b\n c</code></pre>d</ul>",
      "- a\n\n  ```js\n  b\n   c\n  ```\n\n  d",
    ],
    [
      "items with headings",
      "<ul><li><h3>A</h3><p>b<li><h3>C</h3>d</ul>",
      "### A\n\nb\n\n### C\n\nd",
    ],
    [
      "languages of code",
      '<div class="highlight-python notranslate"><div><pre>a</pre></div></div><pre class="brush: xml">b</pre><pre><code data-lang=ruby>c</code></pre><pre class="language-none">d</pre>',
      "```python\na\n```\n\n```xml\nb\n```\n\n```ruby\nc\n```\n\n```\nd\n```",
    ],
    [
      "numbers of lines",
      "<table><tr><td class=linenos><pre>1\n2</pre><td><pre>a\nb</pre></table>",
      "```\na\nb\n```",
    ],
    [
      "cells with bars and code",
      "<table><tr><td>1|2<td><pre>a</pre><td><ul><li>b<li>c</ul></table>",
      "|  |  |  |\n| --- | --- | --- |\n| 1\\|2 | `a` | - b - c |",
    ],
    [
      "cells with numbered lists",
      "<table><tr><td><ol start=2><li>a<li>b<ol type=a><li>c</ol><li>d</ol><td><ol><li>e</ol></table>",
      "|  |  |\n| --- | --- |\n| 2. a 3. b - a. c 4. d | 1. e |",
    ],
    [
      "a text over all columns",
      "<table><tr><th colspan=2>A<tr><td>1<td>2</table>",
      "| A |  |\n| --- | --- |\n| 1 | 2 |",
    ],
    [
      "tables with headings or much text",
      "<table><tr><td><h2>A</h2>b<td>c</table>",
      "## A\n\nb\n\nc",
    ],
    ["quotations", "<blockquote><p>a<p>b</blockquote>c", "> a\n>\n> b\n\nc"],
    [
      "definitions",
      "<dl><dt>a<dt>b<dd><p>c<p>d<dt>e:<dd><pre>f</pre></dl>",
      "- a\n  b: c\n\n  d\n\n- e:\n\n  ```\n  f\n  ```",
    ],
    ["admonitions", "<div class=admonition><p class=admonition-title>Note<p>a</div>", "Note: a"],
    ["disclosures", "<details><summary>A</summary>b</details>c", "A\n\nb\n\nc"],
    [
      "boxes that stand in a line",
      "<p>a<div>v <div style='display: inline-block'>1</div> <div style=display:inline>2</div></div>",
      "a\n\nv 1 2",
    ],
    [
      "a base for addresses",
      '<base href="https://x.example/d/">[<a href=a.html>a</a>] <a href="#b">bb</a> <a href="/c">c</a><img src=i.png alt=I>',
      "[[a](https://x.example/d/a.html)] [bb](#b) [c](https://x.example/c)![I](https://x.example/d/i.png)",
    ],
    ["readings", "<ruby>base<rp>(</rp><rt>kana</rt><rp>)</rp></ruby>", "base (kana)"],
    [
      "formulas",
      "E=<math><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup><mo>+</mo><mfrac><mi>a</mi><mi>b</mi></mfrac><msqrt><mi>x</mi></msqrt><semantics><mi>y</mi><annotation>no</annotation></semantics></math>",
      "E= m c^2 + a/b √x y",
    ],
    [
      "check boxes",
      "<ul><li><input type=checkbox checked>a<li><input type=checkbox>b<li><input>c</ul>",
      "- ☒ a\n- ☐ b\n- c",
    ],
    [
      "navigation of books",
      "<div class=navheader><a href=x>Prev</a></div><table><tr><td><a accesskey=n href=x>Next</a></table><div role=navigation>no</div><p>a</p>",
      "a",
    ],
    [
      "XHTML",
      '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title><script src="x"/></head><body><a id="p"/><p>a</p></body></html>',
      "a",
    ],
  ])("%s", (_name, text, body) => {
    expect(bodyOf(text)).toBe(body);
  });

  it("text that looks like an image is none", async () => {
    const { document } = await readOkAsync(
      '<p>Write &lt;img src="x.png"&gt; and ![a](y.png)',
      { images: "upload" },
      "a.html",
    );
    expect(document.sections).toHaveLength(1);
  });
});

describe("HTML", () => {
  it.each([
    ["paragraphs", "<p>a\n  b<p>c</p>d", "a b\n\nc\n\nd"],
    ["text without tags", "just &lt;text&gt; &amp; more", "just \\<text> & more"],
    ["a processing instruction as text", "just &lt;?php x ?&gt; more", "just \\<?php x ?> more"],
    ["headings", "<h1>A <b>b</b></h1>x<h3>C</h3>", "# A b\n\nx\n\n### C"],
    ["headings that never close", "<h2>A<p>b</p><h2>C<h3>D", "## A b\n\n## C\n\n### D"],
    ["headings with blocks in them", "<h2><div>A</div></h2><p>b", "## A\n\nb"],
    ["empty headings", "<h2> </h2>a", "a"],
    [
      "signs beside headings",
      '<h2>C#<a class="x" href="#c">¶</a></h2><h2>D<a href="#d">#</a></h2>',
      "## C#\n\n## D",
    ],
    ["lists", "<ul><li>a<ul><li>b</ul><li><p>c</p><p>d</p></ul>e", "- a\n  - b\n\n- c\n\n  d\n\ne"],
    ["numbered lists", "<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"],
    [
      "tables",
      "<table><tr><th>A<th>B<tr><td>1<td><p>2</p><p>3</p></table>x",
      "| A | B |\n| --- | --- |\n| 1 | 2 3 |\n\nx",
    ],
    [
      "tables with an empty corner",
      "<table><tr><td><th>A<th>B<tr><th>x<td>1<td>2</table><table><tr><th>y<td>3<td>4</table>",
      "|  | A | B |\n| --- | --- | --- |\n| x | 1 | 2 |\n\n|  |  |  |\n| --- | --- | --- |\n| y | 3 | 4 |",
    ],
    [
      "raised text",
      "10<sup>6</sup> x<sup>2k+1</sup> 10<sup>-3</sup> 1<sup>st</sup> e<sup>x</sup> a<sup>[1]</sup> b<sup>*</sup> Lexer<sup>beta</sup> c<sup><a href=/n>1</a></sup> d<sup></sup>",
      "10⁶ x^(2k+1) 10⁻³ 1st e^x a[1] b* Lexerbeta c[1](/n) d",
    ],
    [
      "struck text",
      "<del>30</del><ins>45</ins> <s><b>7</b></s> <del> </del><del>a<p>b</del> <del>c <a href=/x>d</del>e</a>",
      "~~30~~45 ~~**7**~~ ~~a~~\n\n~~b c [d](/x)[e](/x)~~",
    ],
    [
      "cells that stand in several rows",
      "<table><tr><td rowspan=2>1<td>2<td rowspan=3>3<tr><td>4<tr><td>5<td>6</table>",
      "|  |  |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 1 | 4 | 3 |\n| 5 | 6 | 3 |",
    ],
    [
      "long cells that stand in several rows",
      "<table><tr><td rowspan=2>xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx<td>a<tr><td colspan=0>b<td>c</table>",
      "|  |  |  |\n| --- | --- | --- |\n| xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx | a |\n|  | b | c |",
    ],
    [
      "cells that stand in several columns",
      "<table><tr><td colspan=2>1<td rowspan=2><a href=/x>3</a><tr><td>4<td>5<tr><td rowspan=9>6</table><table><tr><td>7</table>",
      "|  |  |  |\n| --- | --- | --- |\n| 1 | 1 | [3](/x) |\n| 4 | 5 | [3](/x) |\n| 6 |\n\n7",
    ],
    [
      "rows with fewer cells than there is room for",
      "<table><tr><td>1<td>2<td rowspan=2>3<tr><td>4<tr><td>5<td>6<td>7<tr><td rowspan=2>8<td rowspan=2>9<tr></tr><tr><td>10<td>11</table>",
      "|  |  |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 4 |  | 3 |\n| 5 | 6 | 7 |\n| 8 | 9 |\n| 10 | 11 |",
    ],
    [
      "cells that end with their group of rows",
      "<table><thead><tr><th>1<th rowspan=3>2</thead><tr><td>3<td>4<tbody><td rowspan=2>5<td>6<tbody><tr><td>7<td>8</table>",
      "| 1 | 2 |\n| --- | --- |\n| 3 | 4 |\n| 5 | 6 |\n| 7 | 8 |",
    ],
    [
      "tables in cells",
      "<table><tr><td rowspan=2>1<td><table><tr><td rowspan=5>2<td>3</table><tr><td>4<tr><td>5<td>6</table>",
      "1\n\n|  |  |\n| --- | --- |\n| 2 | 3 |\n\n|  |  |\n| --- | --- |\n| 1 | 4 |\n| 5 | 6 |",
    ],
    [
      "letters and Roman numbers of items",
      '<ol type=a><li>a<li value=27>b<li value=0>c</ol><ol type="A" start=2><li>d</ol><ol type=i><li>e<li value=1994>f<li value=4000>g</ol><ol style="list-style-type: upper-roman"><li>h</ol><ol style="margin:0;LIST-STYLE:inside lower-alpha"><li>i</ol><ul type=a><li>j</ul>',
      "- a. a\n- aa. b\n0. c\n\n- B. d\n\n- i. e\n- mcmxciv. f\n4000. g\n\n- I. h\n\n- a. i\n\n- j",
    ],
    [
      "reversed lists",
      "<ol reversed><li>a<ol reversed><li>b<li>c</ol><li value=9>d<li>e</ol><ol reversed start=2><li>f<li>g<li>h</ol><ol start=-1><li>i<li>j</ol>",
      "3. a\n   2. b\n   1. c\n9. d\n8. e\n\n2) f\n1) g\n0) h\n\n- -1. i\n0. j",
    ],
    [
      "cells of all rows of their group",
      "<table><tbody><tr><td rowspan=0>1<td>2<tr><td>3<tr><td>4<tbody><tr><td>5<td>6</table>",
      "|  |  |\n| --- | --- |\n| 1 | 2 |\n| 1 | 3 |\n| 1 | 4 |\n| 5 | 6 |",
    ],
    ["numbers of items", "<ol start=3><li>a<li value=7>b<li>c</ol>", "3. a\n7. b\n8. c"],
    [
      "long numbers of items",
      "<ol start=1234567><li>a<li value=99999999999>b</ol>",
      "1234567. a\n1234568. b",
    ],
    [
      "lists and tables one after the other",
      "<ul><li>a</ul><table><caption>b<tr><td>c</table><ul><li>d<table><tr><td>e</table><li>f</ul><ol><li>g</ol>",
      "- a\n\nb\n\nc\n\n- d\n\n  e\n\n- f\n\n1. g",
    ],
    ["empty cells", "<table><tr><td><td>a<tr><td><td></table>", "a"],
    ["line breaks", "a<br>b<br/># c", "a\nb\n\\# c"],
    ["preformatted text", "<pre>\n a <b>&lt;\n\n  c\n</pre>d", "```\n a <\n\n  c\n```\n\n**d**"],
    ["fences in preformatted text", "<pre>```\n# a\n````</pre>", "`````\n```\n# a\n````\n`````"],
    [
      "links and images",
      '<a href="/x">a</a><img src="i.png" alt="I"><img src="data:,x" alt="J">',
      "[a](/x)![I](i.png) J",
    ],
    ["links", 'see<a href="b.html#c"> the <b>b</b> </a>c', "see [the **b**](b.html#c) c"],
    ["links with brackets", '<a href="/x">[source] a[0]</a>', "[\\[source\\] a\\[0\\]](/x)"],
    [
      "links with odd addresses",
      '<a href=" /a (b)?q=1&amp;r=<2>\\ ">x</a>',
      "[x](</a (b)?q=1&r=%3C2%3E%5C>)",
    ],
    [
      "links that lead nowhere",
      '<a href="javascript:x()">a</a> <a href="data:,x">b</a> <a href="">c</a> <a>d</a> <a href="#">e</a>',
      "a b c d e",
    ],
    [
      "addresses as their own text",
      '<a href="https://x.example/">https://x.example/</a> <a href="mailto:a@x.example">a@x.example</a>',
      "https://x.example/ a@x.example",
    ],
    [
      "links on the page",
      '<a href="#fn1">[1]</a> <a href="#s">Section</a> <a href="#t">↑</a>',
      "[1] [Section](#s) ↑",
    ],
    [
      "images as links",
      '<a href="/x"><img src="i.png" alt="I"></a> <a href="/y"><img src="j.png" alt="J">K</a>',
      "![I](i.png) [![J](j.png)K](/y)",
    ],
    ["links around blocks", '<a href="/x"><h3>A</h3><p>b</p></a>c', "### [A](/x)\n\nb\n\nc"],
    [
      "links in cells",
      '<table><td><a href="/x">a<td>b</a>c',
      "|  |  |\n| --- | --- |\n| [a](/x) | bc |",
    ],
    ["links in links", '<a href="/x">a <a href="/y">b</a> c', "[a](/x) [b](/y) c"],
    ["links in preformatted text", '<pre><a href="/x">a</a>[0]</pre>', "```\na[0]\n```"],
    ["entities", "&eacute;&#x1F600;&nbsp;&copy &nosuchthing; &#0;", "é😀 © &nosuchthing; �"],
    ["soft hyphens", "Donau&shy;dampf", "Donaudampf"],
    ["places to break a line", "list&#8203;item", "listitem"],
    ["definitions", "<dl><dt>a<dd>b</dl>", "- a: b"],
    ["empty definitions", "<dl><dt>a<dd><dt>b<dt>c<dd>d</dl>", "- a\n- b\n  c: d"],
    [
      "bars in the code of cells",
      "<table><tr><td><code>a|b</code><td><code>c\\|d</code></table>",
      "|  |  |\n| --- | --- |\n| `a\\|b` | `c\\|d` |",
    ],
    [
      "what is hidden",
      "<style>a{}</style><script>if (a<b) x='</p>'</script><svg><text>s</text></svg><nav>n <nav>m</nav></nav><template><p>t</template>a",
      "a",
    ],
    [
      "drawings that close themselves",
      '<p>a<svg class="i"/></p><p>b</p><script>no</script><main>c</main>',
      "c",
    ],
    [
      "headings that link to themselves as a whole",
      '<h1><a href="#x"><code>git</code> <em>commit</em></a></h1>',
      "# `git` commit",
    ],
    [
      "code",
      'Use <code> {{ x }} </code> or <tt>a`b</tt>, <code>a</code><samp>b</samp><code></code>, <a href="x"><code>a[0]</code></a>, <code>Map&lt;<a href="k">K</a>&gt;</code>.',
      "Use `{{ x }}` or `` a`b ``, `ab`, [`a[0]`](x), Map<[K](k)>.",
    ],
    [
      "code at the start of a line, over several lines, and in cells",
      "<code>&lt;!-- a --&gt;</code><p><code># b<br>c</code><p><code>``</code><table><tr><td><code>d<td>e</code><td><code>f|g</code></table>",
      "`<!-- a -->`\n\n`# b`\n`c`\n\n``` `` ```\n\n|  |  |  |\n| --- | --- | --- |\n| `d` | e | `f\\|g` |",
    ],
    ["code in preformatted text", "<pre><code>a</code></pre>", "```\na\n```"],
    ["code that never closes", "<p><code>a <a>b</code> c</a><p>d</code>", "`a b` c\n\nd"],
    ["hidden parts within text", "a <button><p>Copy</p></button> b", "a b"],
    [
      "abbreviations",
      '<abbr title="World Health">WHO</abbr>, <abbr title="World Health">WHO</abbr> <abbr>x</abbr>',
      "WHO (World Health), WHO x",
    ],
    [
      "labels of tabs",
      '<button role="tab">Linux</button><button>Copy</button><div>a</div>',
      "Linux\n\na",
    ],
    ["comments", "a<!-- <p>no -->b<!-->c<?php x ?>d<!DOCTYPE html>e", "abcde"],
    ["main", "<header>no</header><main><header>a</header></main><footer>no</footer>", "a"],
    ["the main role", '<div>no</div><div role="main"><div>a</div>b</div>no', "a\n\nb"],
    ["an empty main", "<main></main><div>a</div>", "a"],
    [
      "articles",
      "<header>no</header><article>long text</article>x<article>more text</article>",
      "long text\n\nmore text",
    ],
    [
      "teasers",
      "<p>the text of the page itself, long enough</p><article>x</article>",
      "the text of the page itself, long enough\n\nx",
    ],
    ["ignore regions", "a<!-- knowctl:ignore --><h2>b</h2><!-- /knowctl:ignore -->c", "ac"],
  ])("%s", (_name, text, body) => {
    expect(bodyOf(text)).toBe(body);
  });

  it.each([
    ["tag", 'a<b c="d e', "a"],
    ["nav", "x<nav><h2>a</h2><p>b", "## a"],
    ["pre", "<pre>a", "a"],
    ["less-than sign", "1 < 2 <3 x", "1 < 2 <3 x"],
    ["end tags of nothing", "</p></ul></td></h1></pre></main>a", "a"],
  ])("an open %s loses no text after it", (_name, text, part) => {
    expect(bodyOf(text)).toContain(part);
  });

  it.each([
    "# a",
    "## a",
    "```",
    "~~~ x",
    "- ```js",
    "a<br>===",
    "a<br>---",
    "&lt;pre&gt;",
    "&lt;!-- a",
    "&lt;!-- knowctl:ignore --&gt;",
    "<li>``` x",
    "<table><td># a",
    "<li># a",
  ])("%j is no structure", (text) => {
    const { body } = readHtml(`<p>x<p>${text}<h2>End</h2>y`, "a.html");
    expect(scanStructure(body).headings.map((each) => each.text)).toEqual(["End"]);
  });

  it("what the head says becomes front matter", () => {
    const { frontMatter, title } = readHtml(
      `<!doctype html><html lang="en-GB"><head><meta charset=utf-8><title>The &amp;\n title</title>
       <META NAME=Description CONTENT='About "it"'><link rel="canonical" href="https://x.example/a?b=1&amp;c">
       <meta name="author" content="Ada"><meta name="keywords" content="a, b"><meta property="article:modified_time" content="2024-05-01T10:00:00+02:00">
       <meta name="__proto__" content="x"></head><body><h1>Other</h1>`,
      "a.html",
    );
    expect(title).toBe("The & title");
    expect({ ...frontMatter?.data }).toEqual({
      title: "The & title",
      description: 'About "it"',
      author: "Ada",
      keywords: "a, b",
      updated: "2024-05-01T10:00:00+02:00",
      link: "https://x.example/a?b=1&c",
      lang: "en-GB",
    });
  });

  it.each([
    ['<meta name="date" content="the first of May">'],
    ['<link rel="canonical" href="/relative">'],
    ['<link rel="canonical" href="javascript:alert(1)">'],
    ['<meta name="author" content=" ">'],
    ["<title></title>"],
  ])("%s is left out", (head) => {
    expect(readHtml(head, "a.html").frontMatter).toBeUndefined();
  });

  it("is read as a document with the anchors of its elements", async () => {
    const { document, warnings } = await readOkAsync(
      '<title>null</title><meta name="keywords" content="k"><main><h1>The __init__ &lt;T&gt;</h1>a<section id="s"><h2>Two</h2>b</section><h2 id="drei 3">Three</h2>c<h2>Four</h2>d',
      { sections: "headings", link: "https://x.example/{slug}" },
      "a/my-page.HTM",
    );
    expect(warnings).toEqual([]);
    expect(document).toMatchObject({
      id: "a/my-page.HTM",
      title: "null",
      metadata: { tags: ["k"] },
    });
    expect(document.sections).toEqual([
      { text: "The __init__ <T>\n\na", link: "https://x.example/a/my-page" },
      { text: "The __init__ <T> > Two\n\nb", link: "https://x.example/a/my-page#s" },
      { text: "The __init__ <T> > Three\n\nc", link: "https://x.example/a/my-page#drei%203" },
      { text: "The __init__ <T> > Four\n\nd", link: "https://x.example/a/my-page" },
    ]);
  });

  it("the first heading is the title where there is none", async () => {
    expect((await readOkAsync("<h1>A <i>b</i></h1>", {}, "x.html")).document.title).toBe("A b");
    expect((await readOkAsync("text", {}, "my-x.html")).document.title).toBe("My x");
  });

  it("an ignore region that never closes is an error with its line", () => {
    expect(failure(() => readHtml("a\n<!-- knowctl:ignore -->\nb", "a.html"))).toBe(
      "a.html:2:1: the knowctl:ignore region is never closed",
    );
  });

  it("any text gives an answer whose headings are those that were written", () => {
    const pieces =
      "< > </ / \" ' = & &lt; &#x; # ## ``` ~~~ - 1. === --- \n \n\n <p> <b> </b> <h1> </h1> <h2 id=a> <li> <ul> </ul> <ol> <table> <tr> <td> <td/rowspan=3> </table> <sup> </sup> <del> </del> <code> </code> `` ` <pre> </pre> <nav> </nav> <main> </main> <article> </article> <br> <title> </title> <script> </script> <!-- --> <!--knowctl:ignore--> <!--/knowctl:ignore--> <img/src=a> <a/href=x> <a/href=#> </a> [ ] | text".split(
        " ",
      );
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces, " "), { maxLength: 50 }), (list) => {
        try {
          const { body, headings } = readHtml(list.join(""), "a.html");
          expect(scanStructure(body).headings.length).toBe(headings?.length);
        } catch (error) {
          if (!(error instanceof CliError)) throw error;
        }
      }),
    );
  });

  it.each([
    "<",
    "</",
    "<a b='",
    '<a b="',
    "<a ",
    "<!--",
    "<!",
    "<?x?>",
    "<script>",
    "</script",
    "&",
    "&#",
    "<h1>",
    "<p>",
    "a ",
    "* ",
    "*a",
    "<!--knowctl:ignore--><!--/knowctl:ignore-->",
    "<ul><li>a</ul>",
    "<li>",
    "<div hidden>a</div>",
    "<i hidden></i>",
    "a | ",
    "<a href=x>",
    "<a href=x>[</a>",
    "<a href=x><p>",
    "1</sup>",
    "<del>a</del>",
    "a</del>",
    "<b>a</b>",
    "<code>a</code>",
    "a<code> </code>",
    "<code>&lt;!--</code>",
    "<a accesskey=n href=x>n</a>",
    "<dl><dt>a<dd>b</dl>",
  ])("many times %j costs no more than its length", (piece) => {
    const work = (count: number): void => {
      try {
        const { body } = readHtml(`${piece.repeat(count)}end`, "a.html");
        scanStructure(body);
        expect(body.length).toBeLessThan(40 * count);
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
      }
    };
    expectLinear(10_000, work, 16);
  });

  const nested = [
    "<div>",
    "<b x=1>",
    "<ul><li>",
    "<ol reversed><li>a",
    "<table><tr><td>",
    "<nav>",
    "<main>",
    "<pre>",
    "<sup>1",
    "<del>a",
    "<blockquote>",
    "<code>a",
    "<dl><dd>",
    "<section id=a>",
  ];

  // The parser's time grows with the square of the levels until it is ended: most stand in one text.
  it.each(["<div>", "<b x=1>", "<table><tr><td>", nested.join("")])(
    "elements nested without end fail by name: %s",
    (piece) => {
      expect(() => readHtml(`${piece.repeat(20_000)}end`, "a.html")).toThrow(
        "a.html: elements are nested more than 5000 levels deep",
      );
    },
  );

  it.each(nested)("elements nested a thousand deep are read: %s", (piece) => {
    const deep = readHtml(`${piece.repeat(1000)}end`, "a.html");
    expect(deep.body).toContain("end");
    expect(deep.body.length).toBeLessThan(100_000);
  });

  it("code over many blanks is one line", () => {
    const spaces = " ".repeat(50_000);
    expect(readHtml(`<code>a${spaces}b</code>`, "a.html").body).toBe("`a b`\n");
  });

  it("keeps values in their columns in long tables", () => {
    const group = `<tr><td rowspan=2>${"name ".repeat(30)}<td>1<tr><td>2`;
    const lines = bodyOf(`<table>${group.repeat(2000)}</table>`).split("\n");
    expect(lines.filter((line) => line.split("|").length !== 4)).toEqual([]);
    expect(lines.at(-1)).toBe("|  | 2 |");
  });

  it("a cell stands in at most a thousand columns", () => {
    const below = "<td>x".repeat(1000);
    const body = bodyOf(`<table><tr><td colspan=3000>a<td>b<tr>${below}<td>c</table>`);
    const [first = "", second = ""] = body.split("\n").slice(2);
    expect(first).toMatch(/ a \| b \|$/);
    expect(second).toMatch(/ x \| c \|$/);
    expect(first.split("|")).toHaveLength(second.split("|").length);
  });

  it("cells that stand in many rows of many tables are repeated within bounds", () => {
    const cells = `<tr>${"<td rowspan=9999>some text".repeat(1000)}`;
    const page = `<table>${cells}${"<tr><td>x".repeat(5000)}</table>`.repeat(3);
    const { body } = readHtml(page, "a.html");
    expect(body.length).toBeLessThan(2 * page.length + 600_000);
    expect(body.split("\n").filter((line) => line.startsWith("| x |")).length).toBeGreaterThan(
      10_000,
    );
  });
});

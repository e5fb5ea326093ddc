import { describe, expect, it } from "vitest";
import { compileSettings } from "../../../../src/documents/map/settings.ts";
import { readDocumentSync } from "../../../../src/documents/inspect/read.ts";
import { partialReason } from "../../../../src/documents/site/sites.ts";
import { expectLinear } from "../../../cost.ts";
import { createFolder, fileIn } from "../../folder.ts";

const config = `title: Manual
baseurl: /m
url: https://x.example
version: "2.1"
flags: [a, b]
collections:
  guides: {output: true, permalink: "/:collection/:path/"}
defaults:
- scope: {path: ""}
  values: {product: Lamp}
- scope: {path: docs, type: pages}
  values: {product: Torch}
`;

interface Options {
  files?: Record<string, string>;
  path?: string;
  attributes?: Record<string, string>;
}

function read(body: string, { files = {}, path = "docs/a.md", attributes }: Options = {}) {
  const text = `---\ntitle: Page\nnote: n1\ntags: [x, y]\n---\n${body}`;
  const root = createFolder({ "_config.yml": config, ...files, [path]: text });
  const settings = compileSettings({
    root,
    linkBase: "https://h.example",
    linkStyle: "jekyll",
    ...(attributes && { attributes }),
  });
  const reading = readDocumentSync(fileIn(root, path), settings);
  if (reading?.kind !== "document") throw new Error(JSON.stringify(reading));
  const { document, notices = [] } = reading;
  return {
    text: document.sections[0]?.text ?? "",
    link: document.sections[0]?.link,
    notices: notices
      .filter(({ kind }) => kind !== "made")
      .map(({ kind, name, times }) => `${kind} ${name} ${times ?? 1}`),
  };
}

describe("values of a page of Jekyll", () => {
  it.each([
    ["{{ site.version }}", "2.1"],
    ["{{ site.flags | join: ', ' }}", "a, b"],
    ["{{ site.none }}|", "|"],
    ["{{ page.title }} {{page.note}}", "Page n1"],
    ["{{ page.product }}", "Torch"],
    ["{{ page.tags[1] }} {{ page.tags.first }} {{ page.tags | size }}", "y x 2"],
    ["{{ page.url }} {{ page.path }} {{ page.name }}", "/docs/a.html docs/a.md a.md"],
    ["{{ '/b/' | relative_url }}", "/m/b/"],
    ["{{ 'b' | absolute_url }}", "https://x.example/m/b"],
    ["{{ 'a b' | upcase | replace: 'A', 'C' | append: '!' | prepend: '>' }}", ">C B!"],
    ["{{ 'x' | capitalize }}{{ ' y ' | strip }}{{ '<' | escape }}", "Xy&lt;"],
    ["{{ '2024-03-05' | date: '%-d %B %Y' }}", "5 March 2024"],
    ["{{ page.none | default: 'd' }}", "d"],
    ["{{ 'a,b' | split: ',' | last }}", "b"],
    ["{% assign v = 'w' %}{{ v | downcase }}", "w"],
    ["{% capture v %}c {{ page.note }}{% endcapture %}{{ v }}", "c n1"],
    ["a {%- assign v = 1 -%} b", "ab"],
    ["{% raw %}{{ page.title }}{% endraw %}", "{{ page.title }}"],
    ["`{{ site.version }}`\n\n```\n{{ page.note }}\n```", "`2.1`\n\n```\nn1\n```"],
    ["{% comment %}no{% endcomment %}yes", "yes"],
    ["{% for t in page.tags %}{{ forloop.index }}{{ t }};{% endfor %}", "1x;2y;"],
    ["{% for t in page.none %}x{% else %}none{% endfor %}", "none"],
    [
      "{% assign t = 'T' %}{% assign all = page.tags | where_exp: 't', \"t != 'x' and page.note == 'n1'\" %}{{ all | join: '+' }}{{ t }}",
      "yT",
    ],
    ["{% for t in page.tags reversed offset: 1 %}{{ t }}{% endfor %}", "y"],
  ])("%s is %s", (body, expected) => {
    expect(read(body).text).toBe(expected);
  });

  it.each([
    ["{% if page.note == 'n1' %}a{% elsif site.version %}b{% else %}c{% endif %}", "a"],
    ["{% if page.none %}a{% elsif site.version == '2.1' %}b{% else %}c{% endif %}", "b"],
    ["{% unless page.note %}a{% else %}c{% endunless %}", "c"],
    ["{% if page.tags contains 'y' and page.none == nil %}a{% endif %}", "a"],
    ["{% if page.none %}{% if page.note %}a{% else %}b{% endif %}{% else %}c{% endif %}", "c"],
    ["{% case page.note %}{% when 'x' %}a{% when 'y', 'n1' %}b{% else %}c{% endcase %}", "b"],
    // Only the generator knows its time: both branches stay.
    ["{% if site.time %}a{% else %}b{% endif %}", "ab"],
  ])("%s is %s", (body, expected) => {
    expect(read(body).text).toBe(expected);
  });

  it("are counted where only the generator knows them", () => {
    const { text, notices } = read(
      "a {{ site.time }} {% for p in site.pages %}{{ p.url }}{% endfor %}z",
    );
    expect(text).toBe("a  z");
    expect(notices).toEqual(["leftOut expression 1", "leftOut shortcode 1"]);
    const later = "{% assign all = page.tags | where_exp: 't', 't == site.time' %}a {{ all }}";
    expect(read(later)).toMatchObject({ text: "a ", notices: ["leftOut expression 1"] });
    const attributes = { "site.time": "noon" };
    expect(read("a {{ site.time }}", { attributes }).text).toBe("a noon");
  });

  it("come from files of data", () => {
    const files = {
      "_data/a.yml": "rows:\n- {name: One, n: 1}\n- {name: Two, n: 2}\n",
      "_data/b/c.json": '{"k": "v"}',
      "_data/bad.yml": "a: [",
      "_data/t.csv": '\uFEFFname,n,name\n"Smith, A",\n\nB,"",x\n',
      "_data/u/t.tsv": "name\tn\nC\t0\n",
      "_data/bad2.csv": 'a,b\n"1,2\n',
      "_data/many.csv": `a\n${"1\n".repeat(50_001)}`,
    };
    const body =
      "{% for r in site.data.a.rows %}{{ r.name }}={{ r.n }} {% endfor %}{{ site.data.b.c.k }}{{ site.data.bad.x }}";
    const rows =
      "{% for r in site.data.t %} {{ r.name }}={% if r.n %}{{ r.n }}yes{% else %}nil{% endif %}{% endfor %} {{ site.data.t | size }} {{ site.data.u.t[0].n }}{{ site.data.bad2.size }}{{ site.data.many.size }}";
    expect(read(body + rows, { files })).toMatchObject({
      text: "One=1 Two=2 v Smith, A=nil B=yes 2 0",
      notices: ["leftOut expression 3"],
    });
  });

  it("are none in a page without front matter", () => {
    const root = createFolder({ "_config.yml": config, "a.md": "{{ site.version }}" });
    const reading = readDocumentSync(fileIn(root, "a.md"), compileSettings({ root }));
    expect(reading?.kind === "document" && reading.document.sections[0]?.text).toBe(
      "{{ site.version }}",
    );
  });
});

it("Files of Jekyll whose names begin with an underscore are no pages", () => {
  const settings = compileSettings({ root: createFolder({ "_config.yml": config }) });
  expect(partialReason("docs/_part.md", settings)).toContain("Jekyll");
  expect(partialReason("_guides/_part.html", settings)).toContain("Jekyll");
  expect(partialReason("_guides/part_.md", settings)).toBeUndefined();
});

it("A page of HTML has the address of its front matter", () => {
  const files = { "api.html": "---\npermalink: /m-api.html\n---\n<p>Words.</p>\n" };
  const { text } = read("[a](../m-api.html) [b](/m/m-api.html)", { files });
  expect(text).toBe("[a](https://h.example/m-api.html) [b](https://h.example/m-api.html)");
});

describe("a page of Eleventy", () => {
  it("has values of front matter, and of data of its folder", () => {
    const files = {
      "eleventy.config.js": "throw new Error()",
      "docs/docs.json": '{"part": "P"}',
      "_data/site.json": '{"name": "N"}',
      "_includes/box.md": "box {{ title }}",
      "docs/a.md":
        "---\ntitle: T\n---\n{%- from 'x' import y %}{% set v = title | upper %}{{ title }} {{ v }} {{ part }} {{ site.name }} {% include \"box.md\" %} {{ made() }}",
    };
    const root = createFolder(files);
    const reading = readDocumentSync(fileIn(root, "docs/a.md"), compileSettings({ root }));
    if (reading?.kind !== "document") throw new Error("skipped");
    expect(reading.document.sections[0]?.text?.trim()).toBe("T T P N box T");
    expect(reading.notices).toMatchObject([{ kind: "leftOut", name: "expression", times: 1 }]);
  });
});

describe("an include of Jekyll", () => {
  const files = {
    "_includes/box.html":
      '<div class="{{ include.type }}">\n\n    {{ include.text }}{% if include.more %}!{% endif %}\n</div>',
    "_includes/code.html":
      "<div>\n  <p>\n  {%- case 'py' -%}\n  {%- when 'py' -%}{% highlight py %}{{ include.code | strip }}{% endhighlight -%}\n  {%- else -%}x{%- endcase -%}\n  <b>after</b>\n</div>",
    "_includes/in/part.md": "**{{ include.a }}** {{ page.title }}\n",
    "docs/near.md": "near {{ site.version }}",
    "_includes/loop.md": "x{% include loop.md %}",
  };

  it.each([
    ['{% include box.html type="tip" text=page.note %}', '<div class="tip">\nn1\n</div>'],
    ['{% include box.html text="a" more=true %}', '<div class="">\na!\n</div>'],
    [
      "{% capture c %}if a:\n\n    b()\n{% endcapture %}{% include code.html code=c %}\nafter",
      "<div>\n<p>\n\n```py\nif a:\n\n    b()\n```\n\n<b>after</b>\n</div>\n\nafter",
    ],
    ['{% include in/part.md a="{{ site.version }}" %}', "**2.1** Page"],
    ["{% assign f = 'in/part.md' %}{% include {{ f }} a=1 %}", "**1** Page"],
    ['{% include_cached in/part.md a="x" %}', "**x** Page"],
    ["{% include_relative near.md %}", "near 2.1"],
  ])("%s is %s", (body, expected) => {
    expect(read(body, { files }).text).toBe(expected);
  });

  it("is counted if it is not there or includes itself", () => {
    expect(read("a {% include none.html %}b", { files })).toMatchObject({
      text: "a b",
      notices: ["leftOut shortcode 1"],
    });
    expect(read("{% include loop.md %}", { files }).notices).toEqual(["leftOut include 1"]);
  });
});

describe("kramdown", () => {
  it.each([
    ["# A\n\n1. TOC\n{:toc}\n\nb", "# A\n\n\nb"],
    ['*[HTML]: Hyper Text\n{::options toc_levels="2" /}\nHTML', "HTML"],
    [
      '<div class="x" markdown="1">\n- a\n</div>\n```\n{:toc}\n```',
      "\n\n\n- a\n\n\n```\n{:toc}\n```",
    ],
    [
      "<table>\n\n    <tr>\n\n    <td>a</td></tr>\n</table>\nb",
      "<table>\n<tr>\n<td>a</td></tr>\n</table>\n\nb",
    ],
    ["<pre>\n  a\n</pre>", "<pre>\n  a\n</pre>"],
    ["<div>\n\n    never closed", "<div>\n\n    never closed"],
  ])("%j is %j", (body, expected) => {
    expect(read(body).text).toBe(expected);
  });
});

describe("a hostile template", () => {
  it.each([
    [
      "doubles",
      `{% assign a = 'xxxxxxxxxx' %}${"{% assign a = a | append: a %}".repeat(60)}{{ a | size }}b`,
    ],
    ["loops", `${"{% for a in (1..900) %}".repeat(60)}x${"{% endfor %}".repeat(60)}b`],
    ["never ends", `${"{% if ".repeat(4000)}b`],
    ["opens", `${"{% if page.note %}".repeat(4000)}b`],
    ["captures", `${"{% capture a %}".repeat(1000)}${"{% endcapture %}".repeat(1000)}b`],
  ])("that %s ends", (_, body) => {
    expect(read(body).text.length).toBeLessThan(5_000_000);
  });

  it("costs the length of its text", () => {
    const lines = (line: string) => (size: number) =>
      read(`${line.repeat(Math.floor(size / line.length))}z`);
    for (const line of [
      "{% if page.note %}a",
      "{{ a ",
      "{{ site.version }} ",
      "<div>\n",
      "{% raw %}",
    ]) {
      expectLinear(20_000, lines(line));
    }
  });
});

describe("addresses of Jekyll", () => {
  const linkAt = (path: string, front: string, more = "", files: Record<string, string> = {}) => {
    const root = createFolder({
      "_config.yml": config + more,
      [path]: `---\n${front}\n---\nx [y](../b/)`,
      ...files,
    });
    const settings = compileSettings({
      root,
      linkBase: "https://h.example",
      linkStyle: "jekyll",
    });
    const reading = readDocumentSync(fileIn(root, path), settings);
    if (reading?.kind !== "document") throw new Error(JSON.stringify(reading));
    return reading.document.sections[0];
  };
  it.each([
    ["a.md", "", "", "a.html"],
    ["docs/index.md", "", "", "docs/"],
    ["a.md", "permalink: /x/y/", "", "x/y/"],
    ["a.md", "", "permalink: pretty", "a/"],
    ["_guides/b/c.md", "", "", "guides/b/c/"],
    ["_posts/2024-03-05-my-post.md", "", "", "2024/03/05/my-post.html"],
    [
      "_posts/2024-03-05-my-post.md",
      "categories: [News, It]",
      "",
      "news/it/2024/03/05/my-post.html",
    ],
    ["_posts/2024-03-05-my-post.md", "slug: s", "permalink: pretty", "2024/03/05/s/"],
    ["_posts/2024-03-05-my-post.md", "", "permalink: none", "my-post.html"],
    [
      "_posts/2024-03-05-p.md",
      "date: 2024-04-06",
      "permalink: /n/:year/:i_month/:title",
      "n/2024/4/p",
    ],
  ])("of %s with %j and %j is %s", (path, front, more, expected) => {
    expect(linkAt(path, front, more)?.link).toBe(`https://h.example/${expected}`);
  });

  it("lead links to the page with that permalink, below the base", () => {
    const files = { "pages/z.md": "---\npermalink: /b/\nredirect_from: /old\n---\nz" };
    expect(linkAt("d/a.md", "permalink: /d/a/", "", files)?.text).toContain("../b/");
    const { text } = read(
      "[1](/m/b/) [2]({{ '/b' | relative_url }}) [3]({{ site.baseurl }}/old) [4](/m/no/)",
      { files },
    );
    expect(text).toBe(
      "[1](https://h.example/b/) [2](https://h.example/b/) [3](https://h.example/b/) [4](https://h.example/m/no/)",
    );
  });

  it("have the ids of the parser that the configuration names", () => {
    const anchorOf = (more: string): string | undefined => {
      const root = createFolder({ "_config.yml": more, "a.md": "---\n---\n## 1. A_b c\n\nx" });
      const settings = compileSettings({
        root,
        linkBase: "https://h.example",
        linkStyle: "jekyll",
        sections: "headings",
      });
      const reading = readDocumentSync(fileIn(root, "a.md"), settings);
      return reading?.kind === "document" ? reading.document.sections.at(-1)?.link : undefined;
    };
    expect(anchorOf("")).toBe("https://h.example/a.html#1-a_b-c");
    expect(anchorOf("kramdown: {input: kramdown}")).toBe("https://h.example/a.html#ab-c");
  });
});

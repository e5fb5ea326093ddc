import { describe, expect, it } from "vitest";
import { leakedJsx, placeholder, templateText } from "../../../../src/checks/lint/rules/markup.ts";
import { empty } from "../../../../src/checks/lint/rules/little-text.ts";
import { skippedLevel } from "../../../../src/checks/lint/rules/sections.ts";
import { tableWithoutHeader } from "../../../../src/checks/lint/rules/tables.ts";
import { check, placesOf } from "./page.ts";
import { lint } from "./pages.ts";

describe("headings and tables", () => {
  it("skip a level where a section is lost, once for each page", async () => {
    const found = await check(skippedLevel, "# A\n\n#### B\n\n## C\n\n##### D\n");
    expect(found).toMatchObject([
      {
        at: "#### B",
        message: "a heading of level 4 follows one of level 1; 2 headings of the page skip a level",
      },
    ]);
    expect(await placesOf(skippedLevel, "# A\n\n### B\n\n##### C\n")).toEqual([]);
    expect(await placesOf(skippedLevel, "#### A\n\n# B\n")).toEqual([]);
    // The title of a box, and of the first of its tabs.
    const box = "# A\n\n::: {.panel-tabset}\n\n#### B\n\nText.\n\n#### C\n\nText.\n\n:::\n";
    expect(await placesOf(skippedLevel, box)).toEqual([]);
    const contents = "# A\n\n#### Table of contents\n\n- x\n\n## B\n";
    expect(await placesOf(skippedLevel, contents)).toEqual([]);
    expect(await placesOf(skippedLevel, "# A\n\n```\n#### not a heading\n```\n")).toEqual([]);
  });

  it("have no column names if all of them are missing", async () => {
    const table = (header: string): string => `# A\n\n${header}\n|---|:--:|\n| b | 1 |\n`;
    expect(await placesOf(tableWithoutHeader, table("| | |"))).toEqual(["| | |"]);
    expect(await placesOf(tableWithoutHeader, table("|   |  |"))).toEqual(["|   |  |"]);
    expect(await placesOf(tableWithoutHeader, table("| | Price |"))).toEqual([]);
    expect(await placesOf(tableWithoutHeader, `\`\`\`\n${table("| | |")}\`\`\`\n`)).toEqual([]);
    // Of another format, the place is that of the first row.
    const rows = "= A\n\n[cols=2]\n|===\n| Meeting rooms\n| 12\n| Kitchens | 2\n|===\n";
    expect(await placesOf(tableWithoutHeader, rows, { path: "a.adoc" })).toEqual([
      "| Meeting rooms",
    ]);
    // Images side by side are no table of facts.
    const images = "| | |\n|---|---|\n| ![a](a.png) | ![b](b.png) |\n";
    expect(await placesOf(tableWithoutHeader, images)).toEqual([]);
  });
});

describe("text of templates", () => {
  it("is found in prose", async () => {
    for (const expression of [
      "{{ page.title }}",
      "{{version}}",
      "{{- $x := 1 -}}",
      "<%= name %>",
      "${project.version}",
    ]) {
      const source = `# A\n\nThe version is ${expression} today.\n`;
      expect(await placesOf(templateText, source), expression).toEqual([expression]);
    }
    expect(await placesOf(templateText, "# A\n\n[[_TOC_]]\n\nText.\n")).toEqual(["[[_TOC_]]"]);
    expect(await placesOf(templateText, "# A\n\n[TOC]\n\nText.\n")).toEqual(["[TOC]"]);
    const tag = "# A\n\n<a href={{ site.url }}>Home</a>\n";
    expect(await placesOf(templateText, tag)).toEqual(["{{ site.url }}"]);
    const prices = "# A\n\nIt costs $5, $6 or {{ price }} and $7.\n";
    expect(await placesOf(templateText, prices)).toEqual(["{{ price }}"]);
    const link = "# A\n\nSee [the docs](/docs/{{version}}/start).\n";
    expect(await placesOf(templateText, link)).toEqual(["{{version}}"]);
  });

  it("is no example, no quotation, and no name that the reader replaces", async () => {
    for (const text of [
      "`{{ page.title }}`",
      "``{{ page.title }}``",
      "a `code span\nover two lines {{ x }}` here",
      "```\n{{ page.title }}\n```",
      "    {{ page.title }}",
      "<code>{{ page.title }}</code>",
      "<pre>\n{{ page.title }}\n</pre>",
      'Write "{{ page.title }}" there.',
      "Between {{ and }} there is a name.",
      "Use {{ }} for it.",
      "Open https://${yourDomain}/login.",
      "See [the table](#toc).",
      "For example, --template='Version: {{.Version}}' prints the version.",
      "<div style={{margin: '0 auto', 'max-width': 10}}>Text.</div>",
      String.raw`The ratio $\frac{m_{t+1}}{{p_t}}$ falls, and $$\frac{a}{{b}}$$ too.`,
      "* projects/{{project}}/places/{{place}}\n* {{project}}/{{place}}\n* {{place}}",
    ]) {
      expect(await placesOf(templateText, `# A\n\n${text}\n`), text).toEqual([]);
    }
  });

  it("is no code of an HTML page", async () => {
    const html = "<h1>A</h1><p>Write <code>{{ page.title }}</code> there: {{ site.title }}</p>";
    expect(await lint(templateText, { "a.html": html })).toEqual([
      "a.html:1:57: {{ site.title }} is sent as it stands",
    ]);
  });

  it("is none where MyST evaluates it", async () => {
    const jinja = '# A\n\nOf {{ env.name | upper }}, {{ "a" + "b" }} and {{ name }}.\n';
    const sphinx = { "a.md": jinja, "conf.py": 'myst_enable_extensions = ["substitution"]\n' };
    expect(await lint(templateText, sphinx)).toEqual([
      "a.md:3:48: {{ name }} is sent as it stands",
    ]);
    expect(await lint(templateText, { ...sphinx, "conf.py": "" })).toHaveLength(3);
  });

  it("is reported once in a page that has much of it", async () => {
    const [found, ...others] = await check(templateText, `# A\n\n${"{{ a.b }}\n".repeat(30)}`);
    expect(found?.message).toBe(
      "30 template expressions are sent as they stand; this is the first",
    );
    expect(others).toEqual([]);
  });
});

describe("placeholders", () => {
  it("are a paragraph or an item of a list", async () => {
    for (const text of [
      "TODO",
      "- TBD",
      "**TBD**",
      "TODO: write this",
      "Coming soon …",
      "To be done.",
    ]) {
      const found = await check(placeholder, `# A\n\nText.\n\n${text}\n`);
      expect(
        found.map(({ at }) => at),
        text,
      ).toEqual([text]);
    }
    const shown =
      "```\n![A](a.png)\n```\n\n<div class='x'>\n\n![A](a.png)\n\nLorem ipsum dolor sit amet.\n";
    expect(await placesOf(placeholder, shown)).toEqual([]);
    expect(await placesOf(placeholder, "Well: Lorem ipsum dolor sit amet.\n")).toEqual([
      "Lorem ipsum dolor",
    ]);
  });

  it("are no words in a sentence", async () => {
    for (const text of [
      "Coming soon after lunch, the bus stops here.",
      "The TODO list is on the wall.",
      "To be done with it, call us.",
      "TODOs are on the wall.",
      "`TODO`",
      "- todo: the directive has options",
      "Work in progress is billed monthly.",
      "Some data is likely still\nto be written.",
      "Words are, for example,\nTODO",
    ]) {
      expect(await placesOf(placeholder, `# A\n\n${text}\n`), text).toEqual([]);
    }
  });

  it("stand below a heading or a label as well", async () => {
    expect(await placesOf(placeholder, "# A\nTBD\n\n**Owner**\nTBD\n\nDate:\nTBD\n")).toEqual([
      "TBD",
      "TBD",
      "TBD",
    ]);
  });

  it("are no words in a list of words", async () => {
    const words = "tar\ntodo\ntool\n";
    expect(await placesOf(placeholder, words, { path: "words.txt" })).toEqual([]);
  });

  it("are no labels of boxes", async () => {
    const box = { ".obsidian/app.json": "", "a.md": "# A\n\n> [!todo]\n> Check the lift.\n" };
    expect(await lint(placeholder, box)).toEqual([]);
    expect(await placesOf(placeholder, "# A\n\n> **Todo**\n")).toHaveLength(1);
  });

  it("are no result that the page shows beside its code", async () => {
    const text = "Lorem ipsum dolor sit amet.\n";
    expect(await placesOf(placeholder, `# A\n\n\`\`\`md\n${text}\`\`\`\n\n${text}`)).toEqual([]);
    const other = `# A\n\n\`\`\`md\nText.\n\`\`\`\n\n${text}`;
    expect(await placesOf(placeholder, other)).toEqual(["Lorem ipsum dolor"]);
  });
});

describe("marks that nothing has read", () => {
  it("are roles in Markdown", async () => {
    expect(await placesOf(templateText, "# A\n\nSee {ref}`label`.\n")).toEqual(["{ref}`label`"]);
  });

  it("are no code or examples, and no braces of reStructuredText", async () => {
    for (const text of ["`{ref}`", "`` {ref}`a` ``", "\\{ref}`a`"]) {
      expect(await placesOf(templateText, `# A\n\n${text}\n`), text).toEqual([]);
    }
    const jinja = "A\n=\n\nWrite {{ site.version }} into the page.\n";
    expect(await placesOf(templateText, jinja, { path: "a.rst" })).toEqual([]);
  });
});

describe("leaked JSX", () => {
  it("is code of components in Markdown", async () => {
    for (const code of [
      '<Card title="A">',
      "<Card />",
      "<Tabs.Item value={1}>",
      "{/*",
      "export const a = 1",
    ]) {
      const found = await check(leakedJsx, `# A\n\n${code}\n\nText.\n`);
      expect(
        found.map(({ at }) => at),
        code,
      ).toHaveLength(1);
      expect(code.startsWith(found[0]?.at ?? "-"), code).toBe(true);
    }
  });

  it("is no placeholder, no HTML, no type and no code", async () => {
    const pair = "# A\n\n<Card>\n\nText.\n\n</Card>\n";
    expect(await placesOf(leakedJsx, pair)).toEqual(["<Card>"]);
    for (const text of [
      "</Name>",
      "<Name>",
      '<A HREF="a">',
      "<BR/>",
      "List<String>",
      "`<Card />`",
      "{{/* a */}}",
    ]) {
      expect(await placesOf(leakedJsx, `# A\n\n${text}\n`), text).toEqual([]);
    }
    expect(await placesOf(leakedJsx, "<Card />\n", { path: "a.txt" })).toEqual([]);
    expect(await placesOf(leakedJsx, "<p>&lt;Card /&gt;</p>\n", { path: "a.html" })).toEqual([]);
    const mdx = 'import Card from "./card";\n\n<Card title="A" />\n\nText.\n';
    expect(await placesOf(leakedJsx, mdx, { path: "a.mdx" })).toEqual([]);
  });
});

it("braces of a page of Hugo are text, where no shortcode has them", async () => {
  const files = { "hugo.toml": "", "content/a.md": "# A\n\nThe field {{ .Name }} is set.\n" };
  expect(await lint(templateText, files)).toEqual([]);
});

it("a name of Jekyll that nothing sets leaves a hole in the page", async () => {
  const text =
    "---\nowner: Ada\n---\n# A\n\nRelease {{ site.gone | upcase }} of {{ page.owner }} at {{ site.url }}, {{ site.gone | default: 'x' }} {{ site.pages.size }}.\n\nIn {{ page.room }}. {% include b.md %}\n";
  const files = { "_config.yml": "title: A\n", "a.md": text, "_includes/b.md": "{{ page.c }}" };
  const lost = (name: string): string => `nothing sets ${name}: the page shows nothing there`;
  expect(await lint(templateText, files)).toEqual([
    `a.md:6:12: ${lost("site.gone | upcase")}`,
    `a.md:8:7: ${lost("page.room")}`,
  ]);
  expect(await lint(templateText, { ...files, "_config.yml": "gone: '4'\n" })).toHaveLength(1);
});

it("expressions in a file without front matter, which pages of a collection of Jekyll include, have values", async () => {
  const text = "Go [there]({{ site.baseurl }}/a/), {{ site.owner }}.\n";
  const files = { "_config.yml": "owner: Ada\n", "_rooms/parts/a.md": text, "_rooms/b.md": "" };
  expect(await lint(templateText, files)).toEqual([]);
  expect(await lint(empty, files)).toEqual([]);
  expect(await lint(templateText, { ...files, "a.md": text })).toHaveLength(2);
});

it("shortcodes that the site prints are template text", async () => {
  const text = "# A\n\n{{< note >}} Beware. {{< /note >}}\n\n`{{< note >}}`\n";
  expect(await lint(templateText, { "docfx.json": "{}", "a.md": text })).toEqual([
    "a.md:3:1: {{< note >}} is sent as it stands",
    "a.md:3:22: {{< /note >}} is sent as it stands",
  ]);
});

it("braces that a program of a book replaces are no template text", async () => {
  const text = "# A\n\n{{ grammar }}\n\n{{%segment outline}}\n\nText `{{ x }}`.\n";
  const lintBook = (book: string) => lint(templateText, { "book.toml": book, "src/a.md": text });
  expect(await lintBook("[preprocessor.own]\ncommand = 'x'\n")).toEqual([]);
  expect(await lintBook("[preprocessor.links]\n[preprocessor.svgbob]\n")).not.toEqual([]);
});

it("braces that a page of VitePress shows are no template text", async () => {
  const text = "# A\n\n<span v-pre>{{ name }}</span> and [[toc]]\n";
  expect(await lint(templateText, { "a.md": text }, { generator: "vitepress" })).toEqual([]);
  expect(await lint(templateText, { "a.md": text })).not.toEqual([]);
});

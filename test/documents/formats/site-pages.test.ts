import { describe, expect, it } from "vitest";
import { readDocument } from "../../../src/documents/inspect/read.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { expectLinear } from "../../cost.ts";
import type { PageSite } from "../../../src/documents/formats/format.ts";
import { readMarkdown } from "../../../src/documents/formats/markdown/markdown.ts";
import { around } from "./around.ts";
import { createFolder, fileIn, type Options } from "../folder.ts";

const configs = {
  docusaurus: "docusaurus.config.js",
  starlight: "astro.config.mjs",
  vitepress: ".vitepress/config.ts",
  vuepress: ".vuepress/config.js",
  none: "nothing.txt",
};
type Site = keyof typeof configs;

const frontMatter = (text: string): string => `---\n${text}\n---\n`;

/** The document of one page of a site, its text and what a run would say. */
async function pageOf(
  site: Site,
  text: string,
  others: Record<string, string> = {},
  options: Options = {},
  path = "docs/a.md",
) {
  const root = createFolder({ [configs[site]]: "", [path]: text, ...others });
  const reading = await readDocument(fileIn(root, path), compileSettings({ root, ...options }));
  if (reading.kind !== "document") throw new Error(`skipped: ${reading.reason}`);
  const { document, notices = [] } = reading;
  const body = document.sections.map((each) => each.text ?? "").join("\n\n");
  const counted = notices.flatMap((each) =>
    each.kind === "leftOut" ? [`${each.name} ${each.times}: ${each.example}`] : [],
  );
  return { document, body: body.trim().replace(/\n{3,}/g, "\n\n"), counted };
}

describe("Markdown of mdBook", () => {
  const code = "// ANCHOR: one\nlet a = 1;\n// ANCHOR_END: one\nlet b = 2;\nlet c = 3;\n";
  const files = { "src/code/a.rs": code, "src/part.md": "A **part**.\n", "src/a/one.txt": "1" };
  it.each([
    ["a file", "{{#include ../part.md}}", "A **part**."],
    [
      "a file in code",
      "```rust\n{{#include ../code/a.rs}}\n```",
      "```rust\nlet a = 1;\nlet b = 2;\nlet c = 3;\n```",
    ],
    ["a section", "```\n{{#rustdoc_include ../code/a.rs:one}}\n```", "```\nlet a = 1;\n```"],
    ["lines", "{{#include ../code/a.rs:4:5}}", "let b = 2;\nlet c = 3;"],
    ["a line", "{{#playground ../code/a.rs:4 editable}}", "let b = 2;"],
    ["lines to the end", "{{#include ../code/a.rs:5:}}", "let c = 3;"],
    ["lines from the start", "{{#include ../code/a.rs::2}}", "let a = 1;"],
    ["an example", "`\\{{#include a.rs}}` x", "`\\{{#include a.rs}}` x"],
    ["a title", "{{#title Lamps}}\n\nText.", "Text."],
  ])("includes %s", async (_name, text, expected) => {
    const others = { "book.toml": "", ...files };
    const { body } = await pageOf("none", `# A\n\n${text}\n`, others, {}, "src/a/a.md");
    expect(body).toBe(`# A\n\n${expected}`);
  });

  it("counts a file that is not there", async () => {
    const text = "# A\n\n{{#include gone.md}}\n";
    const page = await pageOf("none", text, { "book.toml": "" }, {}, "src/a.md");
    expect(page.counted).toEqual([expect.stringContaining("gone.md: no such file")]);
  });

  it("includes nothing beside its book", async () => {
    const text = "# A\n\nWrite `{{#include a.rs}}`.\n";
    const book = { "book.toml": '[book]\nsrc = "./text"\n' };
    const { body, counted } = await pageOf("none", text, book, {}, "src/a.md");
    expect([body, counted]).toEqual([text.trim(), []]);
    const inBook = await pageOf("none", text, book, {}, "text/a.md");
    expect(inBook.counted).toHaveLength(1);
  });
});

describe("Markdown of VitePress", () => {
  it("includes no file that a program makes", async () => {
    const { counted } = await pageOf("vitepress", "# A\n\n<!--@include: virtual:list -->\n");
    expect(counted).toEqual([
      expect.stringContaining("virtual:list: it is an address, not a file"),
    ]);
  });

  it.each([
    ["a table of contents", "a\n\n[[toc]]\n\nb", "a\n\nb"],
    ["front matter", "# {{ $frontmatter.title }}: {{frontmatter.a.b}}", "# T: c"],
    ["front matter of VuePress", "{{ $page.frontmatter.title }}", "T"],
    ["plain strings", "{{ 'Use `a`' }} and {{ \"b\" }} {{ 3 }}", "Use `a` and b 3"],
    [
      "constants",
      '<script setup>\nconst v = "1.2"\n</script>\n\nUse {{ v }} {{ `v${v}` }}',
      "Use 1.2 v1.2",
    ],
    ["a badge", '## New <Badge type="tip" text="^1.9" />\n\na', "## New ^1.9\n\na"],
    ["a badge with text", '# T <Badge type="info">beta</Badge>', "# T beta"],
    ["bound attributes", "<Badge :text=\"'new'\" @click=\"go({ a: '>' })\" v-if=x />", "new"],
    ["slots", "<Tabs>\n<template #one>\n\nfirst\n\n</template>\n</Tabs>", "first"],
    [
      "scripts and styles",
      "a\n\n<style scoped>\n.a { b: c }\n</style>\n\n<script setup>\nimport A from 'a'\n</script>\n\nb",
      "a\n\nb",
    ],
    ["containers", "::: tip\na\n:::\n\n::: details More\nb\n:::", "**Tip**\n\na\n\n**More**\n\nb"],
    [
      "code groups",
      "::: code-group\n\n```js{1,3}:line-numbers [a.js]\na\n```\n\n:::",
      "**a.js**\n\n```js\na\n```",
    ],
    ["colours of terminals", "```ansi\n\u001B[36ma\u001B[0m b\n```", "```ansi\na b\n```"],
    ["marks of code", "```js\na // [!code focus:2]\nb // [!code --]\n```", "```js\na\nb\n```"],
    ["own ids with other marks", "## Title %{#own}%\n\na", "## Title\n\na"],
    [
      "code",
      "`{{ x }}` a\n\n```\n{{ x }} <A/>\n```\n\n    {{ y }} <B/>",
      "`{{ x }}` a\n\n```\n{{ x }} <A/>\n```\n\n    {{ y }} <B/>",
    ],
    ["raw elements", "<span v-pre>{{ x }}</span>\n\n::: v-pre\n{{ y }}\n:::", "{{ x }}\n\n{{ y }}"],
    ["braces", "{ a } {{ open", "{ a } {{ open"],
  ])("shows %s", async (_what, text, body) => {
    const page = await pageOf("vitepress", frontMatter("title: T\na: {b: c}") + text);
    expect(page.body).toBe(body);
    expect(page.counted.filter((each) => !each.startsWith("script"))).toEqual([]);
  });

  it("is counted where only a program knows it", async () => {
    const page = await pageOf("vitepress", "a\n\n{{ count + 1 }} {{ $params.pkg }} b\n");
    expect(page.body).toBe("a\n\n  b");
    expect(page.counted).toEqual(["expression 2: line 3: {{ count + 1 }}"]);
  });

  it("is that of VuePress", async () => {
    expect((await pageOf("vuepress", "[[toc]]\n\na")).body).toBe("a");
  });

  it("is only that of such a site", async () => {
    const text =
      "[[toc]]\n\n{{ x }} <Badge text='a'/> %% b\n\n```js [a.js]\nc // [!code focus]\n```";
    for (const site of ["none", "starlight"] as const) {
      expect((await pageOf(site, text)).body, site).toContain("[[toc]]\n\n{{ x }} <Badge");
    }
    expect((await pageOf("none", text)).body).toBe(text);
  });

  it.each([
    [
      "vitepress",
      "layout: home\nhero:\n  name: Tool\n  text: for <b>you</b>\n  tagline: Fast.\n  actions:\n    - {theme: brand, text: Start, link: /start}\nfeatures:\n  - icon: x\n    title: Small\n    details: One file.\n    link: /small\n    linkText: Read",
      "**Tool for you**\n\nFast.\n\n[Start](/start)\n\n**Small**\n\nOne file.\n\n[Read](/small)\n\nMore.",
      "Tool",
    ],
    [
      "vuepress",
      "home: true\nheroText: Tool\ntagline: Fast.\nactionText: Start\nactionLink: /start/\nfeatures:\n- title: Small\n  details: One file.\nfooter: MIT",
      "**Tool**\n\nFast.\n\n[Start](/start/)\n\n**Small**\n\nOne file.\n\nMIT\n\nMore.",
      "Tool",
    ],
    [
      "starlight",
      "title: Page\ntemplate: splash\nhero:\n  tagline: Fast.\n  actions:\n    - {text: Start, link: /start/, icon: right-arrow}",
      "**Page**\n\nFast.\n\n[Start](/start/)\n\nMore.",
      "Page",
    ],
    ["starlight", "title: Page\nlayout: home\nfeatures: [{title: a}]", "More.", "Page"],
    ["none", "title: Page\nlayout: home\nhero: {name: Tool}", "More.", "Page"],
    ["vitepress", "layout: home\nhero: [1]\nfeatures: {a: 1}", "More.", "A"],
  ] as const)("of %s has its home page in front matter: %s", async (site, matter, body, title) => {
    const page = await pageOf(site, `${frontMatter(matter)}More.`);
    expect(page.body).toBe(body);
    expect(page.document.title).toBe(title);
    const { metadata } = page.document;
    expect(Object.keys(metadata).some((key) => /^hero[.T]/.test(key))).toBe(site === "none");
  });

  it("has the anchors of its headings", async () => {
    const text =
      '## Ärger & Mühe\n\na\n\n## 2. Teil\n\nb\n\n## `a.b()` "x"\n\nc\n\n## New <Badge text="^1.9"/>\n\nd\n\n## New\n\ne\n';
    const { document } = await pageOf(
      "vitepress",
      text,
      {},
      { sections: "headings", link: "https://x.example/{slug}" },
    );
    expect(
      document.sections.map(({ link = "" }) => decodeURIComponent(link.split("#")[1] ?? "")),
    ).toEqual(["arger-muhe", "_2-teil", "a-b-x", "new", "new-1"]);
  });

  it.each([
    ["open braces", (n: number) => "{{ a } b } c }\n\n".repeat(n)],
    ["tags", (n: number) => '<A :b="'.repeat(n)],
    ["raw containers", (n: number) => "::: v-pre\n".repeat(n)],
    ["raw elements", (n: number) => "<b v-pre>".repeat(n)],
    ["scripts", (n: number) => "<script setup>".repeat(n)],
    ["marks of fences", (n: number) => "```js [".repeat(n)],
  ])("is read in linear time: %s", (_what, make) => {
    const site: PageSite = {
      generator: "vitepress",
      prefix: "",
      value: () => undefined,
      data: () => ({}),
    };
    expectLinear(40_000, (size) => readMarkdown(make(size), "docs/a.md", { ...around, site }));
  });
});

describe("Markdown of Docusaurus", () => {
  it.each([
    ["MDX in .md", "a {/* no */}\n\n<Box title='T'>b</Box>", "a\n\n**T** b"],
    ["comments", "a\n\n<!-- no -->\n\nb", "a\n\nb"],
    ["imports below comments", "a\n\n<!-- no -->\nimport A from 'a'\n\n<A />\n\nb", "a\n\nb"],
    [
      "fences of MDX",
      "a\n\n```mdx-code-block\nimport A from 'a'\n\n<Box>b</Box>\n```\n\nc",
      "a\n\nb\n\nc",
    ],
    ["longer fences of MDX", "````mdx-code-block\n```js\na\n```\n````", "```js\na\n```"],
    ["the head", "a\n\n<head>\n  <title>no</title>\n</head>\n\nb", "a\n\nb"],
    [
      "titles of code",
      '```js title="src/a.js" {1,3-5} showLineNumbers\na\n```',
      "**src/a.js**\n\n```js\na\n```",
    ],
    [
      "marks of code",
      "```js\n// highlight-next-line\na\n# highlight-start\nb\n{/* highlight-end */}\n```",
      "```js\na\nb\n```",
    ],
    ["admonitions", ":::tip[Save **often**]\n\na\n\n:::", "**Tip: Save **often****\n\na"],
    ["own ids", "## Title {#own}\n\na", "## Title\n\na"],
    [
      "exported values",
      'export const v = "1.2";\nexport const o = {name: "n", size: 2};\n\n{v} {`v${v}`} {o.name} {`${o.size}`}',
      "1.2 v1.2 n 2",
    ],
    ["values of attributes", 'export const v = "1.2";\n\n<Box title={`v${v}`} />', "v1.2"],
  ])("shows %s", async (_what, text, body) => {
    const page = await pageOf("docusaurus", text);
    expect(page.body).toBe(body);
  });

  it("imports partials and data", async () => {
    const text =
      'import Part from "./_part.mdx";\nimport data from "@site/data.json";\n\n<Part name="you" />\n\n{data.version} {data.none}';
    const others = { "docs/_part.mdx": "Hello {props.name}\n", "data.json": '{"version": 1.10}' };
    const page = await pageOf("docusaurus", text, others);
    expect(page.body).toBe("Hello you\n\n1.10");
    expect(page.counted).toEqual(["expression 1: line 6: {data.none}"]);
  });

  it.each(["{broken", "[".repeat(50_000)])("goes on with broken data", async (data) => {
    const text = 'import data from "./x.json"\n\na {data.v}';
    const page = await pageOf("docusaurus", text, { "docs/x.json": data });
    expect(page.body).toBe("a");
    expect(page.counted).toHaveLength(1);
  });

  it("counts what its components hold in attributes", async () => {
    const text = 'a\n\n<Endpoint path="/users" method="GET" id="x" />\n';
    expect((await pageOf("docusaurus", text)).counted).toEqual([
      "attribute 2: line 3: path of Endpoint",
    ]);
    const options = { componentAttributes: ["method", "path"] };
    const page = await pageOf("docusaurus", text, {}, options);
    expect(page.body).toBe("a\n\nGET\n/users");
    expect(page.counted).toEqual([]);
  });

  it("shows the links of partials as their folder has them", async () => {
    const text = 'import Part from "../parts/_part.mdx"\n\n<Part />';
    const part = "[b](../more/b.md#x) [c](https://x.example/c.md) `[d](d.md)` [e](/e.md) [f](f)";
    const others = { "parts/_part.mdx": part };
    expect((await pageOf("docusaurus", text, others)).body).toBe(
      "[b](../more/b.md#x) [c](https://x.example/c.md) `[d](d.md)` [e](/e.md) [f](f)",
    );
    const page = await pageOf("docusaurus", text.replace("..", "../.."), others, {}, "docs/a/b.md");
    expect(page.body).toBe(
      "[b](../../more/b.md#x) [c](https://x.example/c.md) `[d](d.md)` [e](/e.md) [f](f)",
    );
  });

  it("takes no id from front matter that only names a page in its folder", async () => {
    const text = "---\nid: intro\n---\ntext";
    expect((await pageOf("docusaurus", text)).document.id).toBe("docs/a.md");
    expect((await pageOf("none", text)).document.id).toBe("intro");
    const options = { frontMatter: { id: "id" } };
    expect((await pageOf("docusaurus", text, {}, options)).document.id).toBe("intro");
  });

  it("imports from the folder of the site", async () => {
    const text = 'import Part from "/snippets/part.mdx";\n\n<Part />';
    const page = await pageOf(
      "docusaurus",
      text,
      { "web/snippets/part.mdx": "Hello" },
      {},
      "web/a/b.mdx",
    );
    expect(page.body).toBe("Hello");
  });

  it("imports by the aliases of tsconfig.json", async () => {
    const text =
      'import Part from "@parts/part.mdx";\nimport data from "@data/x.json";\n\n<Part /> {data.v}';
    const others = {
      "tsconfig.json":
        '{"compilerOptions": {"paths": {"@parts/*": ["src/_parts/*"], "@data/*": "x"}}}',
      "src/_parts/part.mdx": "Hello",
    };
    const page = await pageOf("starlight", text, others, {}, "src/content/docs/a.mdx");
    expect(page.body).toBe("Hello");
    expect(page.counted).toHaveLength(1);
    const brokenly = { ...others, "tsconfig.json": "{ // no" };
    const broken = await pageOf("starlight", `${text} a`, brokenly, {}, "a/b.mdx");
    expect(broken.counted.join()).toContain("@parts/part.mdx: no such file");
  });

  it.each([["title=a/b.json ins={2}"], ["title='a/b.json'"], ['{1} filename="a/b.json"']])(
    "shows the title of code: %s",
    async (rest) => {
      const page = await pageOf("starlight", `\`\`\`json ${rest}\na\n\`\`\``);
      expect(page.body).toBe("**a/b.json**\n\n```json\na\n```");
    },
  );

  it("names the fields of an interface", async () => {
    const text =
      '<ParamField query="limit" type="integer" required>\n  How many.\n</ParamField>\n\n<ResponseField name="id" type="string" />';
    const page = await pageOf("none", text, {}, {}, "a.mdx");
    expect(page.body).toBe("**limit integer required**\n  How many.\n\nid string");
    expect(page.counted).toEqual([]);
  });

  it("may be CommonMark, by its front matter", async () => {
    const text = "---\nmdx:\n  format: md\n---\na {b}";
    expect((await pageOf("docusaurus", text)).body).toBe("a {b}");
  });

  it("is not that of the files beside its configuration, and of other projects", async () => {
    expect((await pageOf("docusaurus", "a {b}", {}, {}, "README.md")).body).toBe("a {b}");
    expect((await pageOf("none", "a {b}")).body).toBe("a {b}");
    expect((await pageOf("docusaurus", "a {b}", {}, { generator: "none" })).body).toBe("a {b}");
  });

  it("is also in docs beside the folder of the website", async () => {
    const others = { "website/docusaurus.config.ts": "docs: { path: '../docs' }" };
    expect((await pageOf("none", "a {b}", others)).body).toBe("a");
    expect((await pageOf("none", "a {b}", others, {}, "other/a.md")).body).toBe("a {b}");
    const deeper = { "packages/site/docusaurus.config.ts": "docs: { path: '../../docs' }" };
    expect((await pageOf("none", "a {b}", deeper)).body).toBe("a");
    for (const path of ["docs", "en/docs"]) {
      const elsewhere = { "website/docusaurus.config.ts": `docs: { path: '${path}' }` };
      expect((await pageOf("none", "a {b}", elsewhere)).body).toBe("a {b}");
    }
  });
});

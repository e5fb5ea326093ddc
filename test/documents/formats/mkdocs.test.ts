import { describe, expect, it } from "vitest";
import type { Value } from "../../../src/documents/front-matter/values.ts";
import { readMarkdown } from "../../../src/documents/formats/markdown/markdown.ts";
import { expectLinear } from "../../cost.ts";
import { readDocument } from "../../../src/documents/inspect/read.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { createFolder, fileIn, type Options, readFolder } from "../folder.ts";
import { around, siteOf } from "./around.ts";

const everything: Readonly<Record<string, Value>> = {
  markdown_extensions: [
    "markdown.extensions.extra",
    "pymdownx.mark",
    "pymdownx.keys",
    "pymdownx.critic",
    "pymdownx.caret",
    "pymdownx.tilde",
    { "pymdownx.emoji": { emoji_index: null } },
  ],
  plugins: ["macros", { mkdocstrings: { handlers: "python" } }],
  "extra.version": "2.1",
  site_name: "Handbook",
};
const site = (values: typeof everything) => ({ ...around, site: siteOf("mkdocs", values) });
const readPage = (text: string, values = everything): ReturnType<typeof readMarkdown> =>
  readMarkdown(text, "docs/a.md", site(values));

describe("a page of MkDocs", () => {
  const cases: [string, string, string][] = [
    ["keys", 'Press ++ctrl+alt+page-up+"F"++.', "Press Ctrl+Alt+Page Up+F."],
    ["marked text", "a ==b c== d, e == f", "a b c d, e == f"],
    ["inserted and raised text", "^^new^^ and x^2^ and a ^ b", "new and x2 and a ^ b"],
    ["lowered and struck text", "H~2~O and ~~old~~", "H2O and ~~old~~"],
    ["edits", "{++new++} {--old--} {~~a~>b~~} {==c==}{>>d<<}", "new old a~>b cd"],
    ["icons", "a :octicons-tag-16: b :material-check:{ .x } :smile:", "a  b  :smile:"],
    ["abbreviations", "The HTML.\n\n*[HTML]: Hyper Text\n*[W3C]: World", "The HTML.\n\n\n"],
    ["a table of contents", "a\n\n[TOC]\n\nb", "a\n\n\n\nb"],
    ["variables", "{{ version }} of {{config.site_name}}", "2.1 of Handbook"],
    [
      "code",
      "`{{ version }} ==a==`\n\n```\n++a++ [TOC]\n```",
      "`{{ version }} ==a==`\n\n```\n++a++ [TOC]\n```",
    ],
  ];
  it.each(cases)("has %s", (_, text, body) => {
    expect(readPage(text).body).toBe(body);
  });

  it("includes files in code where the extension reads it first", async () => {
    const files = {
      "mkdocs.yml": "markdown_extensions: [markdown_include.include]\n",
      "docs/a.yaml": "---\na: b\n",
      "docs/a.md": "```yaml\n{!docs/a.yaml!}\n```\n",
    };
    const page = async (all: typeof files) => (await readFolder(all, "docs/a.md")).parsed?.body;
    expect(await page(files)).toBe("```yaml\n---\na: b\n```\n");
    const without = { ...files, "mkdocs.yml": "markdown_extensions: [toc]\n" };
    expect(await page(without)).toBe(files["docs/a.md"]);
  });

  it("has macros by the extension of Zensical as well", () => {
    const values = {
      ...everything,
      plugins: [],
      markdown_extensions: ["zensical.extensions.macros"],
    };
    expect(readPage("{{ version }} {% raw %}a{% endraw %}", values).body).toBe("2.1 a");
  });

  it("has the files that the plugin include-markdown names", async () => {
    const files = {
      "docs/a/b.md": '{% include-markdown "parts/c.md" %} {% include "parts/c.md" %} {% if x %}',
      "docs/parts/c.md": "[words](d.md)",
    };
    const textOf = async (plugins: string) =>
      (await readFolder({ ...files, "mkdocs.yml": plugins }, "docs/a/b.md")).parsed?.body;
    expect(await textOf("plugins:\n- include-markdown: {encoding: utf-8}\n")).toBe(
      "[words](../parts/d.md) [words](d.md) {% if x %}",
    );
    expect(await textOf("plugins: [search]\n")).toBe(files["docs/a/b.md"]);
  });

  it("has as text what no extension reads", () => {
    const without = { markdown_extensions: ["toc"], plugins: ["search"] };
    const all = cases
      .map(([, text]) => text)
      .filter((text) => !text.includes("[TOC]") && !text.includes("{ .x }"));
    for (const text of [...all, "{% if x %} {{< a >}}", "::: pkg.mod\n    options: x"]) {
      expect(readPage(text, without).body).toBe(text);
    }
    expect(readPage("{{ version }}", {}).body).toBe("{{ version }}");
    expect(readMarkdown("==a== ++b++", "a.md", around).body).toBe("==a== ++b++");
  });

  it("counts what only programs know", () => {
    const text =
      "::: pkg-x.module\n    options:\n      x: y\n\n    more\n\nText {{ unknown }} {{ f(1) }}\n";
    const { body, leftOut } = readPage(text);
    expect(body).toBe("\n\nText  \n");
    expect(leftOut).toEqual([
      { kind: "directive", what: "::: pkg-x.module", line: 1 },
      { kind: "expression", what: "{{ unknown }}", line: 7 },
      { kind: "expression", what: "{{ f(1) }}", line: 7 },
    ]);
  });

  it("takes linear time", () => {
    for (const part of [
      "++",
      "++a",
      "==",
      "==a ",
      "^^a",
      "^a",
      "~a",
      "{++",
      ":material-",
      "{{ ",
      "*[a",
      "::: a\n",
      "[TOC]",
    ]) {
      expectLinear(20_000, (size) => readPage(part.repeat(size)));
    }
  });
});

describe("a site of MkDocs", () => {
  const config =
    "site_name: H\ntheme:\n  custom_dir: pages/theme\nsite_url: https://h.example/en/\ndocs_dir: pages\nexclude_docs: |\n  /drafts/\n  *.tmp.md\n" +
    "markdown_extensions:\n  - pymdownx.snippets:\n      base_path: [parts]\n      auto_append: [parts/end.md]\n";
  const files = {
    "h/mkdocs.yml": config,
    "h/pages/index.md": "# Home\n",
    "h/pages/guide/README.md": "# Guide\n",
    "h/pages/guide/start here.md": "# Start\n",
    "h/pages/drafts/a.md": "# Draft\n",
    "h/pages/theme/main.html": "<p>{% block x %}</p>",
    "h/pages/b.tmp.md": "# Draft\n",
    "h/parts/one.md": "part one\n",
    "h/parts/end.md": "the end\n",
  };
  const linkOf = async (
    path: string,
    options: Options = {},
    text?: string,
  ): Promise<string | undefined> =>
    (
      await readFolder(text === undefined ? files : { ...files, "h/mkdocs.yml": text }, path, {
        linkStyle: "mkdocs",
        ...options,
      })
    ).document.sections[0]?.link;

  it.each([
    ["index.md", ""],
    ["guide/README.md", "guide/"],
    ["guide/start here.md", "guide/start%20here/"],
  ])("has the address of %s from its configuration", async (path, expected) => {
    expect(await linkOf(`h/pages/${path}`)).toBe(`https://h.example/en/${expected}`);
    const linkBase = "https://other.example";
    expect(await linkOf(`h/pages/${path}`, { linkBase })).toBe(`${linkBase}/${expected}`);
  });

  it.each([
    ["index.md", "index.html"],
    ["guide/README.md", "guide/index.html"],
    ["guide/start here.md", "guide/start%20here.html"],
  ])("has the file %s as address", async (path, expected) => {
    const text = `${config}use_directory_urls: false\n`;
    expect(await linkOf(`h/pages/${path}`, {}, text)).toBe(`https://h.example/en/${expected}`);
  });

  it("links pages of its folder", async () => {
    const page = { ...files, "h/pages/x.md": "[g](guide/README.md) [s](/guide/README.md)" };
    const { document } = await readFolder(page, "h/pages/x.md", { linkStyle: "mkdocs" });
    expect(document.sections[0]?.text).toContain(
      "[g](https://h.example/en/guide/) [s](https://h.example/en/guide/)",
    );
  });

  it("includes and appends as its configuration says", async () => {
    const page = {
      ...files,
      "h/mkdocs.yml": `${config}plugins:\n  - macros:\n      include_dir: bits\n`,
      "h/bits/two.md": "bit two\n",
      "h/pages/x.md": '--8<-- "one.md"\n\n{% include "two.md" %}\n',
    };
    const { document } = await readFolder(page, "h/pages/x.md");
    const lines = document.sections[0]?.text?.trim().split(/\n+/);
    expect(lines).toEqual(["part one", "bit two", "the end"]);
  });

  it.each(["h/pages/b.tmp.md", "h/pages/drafts/a.md", "h/pages/theme/main.html"])(
    "has no page of what it excludes: %s",
    async (path) => {
      const settings = compileSettings({ root: createFolder(files) });
      expect(await readDocument(fileIn(settings.root, path), settings)).toMatchObject({
        kind: "skipped",
        reason: "excluded from the site by h/mkdocs.yml",
      });
    },
  );

  it("goes on with a broken configuration", async () => {
    const broken = { ...files, "h/mkdocs.yml": "docs_dir: [\nplugins: macros" };
    const { document, notices } = await readFolder(broken, "h/pages/index.md");
    expect(document.sections).toHaveLength(1);
    expect(JSON.stringify(notices)).toContain("h/mkdocs.yml");
  });
});

describe("front matter of a site", () => {
  it("keeps a list of sources as metadata", async () => {
    const page = {
      "a.md": "---\nsource:\n  - a.py\n  - b.py\n---\n# [[A] b](https://x.example/y)\n",
    };
    const { document } = await readFolder(page, "a.md", {
      sections: "headings",
      link: "{slug}",
      linkBase: "https://x.example",
    });
    expect(document).toMatchObject({ title: "[A] b", metadata: { source: ["a.py", "b.py"] } });
  });
});

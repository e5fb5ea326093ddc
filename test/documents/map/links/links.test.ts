import { describe, expect, it } from "vitest";
import { checkTemplate } from "../../../../src/documents/map/links/template.ts";
import type { LinkStyle } from "../../../../src/documents/site/generators.ts";
import { compileSettings } from "../../../../src/documents/map/settings.ts";
import { type Options, createFolder, fileIn, readFolder, readOk } from "../../folder.ts";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findLinks, rewriteLinks } from "../../../../src/documents/map/links/rewrite-links.ts";
import type { Target } from "../../../../src/documents/map/links/targets.ts";
import { expectLinear } from "../../../cost.ts";
import { pathsInParts } from "../../../../src/documents/parts/parts.ts";
import {
  type Reading,
  readDocument,
  readDocumentSync,
} from "../../../../src/documents/inspect/read.ts";

describe("link", () => {
  function linkOf(path: string, options: Options, frontMatter = ""): string | undefined {
    const text = `${frontMatter && `---\n${frontMatter}\n---\n`}Text.`;
    return readOk(text, options, path).document.sections[0]?.link;
  }

  describe("a link template", () => {
    const base = "https://x.example/";
    it.each([
      ["docs/index.md", "{slug}", "docs"],
      ["docs/README.md", "{slug}", "docs"],
      ["docs/_index.md", "{slug}", "docs"],
      ["docs/reindex.md", "{slug}", "docs/reindex"],
      ["index.md", "{slug}", ""],
      ["index.md", "{slug}/", ""],
      ["docs/index.md", "{slug}/", "docs/"],
      ["docs/index.md", "{path}", "docs/index.md"],
      ["docs/index.md", "{dir}/{name}", "docs/index"],
      ["Docs/A.md", "{path|lower}", "docs/a.md"],
      ["content/a.md", "{path|strip:content/}", "a.md"],
      ["other/a.md", "{path|strip:content/}", "other/a.md"],
      ["docs/Guide/A.md", "{slug|strip:docs/|lower}", "guide/a"],
      ["docs/index.md", "{slug|strip:docs/}/", ""],
      ["docs/a b.md", "{ slug | strip: docs/ }", "a%20b"],
      ["index.md", "{slug}.html", ""],
      ["README.md", "{slug|lower}.html", ""],
      ["docs/index.md", "{slug}.html", "docs/"],
      ["docs/index.md", "{slug|strip:docs/}.html?v=1#top", "?v=1#top"],
      ["docs/\u00fcber uns.md", "{slug}.html", "docs/%C3%BCber%20uns.html"],
      ["a.md", "{dir}/{name}", "a"],
      ["a.md", "x/{dir}/{name}", "x/a"],
      ["docs/a.md", "x/{path|strip:docs}", "x/a.md"],
      ["a.md", "{dir}/{name}?from=https://x.example//y", "a?from=https://x.example//y"],
    ])("of %s with %s is %s", (path, template, expected) => {
      expect(linkOf(path, { link: base + template })).toBe(base + expected);
    });

    it("applies filters to front matter", () => {
      expect(linkOf("a.md", { link: `${base}{section|lower}/{slug}` }, "section: HR")).toBe(
        "https://x.example/hr/a",
      );
    });

    it.each([
      ["{path|lowr}", /--link: \{path\|lowr\}: unknown filter lowr; did you mean lower\?/],
      ["{path|constructor}", /unknown filter constructor/],
      ["{}", /\{\}: a place without a name/],
      ["x/{|lower}", /\{\|lower\}: a place without a name/],
      ["{path|}", /a filter without a name/],
      ["{path|strip}", /strip needs a prefix/],
      ["{path|lower:x}", /lower has no argument/],
    ])("%s is refused", (template, message) => {
      expect(() => checkTemplate(template, "--link")).toThrow(message);
    });

    it("is checked in flags, configuration and rules", () => {
      const compile = (options: Options) => (): unknown =>
        compileSettings({ root: "/", ...options });
      expect(compile({ flags: { link: "{a|b}" } })).toThrow("--link: {a|b}");
      expect(compile({ link: "{a|b}" })).toThrow("ingest.link: {a|b}");
      expect(compile({ rules: [{ match: "**", link: "{a|b}" }] })).toThrow("rule 1: link: {a|b}");
    });
  });

  describe("a link style", () => {
    const base = "https://x.example";
    const cases: [LinkStyle, string, string, string?][] = [
      ["docusaurus", "docs/guide/install.md", "docs/guide/install"],
      ["docusaurus", "docs/01-guide/2. install.md", "docs/guide/install"],
      ["docusaurus", "docs/2024-01-02.md", "docs/2024-01-02"],
      ["docusaurus", "docs/1.2-notes.md", "docs/1.2-notes"],
      ["docusaurus", "docs/01-guide/index.md", "docs/guide/"],
      ["docusaurus", "docs/guide/README.md", "docs/guide/"],
      ["docusaurus", "docs/guide/Guide.md", "docs/guide/"],
      ["docusaurus", "docs/guide/a.md", "docs/guide/b", "id: b"],
      ["docusaurus", "docs/guide/a.md", "docs/guide/c", "id: b\nslug: c"],
      ["docusaurus", "docs/guide/a.md", "docs/", "slug: /"],
      ["docusaurus", "docs/guide/a.md", "docs/d/e", "slug: /d/e"],
      ["docusaurus", "guide/a.md", "d", "slug: ../d"],
      ["docusaurus", "Docs/A B.md", "Docs/A%20B"],
      ["hugo", "content/Posts/My Post.md", "posts/my-post/"],
      ["hugo", "content/posts/_index.md", "posts/"],
      ["hugo", "content/posts/one/index.md", "posts/one/"],
      ["hugo", "content/posts/one/index.md", "posts/two/", "slug: two"],
      ["hugo", "content/posts/a.md", "posts/my-slug/", "slug: My Slug"],
      ["hugo", "content/posts/_index.md", "posts/", "slug: ignored"],
      ["hugo", "content/_index.md", ""],
      ["hugo", "content/a.md", "old/page.html", "url: /old/page.html"],
      ["mkdocs", "docs/guide/install.md", "guide/install/"],
      ["mkdocs", "docs/index.md", ""],
      ["mkdocs", "docs/guide/README.md", "guide/"],
      ["starlight", "src/content/docs/Guides/Get Started.md", "guides/get-started/"],
      ["starlight", "src/content/docs/index.md", ""],
      ["starlight", "src/content/docs/guides/index.md", "guides/"],
      ["starlight", "src/content/docs/a.md", "b/c/", "slug: b/c"],
      ["github", "docs/a b.md", "blob/HEAD/docs/a%20b.md"],
      ["github", "README.md", "blob/HEAD/README.md"],
      ["obsidian", "Folder/A note+.md", "Folder/A+note%2B"],
      ["obsidian", "index.md", "index"],
      ["obsidian", "\u00fcber.md", "%C3%BCber"],
      ["obsidian", "a.md", "own", "permalink: own"],
      ["myst", "docs/01_My-Page & more.md", "my-page-and-more"],
      ["myst", "docs/2024-01-02.md", "2024-01-02"],
      ["myst", "index.md", ""],
      ["quarto", "docs/a b.qmd", "docs/a%20b.html"],
      ["docfx", "index.md", ""],
      ["docfx", "docs/index.md", "docs/"],
      ["docfx", "docs/README.md", "docs/README.html"],
      ["docfx", "docs/a b.md", "docs/a%20b.html"],
    ];
    it.each(cases)("%s makes of %s the link %s", (linkStyle, path, expected, frontMatter = "") => {
      expect(linkOf(path, { linkStyle, linkBase: base }, frontMatter)).toBe(`${base}/${expected}`);
    });

    it("keeps the branch of the base, and files that are no pages", () => {
      const linkBase = "https://github.example/o/r/blob/main";
      expect(linkOf("a.md", { linkStyle: "github", linkBase })).toBe(`${linkBase}/a.md`);
      expect(linkOf("docs/a.txt", { linkStyle: "mkdocs", linkBase: base })).toBe(`${base}/a.txt`);
    });

    it("gives way to front matter, a flag and a rule, and its flag to none", () => {
      const options: Options = { linkStyle: "mkdocs", linkBase: base };
      expect(linkOf("docs/a.md", options, "permalink: /p")).toBe(`${base}/p`);
      expect(linkOf("docs/a.md", { ...options, flags: { link: "{path}" } })).toBe(
        `${base}/docs/a.md`,
      );
      const rules = [{ match: "docs/**", link: "r/{name}" }];
      expect(linkOf("docs/a.md", { ...options, rules })).toBe(`${base}/r/a`);
      const flags = { linkStyle: "hugo" as const };
      expect(linkOf("docs/a.md", { ...options, rules, flags })).toBe(`${base}/docs/a/`);
    });

    it("is refused beside a template", () => {
      const compile = (options: Options) => (): unknown =>
        compileSettings({ root: "/", ...options });
      const both = { link: "{path}", linkStyle: "hugo" as const };
      expect(compile({ flags: both })).toThrow("--link-style and --link both make links");
      expect(compile(both)).toThrow("ingest.linkStyle and ingest.link both make links");
    });

    it("makes anchors as the site does, unless a style is named", () => {
      const anchorsOf = (options: Options): string | undefined =>
        readOk(
          "# Größe\n\nx",
          { sections: "headings", linkBase: base, ...options },
          "docs/a.md",
        ).document.sections[0]?.link?.split("#")[1];
      expect(anchorsOf({ linkStyle: "mkdocs" })).toBe("groe");
      expect(anchorsOf({ linkStyle: "hugo" })).toBe("gr%C3%B6%C3%9Fe");
      expect(anchorsOf({ linkStyle: "mkdocs", anchors: "github" })).toBe("gr%C3%B6%C3%9Fe");
    });
  });
});

describe("rewrite", () => {
  const base = "https://x.example";
  const template: Options = { link: `${base}/{slug}` };

  function readIn(root: string, path: string, options: Options): Reading & { kind: "document" } {
    const reading = readDocumentSync(fileIn(root, path), compileSettings({ root, ...options }));
    if (reading.kind !== "document") throw new Error(`skipped: ${reading.reason}`);
    return reading;
  }

  function textOf(root: string, path: string, options: Options): string {
    return readIn(root, path, options)
      .document.sections.map(({ text }) => text)
      .join("\n\n");
  }

  const pages = {
    "guide/install.md": "Install.\n",
    "guide/index.md": "Guide.\n",
    "guide/deep/README.md": "Deep.\n",
    "guide/a b.md": "A b.\n",
    "guide/list.html.md": "List.\n",
    "guide/own.md": "---\npermalink: /own/#part\n---\nOwn.\n",
    "guide/broken.md": "---\na: [\n---\nBroken.\n",
    "guide/page.mdx": "---\nlink: https://y.example/page?x=1\n---\nPage.\n",
    "guide/file.zip": "zip",
    "guide/logo.png": "png",
    "guide/data.csv": "a,b\n",
    "guide/.env": "KEY=1\n",
    "guide/empty/x.txt": "Text.\n",
    "top.md": "Top.\n",
  };

  describe("relative links", () => {
    it.each([
      ["[a](install.md)", `[a](${base}/guide/install)`],
      ["[a](./install.md#setup)", `[a](${base}/guide/install#setup)`],
      ["[a](../top.md?x=%20y#z 'T')", `[a](${base}/top?x=%20y#z 'T')`],
      ["[a](<a b.md>)", `[a](${base}/guide/a%20b)`],
      ["[a](a%20b.md)", `[a](${base}/guide/a%20b)`],
      ["[a](install)", `[a](${base}/guide/install)`],
      ["[a](deep)", `[a](${base}/guide/deep)`],
      ["[a](deep/)", `[a](${base}/guide/deep)`],
      ["[a](.)", `[a](${base}/guide)`],
      ["[a](/guide/install.md)", `[a](${base}/guide/install)`],
      ["[a](/guide/)", `[a](${base}/guide)`],
      ["[a](install.html#x)", `[a](${base}/guide/install#x)`],
      ["[a](list.html)", `[a](${base}/guide/list.html)`],
      ["[a](own.md)", `[a](${base}/own/#part)`],
      ["[a](own.md#other)", `[a](${base}/own/#other)`],
      ["[a](page.mdx?y=2)", "[a](https://y.example/page?x=1&y=2)"],
      ["[a](broken.md)", `[a](${base}/guide/broken)`],
      ["[a][b]\n\n[b]: install.md", `[a][b]\n\n[b]: ${base}/guide/install`],
      ['<a href="install.md?a&amp;b">x</a>', `<a href="${base}/guide/install?a&amp;b">x</a>`],
      ["[![i](logo.png)](install.md)", `[![i](logo.png)](${base}/guide/install)`],
    ])("become the links of documents: %s", (text, expected) => {
      const root = createFolder({ ...pages, "guide/from.md": text });
      const reading = readIn(root, "guide/from.md", { ...template, linkBase: base });
      expect(reading.document.sections[0]?.text).toBe(expected);
      expect(reading.notices?.some(({ kind }) => kind === "deadLink")).toBe(false);
    });

    it.each([
      "[a](file.zip) ![b](logo.png) [c](logo.png) [d](data.csv)",
      "[a](../../outside.md) [b](.env) [c](empty)",
      "[a](#part) [b](https://z.example/install.md) [c](//z.example/a.md) [d](mailto:a@b.example)",
      "[b]({{ site.url }}/install.md)",
      "`[a](install.md)` and\n\n```\n[a](install.md)\n```",
    ])("to anything else stay: %s", (text) => {
      const root = createFolder({ ...pages, "guide/from.md": text });
      const reading = readIn(root, "guide/from.md", template);
      expect(reading.document.sections[0]?.text).toBe(text);
      expect(reading.notices?.some(({ kind }) => kind === "deadLink")).toBe(false);
    });

    it.each<[text: string, options: Options, expected: string]>([
      [
        "[a](/no/page?x#y) [b](/guide/install)",
        template,
        `[a](${base}/no/page?x#y) [b](${base}/guide/install)`,
      ],
      ["[a](/x) `[b](/x)` ![c](/x.png)", template, `[a](${base}/x) \`[b](/x)\` ![c](/x.png)`],
      [
        '[a]: /x "T"\n\n<a href="/y&amp;z">',
        template,
        `[a]: ${base}/x "T"\n\n<a href="${base}/y&amp;z">`,
      ],
      ["[a](/x)", { link: `${base}/v2/{slug}` }, `[a](${base}/x)`],
      ["[a](/x)", { linkStyle: "mkdocs", linkBase: `${base}/v2` }, `[a](${base}/x)`],
      ["[a](/x)", { linkStyle: "docusaurus", linkBase: `${base}/v2/` }, `[a](${base}/v2/x)`],
      ["[a](/x)", { link: "notes:{slug}" }, "[a](/x)"],
      ["[a](//y.example/x)", template, "[a](//y.example/x)"],
    ])("from the root of the site are of the site: %s with %j", (text, options, expected) => {
      const root = createFolder({ ...pages, "guide/from.md": text });
      expect(textOf(root, "guide/from.md", options)).toBe(expected);
    });

    it("stay without a template, unless they are to be rewritten", () => {
      const text = "[a](own.md) [b](install.md)";
      const root = createFolder({ ...pages, "guide/from.md": text });
      const linkBase = base;
      expect(textOf(root, "guide/from.md", { linkBase })).toBe(text);
      expect(textOf(root, "guide/from.md", { linkBase, links: "rewrite" })).toBe(
        `[a](${base}/own/#part) [b](install.md)`,
      );
      expect(textOf(root, "guide/from.md", { ...template, links: "keep" })).toBe(text);
    });

    it("that are dead are counted, with the line of the file", () => {
      const open = "<!-- knowctl:ignore -->\nx\n<!-- /knowctl:ignore -->\n";
      const text = `---\na: b\n---\n${open}[a](install.md)\n[b](gone.md#x) [c](./gone)\n`;
      const root = createFolder({ ...pages, "guide/from.md": text });
      const reading = readIn(root, "guide/from.md", template);
      expect(reading.notices).toContainEqual({
        kind: "deadLink",
        name: "",
        times: 2,
        example: "8: gone.md#x",
      });
      expect(reading.document.sections[0]?.text).toContain("[b](gone.md#x) [c](./gone)");
    });

    it("are the parts of the document, with the files that were looked for", () => {
      const root = createFolder({
        ...pages,
        "guide/from.md": "[a](install.md) [b](gone.md) [c](page)",
      });
      const { parts = "" } = readIn(root, "guide/from.md", template);
      expect(pathsInParts(parts)).toEqual([
        "guide/install.md",
        "guide/gone.md",
        "guide/page",
        "guide/page.md",
        "guide/page.mdx",
      ]);
    });

    it("never lead out of the root through a symbolic link", () => {
      const outside = createFolder({ "secret.md": "---\nlink: https://secret.example\n---\nx" });
      const root = createFolder({ "from.md": "[a](link.md) [b](folder/secret.md)" });
      symlinkSync(join(outside, "secret.md"), join(root, "link.md"));
      symlinkSync(outside, join(root, "folder"));
      expect(textOf(root, "from.md", template)).toBe("[a](link.md) [b](folder/secret.md)");
    });

    it("keep sections and images in their places", () => {
      const png = Buffer.from("\x89PNG\r\n\x1a\nx", "latin1");
      const text =
        "# A\n\n[a](install.md) ![i](i.png)\n\n# B\n\n[b](install.md)\n\n# C\n\n![j](j.png)\n";
      const root = createFolder({ ...pages, "guide/from.md": text, "guide/i.png": png });
      writeFileSync(join(root, "guide/j.png"), Buffer.concat([png, png]));
      const options: Options = { ...template, sections: "headings", images: "upload" };
      const { document } = readIn(root, "guide/from.md", options);
      expect(document.sections.map(({ link }) => link?.split("#")[1])).toEqual([
        "a",
        "a",
        "b",
        "c",
        "c",
      ]);
    });

    it("of a site resolve as in a browser", () => {
      const root = createFolder({
        "content/posts/one.md": "[a](../two/) [b](two.md) [c](/posts/two/) [d](_index.md)",
        "content/posts/two.md": "---\nslug: second\n---\nTwo.",
        "content/posts/_index.md": "[a](one/) Posts.",
      });
      const options: Options = { linkStyle: "hugo", linkBase: base };
      const two = `${base}/posts/second/`;
      expect(textOf(root, "content/posts/one.md", options)).toBe(
        `[a](${two}) [b](${two}) [c](${two}) [d](${base}/posts/)`,
      );
      expect(textOf(root, "content/posts/_index.md", options)).toBe(
        `[a](${base}/posts/one/) Posts.`,
      );
    });

    it("of Hugo find files whose names have capital letters", () => {
      const text =
        "[a](../promtail-api/#x) [b](../PROMTAIL-api/) [c](../ref/) [d](/posts/sub/deep-page) [e](promtail-api.md) [f](../gone/)";
      const root = createFolder({
        "content/Posts/One.md": text,
        "content/Posts/Promtail-API.md": "---\nslug: own\n---\nApi.",
        "content/Posts/Ref/_index.md": "Reference.",
        "content/Posts/Sub/Deep-Page.md": "Deep.",
      });
      const { document, notices, parts } = readIn(root, "content/Posts/One.md", {
        linkStyle: "hugo",
        linkBase: base,
      });
      const own = `${base}/posts/own/`;
      expect(document.sections[0]?.text).toBe(
        `[a](${own}#x) [b](${own}) [c](${base}/posts/ref/) [d](${base}/posts/sub/deep-page/) [e](${own}) [f](../gone/)`,
      );
      expect(notices?.find(({ kind }) => kind === "deadLink")?.times).toBe(1);
      expect(pathsInParts(parts ?? "")).toContain("content/Posts/Promtail-API.md");
      const other = readIn(root, "content/Posts/One.md", { ...template, linkBase: base });
      expect(other.document.sections[0]?.text).toContain("(../promtail-api/#x)");
    });

    it("without an extension may count from the page, where nobody named a style", () => {
      const root = createFolder({
        "posts/one.md": "[a](../two/) [b](part/#x) [c](near) [d](two.md)",
        "posts/two.md": "Two.",
        "posts/one/part.md": "Part.",
        "posts/near.md": "Near.",
        "posts/one/near.md": "Other.",
        "posts/index.md": "[a](../posts/two) Posts.",
      });
      expect(textOf(root, "posts/one.md", template)).toBe(
        `[a](${base}/posts/two) [b](${base}/posts/one/part#x) [c](${base}/posts/near) [d](${base}/posts/two)`,
      );
    });

    it("with a slash lead to a page only where addresses end with one", () => {
      const root = createFolder({
        "two.md": "English.",
        "guide/README.md": "Guide.",
        "it/guide.md": "Guida.",
        "it/two.md": "Italian.",
        "it/one.md": "[a](../two/) [b](../two) [c](../guide/)",
      });
      expect(textOf(root, "it/one.md", template)).toBe(
        `[a](${base}/it/two) [b](${base}/two) [c](${base}/guide)`,
      );
    });

    it("to the start page of a site lead to a page of the site, not to the README of the project", () => {
      const root = createFolder({ "README.md": "Code.", "content/en/a.md": "[a](/#news)" });
      const hugo: Options = { linkStyle: "hugo", linkBase: base };
      expect(textOf(root, "content/en/a.md", hugo)).toBe(`[a](${base}/#news)`);
      const paths: Options = { link: `${base}/{path}` };
      expect(textOf(root, "content/en/a.md", paths)).toBe(`[a](${base}/README.md#news)`);
    });

    it("to files count from the folder of the docs as well in Docusaurus", () => {
      const root = createFolder({
        "docs/api/store.md": "Store.",
        "docs/guide/store.md": "Other.",
        "docs/guide/a.md": "[a](api/store.md) [b](store.md) [c](api/none.md)",
      });
      const docusaurus: Options = { linkStyle: "docusaurus", linkBase: base };
      expect(textOf(root, "docs/guide/a.md", docusaurus)).toBe(
        `[a](${base}/docs/api/store) [b](${base}/docs/guide/store) [c](api/none.md)`,
      );
    });

    it("of Antora count from the pages of their module", async () => {
      const root = createFolder({
        "docs/modules/ROOT/nav.adoc": "* xref:guide/a.adoc[A]\n",
        "docs/modules/ROOT/pages/guide/a.adoc": "= A\n\nxref:b.adoc[B] xref:./c.adoc[C]\n",
        "docs/modules/ROOT/pages/b.adoc": "= B\n",
        "docs/modules/ROOT/pages/guide/b.adoc": "= Other B\n",
        "docs/modules/ROOT/pages/guide/c.adoc": "= C\n",
      });
      const settings = compileSettings({ root, link: `${base}/{name}-of-{dir}` });
      const textIn = async (path: string): Promise<string> =>
        JSON.stringify(await readDocument(fileIn(root, path), settings));
      expect(await textIn("docs/modules/ROOT/nav.adoc")).toContain(
        `(${base}/a-of-docs/modules/ROOT/pages/guide)`,
      );
      const text = await textIn("docs/modules/ROOT/pages/guide/a.adoc");
      expect(text).toContain(`[B](${base}/b-of-docs/modules/ROOT/pages)`);
      expect(text).toContain(`[C](${base}/c-of-docs/modules/ROOT/pages/guide)`);
    });

    it.each<[string, string, Options]>([
      ["content/posts/one.md", "[a](term)", { linkStyle: "hugo", linkBase: base }],
      ["one.md", "[a](term) [b](@scope#c) [c](two_words)", template],
      ["one.rst", "`Index <genindex.html>`_", template],
      ["one.md", "[a](../std/index.html#x) [b](two.html)", template],
      ["one.md", "[a](git@host.example:a/b.git)", template],
      [
        "one.md",
        "[a](@/b.md) [b](@site/docs/c.md) [c](~/d.md) [d](${x}/e.md) [e](<%= f %>)",
        template,
      ],
      ["docs/one.md", "[a](../../tree/main/x) [b](../../issues/)", template],
      ["docs/modules/ROOT/pages/guide/one.adoc", "xref:other:m:page.adoc[A]", template],
    ])("that the folder cannot know are not dead: %s", async (path, text, options) => {
      const root = createFolder({ [path]: `${text}\n` });
      const settings = compileSettings({ root, ...options });
      const reading = await readDocument(fileIn(root, path), settings);
      const notices = reading.kind === "document" ? (reading.notices ?? []) : undefined;
      expect(notices?.some(({ kind }) => kind === "deadLink")).toBe(false);
    });

    it.each([
      ["[a](Travel-Policy)", template],
      ["[a](LICENSE)", template],
      ["[a](./term)", template],
      ["[a](guide/term)", template],
      ["[a](../x/no/) [b](no/)", template],
      ["[a](two.html)", { linkStyle: "github", linkBase: base } as const],
      ["[a](term.md)", template],
      ["[a]([a-z0-9]*)", template],
      ["[a](term)", { linkStyle: "docusaurus", linkBase: base } as const],
    ])("to no file are dead: %s", async (text, options) => {
      const root = createFolder({ "one.md": `${text}\n` });
      const settings = compileSettings({ root, ...options });
      const reading = await readDocument(fileIn(root, "one.md"), settings);
      const notices = reading.kind === "document" ? (reading.notices ?? []) : [];
      expect(notices.some(({ kind }) => kind === "deadLink")).toBe(true);
    });

    it("are found whichever way their names are composed", () => {
      const root = createFolder({
        "from.md": "[a](b\u00fc.md) [b](o\u0308.md)",
        "bu\u0308.md": "x",
      });
      writeFileSync(join(root, "\u00f6.md"), "x");
      expect(textOf(root, "from.md", template)).toBe(`[a](${base}/b%C3%BC) [b](${base}/%C3%B6)`);
    });

    it("are rewritten in linear time, and only so many are looked up", () => {
      let looked = 0;
      const missing = { kind: "none", stamp: "", link: () => undefined } as const;
      const document = { kind: "document", stamp: "", link: () => "https://x.example/y" } as const;
      const at = (path: string): Target => (looked++, path === "same.md" ? document : missing);
      const file = {
        path: "a.md",
        style: undefined,
        site: { prefix: "", data: {} },
        targets: { at, inOtherCase: () => undefined },
        note: () => {},
      };
      const many = (size: number): string =>
        Array.from({ length: size / 20 }, (_, index) => `[a](same.md) [b](${index}.md)`).join("\n");
      expectLinear(400_000, (size) => rewriteLinks(many(size), file));
      looked = 0;
      expect(rewriteLinks(many(400_000), file).dead).toBe(9_999);
      expect(looked).toBe(10_000);
    });
  });
});

describe("find links", () => {
  const targetsIn = (text: string): string[] => findLinks(text).map(({ target }) => target);

  describe("links of Markdown text", () => {
    it.each([
      ["[a](b.md) and [c](d.md#e 'title')", ["b.md", "d.md#e"]],
      ["[a](<b c.md>) [d]( e.md )", ["b c.md", "e.md"]],
      ["[a](b\\_c.md?x=1&amp;y=2)", ["b_c.md?x=1&y=2"]],
      ["[a](b(1).md)", ["b(1).md"]],
      ["[![alt](image.png)](page.md)", ["page.md"]],
      ["![alt](image.png)", []],
      ["[a [b] c](d.md)", ["d.md"]],
      ["\\[a](b.md)", []],
      ["[a](two words)", []],
      ["[a]()", []],
      ["`[a](b.md)` [c](d.md)", ["d.md"]],
      ["```\n[a](b.md)\n```\n[c](d.md)", ["d.md"]],
      ["<!--\n[a](b.md)\n-->\n[c](d.md)", ["d.md"]],
      ["x <!-- [a](b.md) --> [c](d.md) `<!-- [e](f.md)` [g](h.md) -->", ["d.md", "h.md"]],
      ["<!-- [b]: c.md -->\n[d]: e.md\n", ["e.md"]],
      ["[a]\n\n(b.md)", []],
      ["[a\n\nb](c.md)", []],
      ["[a][b]\n\n[b]: c.md 'Title'\n[d]: <e f.md>\n", ["c.md", "e f.md"]],
      ["[b]: c.md\n[B]: later.md\n[c]: d.md\n", ["c.md", "d.md"]],
      ["[b]: c.md and more words\n", []],
      ["[a]:\n[b c]: d.md\n[e]:\n  f.md\n", ["d.md", "f.md"]],
      ["[^1]: note\n", []],
      ["    [b]: c.md\n", ["c.md"]],
      ['<a class="x" href="b.md?c&amp;d">e</a>', ["b.md?c&d"]],
      ["<a href='b.md'>e</a> <A HREF=c.md>d</A> <a>x</a> <a href={b}>x</a>", ["b.md", "c.md"]],
      ["<abbr href='b.md'>", []],
      ["<https://x.example/a.md>", []],
    ])("of %j are %j", (text, targets) => {
      expect(targetsIn(text)).toEqual(targets);
    });

    it("have the offsets of their addresses", () => {
      const text = "[a](<b.md>) <a href='c.md'>x</a>\n\n[d]: e.md\n";
      expect(findLinks(text).map(({ start, end }) => text.slice(start, end))).toEqual([
        "<b.md>",
        "'c.md'",
        "e.md",
      ]);
    });

    it.each([
      "[",
      "]",
      "](",
      "[a](",
      "[a](b",
      "[a](b ",
      "[a](<",
      "[a](b.md)",
      "[a]:",
      "[a]: b\n",
      "[a]: <",
      "<a ",
      "<a href=",
      '<a href="',
      "<a href='x\n",
      "(",
      "`",
      "\\",
      "[`",
    ])("are found in linear time in a repetition of %j", (part) => {
      expectLinear(400_000, (size) => findLinks(part.repeat(size / part.length)));
    });
  });
});

describe("the links of sites with a configuration", () => {
  const linkIn = async (
    files: Record<string, string>,
    path: string,
    linkStyle: "antora" | "sphinx",
  ): Promise<string | undefined> => {
    const options = { linkStyle, linkBase: "https://a.example" };
    return (await readFolder({ ...files, [path]: "text\n" }, path, options)).document.sections[0]
      ?.link;
  };

  it.each([
    ["name: n\nversion: '2.0'", "modules/m/pages/x/a b.adoc", "n/2.0/m/x/a%20b.html"],
    ["name: n\nversion: ~", "modules/ROOT/pages/index.adoc", "n/index.html"],
    ["name: ROOT\nversion: master", "modules/ROOT/pages/index.adoc", "index.html"],
    ["", "modules/m/pages/a.adoc", "m/a.html"],
    ["name: n", "README.adoc", "README.adoc"],
  ])("%j %s", async (antora, path, link) => {
    const files = { "docs/antora.yml": antora };
    expect(await linkIn(files, `docs/${path}`, "antora")).toBe(`https://a.example/${link}`);
  });

  it.each([
    ["docs/a/index.rst", "a/index.html"],
    ["docs/b.rst", "b.html"],
    ["c.rst", "c.html"],
  ])("%s", async (path, link) => {
    const files = { "docs/conf.py": "" };
    expect(await linkIn(files, path, "sphinx")).toBe(`https://a.example/${link}`);
  });
});

import { describe, expect, it } from "vitest";
import { compileSettings } from "../../../../src/documents/map/settings.ts";
import { readDocument } from "../../../../src/documents/inspect/read.ts";
import { createFolder, fileIn, type Options } from "../../folder.ts";

const base = "https://x.example";

/** Link and text of a page of a folder of files, and its dead links. */
async function pageOf(files: Record<string, string>, path: string, options: Options) {
  const root = createFolder(files);
  const settings = compileSettings({ root, linkBase: base, ...options });
  const reading = await readDocument(fileIn(root, path), settings);
  if (reading.kind !== "document") throw new Error(`skipped: ${reading.reason}`);
  const [section] = reading.document.sections;
  const dead = (reading.notices ?? []).filter(({ kind }) => kind === "deadLink");
  return {
    link: section?.link?.replace(`${base}/`, ""),
    text: section?.text?.trim(),
    dead: dead.length,
  };
}

describe("links of Docusaurus", () => {
  const options: Options = { linkStyle: "docusaurus" };
  const versions = { "web/docusaurus.config.js": "", "web/versions.json": '["2.0", "1.0"]' };
  const plain = { "web/docusaurus.config.js": "" };
  const atRoot = {
    "web/docusaurus.config.js":
      "presets: [['classic', { docs: { sidebarPath: 'x', routeBasePath: '/' } }]]",
  };

  it.each([
    [plain, "web/docs/01-start/02-first.md", "", "docs/start/first"],
    [plain, "web/docs/index.md", "", "docs/"],
    [plain, "web/docs/a/a.md", "", "docs/a/"],
    [plain, "web/docs/a/b.md", "id: own", "docs/a/own"],
    [plain, "web/docs/a/b.md", "slug: /top", "docs/top"],
    [plain, "web/docs/a/b.md", "slug: ../c", "docs/c"],
    [plain, "web/blog/2024-01-31-hello-you.md", "", "blog/2024/01/31/hello-you"],
    [plain, "web/blog/2024-01-31-hello/index.mdx", "", "blog/2024/01/31/hello"],
    [plain, "web/blog/2024/01/31/hello.md", "", "blog/2024/01/31/hello"],
    [plain, "web/blog/2024-01-31-a.md", "slug: a-b", "blog/a-b"],
    [plain, "web/src/pages/about/index.md", "", "about"],
    [plain, "web/community/team.md", "", "community/team"],
    [versions, "web/docs/a.md", "", "docs/next/a"],
    [versions, "web/versioned_docs/version-2.0/a.md", "", "docs/a"],
    [versions, "web/versioned_docs/version-1.0/b/a.md", "slug: /c", "docs/1.0/c"],
    [versions, "web/i18n/fr/docusaurus-plugin-content-docs/current/a.md", "", "fr/docs/next/a"],
    [versions, "web/i18n/fr/docusaurus-plugin-content-docs/version-2.0/a.md", "", "fr/docs/a"],
    [
      versions,
      "web/i18n/fr/docusaurus-plugin-content-blog/2024-01-31-a.md",
      "",
      "fr/blog/2024/01/31/a",
    ],
    [atRoot, "web/docs/a/b.md", "", "a/b"],
    [atRoot, "web/docs/index.md", "", ""],
  ] as const)("a page has its address: %s %s %s", async (site, path, matter, expected) => {
    const text = matter === "" ? "text" : `---\n${matter}\n---\ntext`;
    expect((await pageOf({ ...site, [path]: text }, path, options)).link).toBe(expected);
  });

  it.each([
    ["../b", "docs/b"],
    ["./other", "docs/start/other"],
    ["other#x", "docs/start/other#x"],
    ["named", "docs/start/named"],
    ["../more/", "docs/more/"],
    ["/docs/b", "docs/b"],
    ["02-other.md", "docs/start/other"],
    ["more/index.md", "docs/more/"],
    ["@site/docs/b.md", "docs/b"],
    ["/b.md", "docs/b"],
    ["/docs/b.mdx", undefined],
    ["pathname:///files/a.pdf", "files/a.pdf"],
  ])("a link leads to its page: %s", async (target, expected) => {
    const files = {
      ...plain,
      "web/docs/01-start/01-first.md": `[x](${target})`,
      "web/docs/01-start/02-other.md": "text",
      "web/docs/01-start/03-c.md": "---\nslug: named\n---\ntext",
      "web/docs/02-more/index.md": "text",
      "web/docs/more/index.md": "text",
      "web/docs/b.md": "text",
    };
    const page = await pageOf(files, "web/docs/01-start/01-first.md", options);
    expect(page.text).toBe(`[x](${base}/${expected ?? target.slice(1)})`);
    expect(page.dead).toBe(0);
  });

  it("a link leads to a page of its own version and language", async () => {
    const files = {
      ...versions,
      "web/docs/a.md": "[x](./b) [y](b.md)",
      "web/docs/b.md": "text",
      "web/versioned_docs/version-1.0/c/a.md": "[x](../b) [y](b.md) [z](gone)",
      "web/versioned_docs/version-1.0/b.md": "text",
    };
    const next = await pageOf(files, "web/docs/a.md", options);
    expect(next.text).toBe(`[x](${base}/docs/next/b) [y](${base}/docs/next/b)`);
    const old = await pageOf(files, "web/versioned_docs/version-1.0/c/a.md", options);
    expect(old.text).toBe(`[x](${base}/docs/1.0/b) [y](${base}/docs/1.0/b) [z](gone)`);
    expect(old.dead).toBe(1);
  });

  it.each([
    ["website/", "docs: { path: '../docs', routeBasePath: 'guide' }"],
    [
      "packages/site/",
      "docs: { path: '../rules', routeBasePath: 'rules' }, other: { path: '../../docs', routeBasePath: '/guide' }",
    ],
  ])("a page of docs beside %s has the addresses of the website", async (folder, config) => {
    const files = {
      [`${folder}docusaurus.config.js`]: config,
      [`${folder}versions.json`]: '["1.0"]',
      "packages/other/README.md": "text",
      "docs/a.md": "[x](b) [y](/packages/other)",
      "docs/b.md": "text",
    };
    const page = await pageOf(files, "docs/a.md", options);
    expect(page).toMatchObject({
      link: "guide/next/a",
      text: `[x](${base}/guide/next/b) [y](${base}/packages/other)`,
    });
  });

  it("an address of Docusaurus leads to no README outside of the pages", async () => {
    const files = {
      "web/docusaurus.config.js": "",
      "web/README.md": "---\nslug: /front\n---\ntext",
      "packages/x/README.md": "text",
      "web/docs/a.md": "[x](/?a=1#b) [y](/packages/x)",
    };
    const page = await pageOf(files, "web/docs/a.md", options);
    expect(page.text).toBe(`[x](${base}/?a=1#b) [y](${base}/packages/x)`);
  });

  it("a broken list of versions is told", async () => {
    const root = createFolder({
      "docusaurus.config.js": "",
      "versions.json": "[",
      "docs/a.md": "text",
    });
    const settings = compileSettings({ root, linkBase: base, ...options });
    const reading = await readDocument(fileIn(root, "docs/a.md"), settings);
    expect(reading).toMatchObject({ notices: [{ kind: "site" }, { kind: "made" }] });
  });
});

describe("links of VitePress", () => {
  const options: Options = { linkStyle: "vitepress" };
  const at = (config: string) => ({ "docs/.vitepress/config.mts": config });

  it.each([
    ["", "docs/guide/a.md", "guide/a.html"],
    ["", "docs/guide/index.md", "guide/"],
    ["", "docs/index.md", ""],
    ["export default { cleanUrls: true }", "docs/guide/a.md", "guide/a"],
    ["export default { srcDir: './src', cleanUrls: false }", "docs/src/a.md", "a.html"],
    ["rewrites: { 'en/:rest*': ':rest*' }", "docs/en/guide/a.md", "guide/a.html"],
    ["rewrites: { 'en/:rest*': ':rest*' }", "docs/en/index.md", ""],
    ["rewrites: { 'en/:rest*': ':rest*' }", "docs/chosen/a.md", "chosen/a.html"],
    ["rewrites: { 'x/:n': ':n' }", "docs/x/a/b.md", "x/a/b.html"],
    ["rewrites: { 'x/:n*/y.md': ':n*' }", "docs/x/b/y.md", "x/b/y.html"],
    ["rewrites: { 'x/:n/src/(.*)': 'y' }", "docs/x/one/src/a.md", "x/one/src/a.html"],
    [
      "rewrites: { 'x.md': 'z.md', 'x/:n/src/:slug*': 'y/:n/:slug*' }",
      "docs/x/one/src/a/b.md",
      "y/one/a/b.html",
    ],
    ["rewrites: { 'x.md': 'z/w.md', 'x/:n': ':n' }", "docs/x.md", "z/w.html"],
    ["srcDir: 'src', rewrites: { 'x/:n.md': ':n.md' }", "docs/src/x/y.md", "y.html"],
    ["srcDir: 'src', rewrites: { 'x/:n.md': ':n.md' }", "docs/src/x/y/z.md", "x/y/z.html"],
  ])("a page has its address: %s %s", async (config, path, expected) => {
    expect((await pageOf({ ...at(config), [path]: "text" }, path, options)).link).toBe(expected);
  });

  it.each(["./b", "b.md", "b.html", "/guide/b", "/guide/b.html#x", "../guide/b"])(
    "a link leads to its page: %s",
    async (target) => {
      for (const folder of ["docs", "docs/en", "docs/src"]) {
        const files = {
          ...at(folder === "docs/src" ? "srcDir: 'src'" : ""),
          [`${folder}/guide/a.md`]: `[x](${target})`,
          [`${folder}/guide/b.md`]: "text",
        };
        const page = await pageOf(files, `${folder}/guide/a.md`, options);
        const language = folder === "docs/en" ? "en/" : "";
        const hash = target.includes("#") ? "#x" : "";
        expect(page.text, folder).toBe(`[x](${base}/${language}guide/b.html${hash})`);
      }
    },
  );

  it.each([
    ["anchor: { slugify }", ["", "#my_id"], 1],
    ["import { slugify } from './own'\nmarkdown: { anchor: { slugify } }", ["", "#my_id"], 1],
    ["anchor: { level: [2, 3], slugify: (s) => slug(s) }", ["", "#my_id"], 1],
    ["import { slugify as s } from '@mdit-vue/shared'\nslugify: s,", ["#_1-a-b", "#my_id"], 0],
    ["import { slug } from 'github-slugger'\nanchor: { slugify: slug }", ["#1-a--b", "#my_id"], 0],
    ["// anchor: { slugify: x }", ["#_1-a-b", "#my_id"], 0],
  ])("anchors are those of its slugify, if that is known: %s", async (config, hashes, told) => {
    const root = createFolder({
      "docs/.vitepress/config/index.ts": "export default {}",
      "docs/.vitepress/config/shared.ts": config,
      "docs/a.md": "## 1. A & B\n\nx\n\n## C {#my_id}\n\ny\n",
    });
    const settings = { root, linkBase: base, ...options, sections: "headings" as const };
    const reading = await readDocument(fileIn(root, "docs/a.md"), compileSettings(settings));
    if (reading.kind !== "document") throw new Error(reading.reason);
    expect(reading.document.sections.map(({ link }) => link?.replace(/.*html/, ""))).toEqual(
      hashes,
    );
    expect(reading.notices?.filter(({ kind }) => kind === "site")).toHaveLength(told);
    const own = await readDocument(
      fileIn(root, "docs/a.md"),
      compileSettings({ ...settings, anchors: "github" }),
    );
    expect(own).toMatchObject({ document: { sections: [{ link: `${base}/a.html#1-a--b` }, {}] } });
    expect(JSON.stringify(own)).not.toContain("slugify");
  });

  it("a link to no page is dead", async () => {
    const files = { ...at(""), "docs/a.md": "[x](./gone) [y](gone.md)" };
    expect((await pageOf(files, "docs/a.md", options)).dead).toBe(1);
  });
});

describe("links of DocFX", () => {
  it.each([
    [["articles"], "a.html"],
    [["articles", "api"], "articles/a.html"],
    [["../articles"], "articles/a.html"],
  ])("count from the folder of its files: %j", async (sources, link) => {
    const content = sources.map((src) => ({ src, files: ["**/*.md"] }));
    const files = { "docfx.json": JSON.stringify({ build: { content } }), "articles/a.md": "text" };
    expect((await pageOf(files, "articles/a.md", { linkStyle: "docfx" })).link).toBe(link);
  });
});

describe("links of Starlight", () => {
  it("a link leads to a page by its address", async () => {
    const files = {
      "astro.config.mjs": "",
      "src/content/docs/Guides/My Page.mdx": "[x](../own-slug/) [y](/guides/my-page/)",
      "src/content/docs/Guides/b.md": "---\nslug: guides/own-slug\n---\ntext",
    };
    const page = await pageOf(files, "src/content/docs/Guides/My Page.mdx", {
      linkStyle: "starlight",
    });
    expect(page.text).toBe(`[x](${base}/guides/own-slug/) [y](${base}/guides/my-page/)`);
    expect(page.link).toBe("guides/my-page/");
  });
});

import { valueAt } from "../../../src/documents/front-matter/values.ts";
import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { IngestSettings } from "../../../src/config/values/schema.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { configOf, parseConfig } from "../../../src/documents/site/config.ts";
import { excludedReason } from "../../../src/documents/site/excluded.ts";
import { generatorNames, generators } from "../../../src/documents/site/generators.ts";
import { partialReason, siteDigest, siteOf, siteText } from "../../../src/documents/site/sites.ts";
import { explainDocument } from "../../../src/documents/inspect/explain.ts";
import { readDocumentSync } from "../../../src/documents/inspect/read.ts";
import { expectLinear } from "../../cost.ts";
import { createFolder, fileIn } from "../folder.ts";

const siteAt = (files: Record<string, string>, path: string, generator?: "hugo" | "none") => {
  const settings = compileSettings({ root: createFolder(files), generator });
  const site = siteOf(path, settings);
  return { site: site && siteText(site), config: site && configOf(site, settings), settings };
};

describe("the site of a file", () => {
  it.each([
    ["antora.yml", "Antora"],
    ["docfx.json", "DocFX"],
    ["docusaurus.config.ts", "Docusaurus"],
    ["eleventy.config.mjs", "Eleventy"],
    ["hugo.yaml", "Hugo"],
    ["_config.yml", "Jekyll"],
    ["book.toml", "mdBook"],
    ["mint.json", "Mintlify"],
    ["mkdocs.yml", "MkDocs"],
    ["myst.yml", "MyST"],
    [".obsidian/app.json", "Obsidian"],
    ["_quarto.yml", "Quarto"],
    ["conf.py", "Sphinx"],
    ["astro.config.mjs", "Starlight"],
    [".vitepress/config.ts", "VitePress"],
  ])("is known by %s", (config, title) => {
    const name = config.split("/")[0] ?? "";
    const expected = `${title} (docs/${name})`;
    expect(siteAt({ [`docs/${config}`]: "" }, "docs/a/b.md").site).toBe(expected);
    expect(siteAt({ [`docs/${config}`]: "" }, "other/b.md").site).toBeUndefined();
  });

  it("is in the one around it: an example in a folder of partials has no pages", () => {
    const files = { "_quarto.yml": "", "_tools/blog/_quarto.yml": "", "docs/blog/_quarto.yml": "" };
    const { settings } = siteAt(files, "");
    expect(partialReason("_tools/blog/posts/a.qmd", settings)).toContain("Quarto");
    expect(partialReason("docs/blog/posts/a.qmd", settings)).toBeUndefined();
  });

  it("is the nearest one", () => {
    const files = { "hugo.toml": "", "docs/conf.py": "", "docs/a/x.md": "" };
    expect(siteAt(files, "docs/a/x.md").site).toBe("Sphinx (docs/conf.py)");
    expect(siteAt(files, "x.md").site).toBe("Hugo (hugo.toml)");
  });

  it.each([
    ["_quarto.yml", "a/after-body.html", "Quarto"],
    ["astro.config.mjs", "src/components/part.md", "Starlight"],
    ["astro.config.mjs", "public/robots.txt", "Starlight"],
    ["mkdocs.yml", "overrides/main.html", "MkDocs"],
    [".vitepress/config.ts", "public/robots.txt", "VitePress"],
    [".vitepress/config.ts", "examples/template.html", "VitePress"],
    ["docusaurus.config.ts", "docs/part.html", "Docusaurus"],
    ["book.toml", "src/SUMMARY.md", "mdBook"],
    ["book.toml", "src/a/chart.html", "mdBook"],
  ])("has files that are no pages: %s %s", (config, path, title) => {
    const { settings } = siteAt({ [`docs/${config}`]: "" }, "docs/a.md");
    expect(partialReason(`docs/${path}`, settings)).toContain(title);
    const page = title === "Docusaurus" ? "docs/docs/a.mdx" : "docs/src/content/docs/a.mdx";
    expect(partialReason(page, settings)).toBeUndefined();
  });

  it("is what the settings say", () => {
    const files = { "docs/conf.py": "", "docs/_templates/x.rst": "" };
    expect(siteAt(files, "docs/x.rst", "none").site).toBeUndefined();
    expect(siteAt(files, "docs/x.rst", "hugo").site).toBe("Hugo");
    const { settings } = siteAt(files, "", "none");
    expect(partialReason("docs/_templates/x.rst", settings)).toBeUndefined();
    expect(partialReason("docs/_templates/x.rst", siteAt(files, "").settings)).toContain("Sphinx");
  });

  it.each([
    ["hugo.toml", "headless: true", "headless: true: the site has no page of it"],
    ["hugo.toml", "build: {render: never}", "build.render: never: the site has no page of it"],
    ["hugo.toml", "_build: {render: false}", "_build.render: false: the site has no page of it"],
    ["hugo.toml", "build: {render: always, list: never}", undefined],
    ["_config.yml", "published: false", "published: false: the site has no page of it"],
    ["mkdocs.yml", "published: false", undefined],
    ["mkdocs.yml", "headless: true", undefined],
  ])("with %s writes no page for %s", (config, front, reason) => {
    const root = createFolder({ [config]: "", "content/a.md": `---\n${front}\n---\nx` });
    const reading = readDocumentSync(fileIn(root, "content/a.md"), compileSettings({ root }));
    expect(reading?.kind === "skipped" ? reading.reason : undefined).toBe(reason);
  });

  it("of Mintlify is known by docs.json beside its pages", () => {
    const files = { "docs.json": "{}", "index.mdx": "", "snippets/a.mdx": "" };
    const { site, settings } = siteAt(files, "guides/a.mdx");
    expect(site).toBe("Mintlify (docs.json)");
    expect(partialReason("snippets/a.mdx", settings)).toContain("Mintlify");
    expect(siteAt({ "docs.json": "{}", "index.md": "" }, "guides/a.md").site).toBeUndefined();
  });

  it("of Docusaurus has pages below docs, blog and src/pages", () => {
    const { settings } = siteAt({ "web/docusaurus.config.ts": "" }, "");
    const isPartial = (path: string) => partialReason(path, settings) !== undefined;
    for (const path of ["docs/a.md", "src/pages/a.md", "blog/a.md"])
      expect(isPartial(`web/${path}`)).toBe(false);
    for (const path of ["src/a.md", "static/a.md", "build/a.html", "docs/_a.md", "docs/_b/a.md"]) {
      expect(isPartial(`web/${path}`), path).toBe(true);
    }
    expect(isPartial("src/a.md")).toBe(false);
  });

  it("of Hugo copies HTML and text of static as it is, and readers download the rest", () => {
    const { settings } = siteAt({ "hugo.toml": "" }, "");
    const found = ["static/x123.html", "words/a.txt", "static/a.pdf", "content/a.html"].map(
      (path) => partialReason(path, settings) !== undefined,
    );
    expect(found).toEqual([true, true, false, false]);
  });

  it("of Quarto and Astro has no pages among its texts, READMEs and scripts", () => {
    const quarto = siteAt({ "_quarto.yml": "" }, "").settings;
    const astro = siteAt({ "astro.config.mjs": "" }, "").settings;
    expect(
      ["a/README.md", "runtime.txt", "a/readme-first.qmd"].map(
        (path) => partialReason(path, quarto) !== undefined,
      ),
    ).toEqual([true, true, false]);
    expect(partialReason("scripts/a.mdx", astro)).toBeDefined();
    const docfx = siteAt({ "docfx.json": "{}" }, "").settings;
    expect(partialReason("code/Raw/a.txt", docfx)).toBeDefined();
    expect(partialReason("code/Raw/a.md", docfx)).toBeUndefined();
  });

  it("can be named in the configuration, each of them", () => {
    for (const generator of [...generatorNames, "none"]) {
      expect(IngestSettings.safeParse({ generator }).success, generator).toBe(true);
    }
    expect(Object.keys(generators)).toEqual(generatorNames);
  });
});

const names = [..."abcdefghijklmnopqrstuvw"];
/** Each line has the one before it twice. */
const bomb = names
  .map((name, at) => `${name}: &${name} [*${names[at - 1]}, *${names[at - 1]}]\n`)
  .join("")
  .replaceAll("*undefined", "x");

// Windows has no pipes among its files.
it.skipIf(process.platform === "win32")("a pipe as configuration ends nothing", () => {
  const root = createFolder({ "docs/a.md": "", "website/x": "" });
  for (const path of ["_config.yml", "website/docusaurus.config.js"]) {
    execFileSync("mkfifo", [join(root, path)]);
  }
  const settings = compileSettings({ root });
  const site = siteOf("docs/a.md", settings);
  expect(site?.generator).toBe("jekyll");
  expect(site && siteDigest(site, settings)).toMatch(/^\w+$/);
  expect(site && configOf(site, settings).data).toEqual({});
});

describe("the configuration of a site", () => {
  it("is data with values as written", () => {
    const { config } = siteAt(
      { "_config.yml": "version: 1.10\na: {b: [x, 2024-01-02]}\n" },
      "x.md",
    );
    expect(valueAt(config?.data ?? null, "version")).toBe("1.10");
    expect(valueAt(config?.data ?? null, "a.b")).toEqual(["x", "2024-01-02"]);
    expect(valueAt(config?.data ?? null, "a.__proto__")).toBeUndefined();
    expect(valueAt(config?.data ?? null, "toString.name")).toBeUndefined();
  });

  it("may have tags of another program", () => {
    const text =
      "site_name: !ENV [NAME, x]\nplugins:\n  - fence: !!python/name:a.b\nextra: {v: 2}\n";
    expect(valueAt(parseConfig(text, "mkdocs.yml"), "extra.v")).toBe("2");
  });

  it("is never run", () => {
    const { config } = siteAt({ "docusaurus.config.js": "throw new Error('run')" }, "x.md");
    expect(config).toMatchObject({ data: {}, problem: undefined });
  });

  it.each([
    ["broken", "a: [", /^_config\.yml:\d+: /],
    ["nested too deeply", "[".repeat(20_000), /^_config\.yml/],
    ["a bomb", bomb, /^_config\.yml: more than/],
    ["too large", `a: ${"x".repeat(1024 * 1024)}`, /^_config\.yml: /],
  ])("has no values where it is %s", (_what, text, problem) => {
    const { config } = siteAt({ "_config.yml": text }, "x.md");
    expect(config?.data).toEqual({});
    expect(config?.problem).toMatch(problem);
  });

  it("has no values where it leads out of the project", () => {
    const outside = createFolder({ "secret.yml": "key: 1\n" });
    const root = createFolder({ "x.md": "" });
    symlinkSync(join(outside, "secret.yml"), join(root, "_config.yml"));
    const settings = compileSettings({ root });
    const site = siteOf("x.md", settings);
    expect(site && configOf(site, settings).data).toEqual({});
  });
});

it("a page of a site with a broken configuration is sent with a notice", async () => {
  const root = createFolder({ "_config.yml": "a: [", "x.md": "text\n" });
  const settings = compileSettings({ root });
  const { warnings } = await explainDocument(fileIn(root, "x.md"), settings, undefined);
  expect(warnings).toEqual([
    expect.stringMatching(
      /^a document of a site whose configuration cannot be read: _config\.yml:/,
    ),
  ]);
  const reading = readDocumentSync(fileIn(root, "x.md"), settings);
  expect(reading).toMatchObject({
    kind: "document",
    notices: [
      {
        kind: "site",
        name: expect.stringMatching(
          /^whose configuration cannot be read: _config\.yml:\d+: .*; correct it: its values are unknown$/,
        ) as string,
      },
    ],
  });
});

describe("a configuration in Python", () => {
  it.each([
    ["x = 'a'", { x: "a" }],
    [`x = "a" 'b' + r"\\c"`, { x: String.raw`ab\c` }],
    ["x = ('a'\n  'b')  # more", { x: "ab" }],
    ["x = ('a',)", { x: ["a"] }],
    ["x = [\n  'a',  # one\n  'b',\n]", { x: ["a", "b"] }],
    ["x = {'a': ('b', None), 'c': []}", { x: { a: ["b", null], c: [] } }],
    ["x = 1\ny = True", { x: { scalar: "1" }, y: { scalar: "true" } }],
    ['x = """\none\n"""', { x: "\none\n" }],
    ["x = 'a'\nx += 'b'\ny = x", { x: "ab", y: "ab" }],
    [String.raw`x = 'a\n\x41\u00e9\'\q'`, { x: "a\nA\u00e9'\\q" }],
    ["x = 'a\\\nb'", { x: "ab" }],
    ['"""\nx = 1\n"""\ny = "2"', { y: "2" }],
    ["x = 'a' % y", {}],
    ["x = 'a'\nx = f()", {}],
    ["x = f'{y}'", {}],
    ["x = ['a'] + y", {}],
    ["x = [y for y in z]\nw = 'a'", { w: "a" }],
    ["if a:\n  x = 1\nx == 2", {}],
    ["x = 'open\ny = 'a'", { y: "a" }],
    ["x = [\n'a',\ny = 'b'", { y: "b" }],
    ["x = '''never closed", {}],
    [`x = ${"[".repeat(1000)}`, {}],
  ])("%s", (text, expected) => {
    expect(JSON.parse(JSON.stringify(parseConfig(text, "conf.py")))).toEqual(expected);
  });

  it.each(["a = [\n'x',\n", "a = '''\n", "a = ('b' \n", "a = {'b': [\n"])(
    "is read in linear time: %s",
    (piece) => {
      expectLinear(5000, (count) => void parseConfig(piece.repeat(count), "conf.py"));
    },
  );
});

describe("files that a configuration lists as no pages", () => {
  const isExcluded = (conf: string, path: string, name = "conf.py"): boolean => {
    const { settings } = siteAt({ [`docs/${name}`]: conf }, `docs/${path}`);
    return excludedReason(`docs/${path}`, settings) !== undefined;
  };

  it.each([
    ["a/b.rst", "a/b.rst", true],
    ["a/b.rst", "x/a/b.rst", false],
    ["a", "a/b/c.rst", true],
    ["a", "ab.rst", false],
    ["a*.rst", "ab.rst", true],
    ["a*.rst", "a/b.rst", false],
    ["**/x*.rst", "a/b/x1.rst", true],
    ["**/x*.rst", "x1.rst", true],
    ["[ab].rst", "b.rst", true],
    ["[!ab].rst", "b.rst", false],
    ["[z-a].rst", "b.rst", false],
    ["a.b", "aab", false],
  ])("%s: %s", (pattern, path, isListed) => {
    expect(isExcluded(`exclude_patterns = ['${pattern}']`, path)).toBe(isListed);
  });

  it("of Sphinx and of Antora", () => {
    expect(isExcluded("templates_path = ['layout']", "layout/x.html")).toBe(true);
    const nav = "nav:\n- modules/a/menu.adoc\n";
    expect(isExcluded(nav, "modules/a/menu.adoc", "antora.yml")).toBe(true);
    expect(isExcluded(nav, "modules/a/b.adoc", "antora.yml")).toBe(false);
  });

  it("are text files of Sphinx that are no sources", () => {
    expect(isExcluded("", "a/robots.txt")).toBe(true);
    expect(isExcluded("", "_tests/a.html")).toBe(true);
    expect(isExcluded("source_suffix = ['.rst', '.html']", "a.html")).toBe(false);
    expect(isExcluded("source_suffix = ['.rst', '.txt']", "a/b.txt")).toBe(false);
    expect(isExcluded("source_suffix = {'.txt': 'restructuredtext'}", "a/b.txt")).toBe(false);
  });

  it("of DocFX are those that no group of files takes", () => {
    const config = `{
      // A comment, and a comma before an end.
      "build": { "content": [
        { "files": ["**/*.md"], "exclude": ["**/obj/**", "api/**", "a//b.md",], /* more */ },
        { "files": ["api/index.md"] },
      ], "overwrite": [{ "files": ["own/*.md"] }] }
    }`;
    const of = (path: string): boolean => isExcluded(config, path, "docfx.json");
    expect([of("x/obj/a.md"), of("api/a.md"), of("a/b.md")]).toEqual([true, true, true]);
    expect([of("own/a.md"), of("x/own/a.md")]).toEqual([true, false]);
    expect([of("api/index.md"), of("x/api/a.md"), of("b.md")]).toEqual([false, false, false]);
  });

  it("of Obsidian are its templates", () => {
    const config = '{"folder": "Own/New notes"}';
    const of = (path: string): boolean => isExcluded(config, path, ".obsidian/templates.json");
    expect([of("Own/New notes/a.md"), of("Own/a.md"), of("x/Own/New notes/a.md")]).toEqual([
      true,
      false,
      false,
    ]);
    const { settings } = siteAt(
      {
        ".obsidian/templates.json": config,
        ".obsidian/plugins/templater-obsidian/data.json": '{"templates_folder": "/Forms/"}',
      },
      "a.md",
    );
    const excluded = ["Own/New notes/a.md", "Forms/b/a.md", "b/Forms/a.md"].filter(
      (path) => excludedReason(path, settings) !== undefined,
    );
    expect(excluded).toEqual(["Own/New notes/a.md", "Forms/b/a.md"]);
  });

  it("of MkDocs are also those that pages include", () => {
    const excluded = (paths: string): boolean[] => {
      const conf = `markdown_extensions: [toc, {pymdownx.snippets: {base_path: ${paths}}}]`;
      return ["docs/parts/a.md", "docs/a.md"].map((path) => isExcluded(conf, path, "mkdocs.yml"));
    };
    expect(excluded("docs/parts")).toEqual([true, false]);
    expect(excluded('[".", docs, "../x", docs/parts]')).toEqual([true, false]);
    expect(excluded("docs")).toEqual([false, false]);
  });

  it("of MkDocs are those of its plugin, also in the file that its configuration inherits", () => {
    const files = {
      "docs/a.md": "",
      "mkdocs-site.yml": "INHERIT: shared/base.yml\nplugins:\n  search: {}\n",
      "shared/base.yml":
        "INHERIT: base.yml\ntheme: {custom_dir: docs/own}\nplugins:\n  exclude:\n    glob: ['parts/*', '*.tmp.md']\n  search: {lang: de}\n",
    };
    const { settings, site, config } = siteAt(files, "docs/a.md");
    expect(site).toBe("MkDocs (mkdocs-site.yml)");
    expect(config?.paths).toEqual(["mkdocs-site.yml", "shared/base.yml"]);
    const paths = ["docs/own/main.html", "docs/parts/a/b.md", "docs/x/a.tmp.md", "docs/a.md"];
    const excluded = paths.filter((path) => excludedReason(path, settings) !== undefined);
    expect(excluded).toEqual(paths.slice(0, 3));
    const listed = "plugins: [search, {exclude: {glob: parts/*}}]";
    const isOut = (path: string): boolean => isExcluded(listed, path, "mkdocs.yml");
    expect([isOut("docs/parts/a.md"), isOut("docs/a/parts/a.md")]).toEqual([true, false]);
    expect(siteAt({ "mkdocs-site.yml": "" }, "docs/a.md").site).toBeUndefined();
    const other = { ...files, "shared/base.yml": "site_name: A\n" };
    const digests = [files, other].map((each) => {
      const { settings: own } = siteAt(each, "docs/a.md");
      const found = siteOf("docs/a.md", own);
      return found && siteDigest(found, own);
    });
    expect(digests[0]).not.toBe(digests[1]);
  });

  it("of MkDocs are the README of a folder with an index", () => {
    const files = {
      "mkdocs.yml": "",
      "docs/index.md": "a",
      "docs/README.md": "b",
      "index.md": "c",
    };
    const { settings } = siteAt(files, "");
    const paths = ["docs/README.md", "docs/a/README.md", "docs/index.md", "README.md"];
    expect(paths.map((path) => excludedReason(path, settings))).toEqual([
      "docs/index.md is the page of the folder",
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("of Jekyll are those that its configuration excludes and does not include", () => {
    const conf = "exclude: [tools, /notes/, '*.tmp.md', 'a/**/b.md', kept]\ninclude: [kept]\n";
    const paths = [
      "tools/a.md",
      "notes/x.md",
      "c.tmp.md",
      "a/x/y/b.md",
      "kept/a.md",
      "x/tools/a.md",
    ];
    const { settings } = siteAt({ "s/_config.yml": conf }, "s/a.md");
    const sent = paths.filter((path) => excludedReason(`s/${path}`, settings) === undefined);
    expect(sent).toEqual(["kept/a.md", "x/tools/a.md"]);
  });

  it("of a book of Quarto are those that no chapter names", () => {
    const book = (rest: string): string[] => {
      const conf = `${rest}\nbook:\n  chapters:\n  - index.qmd\n  - part: b/part.qmd\n    chapters: [b/c.qmd, d.ipynb]\n  appendices: [e.qmd]\n`;
      const { settings } = siteAt({ "doc/_quarto.yml": conf }, "doc/a.qmd");
      const names = ["index.qmd", "b/part.qmd", "b/c.qmd", "c.qmd", "d.ipynb", "e.qmd", "b/x.md"];
      return names.filter((name) => excludedReason(`doc/${name}`, settings) !== undefined);
    };
    expect(book("project: {type: book}")).toEqual(["c.qmd", "b/x.md"]);
    expect(book("project: {type: website}")).toEqual([]);
    expect(book("project: {type: book, render: ['*.qmd']}")).toEqual([]);
  });

  it("of VitePress stand in its program", () => {
    const config = "export default { srcDir: 'src', srcExclude: [\n'**/parts/*', \"A.md\"] }";
    const { settings } = siteAt({ "docs/.vitepress/config.ts": config }, "docs/src/a.md");
    const excluded = ["src/x/parts/a.md", "src/A.md", "src/b/A.md", "src/a.md"].filter(
      (path) => excludedReason(`docs/${path}`, settings) !== undefined,
    );
    expect(excluded).toEqual(["src/x/parts/a.md", "src/A.md"]);
  });

  it("of Hugo are those of a folder, but not one that says otherwise", () => {
    const files = {
      "hugo.toml": "",
      "content/_common/_index.md": `---\ncascade:\n  build:\n    render: never\n---\n`,
      "content/_common/a/b.md": "Text.\n",
      "content/_common/c.md": "---\nbuild:\n  render: always\n---\nText.\n",
      "content/docs/_index.md": "---\ntitle: Docs\n---\n",
      "content/docs/e.md": "Text.\n",
    };
    const root = createFolder(files);
    const settings = compileSettings({ root });
    const sent = Object.keys(files)
      .filter((path) => path.endsWith(".md"))
      .filter((path) => {
        const { parsed } = readDocumentSync(fileIn(root, path), settings);
        return excludedReason(path, settings, parsed?.frontMatter?.data) === undefined;
      });
    expect(sent).toEqual(["content/_common/c.md", "content/docs/_index.md", "content/docs/e.md"]);
  });

  it("with patterns that would never end", () => {
    const text = `exclude_patterns = ['${"**/a*".repeat(30)}b', '${"*a".repeat(90)}b']`;
    expect(isExcluded(text, `${"a/".repeat(60)}${"a".repeat(120)}.rst`)).toBe(false);
  });
});

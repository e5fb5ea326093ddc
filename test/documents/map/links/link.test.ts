import { describe, expect, it } from "vitest";
import { checkTemplate, type LinkStyle } from "../../../../src/documents/map/links/link-style.ts";
import { compileSettings } from "../../../../src/documents/map/settings.ts";
import { readOk, type Options } from "../../folder.ts";

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
    const compile = (options: Options) => (): unknown => compileSettings({ root: "/", ...options });
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
    const compile = (options: Options) => (): unknown => compileSettings({ root: "/", ...options });
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

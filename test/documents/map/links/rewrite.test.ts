import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { rewriteLinks } from "../../../../src/documents/map/links/rewrite-links.ts";
import type { Target } from "../../../../src/documents/map/links/targets.ts";
import { expectLinear } from "../../../cost.ts";
import { pathsInParts } from "../../../../src/documents/parts/parts.ts";
import { compileSettings } from "../../../../src/documents/map/settings.ts";
import {
  readDocument,
  readDocumentSync,
  type Reading,
} from "../../../../src/documents/inspect/read.ts";
import { createFolder, fileIn, type Options } from "../../folder.ts";

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
    expect(textOf(root, "content/posts/_index.md", options)).toBe(`[a](${base}/posts/one/) Posts.`);
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
    ["docs/modules/ROOT/pages/guide/one.adoc", "xref:alias.adoc[A]", template],
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
    const root = createFolder({ "from.md": "[a](b\u00fc.md) [b](o\u0308.md)", "bu\u0308.md": "x" });
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

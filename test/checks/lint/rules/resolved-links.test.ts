import { describe, expect, it } from "vitest";
import { missingImage } from "../../../../src/checks/lint/rules/images.ts";
import { deadLink } from "../../../../src/checks/lint/rules/dead-links.ts";
import { missingAnchor } from "../../../../src/checks/lint/rules/links.ts";
import { wikiLinks } from "../../../../src/checks/lint/rules/wiki-links.ts";
import { check, lint, openPages } from "./pages.ts";

describe("links that a generator resolves", () => {
  it("are those that a page of MyST calls external", async () => {
    const text = "# A\n\n[Text](../all.txt){.external} and [more](gone.txt){.b .external}\n";
    const files = { "a.md": text, "b.md": "# B\n\n[x](gone.txt){.b} [y](gone.txt) {.external}\n" };
    expect(await lint(deadLink, { ...files, "conf.py": "" })).toEqual([
      "b.md:3:5: the link leads to no file: gone.txt",
      "b.md:3:23: the link leads to no file: gone.txt",
    ]);
    expect(await lint(deadLink, { "a.md": text })).not.toEqual([]);
  });

  it("are those to files that a build makes, which the ignore files leave out", async () => {
    const text = "# A\n\n[1](api/) [2](../api/x.zip) [3](api/one.md#a) [4](gone/) [5](notes.md)\n";
    const files = { "docs/a.md": text, "docs/.gitignore": "/api\n", ".gitignore": "x.zip\n" };
    expect(await lint(deadLink, files)).toEqual([
      "docs/a.md:3:51: the link leads to no file: gone/",
      "docs/a.md:3:62: the link leads to no file: notes.md",
    ]);
    expect(await lint(deadLink, { "docs/a.md": text })).toHaveLength(5);
  });

  it("may name the root of a vault with ignore files, or nothing but dots", async () => {
    const files = { ".obsidian/app.json": "{}", ".gitignore": "x?y\n" };
    const text = "# A\n\n[1](./) [2](..) [3](/) [4](gone.md) [5](...) [6](.../a.md) [7](a/....)\n";
    expect(await lint(deadLink, { ...files, "b.md": text })).toContainEqual(
      expect.stringContaining("gone.md"),
    );
  });

  it("are those to earlier paths and downloads that the configuration of a site names", async () => {
    const text = "# A\n\n[1](old/a.md#x) [2](/b.html) [3](../all.pdf) [4](gone.md) [5](no.pdf)\n";
    const book =
      '[output.html.redirect]\n"x/old/a.html" = "../a.html"\n"/b.html" = "c.html"\n[output.pandoc]\noutput-file = "out/all.pdf"\n';
    const dead = ["src/x/a.md:3:50: the link leads to no file: gone.md"];
    expect(await lint(deadLink, { "src/x/a.md": text, "book.toml": book })).toEqual([
      ...dead,
      "src/x/a.md:3:63: the link leads to no file: no.pdf",
    ]);
    const moved = "plugins: [search, {redirects: {redirect_maps: {'x/old/a.md': a.md}}}]\n";
    const files = { "docs/x/a.md": text, "mkdocs.yml": moved };
    expect(await lint(deadLink, files)).not.toContainEqual(expect.stringContaining("old/a.md"));
    expect(await lint(deadLink, { ...files, "mkdocs.yml": "" })).toContainEqual(
      expect.stringContaining("old/a.md"),
    );
  });

  it("stand in no indented code", async () => {
    const code = "# A\n\n**Text** here.\n\n    f[Int](1.md)\n\n      g[Int](2.md)\n\nMore.\n";
    const others =
      "\n- a\n\n    [b](3.md)\n\nc\n: d\n\n    [e](4.md)\n\n<div>\n\n    [f](5.md)\n\n</div>\n\nText\n    [g](6.md)\n";
    const found = await lint(deadLink, { "_config.yml": "", "a.md": code + others });
    expect(found.map((each) => /\d\.md$/.exec(each)?.[0])).toEqual([
      "3.md",
      "4.md",
      "5.md",
      "6.md",
    ]);
    expect(await lint(deadLink, { "a.mdx": code })).toHaveLength(2);
  });

  it("are those to objects that Paradox documents, and not those to its pages", async () => {
    const text =
      "# A\n\n@java[@javadoc[C[T].get()](a.b.C#get())] @apidoc[D](b.D) @ref[E](e.md) [v]($version$/f.md)\n\n[D](b.D)\n";
    expect(await lint(deadLink, { "a.md": text })).toEqual([
      "a.md:3:66: the link leads to no file: e.md",
      "a.md:5:5: the link leads to no file: b.D",
    ]);
  });

  it("are those to the PDF of a site of DocFX", async () => {
    const text = "# A\n\n[1](b/own.pdf) [2](b/toc.pdf) [3](c/toc.pdf) [4](toc.pdf)\n";
    const tables = { "b/toc.yml": "pdf: true\npdfFileName: own.pdf\n", "c/toc.yml": "pdf: true\n" };
    expect(await lint(deadLink, { "docfx.json": "{}", ...tables, "a.md": text })).toEqual([
      "a.md:3:20: the link leads to no file: b/toc.pdf",
      "a.md:3:50: the link leads to no file: toc.pdf",
    ]);
  });

  it("are those to files that Jekyll copies with a collection", async () => {
    const text = "---\npermalink: /specs/1/a/\n---\n# A\n\n[1](../b/c.json) [2](../b/d.json)\n";
    const files = { "_config.yml": "", "_specs/1/b/c.json": "{}", "_specs/1/a.md": text };
    expect(await lint(deadLink, files)).toEqual([
      "_specs/1/a.md:6:22: the link leads to no file: ../b/d.json",
    ]);
  });

  it("are those to files that Sphinx copies to the root of the site", async () => {
    const text = "A\n=\n\n`x <b.json>`_, `y <c.json>`_\n";
    const files = { "doc/conf.py": 'html_extra_path = ["../extra"]\n', "extra/s/b.json": "{}" };
    expect(await lint(deadLink, { ...files, "doc/s/a.rst": text })).toEqual([
      "doc/s/a.rst:4:20: the link leads to no file: c.json",
    ]);
  });

  it("are those to headings with a link whose title has parentheses", async () => {
    const text =
      '# A\n\n## State (auto)[](#state-auto "Link to State (auto)")\n\n[s](#state-auto)\n';
    expect(await lint(missingAnchor, { "docusaurus.config.js": "", "docs/a.md": text })).toEqual(
      [],
    );
  });

  it("are those to files that Hugo copies, from the address of the page", async () => {
    const text = "---\ntitle: A\n---\n# A\n\n[1](../../files/b.zip) [2](../../files/c.zip)\n";
    const files = { "hugo.toml": "", "static/files/b.zip": "zip", "content/blog/a.md": text };
    expect(await lint(deadLink, files)).toEqual([
      "content/blog/a.md:6:28: the link leads to no file: ../../files/c.zip",
    ]);
  });

  it("are names and ids for a program that reads the pages of a book", async () => {
    const text = "# A\n\n[1](items.use) [2](gone.md) [4](b.md#r-items.use) [5](b.md#use)\n";
    const book = { "src/a.md": text, "src/b.md": "# B\n" };
    const config = (name: string): string => `[preprocessor.${name}]\n`;
    const messages = async (name: string): Promise<string[]> => [
      ...(await lint(deadLink, { ...book, "book.toml": config(name) })),
      ...(await lint(missingAnchor, { ...book, "book.toml": config(name) })),
    ];
    const always = ["no file: gone.md", "no anchor #use"];
    expect(await messages("own")).toEqual(always.map((each) => expect.stringContaining(each)));
    for (const name of ["links", "svgbob"])
      expect(await messages(name)).toHaveLength(always.length + 2);
  });

  it("are those of a book that leave it", async () => {
    const text = "# A\n\n[1](../../other/b.md) [2](../gone.md) [3](gone.md)\n";
    const page = { "book/text/c/a.md": text };
    const dead = (...names: string[]): string[] =>
      names.map((each) => expect.stringContaining(`leads to no file: ${each}`) as string);
    const config = '[book]\nsrc = "text"\n';
    expect(await lint(deadLink, { ...page, "book/book.toml": config })).toEqual(
      dead("../gone.md", "gone.md"),
    );
    expect(await lint(deadLink, page)).toEqual(dead("../../other/b.md", "../gone.md", "gone.md"));
  });

  it("are those from a page of Docusaurus that is the one of its folder", async () => {
    const site = { "docusaurus.config.js": "", "docs/b/c.md": "# C\n" };
    const text = "# B\n\n[1](./b/c) [2](c) [3](./b/d)\n";
    for (const name of ["b", "index"]) {
      expect(await lint(deadLink, { ...site, [`docs/b/${name}.md`]: text })).toEqual([
        `docs/b/${name}.md:3:23: the link leads to no file: ./b/d`,
      ]);
    }
  });

  it("are those to files that Jekyll copies, from the address of the page", async () => {
    const text = "---\npermalink: a.html\n---\n# A\n\n[1](files/one.zip) [2](files/two.zip)\n";
    const files = { "_config.yml": "", "files/one.zip": "zip", "pages/a.md": text };
    expect(await lint(deadLink, files)).toEqual([
      "pages/a.md:6:24: the link leads to no file: files/two.zip",
    ]);
  });

  it("are no addresses of images, which another rule reports", async () => {
    const text = "# A\n\n![x][gone] [![y](no.png)](no.png) [z](no.svg)\n\n[gone]: gone.png\n";
    expect(await lint(deadLink, { "a.md": text })).toEqual([
      "a.md:3:39: the link leads to no file: no.svg",
    ]);
    expect(await lint(missingImage, { "a.md": text })).toHaveLength(2);
  });

  it("are those that begin with an attribute of AsciiDoc", async () => {
    const text = "= A\n\nlink:{docs}#install[Install] and link:gone/{docs}[more]\n";
    expect(await lint(deadLink, { "a.adoc": text })).toEqual([
      "a.adoc:3:39: the link leads to no file: gone/{docs}",
    ]);
  });

  it("have an address: what a template leaves out is none", async () => {
    const text = '# A\n\n<a href= target="_blank">A</a>, <a target=x href=gone.md>B</a> [C](_)\n';
    expect(await lint(deadLink, { "docs/a.md": text, "mkdocs.yml": "site_name: A\n" })).toEqual([
      "docs/a.md:3:50: the link leads to no file: gone.md",
    ]);
  });

  it("have the anchors of components", async () => {
    const files = {
      "a.mdx":
        "# A\n\n[1](b.mdx#oauth-2-0) [2](b.mdx#param-page-size) [3](b.mdx#last-day) [4](b.mdx#size)\n",
      "b.mdx":
        '# B\n\n<Tab title="OAuth 2.0">\nText.\n</Tab>\n\n<ParamField path="page.size">Text.</ParamField>\n\n' +
        "<Accordion icon='x' title='Last day'>Text.</Accordion>\n",
    };
    expect(await lint(missingAnchor, files)).toEqual(["a.mdx:3:73: b.mdx has no anchor #size"]);
  });

  it("have the anchors that an attribute of AsciiDoc names", async () => {
    const part = "|===\n|[[size_{context}]]<<size_{context}, Size>> |In metres\n|===\n";
    const page = (text: string): string => `= A\n:context: room\n\n${text}\ninclude::part.adoc[]\n`;
    const files = { "a.adoc": page("<<size_room>>, <<size_house>>\n"), "part.adoc": part };
    expect(await lint(missingAnchor, files)).toEqual([
      "a.adoc:4:18: the page has no anchor #size_house",
    ]);
  });

  it("have the place and the words of their author in other formats", async () => {
    const rooms = "= Rooms\n\nText.\n";
    const page =
      "= Plan\n\nThe rooms of the first floor\nare in xref:house:gone.adoc#top[a list].\n\n" +
      "|===\n|Room |See\n\n|Hall\n|xref:rooms.adoc[] and xref:house:lost.adoc[the keys]\n|===\n";
    const files = {
      "antora.yml": "name: a\n",
      "modules/house/pages/plan.adoc": page,
      "modules/house/pages/rooms.adoc": rooms,
      "c.rst": "Keys\n====\n\nOpen the door.\n\n- Ask `the keeper <Keeper of Keys>`_ first.\n",
    };
    expect(await lint(deadLink, files)).toEqual([
      "c.rst:6:20: the link leads to no file: Keeper of Keys",
      "modules/house/pages/plan.adoc:4:13: the link leads to no file: house:gone.adoc#top",
      "modules/house/pages/plan.adoc:10:29: the link leads to no file: house:lost.adoc",
    ]);
  });

  it("have one cause where a component of Antora lacks their folder", async () => {
    const links = (...names: string[]): string =>
      names.map((name) => `xref:${name}.adoc[x]\n\n`).join("");
    const files = {
      "antora.yml": "name: a\n",
      "modules/house/pages/plan.adoc": `= A\n\n${links("garden:a", "garden:sub/b", "gone", "k/c")}`,
      "modules/house/pages/rooms.adoc": "= Rooms\n\nText.\n",
      "b.md": "[x](gone/b.md)\n",
    };
    const found = check(deadLink, await openPages(files));
    expect(found.map(({ cause }) => [cause?.key, cause?.least])).toEqual([
      ["gone", 3],
      ["modules", 0],
      ["modules", 0],
      ["modules/house/pages", 2],
      ["modules/house/pages/k", 0],
    ]);
  });

  it("may count from above the root of a site, which a browser never leaves", async () => {
    const text = "# A\n\n<a href='../../keys'>K</a> <a href='../../gone/'>G</a>\n";
    const files = { "docs/keys.md": "# Keys\n", "docs/a/index.md": text };
    expect(await lint(deadLink, { ...files, "mkdocs.yml": "site_name: A\n" })).toEqual([
      "docs/a/index.md:3:36: the link leads to no file: ../../gone/",
    ]);
    const below = { ...files, "mkdocs.yml": "site_url: https://a.example/b/\n" };
    expect(await lint(deadLink, below)).toHaveLength(2);
  });

  it("have the anchors that a layout of Hugo makes below an index without headings", async () => {
    const files = {
      "hugo.toml": "",
      "content/a/_index.md": "---\ntitle: A\n---\n\nAll rooms.\n",
      "content/b/_index.md": "---\ntitle: B\n---\n\n## Keys\n\nAll keys.\n",
      "content/c.md": "[x](a/_index.md#aare) [y](b/_index.md#rhine)\n",
    };
    expect(await lint(missingAnchor, files)).toEqual([
      "content/c.md:1:27: content/b/_index.md has no anchor #rhine",
    ]);
  });

  it("have the anchors that a template writes which a page of Hugo names", async () => {
    const page = (keys: string): string => `---\ntitle: A\n${keys}---\n\n## Rooms\n\nText.\n`;
    const files = {
      "hugo.toml": "",
      "layouts/plan/list.html": "<h2 id={{ .x }}>x</h2>",
      "content/a.md": page("type: plan\n"),
      "content/b.md": page("type: other\n"),
      "content/c.md": "[x](a.md#aare) [y](b.md#rhine)\n",
    };
    expect(await lint(missingAnchor, files)).toEqual([
      "content/c.md:1:20: content/b.md has no anchor #rhine",
    ]);
  });

  it("name pages of Hugo wherever they are, and files from the address of the page", async () => {
    const text =
      '# A\n\n[1]({{< ref "rooms.md#x" >}}) [2]({{< ref gone.md >}}) [3](../d/plan.json) [4](../d/no.json)\n';
    const files = {
      "content/en/a/b/page.md": text,
      "content/en/c/rooms.md": "# Rooms\n\nText.\n\n## X\n",
      "content/en/a/b/d/plan.json": "{}",
      "content/en/a/b/_index.md": "# B\n\nText.\n",
    };
    const mount = (source: string): string =>
      `[[module.mounts]]\nsource = "${source}"\ntarget = "content/k"\n`;
    const dead = (name: string) => expect.stringMatching(`the link leads to no file: ${name}`);
    const found = await lint(deadLink, { ...files, "hugo.toml": 'contentDir = "content/en"\n' });
    expect(found).toEqual([dead("gone.md"), dead("../d/no.json")]);
    // Pages of other repositories.
    expect(await lint(deadLink, { ...files, "hugo.toml": mount("../k") })).toEqual([
      dead("../d/no.json"),
    ]);
    expect(await lint(deadLink, { ...files, "hugo.toml": mount("content/en") })).toHaveLength(2);
  });

  it("have the anchors of what tags of Jekyll show, as far as they are known", async () => {
    const page = "---\ntitle: B\n---\n\n## Rooms\n\n{% if page.title %}Text.{% endif %}\n";
    const files = {
      "_config.yml": "",
      "a.md": "---\ntitle: A\n---\n\n[1](b.md#rooms) [2](b.md#gone) [3](c.md#any) [4](d.md#any)\n",
      "d.md": "---\nlayout: plan\n---\n\nAll rooms.\n",
      "b.md": page,
      "c.md": `${page}\n{% include unknown.html %}{% gallery %}\n`,
    };
    expect(await lint(missingAnchor, files)).toEqual(["a.md:5:21: b.md has no anchor #gone"]);
  });

  it("have the anchors of a note that leads into folders, and of a book those of its programs", async () => {
    const files = {
      ".obsidian/app.json": "{}",
      "a.md": "# A\n\n[[b#Gone]]\n",
      "b.md": "# B\n\n[[X/c d|c]]\n",
      "X/c d.md": "# C\n",
    };
    expect(await lint(missingAnchor, files)).toEqual(["a.md:3:3: b.md has no anchor #Gone"]);
    const book = "[preprocessor.own]\ncommand = 'x'\n";
    const text = "# A\n\n[1](#grammar-Item) [2](#gone)\n";
    expect(await lint(missingAnchor, { "src/a.md": text, "book.toml": book })).toEqual([
      "src/a.md:3:24: the page has no anchor #gone",
    ]);
  });

  it("have the anchors of tabs of MkDocs", async () => {
    const text = '# A\n\n[1](#on-linux) [2](#on-macos)\n\n=== "On Linux"\n\n    Text.\n';
    expect(await lint(missingAnchor, { "docs/a.md": text, "mkdocs.yml": "" })).toEqual([
      "docs/a.md:3:20: the page has no anchor #on-macos",
    ]);
  });

  it("have the anchors of cells of Quarto", async () => {
    const cell = (label: string): string =>
      `\n\`\`\`{r}\n#| label: ${label}\n#| echo: false\n#| fig-cap: |\n#|   Lamps.\nplot(x)\n\`\`\`\n`;
    const page = `---\ntitle: Lamps\n---\n\nSee @fig-lamps and [one](#fig-gone).\n${cell("fig-lamps")}`;
    expect(await lint(missingAnchor, { "a.qmd": page, "_quarto.yml": "" })).toEqual([
      "a.qmd:5:26: the page has no anchor #fig-gone",
    ]);
  });

  it("have a place where a name stands for the address", async () => {
    const files = {
      "a.md": "# A\n\nText of more than a line.\n\nSee [rooms](xref:rooms#gone).\n",
      "b.md": "---\nuid: rooms\n---\n\n# Rooms\n\nText.\n",
      "docfx.json": "{}",
    };
    expect(await lint(missingAnchor, files)).toEqual(["a.md:5:24: b.md has no anchor #gone"]);
  });
});

describe("citations of Quarto", () => {
  const text =
    "---\ntitle: A\n---\n\nAs [@ada1843, p. 2; see -@gone2001] and [@bob:2] say, [@fig-a] [x@y.example] `[@z]` [@w](u) [@v].\n\n[@v]: https://v.example\n";
  const bib = "@book{ada1843,\n title = {A}}\n@article {bob:2, year=1}\n";
  const found = (files: Record<string, string>) =>
    lint(missingAnchor, { "_quarto.yml": "", "p/a.qmd": text, ...files });

  it("have an entry in a bibliography of the page or its site", async () => {
    const missing = "p/a.qmd:5:4: the bibliography has no entry gone2001";
    const site = { "_quarto.yml": "bibliography: [b/x.bib]\n", "b/x.bib": bib };
    expect(await found(site)).toEqual([missing]);
    const own = text.replace("title: A", "bibliography: x.json");
    const json = '[{"id": "ada1843"}, {"id": "bob:2"}]';
    expect(await found({ "p/a.qmd": own, "p/x.json": json })).toEqual([missing]);
  });

  it("are not judged where nobody knows all entries", async () => {
    expect(await found({})).toEqual([]);
    expect(await found({ "_quarto.yml": "bibliography: gone.bib\n" })).toEqual([]);
    expect(
      await found({ "_quarto.yml": "bibliography: [x.bib, ../y.bib]\n", "x.bib": bib }),
    ).toEqual([]);
    const inline = text.replace("title: A", "references: []\nbibliography: x.bib");
    expect(await found({ "p/a.qmd": inline, "p/x.bib": bib })).toEqual([]);
  });
});

it("images in the forms of Microsoft Learn and Obsidian have a file", async () => {
  const learn = '# A\n\n:::image type="content" source="media/no.png" alt-text="A plan":::\n';
  expect(await lint(missingImage, { "docfx.json": "{}", "a.md": learn })).toHaveLength(1);
  const note = "# A\n\n![[no.png|300]] ![[yes.png]]\n";
  const vault = { ".obsidian/app.json": "{}", "x/yes.png": "png", "a.md": note };
  expect(await lint(missingImage, vault)).toHaveLength(1);
});

describe("images of a book of AsciiDoc", () => {
  it("are in the folders that its build may name", async () => {
    const files = {
      "docs/guide/part/a.adoc":
        "= A\n\nimage::plan.png[]\n\nimage::arch/b.png[]\n\nimage::c.png[]\n",
      "docs/guide/images/plan.png": "png",
      "docs/resources/img/arch/b.png": "png",
      "docs/other/c.png": "png",
    };
    expect(await lint(missingImage, files)).toEqual([
      "docs/guide/part/a.adoc:7:8: the image has no file: c.png",
    ]);
  });

  it("are no examples in code of another format", async () => {
    const text = "A\n=\n\nWrite:\n\n  .. code-block:: md\n\n      ![Plan](path/plan.png)\n";
    expect(await lint(missingImage, { "a.rst": text })).toEqual([]);
    const shown = "A\n=\n\n  .. image:: path/plan.png\n     :alt: Plan\n";
    expect(await lint(missingImage, { "a.rst": shown })).toHaveLength(1);
  });

  it("are in one of two folders of a module of Antora", async () => {
    const files = {
      "antora.yml": "name: a\n",
      "modules/ROOT/pages/x/a.adoc": "= A\n\nimage::icons/1.png[]\n\nimage::icons/2.png[]\n",
      "modules/ROOT/assets/images/icons/1.png": "png",
    };
    expect(await lint(missingImage, files)).toEqual([
      "modules/ROOT/pages/x/a.adoc:5:1: the image has no file: ../../images/icons/2.png",
    ]);
    const other = {
      "a/antora.yml": "name: a\n",
      "images/antora.yml": "name: b\n",
      "a/modules/ROOT/pages/a.adoc":
        "= A\n\nimage::b:x:1.png[]\n\nimage::x:1.png[]\n\nxref:b:x:attachment$c.zip[C] xref:attachment$d.zip[D] xref:attachment$e.zip[E]\n",
      "a/modules/ROOT/assets/attachments/d.zip": "zip",
      "images/modules/x/assets/images/1.png": "png",
      "images/modules/x/assets/attachments/c.zip": "zip",
    };
    expect(await lint(missingImage, other)).toHaveLength(1);
    expect(await lint(deadLink, other)).toEqual([
      expect.stringMatching(/the link leads to no file: .*e\.zip/),
    ]);
  });
});

it("tables of TOML are no links of wikis", async () => {
  const code = "{{< toggle >}}\n[[menus.main]]\n  name = 'Rooms'\n{{< /toggle >}}\n";
  const files = { "menus.md": `# A\n\n${code}`, "hugo.toml": "" };
  expect(await lint(wikiLinks, files)).toEqual([]);
  const link = "{{< toggle >}}\n[[menus]]\n\n{{< /toggle >}}\n";
  expect(await lint(wikiLinks, { ...files, "b.md": `# B\n\n${link}` })).toHaveLength(1);
});

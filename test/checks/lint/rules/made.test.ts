import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { byCause } from "../../../../src/checks/lint/folder.ts";
import { deadLink } from "../../../../src/checks/lint/rules/dead-links.ts";
import { missingImage } from "../../../../src/checks/lint/rules/images.ts";
import { missingAnchor } from "../../../../src/checks/lint/rules/links.ts";
import { hasHeadingFilter } from "../../../../src/checks/lint/page/site-programs.ts";
import { compileSettings } from "../../../../src/documents/map/settings.ts";
import { createFolder } from "../../../documents/folder.ts";
import { writeFiles } from "../../../service.ts";
import { findingWith } from "../finding.ts";
import { check, lint, openPages } from "./pages.ts";

describe("anchors that programs of a site make", () => {
  const page =
    "# Use\n\n[Types](#type-declarations), [colours](#colours), [types](#type-declaration)\n";

  it("are the headings and ids that its plugins write", async () => {
    const plugin = "export const add = (code) => `\\n## Type Declarations\\n\\n${code}`;\n";
    const layout = '<template><section id="colours"></section></template>\n';
    const files = {
      ".vitepress/config.ts": "",
      ".vitepress/plugins/types.ts": plugin,
      ".vitepress/theme/Layout.vue": layout,
      ".vitepress/cache/x.ts": "`## Type Declaration`",
      "use/a.md": page,
      "use/b.md": page,
    };
    expect(await lint(missingAnchor, files)).toEqual([
      "use/a.md:3:59: the page has no anchor #type-declaration",
      "use/b.md:3:59: the page has no anchor #type-declaration",
    ]);
    expect(await lint(missingAnchor, { "use/a.md": page })).toHaveLength(3);
  });

  it("are unknown where a filter of Quarto writes headings", async () => {
    const lua = (text: string) => `return { Pandoc = function(doc)\n${text}\nend }\n`;
    const files = {
      "_quarto.yml": "project:\n  type: website\nfilters:\n  - own/box.lua\n",
      "own/box.lua": lua("return pandoc.Span(doc)"),
      "ref/_metadata.yml": "filters:\n  - list.lua\n",
      "ref/list.lua": lua("doc.blocks:insert(pandoc.Header(2, 'x'))"),
      "ref/formats/a.qmd": "# A\n\n[1](#gone)\n",
      "b.qmd": "# B\n\n[1](ref/formats/a.qmd#gone), [2](#gone)\n",
    };
    expect(await lint(missingAnchor, files)).toEqual(["b.qmd:3:34: the page has no anchor #gone"]);
  });
});

it("reads no pipe and no program outside of the project for them", async () => {
  const header = "pandoc.Header(2, 'x')";
  const files = {
    "in/_quarto.yml": "project:\n  type: website\nfilters: [../../out.lua, pipe.lua]\n",
    "in/a.qmd": "# A\n",
    "out.lua": header,
  };
  const root = createFolder(files);
  execFileSync("mkfifo", [join(root, "in/pipe.lua")]);
  const settings = compileSettings({ root: join(root, "in") });
  expect(hasHeadingFilter("a.qmd", settings)).toBe(false);
  expect(hasHeadingFilter("in/a.qmd", compileSettings({ root }))).toBe(false);
  writeFiles(join(root, "in"), { "_quarto.yml": "filters: [../out.lua]\n" });
  expect(hasHeadingFilter("in/a.qmd", compileSettings({ root }))).toBe(true);
});

/** The findings of dead links as `lint` shows them: one for each cause. */
async function shown(files: Record<string, string>): Promise<string[]> {
  const pages = await openPages(files);
  const found = check(deadLink, pages).map(({ path, message, cause }) =>
    findingWith({ rule: "dead-link", path, message, cause }),
  );
  return byCause(found).map(({ path, message }) => `${path}: ${message}`);
}

describe("links that a build makes right", () => {
  it("lead to the feeds that generators write", async () => {
    const text = "# A\n\n[1](./feed_rss_created.xml) [2](atom.xml) [3](index.xml) [4](data.xml)\n";
    const dead = ["a.md:3:62: the link leads to no file: data.xml"];
    expect(await lint(deadLink, { "mkdocs.yml": "", "a.md": text })).toEqual(dead);
    expect(await lint(deadLink, { "a.md": text })).toHaveLength(4);
  });

  it("lead to sections of a page that has none: one cause", async () => {
    const list = "- <<one>>\n- <<two>>\n- <<three>>\n";
    const found = async (text: string): Promise<string[]> => {
      const files = { "antora.yml": "name: a\n", "modules/x/pages/a.adoc": text };
      const all = check(missingAnchor, await openPages(files));
      const raw = all.map(({ path, message, cause }) =>
        findingWith({ rule: "missing-anchor", path, message, cause }),
      );
      return byCause(raw).map(({ message }) => message);
    };
    expect(await found(`= A\n\n${list}`)).toEqual([
      "the page has no anchor #one; 3 links lead to places in the page, which has no sections",
    ]);
    expect(await found(`= A\n\n${list}\n== Fourth\n\nText\n`)).toHaveLength(3);
  });

  it("show images that Antora collects from programs", async () => {
    const page = "= A\n\nimage::made/a.png[]\n\nimage::b.png[]\n";
    const scan = (key: string): string =>
      `ext:\n  collector:\n  - run: {command: make}\n    scan: {${key}: ./docs/modules/x/images/made/, dir: build}\n`;
    const lintWith = (config: string): Promise<string[]> =>
      lint(missingImage, {
        "antora.yml": `name: a\nversion: ~\n${config}`,
        "modules/x/pages/a.adoc": page,
      });
    const own = "modules/x/pages/a.adoc:5:1: the image has no file: ../images/b.png";
    expect(await lintWith("")).toHaveLength(2);
    for (const key of ["base", "into"])
      expect(await lintWith(scan(key).replace("./docs/", ""))).toEqual([own]);
    expect(await lintWith(scan("base"))).toHaveLength(2);
  });

  it("lead to files that programs of the build name", async () => {
    const files = {
      "docs/a.md":
        "# A\n\n[1](report.md) [2](x/list.rst#y) [3](gone.md) [4](code.md) [5](index.md)\n",
      "project/Docs.scala": 'val file = target / "project" / "report.md"\nval all = "index.md"\n',
      Makefile: "docs/x/list.rst: list.py\n\t./list.py > docs/x/list.rst\n",
      "src/code.py": "'code.md'\n",
    };
    const found = await lint(deadLink, files);
    expect(found.map((each) => each.split(": ").at(-1))).toEqual([
      "gone.md",
      "code.md",
      "index.md",
    ]);
  });

  it("are none in a value of an attribute, or in the text of a reference to an object", async () => {
    const text =
      '# A\n\n@apidoc[Items](Source$) { scala="#items[T](List)" java="#items[T](T)" }\n\n' +
      "@scaladoc[read[Noop](Noop.id)](a.b.Query#read), [c](gone.md)\n";
    expect(await lint(deadLink, { "a.md": text })).toEqual([
      "a.md:5:53: the link leads to no file: gone.md",
    ]);
  });

  it("have one cause where their folder stands below another one, which the finding names", async () => {
    const files = {
      "mkdocs.yml": "",
      "docs/versioned/serving/scale.md": "# Scale\n",
      "docs/versioned/events/README.md": "# Events\n",
      LICENSE: "",
      "code/serving/scale.md": "# Code\n",
      "docs/blog/a.md":
        '# A\n\n[1](../serving/scale.md) [2](../events/) [3](../serving/gone.md) <a href="../../serving/scale/">4</a> [5](../serving)\n',
    };
    expect(await shown(files)).toEqual([
      "docs/blog/a.md: the link leads to no file: ../serving/scale.md; docs/versioned has it; 4 references lead to files that docs lacks and docs/versioned has",
      "docs/blog/a.md: the link leads to no file: ../serving/gone.md",
    ]);
  });

  it("have one cause where they go higher than the root of the project", async () => {
    const links = ["a/", "b/", "c#x", "d/"].map((each) => `[x](../../../../${each})`).join(" ");
    const files = { "mkdocs.yml": "", "docs/blog/a.md": `# A\n\n${links} [y](../gone.md)\n` };
    const found = await shown(files);
    expect(found).toEqual([
      "docs/blog/a.md: the link leads to no file: ../../../../a/; 4 references go higher than the root of the project",
      "docs/blog/a.md: the link leads to no file: ../gone.md",
    ]);
  });

  it("have one cause where they leave their folder for others that the project lacks", async () => {
    const links = (...names: string[]): string => names.map((each) => `[x](../${each})`).join(" ");
    const page = `# A\n\n${links("src/a.ts", "src/b.ts", "lib/c/d.ts", "LIMITS.txt", "notes/e.md")}\n`;
    const files = { "docs/a.md": page, "notes/f.md": "# F\n", "README.md": "# R\n" };
    expect(await shown(files)).toEqual([
      "docs/a.md: the link leads to no file: ../src/a.ts; 4 references lead to folders and files that the project lacks",
      "docs/a.md: the link leads to no file: ../notes/e.md",
    ]);
    const few = files["docs/a.md"].replace("[x](../src/b.ts)", "");
    expect(await shown({ ...files, "docs/a.md": few })).toHaveLength(4);
  });

  it("have one cause where another repository brings most of a module of Antora", async () => {
    const page = (...names: string[]): string =>
      `= A\n\n${names.map((name) => `xref:cli:${name}.adoc[]`).join(", ")}\n`;
    const files = {
      "antora.yml": "name: one\nversion: '1'\n",
      "modules/cli/pages/here.adoc": "= Here\n",
      "modules/cli/pages/tools/one.adoc": "= One\n",
      "modules/ROOT/pages/a.adoc": page("tools/two", "bin/three", "bin/four", "here"),
    };
    expect(await shown(files)).toEqual([
      "modules/ROOT/pages/a.adoc: the link leads to no file: cli:tools/two.adoc; 3 references lead to files that modules/cli lacks here",
    ]);
    expect(await shown({ ...files, "modules/cli/pages/tools/four.adoc": "= F\n" })).toHaveLength(2);
  });
});

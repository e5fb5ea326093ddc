import { describe, expect, it } from "vitest";
import { missingAnchor } from "../../../../src/checks/lint/rules/links.ts";
import { lint } from "./pages.ts";

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

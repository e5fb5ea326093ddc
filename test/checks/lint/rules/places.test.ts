import { describe, expect, it } from "vitest";
import { skippedLevel, danglingReference } from "../../../../src/checks/lint/rules/sections.ts";
import { templateText } from "../../../../src/checks/lint/rules/markup.ts";
import { invisibleCharacters } from "../../../../src/checks/lint/rules/hidden.ts";
import { check, pageOf, placesOf } from "./page.ts";

describe("the place of a finding", () => {
  it("is the right one of equal texts", async () => {
    const source = "---\ntitle: A\nteam: x y\n---\n\nA x\u200by b x\u200by.\n";
    const found = await check(invisibleCharacters, source);
    expect(found.map(({ span }) => span?.start)).toEqual([
      source.indexOf("\u200b"),
      source.lastIndexOf("\u200b"),
    ]);
  });

  it("is that of each of equal lines, after an ignore region too", async () => {
    const line = "Call the desk at x\u200by.\n";
    const source = `${line}\n<!-- knowctl:ignore -->\nA\n<!-- /knowctl:ignore -->\n\n${line}\nB\n\n${line}`;
    const found = await check(invisibleCharacters, source);
    const marks = [...source.matchAll(/\u200b/g)].map(({ index }) => index);
    expect(found.map(({ span, fix }) => [span?.start, fix])).toEqual(
      marks.map((index) => [index, ""]),
    );
  });

  it("is found after an ignore region, a shortcode and an admonition", async () => {
    const source =
      "<!-- knowctl:ignore -->\n{{ a.b }}\n<!-- /knowctl:ignore -->\n\n{{< youtube x >}}\n\n" +
      "!!! note\n    Text {{ a.b }} here.\n\n{{ c.d }} and {{ c.d }}\n";
    const found = await check(templateText, source);
    expect(found.map(({ at }) => at)).toEqual(["{{ a.b }}", "{{ c.d }}", "{{ c.d }}"]);
    expect(found.map(({ span }) => span?.start)).toEqual([
      source.indexOf("{{ a.b }} here"),
      source.indexOf("{{ c.d }}"),
      source.lastIndexOf("{{ c.d }}"),
    ]);
  });

  it("is the line of the file in other formats", async () => {
    const mdx = 'import A from "./a";\n\n# T\n\n<A />\n\n### C\n';
    expect(await placesOf(skippedLevel, mdx, { path: "a.mdx" })).toEqual(["### C"]);
    const rst = "T\n=\n\nText.\n\n``B`` plan\n------\n\nAs mentioned above, it is.\n";
    expect(await placesOf(danglingReference, rst, { path: "a.rst" })).toEqual([
      "As mentioned above",
    ]);
    const html = "<h1>T</h1>\n<h3>The <b>third</b></h3>\n";
    const [found] = await check(skippedLevel, html, { path: "a.html" });
    expect(found?.at).toBe("<h3>The <b>third</b></h3>");
    const adoc = "= T\n\n==== Fourth\n\nText.\n";
    expect(await placesOf(skippedLevel, adoc, { path: "a.adoc" })).toEqual(["==== Fourth"]);
  });

  it("is that of the heading in HTML, not of a link to it or of an equal one before", async () => {
    const mark = '<span><a class="mark" href="#third">#</a></span>';
    const heading = (name: string): string => `<h3 id="third">${name}${mark}</h3>`;
    const html =
      '<p><a href="#third">\nThe third &amp; last\n</a></p><h2>First</h2>' +
      `${heading("The third &amp; last")}\n<h1>T</h1>\n${heading("The <code>third</code> &amp;\nlast")}\n`;
    const [found] = await check(skippedLevel, html, { path: "a.html" });
    expect(found?.at).toBe(heading("The <code>third</code> &amp;\nlast"));
    const menu = "<ul><li>\nThird\n</li></ul><h1>T</h1>\n<h3>Third</h3>\n";
    expect(await placesOf(skippedLevel, menu, { path: "a.html" })).toEqual(["<h3>Third</h3>"]);
  });

  it("is unknown in a file that is no text", async () => {
    const page = await pageOf("# A\n\n### C\n");
    const found = [...skippedLevel.check({ ...page, source: undefined })];
    expect(found).toEqual([
      { message: "a heading of level 3 follows one of level 1", span: undefined },
    ]);
  });
});

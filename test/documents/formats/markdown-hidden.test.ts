import { describe, expect, it } from "vitest";
import { removeHidden } from "../../../src/documents/formats/markdown/hidden.ts";
import { createLeftOutLog } from "../../../src/documents/text/left-out.ts";
import { readAdoc } from "../../../src/documents/formats/adoc/adoc.ts";
import { readHtml } from "../../../src/documents/formats/html.ts";
import { readMarkdown } from "../../../src/documents/formats/markdown/markdown.ts";
import { readMdx } from "../../../src/documents/formats/mdx/mdx.ts";
import { expectLinear } from "../../cost.ts";
import * as fc from "../../property.ts";
import { around, siteOf } from "./around.ts";

const bodyOf = (text: string): string => readMarkdown(text, "a.md", around).body;

describe("comments of Markdown", () => {
  it.each([
    ["on a line", "a\n\n<!-- SECRET -->\n\nb", "a\n\n\n\nb"],
    ["between two lines of text", "a\n<!-- SECRET -->\nb", "a\n\nb"],
    [
      "alone in a block of HTML",
      "<div>\n <!-- SECRET -->\n      <p>a\n</div>",
      "<div>\n      <p>a\n</div>",
    ],
    ["in a paragraph", "a <!-- SECRET --> b", "a  b"],
    ["over several lines", "a\n\n<!--\nSECRET\n\n# SECRET\n-->\nb", "a\n\n\nb"],
    ["over lines of a paragraph", "a <!-- SECRET\nSECRET --> b", "a  b"],
    ["that is short", "a\n\n<!-->\n\nb <!---> c", "a\n\n\n\nb  c"],
    ["in a list", "- a\n  <!-- SECRET\n  SECRET -->\n- b", "- a\n  \n- b"],
    ["in an item", "1. <!-- SECRET --> a\n2. b", "1.  a\n2. b"],
    ["in a quotation", "> a\n> <!-- SECRET\n> SECRET -->\n> b", "> a\n> \n> b"],
    [
      "in a table",
      "| a | b |\n| - | - |\n| c <!-- SECRET --> | d |",
      "| a | b |\n| - | - |\n| c  | d |",
    ],
    [
      "between backticks in rows of a table",
      "| a | b |\n| - | - |\n| ` | d |\n| <!-- SECRET --> | ` |",
      "| a | b |\n| - | - |\n| ` | d |\n|  | ` |",
    ],
    ["in a heading", "# A <!-- SECRET -->\n\nb", "# A \n\nb"],
    ["with a fence in it", "<!--\n```\nSECRET\n```\n-->\nb", "\nb"],
    ["with backticks in it", "a <!-- ` SECRET --> `b` c", "a  `b` c"],
    ["after a fence", "```\nx\n```\n<!-- SECRET -->\nb", "```\nx\n```\n\nb"],
    ["after an escaped backtick", "a \\` <!-- SECRET --> \\` b", "a \\`  \\` b"],
    ["in a block of HTML", "<div>\n<!-- SECRET\n\nSECRET -->\n</div>", "<div>\n\n</div>"],
    [
      "in a block of HTML with backticks",
      "<div>\n` <!-- SECRET --> `\n</div>",
      "<div>\n`  `\n</div>",
    ],
    ["that never closes", "a\n\n<!-- SECRET\n\nSECRET\n", "a\n\n"],
    ["with an end in code", "a <!-- `-->` SHOWN", "a ` SHOWN"],
    [
      "that begins in a cell",
      "| a |\n| - |\n| <!-- b |\n\nc --> d",
      "| a |\n| - |\n| <!-- b |\n\nc --> d",
    ],
    ["with a condition", "<!--[if IE]>\nSECRET\n<![endif]-->\nb", "\nb"],
    ["around a section of CDATA", "<!-- <![CDATA[ SECRET ]]> -->\nb", "\nb"],
    [
      "in a value, as part of the value",
      '<p title="<!-- x -->">b</p>',
      '<p title="<!-- x -->">b</p>',
    ],
    ["of Liquid", "a {% comment %}SECRET\n\nSECRET{% endcomment %} b", "a  b"],
    ["of Liquid without blanks", "a\n\n{%- comment -%}\nSECRET\n{%- endcomment -%}\nb", "a\n\n\nb"],
    ["of kramdown", "a\n\n{::comment}\nSECRET\n\nSECRET\n{:/comment}\n\nb", "a\n\n\n\nb"],
    ["of kramdown in a line", "a {::comment}SECRET{:/} b {::comment}SECRET{:/comment}", "a  b "],
    ["as a definition", "a\n\n[//]: # (SECRET)\n[comment]: <> (SECRET)\n\nb", "a\n\n\n\n\nb"],
    ["with a paragraph indented like code below text", "a\n    <!-- SECRET --> b", "a\n     b"],
    [
      "in indented text of an item",
      "1.  a\n\n    <!-- SECRET -->\n\n    b",
      "1.  a\n\n    \n\n    b",
    ],
  ])("removes one %s", (_, text, expected) => {
    expect(bodyOf(text)).toBe(expected);
    expect(bodyOf(text)).not.toContain("SECRET");
  });

  it.each([
    ["in a fence", "```html\n<!-- shown -->\n```\n"],
    ["in a fence of an item", "- a\n\n  ```\n  <!-- shown -->\n  ```\n"],
    ["in a fence of a quotation", "> ~~~\n> <!-- shown -->\n> ~~~\n"],
    ["in a fence in an item that begins with it", "- ```\n  <!-- shown -->\n  ```\n"],
    ["in a longer fence", "````\n```\n<!-- shown -->\n```\n````\n"],
    ["in a fence that never closes", "```\n<!-- shown -->\n"],
    ["in indented code", "a\n\n    <!-- shown -->\n\nb"],
    ["in code indented by a tab", "a\n\n\t<!-- shown -->\n"],
    ["in indented code of an item", "- a\n\n      <!-- shown -->\n"],
    ["in indented code of a quotation", ">     <!-- shown -->\n"],
    ["in a code span", "a `<!-- shown -->` b"],
    ["in a longer code span", "a `` ` <!-- shown --> `` b"],
    ["in a code span over two lines", "a `b <!-- shown\n--> c` d"],
    ["escaped", "a \\<!-- shown --> b"],
    ["that never closes in a paragraph", "a <!-- shown\n\nb"],
    ["that closes in the next paragraph", "a <!-- shown\n\nb --> c"],
    ["of kramdown in code", "a `{::comment}shown{:/}` b"],
    ["of kramdown that never closes", "a {::comment}shown\n"],
    ["of Obsidian outside of its vault", "a %%shown%% b\n\n%%\nshown\n%%\n"],
    ["as a definition in a paragraph", "a\n[//]: # (shown)\nb"],
  ])("keeps one %s", (_, text) => {
    expect(bodyOf(text)).toBe(text);
  });

  it("keeps ignore regions, and counts nothing in them", () => {
    const text = "a\n<!-- knowctl:ignore -->\n<!-- SECRET -->\n<!-- /knowctl:ignore -->\nb";
    const { body, leftOut = [] } = readMarkdown(text, "a.md", around);
    expect(body).toBe("a\n<!-- knowctl:ignore -->\n\n<!-- /knowctl:ignore -->\nb");
    expect(leftOut).toEqual([]);
  });

  it("removes comments of Obsidian in its vault, but not in code", () => {
    const vault = { ...around, site: siteOf("obsidian") };
    const text = "a %%SECRET%% b\n\n%%\nSECRET\n\nSECRET\n%%\n\n`%%shown%%` 5%% c\n";
    const { body, leftOut } = readMarkdown(text, "a.md", vault);
    expect(body).toBe("a  b\n\n\n\n`%%shown%%` 5%% c\n");
    expect(leftOut).toMatchObject([
      { kind: "comment", line: 1 },
      { kind: "comment", line: 3 },
    ]);
    expect(readMarkdown(text, "a.md", { ...vault, keepsHidden: true }).body).toBe(text);
  });

  it("lets a region be left out that a comment reaches into", () => {
    const text = "a\n<!-- knowctl:ignore -->\n<!-- SECRET\n<!-- /knowctl:ignore -->\nb\n";
    expect(() => readMarkdown(text, "a.md", around)).not.toThrow();
    const { body } = readMarkdown(text, "a.md", around);
    expect(body).not.toContain("SECRET");
  });

  it("counts comments of AsciiDoc, once for each line or block", async () => {
    const text =
      "// one\n= A\nAuthor\n// two\n\na\n// three\nb\n\n////\nSECRET\n////\n\n* c\n// five\n\n[comment]\nSECRET\n\n|===\n| d\n// seven\n|===\n\n----\n// shown\n----\n";
    const { body, leftOut = [] } = await readAdoc(text, "a.adoc", around);
    expect(body).not.toMatch(/SECRET|one|two|three|five|seven/);
    expect(body).toContain("// shown");
    expect(leftOut.map(({ kind }) => kind)).toEqual(Array.from({ length: 7 }, () => "comment"));
    expect(leftOut.slice(0, 4).map(({ line }) => line)).toEqual([1, 4, 7, 12]);
  });

  it("counts each comment with its line", () => {
    const text = "---\ntitle: a\n---\nx\n\n<!-- one -->\n\ny <!-- two -->";
    expect(readMarkdown(text, "a.md", around).leftOut).toEqual([
      { kind: "comment", what: "", line: 6 },
      { kind: "comment", what: "", line: 8 },
    ]);
  });

  it("keeps everything where the configuration says so", () => {
    const text = "a <!-- b --> <p hidden>c</p>";
    expect(readMarkdown(text, "a.md", { ...around, keepsHidden: true }).body).toBe(text);
  });
});

/** Elements that nobody sees, as HTML and as HTML in Markdown. */
const hiddenElements: [string, string][] = [
  ["an attribute", "<p hidden>SECRET</p>"],
  ["an attribute in capitals", "<P HIDDEN>SECRET</P>"],
  ["an attribute with a value", '<p hidden="hidden">SECRET</p>'],
  ["an attribute without quotes", "<p hidden=true>SECRET</p>"],
  ["a style", '<p style="display:none">SECRET</p>'],
  ["a style in single quotes", "<p style='display:none'>SECRET</p>"],
  ["a style without quotes", "<p style=display:none>SECRET</p>"],
  ["a style with blanks", '<p style="color: red; DISPLAY : none !important">SECRET</p>'],
  ["a style with a comment", '<p style="display:/* x */none">SECRET</p>'],
  ["the last of two styles", '<p style="display:block; display:none">SECRET</p>'],
  ["an important style", '<p style="display:none !important; display:block">SECRET</p>'],
  ["an encoded style", '<p style="display&#58;none">SECRET</p>'],
  ["more elements of its name", "<div hidden>SECRET<div>SECRET</div>SECRET</div>"],
  ["elements without content", "<div hidden>SECRET<br><img src=a.png>SECRET</div>"],
  ["a hidden element in it", "<div hidden>SECRET<p hidden>SECRET</p>SECRET</div>"],
  ["an attribute and a list", "<ul><li hidden>SECRET<li>a</ul>"],
  ["an attribute of a cell", "<table><tr><td hidden>SECRET<td>a</table>"],
  ["a parent that ends", "<div><span hidden>SECRET</div>"],
  ["the next paragraph", "<div><p hidden>SECRET<p>a</div>"],
  ["details", "<details hidden><summary>SECRET</summary>SECRET</details>"],
  ["the class of a panel alone", '<div class="tab-note" hidden>SECRET</div>'],
  ["the class of an accordion alone", '<p class="accordion" style="display:none">SECRET</p>'],
  ["a comment in a value", '<p hidden title="<!-- x -->">SECRET</p>'],
  ["a template", "<template><p>SECRET</p><template>SECRET</template>SECRET</template>"],
  ["a script", "<script>if (a < b) SECRET</script>"],
  ["a style sheet", "<style>\n.a { color: SECRET }\n</style>"],
];

const seenElements: [string, string][] = [
  ["until found", '<p hidden="until-found">SHOWN</p>'],
  ["a panel of tabs", '<div role="tabpanel" hidden>SHOWN</div>'],
  ["a controlled element", '<button aria-controls="x">Y</button><div id="x" hidden>SHOWN</div>'],
  ["details", "<details><summary>A</summary>SHOWN</details>"],
  ["aria-hidden", '<p aria-hidden="true">SHOWN</p>'],
  ["data-hidden", "<p data-hidden>SHOWN</p>"],
  ["another style", '<p style="display:block">SHOWN</p>'],
  ["a style that wins over the attribute", '<p hidden style="display:block">SHOWN</p>'],
  ["the last of two styles", '<p style="display:none; display:block">SHOWN</p>'],
];

describe("hidden elements", () => {
  it.each(hiddenElements)("removes what %s hides, in Markdown", (_, html) => {
    for (const text of [`a\n\n${html}\n\nVISIBLE`, `a ${html} VISIBLE`, `- ${html}\n\nVISIBLE`]) {
      expect(bodyOf(text)).not.toContain("SECRET");
      expect(bodyOf(text)).toContain("VISIBLE");
    }
  });

  it.each(hiddenElements)("removes what %s hides, in HTML", (_, html) => {
    const { body } = readHtml(`<main><div>a ${html}</div><p>VISIBLE</main>`, "a.html");
    expect(body).not.toContain("SECRET");
    expect(body).toContain("VISIBLE");
  });

  it("ends an open comment of HTML with the page", () => {
    const { body, leftOut } = readHtml("a<!-- SECRET<p>SECRET", "a.html");
    expect(body.trim()).toBe("a");
    expect(leftOut).toEqual([{ kind: "comment", what: "", line: 1 }]);
  });

  it.each(seenElements)("keeps %s", (_, html) => {
    expect(bodyOf(`a\n\n${html}\n\nb`)).toContain("SHOWN");
    expect(readHtml(`<main>${html}</main>`, "a.html").body).toContain("SHOWN");
  });

  it.each([
    [
      "Markdown between its tags",
      "<div hidden>\n\n# SECRET\n\n```\nSECRET\n```\n\n</div>\n\nVISIBLE",
    ],
    ["an item that ends", "- <div hidden>\n  SECRET\n\n  SECRET\n- VISIBLE"],
    ["a paragraph that ends", "a <span hidden>SECRET\n\nVISIBLE"],
  ])("ends with %s", (_, text) => {
    expect(bodyOf(text)).not.toContain("SECRET");
    expect(bodyOf(text)).toContain("VISIBLE");
  });

  it("keeps the marks of ignore regions in a hidden element", () => {
    const text =
      "<div hidden>\n<!-- knowctl:ignore -->\n</div>\nSECRET\n<!-- /knowctl:ignore -->\nb";
    expect(bodyOf(text)).toContain("<!-- knowctl:ignore -->");
  });

  it("keeps tags in code, and words about scripts", () => {
    const text = "`<p hidden>` and\n\n    <p hidden>x</p>\n\nThe <script> tag.\n\nb";
    expect(bodyOf(text)).toBe(text);
  });

  it.each([
    ["an attribute", "<p hidden>SECRET</p>"],
    ["an attribute with code", "<p hidden={true}>SECRET</p>"],
    [
      "a style of React",
      "<div style={{ color: 'red', display: 'none' }}>SECRET <div>SECRET</div></div>",
    ],
    ["a style", '<div style="display:none">SECRET</div>'],
    ["a comment", "{/* SECRET */}"],
    ["a template", "<template>SECRET</template>"],
    ["a drawing", "<svg><title>SECRET</title>\n\n<text>SECRET</text></svg>"],
  ])("removes what %s hides, in MDX", (_, jsx) => {
    const { body, leftOut = [] } = readMdx(`# A\n\n${jsx}\n\nVISIBLE`, "a.mdx", around);
    expect(body).not.toContain("SECRET");
    expect(body).toContain("VISIBLE");
    expect(leftOut).toHaveLength(1);
  });

  it("keeps hidden elements of each format where the configuration says so", () => {
    const kept = { ...around, keepsHidden: true };
    const text = "# A\n\n<p hidden>SHOWN</p>\n";
    expect(readMdx(text, "a.mdx", kept).body).toContain("SHOWN");
    expect(readHtml("<main><p hidden>SHOWN</p></main>", "a.html", kept).body).toContain("SHOWN");
  });

  it("keeps what another element of MDX controls", () => {
    const text =
      '<button aria-controls="x">Y</button>\n\n<div id="x" hidden>SHOWN</div>\n\n<div id="y" hidden>SECRET</div>\n';
    const { body } = readMdx(text, "a.mdx", around);
    expect(body).toContain("SHOWN");
    expect(body).not.toContain("SECRET");
  });

  it.each([
    `style={{ display: "none" }}`,
    `style={{ "display": "none", color: "red" }}`,
    `style={{ color: 'red', 'display' : 'NONE' }}`,
    "style={{ display: `none` }}",
    `style="display:none"`,
    "hidden={true}",
  ])("removes what <div %s> hides in MDX", (attribute) => {
    const text = `<div ${attribute}>\n\nSECRET\n\n</div>\n\nSHOWN\n`;
    expect(readMdx(text, "a.mdx", around).body.trim()).toBe("SHOWN");
  });

  it("keeps what only starts hidden in MDX", () => {
    const text = "<Tab hidden>SHOWN</Tab>\n\n<p hidden={false}>SHOWN</p>";
    expect(readMdx(text, "a.mdx", around).body.match(/SHOWN/g)).toHaveLength(2);
  });
});

describe("comments of other writers", () => {
  const vault = { ...around, site: siteOf("obsidian") };
  it.each(["%% ", "%%\n\n", "{::comment} ", "{:/} {::comment} ", "a\n{% comment %}\n"])(
    "takes linear time for many %j",
    (part) => {
      expectLinear(20_000, (size) => readMarkdown(part.repeat(size), "a.md", vault));
    },
  );
});

describe("the rest of a page", () => {
  const words = fc.stringMatching(/^[a-z]{1,8}$/);
  const line = fc.oneof(
    words,
    fc.constantFrom(
      "",
      "- a",
      "1. b",
      "> c",
      "```",
      "~~~",
      "    d",
      "| e | f |",
      "| - | - |",
      "# g",
    ),
    fc.constantFrom(
      "`h",
      "`` i `",
      "\\`",
      "\\<",
      "<div>",
      "</div>",
      "<b",
      "a < b > c",
      "***",
      "<!",
    ),
  );
  const comment = fc.constantFrom("<!-- X -->", "<!--X\nX-->", "<!---->");

  it("stays byte for byte", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(line, comment)), (lines) => {
        const text = lines.join("\n");
        const { text: kept, removed } = removeHidden(text, createLeftOutLog(text, 1));
        // Put back what was removed: the text is the same again.
        let whole = "";
        let from = 0;
        for (const { at, length } of removed) {
          whole += kept.slice(from, at);
          const cut = text.slice(whole.length, whole.length + length);
          expect(cut).toMatch(/^\s*<!--[^]*-->\s*$/);
          whole += cut;
          from = at;
        }
        expect(whole + kept.slice(from)).toBe(text);
      }),
    );
  });

  it("stays where there is nothing to remove", () => {
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const text = lines.join("\n");
        expect(removeHidden(text, createLeftOutLog(text, 1)).text).toBe(text);
      }),
    );
  });

  it.each([
    ["comments that never close", "<!-- ", 100_000],
    ["comments that never close in paragraphs", "a <!--\n\n", 100_000],
    ["comments in paragraphs and one end", "a <!--\n\n", 100_000],
    ["hidden elements in each other", "<div hidden>", 50_000],
    ["open hidden spans", "<span hidden>a ", 50_000],
    ["ends of other elements", "<div hidden></i>", 50_000],
    ["quotations", "> ", 50_000],
    ["items", "- ", 50_000],
    ["lines of quotations", ">>>>>>>>>>>> <!-- a\n", 20_000],
    ["tags that never end", '<a b="', 50_000],
    ["scripts that never end", "a <script>\n\n", 50_000],
    ["code spans", "` `` ", 50_000],
    ["definitions", "[//]: # (a)\n", 50_000],
  ])("takes linear time for %s", (name, part, count) => {
    const end = name.includes("one end") ? "-->" : "";
    expectLinear(count, (size) => {
      const text = `<!-- a -->\n${part.repeat(size)}${end}`;
      removeHidden(text, createLeftOutLog(text, 1));
    });
  });
});

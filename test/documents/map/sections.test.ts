import { expectLinear } from "../../cost.ts";
import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { anchorsOf, plainText } from "../../../src/documents/text/heading-text.ts";
import { mapDocument } from "../../../src/documents/map/map-document.ts";
import { splitSections, type SectionOptions } from "../../../src/documents/map/sections.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { scanStructure } from "../../../src/documents/text/structure.ts";

const options: SectionOptions = {
  mode: "headings",
  anchors: "github",
  maxChars: undefined,
  link: undefined,
};
const texts = (body: string, more: Partial<SectionOptions> = {}): string[] =>
  splitSections(body, { ...options, ...more }).map((section) => section.text ?? "");
const headings = (text: string): string[] =>
  scanStructure(text).headings.map((heading) => `${heading.level} ${heading.text}`);

describe("headings", () => {
  it.each([
    ["# A\n## B ##\n### C #\n####### no\n#no\n   ## D\n    # code\n", ["1 A", "2 B", "3 C", "2 D"]],
    ["A\n===\n\nB\nover two\n---\n\n---\n\n- list\n---\n", ["1 A", "2 B over two"]],
    ["```\n# no\n```\n# yes\n~~~ x\n# no\n```\n# no\n~~~~\n# yes 2", ["1 yes", "1 yes 2"]],
    ["````\n```\n# no\n````\n# yes", ["1 yes"]],
    ["``` code ``` text\n# yes", ["1 yes"]],
    ["```\n    ```\n# no\n   ```\n# yes", ["1 yes"]],
    ["- item\n\n  ```\n  # no\n# no\n  ```\n\n# yes", ["1 yes"]],
    ["- item\n**over** two lines\n    ```\n  # no\n    ```\n# yes", ["1 yes"]],
    ["1. item\n\n   - deep\n\n     ~~~\n# no\n     ~~~\n\n# yes", ["1 yes"]],
    ["- ```\n# no\n  ```\n# yes", ["1 yes"]],
    ["    ```\n# yes\n    ```\n", ["1 yes"]],
    ["> # quoted\n> ```\n\n# yes", ["1 yes"]],
    ["<!--\n# no\n-->\n# yes\n<!-- one line -->\n# yes 2", ["1 yes", "1 yes 2"]],
    ["<pre>\n# no\n</pre>\n# yes", ["1 yes"]],
    ["| a | b |\n|---|---|\n| c | d |\n---\n", []],
    ["#\n# \ntext", ["1 ", "1 "]],
    ["```\n# no, never closed", []],
    ["![l](x.png)\n\n---\nMy Project\n===\n", ["1 My Project"]],
    ["text\n***\nA\n---\n\n_ _ _\nB\n===", ["2 A", "1 B"]],
  ])("in %j", (text, expected) => {
    expect(headings(text)).toEqual(expected);
  });

  it.each([
    ["Hello **bold** and *italic* `code`", "Hello bold and italic code"],
    ["[Link](https://x) and ![img](y.png)", "Link and img"],
    ["snake_case_name and _emphasis_", "snake_case_name and emphasis"],
    ["Title {#custom}", "Title"],
    ["Title {: #custom .class }", "Title"],
    ["Title {: .class #custom }", "Title"],
    ["Title {/* #custom */}", "Title"],
    ["Title {/*custom*/}", "Title"],
    ["Title {/* no id */}", "Title {/* no id */}"],
    ["Title [#custom]", "Title"],
    ["Title [#12]", "Title [#12]"],
    ["The \\<video> and \\<b>\\</b> elements", "The <video> and <b></b> elements"],
    ["Not \\*emphasis\\*, no \\[link](x)", "Not *emphasis*, no [link](x)"],
    ["2 \\* 3 <b>x</b>", "2 * 3 x"],
    ["The `<details>` element", "The <details> element"],
    ["`__init__.py` and `Array<string>`", "__init__.py and Array<string>"],
    ["[**`a_b`**](x.md) `` `c` `` \\`no d", "a_b `c` `no d"],
    ["`<A>`", "<A>"],
    ["a \\`b *c* `<d>`", "a `b c <d>"],
    ["Qu&eacute; es &#x26; R&amp;D&nbsp;&lt;x&gt;", "Qué es & R&D <x>"],
    ["AT&T &nosuch; `&amp;` \\&amp; &#0;", "AT&T &nosuch; &amp; &amp; \ufffd"],
    [
      "R&amp;D&nbsp;&ndash; &#x3C;b&#62; \\&lt; `&gt;` &none; &amp;lt;",
      "R&D – <b> &lt; &gt; &none; &lt;",
    ],
  ])("as plain text: %j", (text, expected) => {
    expect(plainText(text)).toBe(expected);
  });

  it.each(["`", "[", "*a ", "_", "<a", "![", "{#", "\\", "`a``b", "&a", "&#"])(
    "cost no more than their length: %s",
    (part) => {
      expectLinear(20_000, (count) => void plainText(part.repeat(count)));
    },
  );

  it.each(["---", "***", "___", "_ _ _"])("cost no more than their length after %s", (rule) => {
    expectLinear(200_000, (count) => {
      expect(headings(`${rule}${" ".repeat(count)}x\n\n# A`)).toEqual(["1 A"]);
    });
  });
});

describe("anchors", () => {
  const of = (text: string, style: "github" | "docusaurus" | "mkdocs"): string[] =>
    anchorsOf(scanStructure(text).headings, style);
  const text = "# Größe & Maß!\n## A\n## A\n#### A\n## A-1\n## `x.y` (z)\n## Eigen {#own}\n";
  it("of GitHub", () => {
    expect(of(text, "github")).toEqual(["größe--maß", "a", "a-1", "a-2", "a-1-1", "xy-z", "own"]);
  });
  it("have a dash for each blank, where the generator has", () => {
    const twice = "## a  `b  c`\n";
    expect(of(twice, "github")).toEqual(["a--b--c"]);
    expect(of(twice, "mkdocs")).toEqual(["a-b-c"]);
  });
  it("of Docusaurus, with explicit ids", () => {
    expect(of(text, "docusaurus")).toEqual(["", "a", "a-1", "a-2", "a-1-1", "xy-z", "own"]);
  });
  it("of MkDocs", () => {
    expect(of(text, "mkdocs")).toEqual(["groe-ma", "a", "a_1", "a_2", "a-1", "xy-z", "own"]);
    expect(of("# 中文\n# 日本", "mkdocs")).toEqual(["_1", "_2"]);
  });
});

describe("sections", () => {
  it("begin with the path of headings", () => {
    const body =
      "intro\n\n# A\n\na text\n\n## B\n\nb text\n#### deep\nmore\n\n### C\nc text\n## D\n\nd\n# E\ne\n";
    expect(texts(body)).toEqual([
      "intro",
      "A\n\na text",
      "A > B\n\nb text\n#### deep\nmore",
      "A > B > C\n\nc text",
      "A > D\n\nd",
      "E\n\ne",
    ]);
  });

  it("take a heading without body along to the next", () => {
    expect(texts("# A\n## B\n### C\ntext\n")).toEqual(["A > B > C\n\ntext"]);
    expect(texts("# A\n\n## B\n\n## C\n\ntext\n")).toEqual(["A > B\nA > C\n\ntext"]);
    expect(texts("# A\ntext\n## B\n")).toEqual(["A\n\ntext\n\nA > B"]);
    expect(texts("# A\n## B\n")).toEqual(["A > B"]);
  });

  it("carry the anchor in their link", () => {
    const sections = splitSections("intro\n# A B\nx\n## A B\ny", {
      ...options,
      link: "https://x/p",
    });
    expect(sections.map((section) => section.link)).toEqual([
      "https://x/p",
      "https://x/p#a-b",
      "https://x/p#a-b-1",
    ]);
    expect(splitSections("# A\nx", { ...options, link: "https://x/p#q" })[0]?.link).toBe(
      "https://x/p#q",
    );
    expect(splitSections("# A\nx", options)[0]).not.toHaveProperty("link");
  });

  it.each(["headings", "whole"] as const)("%s do not show the ids of headings", (mode) => {
    const body = "# P {#p}\n\na\n\n#### Deep {: .x #d }\n\nb {#c}\n\nUnder {/*u*/}\n---\n\nc\n";
    const joined = texts(body, { mode }).join("\n");
    expect(joined).not.toMatch(/#p|#d|\bu\b/);
    expect(joined).toMatch(/#### Deep\n\nb \{#c\}/);
  });

  it("stand alone: addresses in their links, footnotes below their text", () => {
    const body = `see [x][01], [x] and [Two  words][].
[![i][img]][01] and a note[^1]
## A
[y][X] \`[x][01]\` [none][of] [ ] [^1] [^n]

\`\`\`
[x]: in code
\`\`\`

[01]: https://e.com/01 "T"
[X]: <https://e.com/x y>
[two words]: z.md
[img]: i.png
  'I'
[no definition]: a b

[^1]: Note one
    goes on.

    And on.
[^n]: Note n
[^unused]: Kept

## B
[x]: other.md
`;
    expect(texts(body)).toEqual([
      `see [x](https://e.com/01 "T"), [x](<https://e.com/x y>) and [Two  words](z.md).
[![i](i.png 'I')](https://e.com/01 "T") and a note[^1]

[^1]: Note one
    goes on.

    And on.`,
      `A

[y](<https://e.com/x y>) \`[x][01]\` [none][of] [ ] [^1] [^n]

\`\`\`
[x]: in code
\`\`\`

[no definition]: a b

[^unused]: Kept

[^1]: Note one
    goes on.

    And on.
[^n]: Note n

B`,
    ]);
  });

  it("keep the indentation of code and the levels of headings that are skipped", () => {
    expect(texts("### C\n\n    code\n# A\nx")).toEqual(["C\n\n    code", "A\n\nx"]);
  });

  it("whole is the body as it is; blank is none", () => {
    expect(texts("\n# A\n\nx\n\n", { mode: "whole" })).toEqual(["\n# A\n\nx\n\n"]);
    expect(texts(" \n\t\n", { mode: "whole" })).toEqual([]);
    expect(texts("")).toEqual([]);
  });

  it("split at paragraphs, never in a fence, a heading with what follows", () => {
    const code = "```\nline\n\nline\n\nline\n```\n";
    const body = `one one one\n\ntwo two two\n\n${code}\n# H\n\nthree three\n\nfour\n`;
    const parts = texts(body, { mode: "whole", maxChars: 26 });
    expect(parts).toEqual([
      "one one one\n\ntwo two two",
      code.trim(),
      "# H\n\nthree three\n\nfour",
    ]);
    expect(texts("a\n\n    code\n", { mode: "whole", maxChars: 2 })).toEqual(["a", "    code"]);
    expect(texts("# A\n\naaaa\n\nbbbb\n\ncccc", { maxChars: 12 })).toEqual([
      "A\n\naaaa",
      "A\n\nbbbb",
      "A\n\ncccc",
    ]);
  });
});

describe("properties", () => {
  const line = fc.oneof(
    fc.constantFrom(
      "# A",
      "## B",
      "### C",
      "#### D",
      "```",
      "~~~",
      "- x",
      "",
      "",
      "text",
      "  ```",
      "A\n===",
      "<!--",
      "-->",
      "> q",
      "    code",
    ),
    fc.string({ maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, "")),
  );
  const body = fc.array(line, { maxLength: 25 }).map((lines) => lines.join("\n"));
  const words = (text: string): string => text.replace(/[\s#=-]+/g, "");

  it("whole loses nothing, with or without a limit", () => {
    fc.assert(
      fc.property(
        body,
        fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
        (text, maxChars) => {
          const joined = texts(text, { mode: "whole", maxChars }).join("");
          if (maxChars === undefined) expect(joined).toBe(text.trim() === "" ? "" : text);
          else expect(words(joined)).toBe(words(text));
        },
      ),
    );
  });

  it("by headings every line of the body arrives", () => {
    fc.assert(
      fc.property(
        body,
        fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
        (text, maxChars) => {
          const joined = texts(text, { maxChars }).join("\n");
          const { headings: found } = scanStructure(text);
          let at = 0;
          const below: string[] = [];
          for (const heading of found.filter(({ level }) => level <= 3)) {
            below.push(...text.slice(at, heading.start).split("\n"));
            at = heading.end;
            expect(joined).toContain(plainText(heading.text));
          }
          below.push(...text.slice(at).split("\n"));
          for (const each of below) expect(joined).toContain(each.trim());
        },
      ),
    );
  });
});

describe("hostile texts", () => {
  it.each<[name: string, size: number, body: (count: number) => string]>([
    ["image openings", 60_000, (count) => `# t\n${"![".repeat(count)}`],
    ["code spans and images on one line", 20_000, (count) => "`a` ![x](y) ".repeat(count)],
    ["fences and images", 20_000, (count) => "```\nx\n```\n![a](b)\n".repeat(count)],
    [
      "ignore markers on one line",
      15_000,
      (count) => "<!-- knowctl:ignore --><!-- /knowctl:ignore -->".repeat(count),
    ],
    ["spaces in a heading", 60_000, (count) => `# a${" ".repeat(count)}b\ntext`],
    ["spaces in an underlined heading", 60_000, (count) => `a${" ".repeat(count)}b\n===\ntext`],
    ["an id that is never closed", 60_000, (count) => `# a {#${"a".repeat(count)}\ntext`],
    ["ids of headings", 20_000, (count) => "# a {#b} {#".repeat(count)],
    ["comments behind a heading", 60_000, (count) => `# a ${"{/*".repeat(count)}\ntext`],
    ["definitions", 20_000, (count) => "[a]: b\n".repeat(count)],
    ["references", 20_000, (count) => `[a]: b\n\n${"[x][a] [".repeat(count)}`],
    ["notes", 20_000, (count) => `[^a] ${"[^a]: b\n    c\n\n".repeat(count)}`],
    ["titles without an end", 20_000, (count) => "[a]: b\n 'c\n\n".repeat(count)],
    ["one heading many times", 20_000, (count) => "# a\nx\n".repeat(count)],
    [
      "headings without text",
      20_000,
      (count) => `${Array.from({ length: count }, (_, n) => `# h${n}\n`).join("")}x`,
    ],
  ])("take no time beyond their length: %s", (_name, size, bodyOf) => {
    const settings = compileSettings({ root: "/", sections: "headings", anchors: "mkdocs" });
    expectLinear(size, (count) => {
      const body = bodyOf(count);
      const parsed = { frontMatter: undefined, body, bodyLine: 1, isMarkdown: true, warnings: [] };
      mapDocument({ path: "a.md", mtimeMs: 0 }, parsed, settings);
    });
  });

  it("are scanned once for all that ask for them one after the other", () => {
    const text = "# Leave\n\nEmployees have 28 days.\n";
    const structure = scanStructure(text);
    expect(scanStructure(`${text.slice(0, 7)}${text.slice(7)}`)).toBe(structure);
    expect(scanStructure(text.replace("Leave", "Visit")).headings[0]?.text).toBe("Visit");
    expect(scanStructure(text, () => true).headings).toEqual(structure.headings);
  });

  it("take no stack: list marks before a fence", () => {
    const text = `${"- ".repeat(16 * 1024 * 1024)}\`\`\`\n# a\n`;
    expect(scanStructure(text).headings).toHaveLength(1);
  });
});

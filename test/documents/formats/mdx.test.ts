import { expectLinear } from "../../cost.ts";
import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { readMdx } from "../../../src/documents/formats/mdx/mdx.ts";
import { scanStructure } from "../../../src/documents/text/structure.ts";
import { CliError } from "../../../src/errors.ts";
import { around } from "./around.ts";
import { createFolder, fileIn, readOkAsync } from "../folder.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import type { Parsed } from "../../../src/documents/formats/format.ts";
import { readDocument } from "../../../src/documents/inspect/read.ts";

describe("mdx", () => {
  const bodyOf = (text: string): string => readMdx(text, "a.mdx", around).body;

  describe("MDX", () => {
    it.each([
      ["import", 'import A from "a"\n\ntext', "text"],
      [
        "imports of several lines",
        "import {\n  A,\n  B as C,\n} from './a';\nimport 'b.css'\n\n# T\n",
        "# T\n",
      ],
      ["import in the middle", 'a\n\nimport * as A from "a"\n\nb', "a\n\nb"],
      ["words that only begin so", 'imports from "a" stay.\n\nb', 'imports from "a" stay.\n\nb'],
      ["imports without spaces", 'import{A}from"a"\nimport*as B from "b"\n\ntext', "text"],
      ["export", "export const a = 1\n\ntext", "text"],
      [
        "export of several lines",
        "export const meta = {\n  title: 'It\\'s {',\n\n  b: [1],\n}\n\n# T",
        "# T",
      ],
      [
        "export of a function",
        "export default function L({ children }) {\n  return <a>{children}</a>;\n}\n\ntext",
        "text",
      ],
      ["export right above a heading", "export const a = 1;\n# T", "# T"],
      ["comments", "a {/* no\n\nno */} b\n\n{/* no */}\n\nc", "a  b\n\nc"],
      ["HTML comments", "a\n<!-- no -->\nb", "a\n\nb"],
      [
        "comments but ids of headings",
        "## T {/* #t */}\n\n## U {/*u*/}\n\n## V {/* v w */}\n\na {/*no*/}",
        "## T {#t}\n\n## U {#u}\n\n## V\n\na",
      ],
      ["expressions", "a {1 + f({ b: '}' })} b", "a  b"],
      ["expressions with apostrophes in elements", "{x && <p>don't</p>}\n\nb", "b"],
      ["expressions with templates", "a {`${b({c: `}`})}`} d", "a  d"],
      ["text in expressions", `a{" "}b {'{'} c`, "a b { c"],
      ["tags", '<Note type="x" {...p} on={() => { a > b }} />\n\ntext', "text"],
      ["tags around text", "<Tabs id='x'>\n\n## T\n\ntext\n\n</Tabs>\n\nb", "## T\n\ntext\n\nb"],
      ["tags of several lines", '<Tabs\n  a="1\n2"\n  b\n>\ntext\n</Tabs>', "text"],
      ["tags within words", "un<b>like</b>ly <A>x</A><A>y</A>", "unlikely x y"],
      ["fragments", "<>\ntext\n</>", "text"],
      ["namespaces and members", '<a:b c:d="1"/><A.B>t</A.B>', "t"],
      ["script and style", "<style>{`a{}`}</style>\n<script>\nlet a\n</script>\nb", "b"],
      ["headings as elements", "<h2 id='a'>\n  Title\n</h2>\n\nb", "## Title\n\nb"],
      ["images", '<img alt="A" src="a.png" />', "![A](a.png)"],
    ])("strips %s", (_name, text, body) => {
      expect(bodyOf(text).trim()).toBe(body.trim());
    });

    it.each([
      ["fences", "```jsx\nimport A from 'a'\n<Foo>{x}</Foo>\n\n\n```\n"],
      ["fences of tildes", "~~~\n{x}\n```\n~~~\n"],
      ["fences in lists", "- a\n\n  ```\n  <Foo>\n  ```\n"],
      ["fences in quotations", "> ```\n> <Foo>\n> ```\n"],
      ["fences that never close", "```\n<Foo>{a}\n"],
      ["inline code", "a `<Foo>` and ``{a`b}`` b\n"],
      ["inline code over lines", "a `<Foo>\n{b}` c\n"],
      ["escapes", "a \\{b\\} \\<c> d\n"],
      ["mathematics", "$x_{1}$ and $$\n\\frac{1}{2}\n$$\n"],
      ["ids of headings", "## T {#my-id}\n"],
      ["autolinks", "<https://example.com/a> and <a@example.com>\n"],
      ["comparisons", "a < b and b <3\n"],
      [
        "prose that begins alike",
        "import the data from the panel\n\nexport your data\n\nimported\n",
      ],
      ["a statement within a paragraph", 'text\nimport A from "a"\n'],
      ["open braces", "a { b\n\n# T\n\nc\n"],
      ["open tags", '<Foo bar="\n\n# T\n\nc\n'],
      ["open comments", "<!-- a\n\nb\n"],
      ["open exports", "export const a = {\n\n# T\n"],
      ["open imports", "import {\n\n# T\n"],
      ["nested lists", "- a\n  - b\n    - c\n\n      d\n"],
    ])("keeps %s", (_name, text) => {
      expect(bodyOf(text)).toBe(text);
    });

    it("headings and fences in components are not taken for indented code", () => {
      const text =
        "<Tabs>\n  <Tab>\n    ## T\n\n    ```sh\n    # no\n      b\n    ```\n  </Tab>\n</Tabs>\n";
      expect(bodyOf(text).trimEnd()).toBe("## T\n\n```sh\n# no\n  b\n```");
    });

    it("is read as a document with front matter, title, sections and ignore regions", async () => {
      const text =
        "---\ntags: [a]\n---\nimport A from 'a'\n\n# The *T*\n\n<A>text</A>\n\n{/* knowctl:ignore */}\nhidden\n{/* /knowctl:ignore */}\n\n## Two\n\nb\n";
      const { document } = await readOkAsync(text, { sections: "headings" }, "a/my.mdx");
      expect(document).toMatchObject({
        id: "a/my.mdx",
        title: "The T",
        metadata: { tags: ["a"] },
        sections: [{ text: "The T\n\ntext" }, { text: "The T > Two\n\nb" }],
      });
    });

    it("any text gives an answer, and plain words never get lost", () => {
      const piece = fc.constantFrom(
        ..."< > { } ` ``` ~~~ ' \" / \\ \n \n\n $ $$ ( ) = # - import export const from <a </a> <B {/* */} <!-- --> // ${ x={ \t".split(
          " ",
        ),
        " ",
      );
      fc.assert(
        fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
          try {
            expect(bodyOf(pieces.join("")).length).toBeLessThanOrEqual(pieces.join("").length + 60);
          } catch (error) {
            if (!(error instanceof CliError)) throw error;
          }
        }),
      );
      fc.assert(
        fc.property(
          fc.array(
            fc.constantFrom(
              "{",
              "<a ",
              "`",
              "<!--",
              "('",
              '"',
              "\n\n",
              "export const a = (",
              "import {",
            ),
            { maxLength: 30 },
          ),
          (pieces) => {
            // Nothing here closes but quotes and code: the word at the end stays.
            expect(bodyOf(`${pieces.join(" ")}\n\n## Survivor\n`)).toContain("Survivor");
          },
        ),
      );
    });

    it.each([
      "<",
      "{",
      "<a",
      "`",
      "<a b={",
      "${",
      "{`",
      "<!--",
      "export const a = {\n\n",
      "import {\n\n",
      "$ ",
      "<a/> ",
      "{'",
      "```\n",
      "<a b='",
      "- ",
      "    ",
    ])("many times %j costs no more than its length", (piece) => {
      expectLinear(50_000, (count) => void bodyOf(piece.repeat(count)));
    });

    it("headings are those of Markdown", () => {
      const { body } = readMdx("# A\n\n<B>\n\n## C\n\n</B>\n\nD\n=\n", "a.mdx", around);
      expect(scanStructure(body).headings.map(({ text }) => text)).toEqual(["A", "C", "D"]);
    });
  });
});

describe("mdx text", () => {
  const parse = (text: string): Parsed => readMdx(text, "a.mdx", around);
  const bodyOf = (text: string): string => parse(text).body.trim();

  describe("text of components", () => {
    it.each([
      ["a card", '<Card title="A" description="B" href="/x" />', "[A](/x)\nB"],
      ["a card with text", '<Card title="A" icon="b">\n\ntext\n\n</Card>', "**A**\n\ntext"],
      [
        "cards in a grid",
        '<Cards>\n  <Card title="A" />\n  <Card title="B" />\n</Cards>',
        "A\n  B",
      ],
      ["the version of a feature", 'Added <Since v="1.2" />.', "Added Since 1.2."],
      ["a label within a sentence", 'a <Badge text="New"/>b', "a New b"],
      [
        "cells of a table of HTML",
        "<table>\n  <tr><th>A b</th><th>C d</th></tr>\n  <tr>\n    <td>1</td>\n    <td>2</td>\n  </tr>\n</table>",
        "A b | C d\n\n1\n2",
      ],
      [
        "numbers of lists of HTML",
        "<ol start={3}><li>a <b>b</b></li><li>c</li></ol>\n<ul>\n  <li>d</li>\n  <li>\n\n  e\n\n  </li>\n</ul>",
        "3. a b\n4. c\n\n  - d\n\n  e",
      ],
      [
        "tabs without a label of their own",
        "<Tabs values={[{label: 'Windows', value: 'win'}, {value: \"mac\", label: `macOS`}]}>\n<TabItem value=\"win\">\n\na\n\n</TabItem>\n<TabItem value='mac'>b</TabItem>\n<TabItem value=\"apple\">c</TabItem>\n</Tabs>",
        "**Windows**\n\na\n\n**macOS** b\n**apple** c",
      ],
      [
        "tabs",
        '<TabItem label="npm">\n  ```sh\n  npm i\n  ```\n</TabItem>',
        "**npm**\n  ```sh\n  npm i\n  ```",
      ],
      ["a box with a title", '<Aside type="tip" title="T">\ntext\n</Aside>', "**Tip: T**\ntext"],
      ["a box without a title", '<Aside type="caution">\ntext\n</Aside>', "**Caution**\ntext"],
      ["a link without a title", '<LinkButton href="/x">Go on</LinkButton>', "[Go on](/x)"],
      ["a link of HTML", 'see <a href="/x y">the page</a>.', "see [the page](</x%20y>)."],
      ["a link around blocks", '<a href="/x">\n\n# T\n\n</a>', "# T"],
      ["an image of a component", '<Image alt="A b" src={photo} />', "A b"],
      ["an image with a source", '<Figure alt="A b" src="a.png" />', "![A b](a.png)"],
      ["an image of HTML", 'a <img src={x} alt="A" />', "a A"],
      ["values in braces", "<Card title={'a'} text={`b`} v={3} />", "a\nb\nCard 3"],
      ["JSX in an attribute", "<Card title={<>A <code>b</code></>} />", "A b"],
      ["code in an attribute", '<Code lang="js" code={`a\n  b`} />', "```js\na\n  b\n```"],
      ["a constant", 'export const version = "1.2";\n\nnow {version}', "now 1.2"],
      ["numbers", "a {42} b", "a 42 b"],
      ["front matter", "---\ntitle: T\n---\na {frontmatter.title} b", "a T b"],
      ["escapes", String.raw`a {'it\'s'}`, "a it's"],
      ["directives", ':::note{title="x"}\nb {"c"}\n:::', "**Note: x**\n\nb c"],
    ])("keeps %s", (_name, text, body) => {
      expect(bodyOf(text)).toBe(body);
      expect(parse(text).leftOut).toEqual([]);
    });

    it("counts expressions that only running code can tell, with their lines", () => {
      const text =
        "---\na: b\n---\na {f(1)}\n\n<B title={t} on={() => 1} style={{ a: 1 }} />\n{/* no */} {}\n{items.map(\n(i) => i)}\n";
      expect(parse(text).leftOut).toEqual([
        { kind: "expression", what: "{f(1)}", line: 4 },
        { kind: "expression", what: "title={t}", line: 6 },
        { kind: "comment", what: "", line: 7 },
        { kind: "expression", what: "{items.map( (i) => i)}", line: 8 },
      ]);
    });

    it("counts texts in attributes that are not kept", () => {
      const text = [
        '<CommandTabs npm="npm create app" yarn={`yarn create app\ncd app`} class="wide tabs" />',
        "",
        '<Steps kind="ordered" title="Two words" client:load="idle or not" value="a b" />',
        '{/* knowctl:ignore */}<A b="not sent"/>{/* /knowctl:ignore */}',
        "",
      ].join("\n");
      expect(parse(text).leftOut).toEqual([
        { kind: "attribute", what: "npm of CommandTabs", line: 1 },
        { kind: "attribute", what: "yarn of CommandTabs", line: 1 },
      ]);
    });

    it("keeps the text around code in a template, and counts it", () => {
      const text =
        "<CodeBlock>\n{`wget \\`x\\` ${url({ a: 1 })}\nrm ${b}`}\n</CodeBlock>\n\n{`${a`b`}`}\n";
      const { body, leftOut } = parse(text);
      expect(body.trim()).toBe("wget `x` ${url({ a: 1 })}\nrm ${b}");
      expect(leftOut).toMatchObject([{ kind: "expression", line: 2 }, { line: 6 }]);
    });

    it("counts nothing in ignore regions", () => {
      const text = "{/* knowctl:ignore */}\n{a}<B title={c}/>\n{/* /knowctl:ignore */}\n{b}\n";
      expect(parse(text).leftOut).toEqual([{ kind: "expression", what: "{b}", line: 4 }]);
    });

    it("keeps other attributes if they are configured", async () => {
      const root = createFolder({ "a.mdx": '<Card heading="A" title="B" />\n' });
      const settings = compileSettings({ root, componentAttributes: ["heading"] });
      const reading = await readDocument(fileIn(root, "a.mdx"), settings);
      expect(reading).toMatchObject({ document: { sections: [{ text: "A\n" }] } });
    });

    it.each([
      '<A title="x"/>',
      '<A href="x">',
      "<Code code=''/>",
      "{f()} ",
      "<A b={<A b={",
      "<a href='x'>t</a> ",
    ])("many times %j costs no more than its length", (piece) => {
      expectLinear(50_000, (count) => void bodyOf(piece.repeat(count)));
    });
  });

  async function textOf(files: Record<string, string>, path: string): Promise<unknown> {
    const root = createFolder(files);
    const reading = await readDocument(fileIn(root, path), compileSettings({ root }));
    if (reading.kind !== "document") throw new Error(reading.reason);
    const { document, notices } = reading;
    return [
      document.sections
        .map(({ text }) => text)
        .join("\n")
        .trim(),
      ...(notices ?? []),
    ];
  }

  describe("imported files", () => {
    const notice = (example: string) => ({ kind: "leftOut", name: "include", times: 1, example });

    it.each([
      ["a partial", "import P from './_p.mdx'\n\na\n\n<P />\n\nb\n", "a\n\n## P of X\n\nb"],
      ["a partial with a value", "import P from './_p.mdx'\n\n<P name='Y' />\n", "## P of Y"],
      [
        "a partial of the site",
        "import P from '@site/parts/q.md'\n\n- a\n\n  <P />\n",
        "- a\n\n  one\n  two",
      ],
      [
        "a partial and its table of contents",
        "import P, {toc as pToc} from './_p.mdx'\n\n<P />\n",
        "## P of X",
      ],
      [
        "a partial by its name default",
        "import {default as P} from './_p.mdx'\n\n<P />\n",
        "## P of X",
      ],
      ["a partial below src", "import P from '~/parts/s.mdx'\n\n<P />\n", "s"],
      [
        "a partial in a sentence",
        "import P from '@site/parts/s2.mdx'\n\nthe <P/> is.\n",
        "the s is.",
      ],
      [
        "code",
        "import c from '!!raw-loader!./c.js'\n\n<CodeBlock>{c}</CodeBlock>\n",
        "```\nlet a = `<b>`\n\n\nlet d\n```",
      ],
      [
        "code in an attribute",
        "import c from './c.js?raw'\n\n<Code code={c} lang='js' />\n",
        "```\nlet a = `<b>`\n\n\nlet d\n```",
      ],
    ])("%s stands in place of its tag", async (_name, text, body) => {
      const files = {
        "site/docs/a.mdx": text,
        "site/docs/_p.mdx":
          "---\na: b\n---\nexport const x = 'X'\n\n## P of {props.name} {#p}\n".replace(
            "{props.name}",
            text.includes("name=") ? "{props.name}" : "{x}",
          ),
        "site/parts/q.md": "one\ntwo\n",
        "site/src/parts/s.mdx": "s\n",
        "site/parts/s2.mdx": "s\n",
        "site/docs/c.js": "let a = `<b>`\n\n\nlet d\n",
      };
      expect(await textOf(files, "site/docs/a.mdx")).toEqual([body]);
    });

    it("that are missing or include themselves are counted, and the rest stays", async () => {
      const missing = "import P from './p.mdx'\n\na\n\n<P />\n";
      expect(await textOf({ "a.mdx": missing }, "a.mdx")).toEqual([
        "a",
        notice("line 5: ./p.mdx: no such file"),
      ]);
      const outside = "import P from '../p.mdx'\n\na\n\n<P />\n";
      expect(await textOf({ "a.mdx": outside }, "a.mdx")).toEqual([
        "a",
        notice("line 5: ../p.mdx: it lies outside the project root"),
      ]);
      const circle = "import P from './a.mdx'\n\na\n\n<P />\n";
      expect(await textOf({ "a.mdx": circle }, "a.mdx")).toEqual([
        "a",
        notice("line 5: ./a.mdx: a cycle: a.mdx → a.mdx"),
      ]);
    });
  });
});

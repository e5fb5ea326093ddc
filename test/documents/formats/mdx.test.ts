import { expectLinear } from "../../cost.ts";
import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { readMdx } from "../../../src/documents/formats/mdx/mdx.ts";
import { scanStructure } from "../../../src/documents/text/structure.ts";
import { CliError } from "../../../src/errors.ts";
import { around } from "./around.ts";
import { readOkAsync } from "../folder.ts";

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
    ["prose that begins alike", "import the data from the panel\n\nexport your data\n\nimported\n"],
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

import { expectLinear } from "../../cost.ts";
import { describe, expect, it } from "vitest";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import type { Parsed } from "../../../src/documents/formats/format.ts";
import { readDocument } from "../../../src/documents/inspect/read.ts";
import { readMdx } from "../../../src/documents/formats/mdx/mdx.ts";
import { createFolder, fileIn } from "../folder.ts";
import { around } from "./around.ts";

const parse = (text: string): Parsed => readMdx(text, "a.mdx", around);
const bodyOf = (text: string): string => parse(text).body.trim();

describe("text of components", () => {
  it.each([
    ["a card", '<Card title="A" description="B" href="/x" />', "[A](/x)\nB"],
    ["a card with text", '<Card title="A" icon="b">\n\ntext\n\n</Card>', "**A**\n\ntext"],
    ["cards in a grid", '<Cards>\n  <Card title="A" />\n  <Card title="B" />\n</Cards>', "A\n  B"],
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

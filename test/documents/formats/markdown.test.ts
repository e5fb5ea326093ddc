import { describe, expect, it } from "vitest";
import { createIncludes } from "../../../src/documents/parts/includes.ts";
import { createNotesByName } from "../../../src/documents/parts/notes-by-name.ts";
import { readMarkdown } from "../../../src/documents/formats/markdown/markdown.ts";
import { expectLinear } from "../../cost.ts";
import { writeFiles } from "../../service.ts";
import { temporaryFolder } from "../../support.ts";
import { failure, readFolder } from "../folder.ts";
import { around } from "./around.ts";

const bodyOf = (text: string): string => readMarkdown(text, "a.md", around).body;

describe("files in addresses", () => {
  const file = `data:image/png;base64,${"iVBORw0KGgo".repeat(30)}=`;

  it.each([
    [`![Plan](${file})`, "![Plan](data:,)"],
    [`<img alt="Plan" src="${file}">`, '<img alt="Plan" src="data:,">'],
    [`[x](<${file}>)`, "[x](<data:,>)"],
    // Short ones are examples.
    ["![](data:image/png;base64,iVBORw0KGgo=)", "![](data:image/png;base64,iVBORw0KGgo=)"],
  ])("are no text: %.20s", (text, body) => {
    expect(readMarkdown(`# A\n\n${text}\n`, "a.md", around).body).toBe(`# A\n\n${body}\n`);
  });

  it("cost linear time", () => {
    const piece = "](data:image/png;base64,";
    expectLinear(20_000, (count) => void readMarkdown(piece.repeat(count), "a.md", around));
    expectLinear(200_000, (count) => void readMarkdown(piece + "a ".repeat(count), "a.md", around));
  });
});

describe("includes in Markdown", () => {
  const files = {
    "docs/part.md": "---\ntitle: P\n---\n\none\n\n!!! tip\n    two\n",
    "docs/lines.txt": "1\n2\n3\n4\n",
    "snippets/code.py": "a\n# --8<-- [start:x]\nb\n# --8<-- [end:x]\nc\n",
    "docs/region.js": "a\n// #region x\nb\n// #endregion x\nc\n",
    "content/_common/p.md": 'common {{% include "_common/q.md" %}}\n',
    "content/_common/q.md": "q\n",
    "_includes/l.md": "liquid\n",
    "docs/My note.md":
      "---\na: b\n---\n# A: 1\n\na ^p\n\n## B\n\n- b ^item\n- ![[part]]\n\n### C\n\nc\nd ^block\n\n# D\n\n| x |\n\n^table\n",
    "docs/ignored.md":
      "# A\n\na\n\n<!-- knowctl:ignore -->\n\n# B\n\nb\n\n<!-- /knowctl:ignore -->\n",
    "src/P.cs":
      "1\n  // <Main>\n  2\n  // <inner>\n  3\n  // </inner>\n  // </main>\n#region R\n4\n#endregion\n5\n",
    "docs/cycle.md": '--8<-- "cycle.md"\n',
    "docs/far.md": '--8<-- "docs/far.md"\n',
    "docs/binary.dat": "a\0b",
  };

  it.each([
    ["a snippet", 'a\n\n--8<-- "docs/part.md"\n\nb', "a\n\none\n\n**Tip**\n\ntwo\n\nb"],
    ["a snippet of the folder", '--8<-- "part.md"', "one\n\n**Tip**\n\ntwo"],
    ["lines of a snippet", '--8<-- "lines.txt:2:3"', "2\n3"],
    ["a section of a snippet", '```py\n--8<-- "code.py:x"\n```', "```py\nb\n```"],
    [
      "a snippet without its marks",
      '- x\n\n    ```py\n    --8<-- "code.py"\n    ```',
      "- x\n\n    ```py\n    a\n    b\n    c\n    ```",
    ],
    ["a block of snippets", "--8<--\nlines.txt:1:1\n; no.md\nlines.txt:4\n--8<--\nb", "1\n4\nb"],
    [
      "an example of a snippet",
      '```\n--8<-- "gone.md"\n--8<-- "lines.txt:1:1"\n```',
      '```\n--8<-- "gone.md"\n1\n```',
    ],
    ["a snippet that is switched off", '  ;--8<-- "part.md"', '  --8<-- "part.md"'],
    [
      "an include of markdown-include",
      "{! part.md !}\n\na {! no !} b",
      "one\n\n**Tip**\n\ntwo\n\na {! no !} b",
    ],
    ["lines of markdown-include", "{!docs/lines.txt!lines=1-2 4}", "1\n2\n4"],
    [
      "lines of a file as code",
      "{* ../lines.txt ln[1,3:4] hl[2] *}\n\n{*a*}",
      "````txt\n1\n3\n4\n````\n\n{*a*}",
    ],
    ["an include of a plugin", '{% include-markdown "./part.md" end="!!!" %}', "one"],
    ["an include of Hugo", '{{% include "/_common/p.md" %}}', "common q"],
    [
      "a file of Hugo as code",
      '{{< readfile file="/docs/lines.txt" code="true" lang="text" >}}',
      "````text\n1\n2\n3\n4\n````",
    ],
    ["an include of Jekyll", "{% include l.md %}", "liquid"],
    ["a relative include of Jekyll", "{% include_relative lines.txt %}", "1\n2\n3\n4"],
    ["an include of VitePress", "<!--@include: ./lines.txt{2,}-->", "2\n3\n4"],
    [
      "an include of DocFX",
      "- a\n\n  [!INCLUDE [P](lines.txt)]\n\nb [!include[](~/_includes/l.md)] c",
      "- a\n\n  1\n  2\n  3\n  4\n\nb liquid c",
    ],
    [
      "code of DocFX",
      "a\n\n[!code-csharp[Main](../src/P.cs?name=Main&highlight=1)]\n\n- x\n  [!code[](~/src/P.cs#R 'T')]\n- [!code-cs[](~/src/P.cs#R \"T\")] b",
      "a\n\n````csharp\n  2\n  3\n````\n\n- x\n  [!code[](~/src/P.cs#R 'T')]\n- ````cs\n  4\n  ````\n b",
    ],
    [
      "lines of code of DocFX",
      "> [!code[A](../src/P.cs?range=1,8-9,11-)]\n\n[!code[A](/src/P.cs#L8-L9)]\n\n[!code[A](../src/P.cs?start=11)]\n\nx [!code[A](../src/P.cs#L1)]",
      "> ````cs\n> 1\n> #region R\n> 4\n> 5\n> ````\n\n````cs\n#region R\n4\n````\n\n````cs\n5\n````\n\nx \n````cs\n1\n````",
    ],
    [
      "code of Microsoft Learn",
      ':::code language="csharp" source="../src/P.cs" id="inner":::\n\n::: code source="~/src/P.cs" range="1" :::\n\n:::code x:::',
      "````csharp\n  3\n````\n\n````cs\n1\n````\n\n:::code x:::",
    ],
    ["a note of Obsidian", "- x\n\n  ![[My note#C]] y", "- x\n\n  ### C\n\n  c\n  d ^block y"],
    [
      "a heading of a note",
      "![[My note.md#A 1#b|B]]",
      "## B\n\n- b ^item\n- one\n\n**Tip**\n\ntwo\n\n### C\n\nc\nd ^block",
    ],
    [
      "blocks of a note",
      "![[My note#^block]]\n\n![[docs/My note#^item]]\n\n![[My note#^table]]",
      "c\nd\n\n- b\n\n| x |",
    ],
    [
      "a note in a cell of a table",
      "| x | y |\n|---|---|\n| ![[My note#C\\|shown]] | ![[My note#^table\\|t]] |",
      "| x | y |\n|---|---|\n| ### C c d ^block | \\| x \\| |",
    ],
    [
      "no image, no code and nothing on the page",
      "![[a.png]] ![[a.pdf#page=2]] `![[part]]` ![[#A]] ![[]] a![[part]](#x) | ![[a.png\\|100]] |",
      "![[a.png]] ![[a.pdf#page=2]] `![[part]]` ![[#A]] ![[]] a![[part]](#x) | ![[a.png\\|100]] |",
    ],
    ["code of VitePress", "<<< @/docs/region.js#x{1}", "````js\nb\n````"],
  ])("become text: %s", async (_name, text, body) => {
    const { document, notices } = await readFolder({ ...files, "docs/a.md": text }, "docs/a.md");
    expect(document.sections).toEqual([{ text: body }]);
    expect(notices).toBeUndefined();
  });

  it.each([
    ["missing", 'x\n\n--8<-- "no.md"\n', "line 3: no.md: no such file"],
    [
      "cycles by a path from the root",
      '--8<-- "docs/far.md"\nx',
      "docs/far.md: a cycle: docs/a.md → docs/far.md → docs/far.md",
    ],
    [
      "binary files by a path from the root",
      '--8<-- "docs/binary.dat"\nx',
      "line 1: docs/binary.dat: a NUL byte (a binary file?) at byte 1",
    ],
    [
      "cycles",
      '--8<-- "cycle.md"\nx',
      "cycle.md: a cycle: docs/a.md → docs/cycle.md → docs/cycle.md",
    ],
    [
      "outside",
      "{!../../../etc/passwd!}\nx",
      "line 1: ../../../etc/passwd: it lies outside the project root",
    ],
    [
      "pages of the web",
      'x\n--8<-- "https://example.com/a.md"',
      "line 2: https://example.com/a.md: it is an address, not a file",
    ],
    [
      "code of DocFX",
      "x\n[!code-c[](../../x.c)]",
      "line 2: ../../x.c: it lies outside the project root",
    ],
    [
      "snippets of DocFX",
      "x\n[!code-c[](../src/P.cs?name=no)]",
      "line 2: ../src/P.cs: no section no",
    ],
    ["notes", "x\n![[gone]]", "line 2: gone.md: no such file"],
    ["notes outside", "![[../../x]]", "line 1: ../../x.md: it lies outside the project root"],
    ["headings of notes", "![[part#no]]", "line 1: part.md: no section no"],
    [
      "ignored parts of notes",
      "![[ignored#A]]\n![[ignored#B]]",
      "line 2: ignored.md: no section B",
    ],
    ["blocks of notes", "![[part#^no]]", "line 1: part.md: no section ^no"],
    ["notes that embed themselves", "x ![[a]]", "line 1: a.md: a cycle: docs/a.md → docs/a.md"],
    ["sections", 'x\n--8<-- "lines.txt:no"', "line 2: lines.txt: no section no"],
  ])("are counted if they cannot be read: %s", async (_name, text, example) => {
    const { notices } = await readFolder({ ...files, "docs/a.md": text }, "docs/a.md");
    expect(notices).toEqual([{ kind: "leftOut", name: "include", times: 1, example }]);
  });

  describe("of notes anywhere in a vault of Obsidian", () => {
    const decomposed = "Cafe\u{301}";
    const vault = {
      "v/.obsidian/app.json": "{}",
      "v/x/deep/Two.md": "far\n",
      "v/x/Two.md": "two\n",
      "v/y/sub/Three.md": "three\n",
      "v/.trash/Four.md": "thrown away\n",
      "Four.md/x.md": "a folder\n",
      "w/Five.md": "another vault\n",
      [`v/${decomposed}/${decomposed}.md`]: "six\n",
      [`${decomposed}/.obsidian/app.json`]: "{}",
      [`${decomposed}/z/Six.md`]: "own vault\n",
      "w/.obsidian/app.json": "{}",
    };
    const textOf = async (text: string, path = "v/a/One.md") => {
      const { document, notices } = await readFolder({ ...vault, [path]: text }, path);
      return [document.sections[0]?.text, ...(notices ?? []).map((each) => each.example)];
    };

    it.each([
      ["![[Two]]", "two"],
      ["![[two.md]]", "two"],
      ["![[deep/Two]]", "far"],
      ["![[sub/Three]] ![[Three]]", "three three"],
      ["![[CAF\u{c9}]]", "six"],
      [`![[caf\u{e9}/${decomposed}]]`, "six"],
    ])("%s", async (text, body) => {
      expect(await textOf(text)).toEqual([body]);
    });

    it.each([
      ["Four", "cannot be read: it is not a regular file"],
      ["Five", "no such file"],
      ["wo", "no such file"],
      ["other/Two", "no such file"],
    ])("but not %s", async (name, problem) => {
      const text = `x ![[${name}]]`;
      expect(await textOf(text)).toEqual(["x ", `line 1: ${name}.md: ${problem}`]);
    });

    it("in the vault of a page whose folder the disk names in another form", async () => {
      const path = "Caf\u{e9}/x/One.md";
      const folder = temporaryFolder();
      writeFiles(folder, vault);
      const includes = createIncludes(folder);
      expect(includes.readNote("Six.md", [path])).toMatchObject({ text: "own vault\n" });
      expect(includes.readNote("Three.md", [path])).toBeUndefined();
    });

    it("but none of a project with too many, instead of those that are listed first", () => {
      const folder = temporaryFolder();
      writeFiles(folder, vault);
      const problem = "name its folder: the project has more than 100000 files";
      const readWith = (most: number): unknown =>
        createIncludes(
          folder,
          undefined,
          undefined,
          createNotesByName({ root: folder, generator: undefined }, most),
        ).readNote("Two.md", [""]);
      expect(readWith(3)).toEqual({ problem });
      expect(readWith(100)).toMatchObject({ path: "v/x/Two.md" });
    });

    it("without a mark of the vault, below the project root", async () => {
      expect(await textOf("![[Three]] ![[Five]]", "One.md")).toEqual(["three another vault"]);
    });
  });

  it("in ignore regions count for nothing, and lines are those of the file", () => {
    const text =
      "---\na: b\n---\n<!-- knowctl:ignore -->\n{{< a >}}\n<!-- /knowctl:ignore -->\n\n{{< b >}}\n";
    expect(readMarkdown(text, "a.md", around).leftOut).toEqual([
      { kind: "shortcode", what: "b", line: 8 },
    ]);
  });

  it("with an open ignore region name their own place", async () => {
    const part = { ...files, "docs/part.md": "a\n<!-- knowctl:ignore -->\n" };
    const read = readFolder({ ...part, "docs/a.md": '--8<-- "part.md"' }, "docs/a.md");
    await expect(read).rejects.toThrow(
      "docs/part.md:2:1: the knowctl:ignore region is never closed",
    );
    expect(failure(() => bodyOf("{{< a >}}\n\n<!-- knowctl:ignore -->\n"))).toBe(
      "a.md:3:1: the knowctl:ignore region is never closed",
    );
  });
});

describe("Markdown with imports", () => {
  it("is MDX, as in Docusaurus", async () => {
    const files = {
      "docs/_p.md": "part\n",
      "docs/a.md":
        "# T\n\nimport P from './_p.md'\n\n<Tabs><TabItem label=\"a\">\n\n<P/>\n\n</TabItem></Tabs>\n",
    };
    const { document } = await readFolder(files, "docs/a.md");
    expect(document.sections).toEqual([{ text: "# T\n\n**a**\n\npart\n\n" }]);
  });

  it.each([
    "```js\nimport a from 'b'\n```\n<A b='c'/>\n",
    "    import a from 'b'\n\n<A/>\n",
    "import the data from 'here' now <A/>\n",
  ])("%j has none", (text) => {
    expect(bodyOf(text)).toBe(text);
  });
});

describe("shortcodes", () => {
  it.each([
    ["references", '[a]({{< ref "b/c.md" >}}) {{% relref path="d.md" %}}', "[a](b/c.md) d.md"],
    [
      "figures",
      '{{< figure src="a.png" alt="A" title="T" caption="C" >}}',
      "T\n\n![A](a.png)\n\nC",
    ],
    ["code", "{{< highlight go >}}\na\n{{< /highlight >}}", "```go\na\n```"],
    ["code on a line", "{{< highlight go >}}a{{< /highlight >}}", "```go\na\n```"],
    [
      "code with a fence",
      '{% code title="a.js" %}\n```js\na\n```\n{% endcode %}',
      "**a.js**\n\n```js\na\n```\n",
    ],
    ["code without an end", "{{< code >}}a{{< /code >}}\n{{< code >}}\nb", "```\na\n```\n\nb"],
    [
      "links around links",
      '{% content-ref url="a.md" %}\n[A](a.md)\n{% endcontent-ref %}',
      "\n[A](a.md)\n",
    ],
    ["boxes", "{{% note %}}\na\n{{% /note %}}", "**Note**\n\na\n"],
    [
      "boxes with a type",
      '{{< alert color="warning" title="T" >}}\na\n{{< /alert >}}',
      "**T**\n\na\n",
    ],
    ["hints", "{{< hint info >}}\na\n{{< /hint >}}", "**Info**\n\na\n"],
    ["tabs", '{{< tabs "x" >}}\n{{< tab "npm" >}}a{{< /tab >}}\n{{< /tabs >}}', "\n**npm** a\n"],
    [
      "tabs of Docsy",
      '{{< tabpane text=true right=true >}}\n{{% tab header="**In**:" disabled=true /%}}\n{{% tab header="npm" lang="sh" %}}\na\n{{% /tab %}}\n{{% tab "true" %}}\nb\n{{% /tab %}}\n{{< /tabpane >}}',
      "\n**In**:\n**npm**\n\na\n\n**true**\n\nb\n\n",
    ],
    [
      "contents of tabs",
      '{{< tabs >}}\n{{< tab-content name="1 TB/day" >}}\na\n{{< /tab-content >}}\n{{< /tabs >}}',
      "\n**1 TB/day**\n\na\n\n",
    ],
    ["details", '{{% details title="T" open=true %}}\na\n{{% /details %}}', "**T**\n\na\n"],
    ["buttons", '{{< button href="/x" >}}Go{{< /button >}}', "[Go](/x)"],
    ["cards", '{{< card link="/x" title="T" subtitle="no" >}}', "[T](/x)"],
    ["versions", "{{< new-in 0.123.0 >}}", "New in 0.123.0"],
    ["texts within a sentence", 'a {{< tooltip text="b" id="c" >}}.', "a b."],
    ["unknown ones with content", '{{< steps "x" >}}\na\n{{< /steps >}}', "\na\n"],
    ["shortcodes that are shown", "`{{</* ref a */>}}` {{%/* b */%}}", "`{{< ref a >}}` {{% b %}}"],
    ["comments", "a{{% comment %}}\nb\n{{% /comment %}}c", "ac"],
    ["raw text", "{% raw %}{% a %} {{ b }}{% endraw %} c", "{% a %} {{ b }} c"],
    ["tags of Liquid", "{% if x %}a{% else %}b{% endif %} {% link c.md %}", "ab /c.md"],
    ["hints of GitBook", '{% hint style="info" %}\na\n{% endhint %}', "**Info**\n\na\n"],
    [
      "tabs of GitBook",
      '{% tabs %}\n{% tab title="npm" %}\na\n{% endtab %}\n{% endtabs %}',
      "\n**npm**\n\na\n\n",
    ],
    [
      "tags of Liquid in code",
      "{% highlight html %}\n<ul>{% if a %}<li>A</li>{% endif %}</ul>\n{% raw %}{{ b }}{% endraw %}\n{% endhighlight %}\n\n## Next",
      "```html\n<ul><li>A</li></ul>\n{{ b }}\n```\n\n## Next",
    ],
    [
      "code after code",
      "{% highlight a %}\n1\n{% endhighlight %}\n{% code %}\n{% else %}2\n{% endcode %}\n3",
      "```a\n1\n```\n```\n2\n```\n3",
    ],
    ["code of Jekyll", "{% highlight ruby linenos %}\na\n{% endhighlight %}", "```ruby\na\n```"],
  ])("become text: %s", (_name, text, body) => {
    const { body: read, leftOut = [] } = readMarkdown(text, "a.md", around);
    expect(read).toBe(body);
    // What nobody sees is counted as well.
    expect(leftOut.filter(({ kind }) => kind !== "comment")).toEqual([]);
  });

  it.each([
    ["code", "```\n{{< a >}} {% b %} {!c.md!}\n```\n`{{< a >}}`\n"],
    ["code in a tab", "a\n\n    ```\n    {{< a >}}\n    {% b %}\n    ```\n"],
    ["text without an end", "{{< a\n\n{% b\n\n{!c\n\n--8<-- a\n"],
    ["words that look alike", "a <<< b {!! c !!} {{ d }}\n"],
  ])("nothing else changes: %s", (_name, text) => {
    expect(bodyOf(text)).toBe(text);
  });

  it("that show something unknown are counted", () => {
    const { leftOut } = readMarkdown(
      "a\n{{< youtube x >}}\n\n{% include b.html %}",
      "a.md",
      around,
    );
    expect(leftOut).toEqual([
      { kind: "shortcode", what: "youtube", line: 2 },
      { kind: "shortcode", what: "include", line: 4 },
    ]);
  });

  it.each([
    "{{< ",
    "{{< a >}}",
    "{{</* a ",
    "{{< a >}}{{< /a >}}",
    '{{< a "',
    '{{< a href="b" >}}c',
    "{% ",
    "{% a %}",
    "{% raw %}",
    "{%a%}{%enda%}",
    "{!",
    "{!a.",
    "{*",
    "{* a. ",
    "--8<--\n",
    ';--8<-- "a"\n',
    '--8<-- "a"\n',
    "<!--@include:",
    "\n<<< @/a",
    "![[",
    "[!code[](a",
    "[!code[](a.b) ",
    ':::code source="a"',
    ':::code source="a":::\n',
    "![[a#",
    "![[a]] ",
    "   {{<",
    "{{< highlight >}}",
    "{% highlight %}{% code %}",
  ])("many times %j costs no more than its length", (piece) => {
    const end = "{{< /highlight >}}{{< /a >}}{% endraw %}{% endcode %}{% endhighlight";
    expectLinear(30_000, (count) => void bodyOf(`{{< x >}}${piece.repeat(count)}${end}`));
  });
});

describe("blocks of site generators", () => {
  it.each([
    ["a box", '!!! note "Read this"\n    a\n\n    b\n\nc', "**Note: Read this**\n\na\n\nb\n\nc"],
    ["a box without a title", "!!! warning\n\n    a\n\nb", "**Warning**\n\na\n\nb"],
    ["a box with a hidden title", '!!! note ""\n    a', "\na"],
    ["a box of another kind", '!!! pied-piper inline end "T"\n    a', "**T**\n\na"],
    ["a folded box", '???+ tip "T"\n    a', "**Tip: T**\n\na"],
    [
      "a heading and a fence in a box",
      "!!! tip\n    ## T\n\n    ```sh\n    # a\n        b\n    ```\nc",
      "**Tip**\n\n## T\n\n```sh\n# a\n    b\n```\nc",
    ],
    [
      "a fence that the box ends",
      "!!! tip\n    ```\n    a\n\nb { .c }",
      "**Tip**\n\n```\na\n\nb { .c }",
    ],
    [
      "tabs in a box in a list",
      '1.  a\n\n    !!! tip\n        === "npm"\n            b\n        === "yarn"\n\n            c\n\n2.  d',
      "1.  a\n\n    **Tip**\n\n    **npm**\n\n    b\n    **yarn**\n\n    c\n\n2.  d",
    ],
    [
      "tabs",
      '=== "npm"\n\n\t```\n\ta\n\t```\n\n=== "yarn"\n\n    b',
      "**npm**\n\n```\na\n```\n\n**yarn**\n\nb",
    ],
    ["a directive", ":::note[Read `this`]\na\n:::\nb", "**Note: Read `this`**\n\na\n\nb"],
    ["a directive with a title", "::: tip The title\na\n:::", "**Tip: The title**\n\na\n"],
    ["a directive without a title", ":::info\n\na\n\n:::", "**Info**\n\na\n\n"],
    ["details", "::: details More {open}\na\n:::", "**More**\n\na\n"],
    ["blocks of slashes", "/// note | T\n\na\n\n///\n/// x\nb\n///", "**Note: T**\n\na\n\n\n\nb\n"],
    ["callouts", '::: {.callout-note title="T"}\na\n:::', "**Note: T**\n\na\n"],
    ["directives without words", "::: code-group\na\n:::", "\na\n"],
    [
      "images of DocFX",
      '- a\n\n  :::image type="content" source="b/c.png" alt-text="C" lightbox="d.png":::\n\n:::image type="complex" source="e f.png" alt-text="[E]":::\ng\n:::image-end:::',
      "- a\n\n  ![C](b/c.png)\n\n![ E ](<e%20f.png>)\ng\n",
    ],
    [
      "columns and versions of DocFX",
      ':::row:::\n   :::column span="2":::\na\n   :::column-end:::\n:::row-end:::\n::: moniker range=">= a-3.0"\nb\n::: moniker-end\n:::zone pivot="c"\nd\n:::zone-end\n:::code source="e.cs":::',
      "\n\na\n\n\n\nb\n\n\nd\n\n",
    ],
    ["nested directives", "::::note\n:::tip\na\n:::\nb\n::::", "**Note**\n\n**Tip**\n\na\n\nb\n"],
    ["an indented directive", "- a\n\n  :::tip\n  b\n  :::", "- a\n\n  **Tip**\n\n  b\n"],
    [
      "a place of a template, which marks no block",
      '{{.Title}} _a_{k="v"}',
      '{{.Title}} _a_{k="v"}',
    ],
    ["attribute lists", "a\n{: .b #c }\n\n[d](e){ .f target=_g } h", "a\n\n\n[d](e) h"],
    [
      "the class of a heading",
      "## T { .a }\n## U {#u}\n## V { #v .a }",
      "## T\n## U {#u}\n## V { #v .a }",
    ],
    [
      "the id below a heading",
      "## T\n{: #t .a}\n\nU\n---\n{:#u}\n",
      "## T {#t}\n\n\nU {#u}\n---\n\n",
    ],
    ["attribute lists in cells", "| a{: .b} | `c{: .d}` | e{.f} |", "| a | `c{: .d}` | e |"],
    ["annotations", "a (1)\n{ .annotate }\n\n1.  b", "a (1)\n\n\n1.  b"],
  ])("become text: %s", (_name, text, body) => {
    expect(bodyOf(text)).toBe(body);
  });

  it.each([
    ["fences", "```\n!!! note\n    a\n:::tip\n{ .a }\n:::\n```\n"],
    ["code spans", "`a(){ .b }` and `c`:::\n"],
    ["exclamations", "!!! wow\n\nb\n"],
    ["indented code below", "!!! wow\nb\n"],
    ["a text of many lines", `!!! \n${"a\n\n".repeat(12_000)}`],
    ["names of code", "::: a.b.C\n    options:\n        x: y\n"],
    ["colons", "a ::: b\n\n:::\n"],
    ["underlined titles", "a\n===\n\n=== b\n    c\n"],
    ["footnotes and definitions", "a[^1]\n\nT\n:   D { .a\n\n[^1]: b\n"],
    ["braces", "a { ...b } {:c, {. d}\n"],
  ])("nothing else changes: %s", (_name, text) => {
    expect(bodyOf(text)).toBe(text);
  });

  it.each([
    "!!! a\n    ",
    '=== "a"\n    b\n',
    ":::a\n",
    ":::",
    ":::a [",
    ":::{",
    "/// a\n",
    "/// a |",
    "{:",
    "){ .a",
    "# {: .a ",
    "!!! a\n\n\n",
    ' !!! "',
    "{ .a } ",
    "{:a}\n",
    "{:#a}\n",
    "{: |",
  ])("many times %j costs no more than its length", (piece) => {
    expectLinear(50_000, (count) => void bodyOf(`:::\n${piece.repeat(count)}`));
  });
});

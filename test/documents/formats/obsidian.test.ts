import { describe, expect, it } from "vitest";
import { readMarkdown } from "../../../src/documents/formats/markdown/markdown.ts";
import { expectLinear } from "../../cost.ts";
import { type Options, readFolder } from "../folder.ts";
import { around, siteOf } from "./around.ts";

const vault = { ...around, site: siteOf("obsidian") };
const readNote = (text: string): ReturnType<typeof readMarkdown> =>
  readMarkdown(text, "a/Own note.md", vault);

describe("a note of Obsidian", () => {
  it.each([
    ["a link", "See [[Two]].", "See [Two](<Two>)."],
    ["a link with a text", "[[x/Two|the second]]", "[the second](<x/Two>)"],
    ["a link to a heading", "[[Two#Part one]]", "[Two > Part one](<Two#Part one>)"],
    ["a link to a heading below another", "[[Two#A#B|b]]", "[b](<Two#B>)"],
    ["a link to a block", "[[Two#^abc|b]]", "[b](<Two>)"],
    ["a link to its own heading", "[[#Part one]]", "[Part one](<#Part one>)"],
    ["a link to its own block", "[[#^abc|there]]", "there"],
    ["a link in a table", "| [[Two\\|b]] |\n| - |", "| [b](<Two>) |\n| - |"],
    ["marks in a name", "[[50% off?]]", "[50% off?](<50%25 off%3F>)"],
    ["a link in code", "`[[Two]]`\n\n```\n[[Two]]\n```", "`[[Two]]`\n\n```\n[[Two]]\n```"],
    ["a link in an element of code", "<code>[[a&#124;b]]</code> a", "<code>[[a&#124;b]]</code> a"],
    ["an empty link", "[[]] [[ ]]", "[[]] [[ ]]"],
    ["an image with a width", "![[a b.png|300]]", "![](<a b.png>)"],
    ["an image with a size", "![[a.png|100x200]]", "![](<a.png>)"],
    ["an image with a text", "![[a.png|A plan]]", "![A plan](<a.png>)"],
    ["an image as a link", "[[a.png]]", "[a.png](<a.png>)"],
    ["another file", "![[talk.mp3]]", "[talk.mp3](<talk.mp3>)"],
    ["a highlight", "a ==b c== d", "a b c d"],
    ["a link in a highlight", "==[[Two]]==", "[Two](<Two>)"],
    ["what is no highlight", "a == b == c\n\n==d\n\ne==", "a == b == c\n\n==d\n\ne=="],
    ["an underlined heading", "Title\n==\n\nx\n=====", "Title\n==\n\nx\n====="],
    ["ids of blocks", "a ^id-1\n\n| a |\n| - |\n\n^0f3d2c\n\nb", "a \n\n| a |\n| - |\n\n\n\nb"],
    ["a power", "a ^2\nb^c", "a ^2\nb^c"],
    ["a footnote", "a^[see [1]] b", "a (see [1]) b"],
    ["a comment over lines", "a %%b\n\nc%% d\n\n%%\n- e\n%%\nf", "a  d\n\n\nf"],
    ["a comment without an end", "a\n\n%%\nb\n\nc", "a\n\n"],
    ["a percentage without an end", "a 5%% b", "a 5%% b"],
    ["a formula", "$a_1$ and $$\nb\n$$", "$a_1$ and $$\nb\n$$"],
    ["a tag", "#idea and #a/b", "#idea and #a/b"],
    ["a callout", "> [!note]\n> a", "> **Note**\n>\n> a"],
    ["a callout with a title", "> [!tip]- Look [[Two]]\n> a", "> **Look [Two](<Two>)**\n>\n> a"],
    ["an own callout", "> [!my-box|left]+\n> a", "> **My box**\n>\n> a"],
    [
      "a callout in a callout",
      "> [!faq] Why\n> > [!todo]\n> > a",
      "> **Why**\n>\n> > **Todo**\n> >\n> > a",
    ],
    ["a callout before a wide blank", "> [!info]\u00a0a", "> **a**"],
    ["a callout without content", "> [!info] Only this", "> **Only this**"],
    ["a quotation", "> [!note](x)\n> a", "> [!note](x)\n> a"],
  ])("has %s", (_, text, body) => {
    expect(readNote(text).body).toBe(body);
  });

  it("is as written elsewhere", () => {
    const text = "[[Two]] ==a== ^id\n\n![[a.png|300]]\n\n```dataview\nLIST\n```\n";
    expect(readMarkdown(text, "a.md", around).body).toBe(text);
  });

  it("counts what plugins would show", () => {
    const text =
      "a <% tp.date.now() %>![[x.base]]\n\n```dataview\nLIST FROM #x\n```\n\n````md\n```query\nshown\n```\n````\n\n- b\n  ```tasks\n  due\n  ```\n";
    const { body, leftOut } = readNote(text);
    expect(body).toBe("a \n\n\n\n````md\n```query\nshown\n```\n````\n\n- b\n  \n");
    expect(leftOut?.map(({ kind, what, line }) => [kind, what, line])).toEqual([
      ["expression", "<% tp.date.now() %>", 1],
      ["include", "x.base", 1],
      ["directive", "dataview", 3],
      ["directive", "tasks", 14],
    ]);
  });

  it("has the name of its file as title, and properties without brackets", () => {
    const text =
      '---\nup: "[[Home]]"\nrelated:\n  - "[[x/Two|the second]] and [[Two#A]]"\nn: {m: "[[B]]"}\n---\n# A heading\n';
    const { title, frontMatter } = readNote(text);
    expect(title).toBe("Own note");
    expect(frontMatter?.data).toEqual({
      up: "Home",
      related: ["the second and Two > A"],
      n: { m: "B" },
    });
  });

  it("takes linear time", () => {
    for (const part of [
      "[[",
      "==",
      "==a ",
      "^[",
      "^a",
      "<%",
      "![[#a",
      "> [!a]",
      "[[a|",
      "`````",
      "```query\n",
      "%%\n",
    ]) {
      expectLinear(20_000, (size) => readNote(part.repeat(size)));
    }
  });
});

describe("a vault of Obsidian", () => {
  const files = {
    "v/.obsidian/app.json": "{}",
    "v/Home.md":
      "---\naliases: [Start]\n---\n# Welcome home\n\ntop\n\n## Part one\n\nfirst\n\n## Other: part\n\nsecond ^b1\n",
    "v/deep/er/Two.md": "two\n",
    "v/Own.md": "## A\n\nSee [[#B]].\n\n## B\n\nb\n",
    "v/deep/Two.md": "near the top\n",
    "v/files/pic.png": Buffer.from("89504e470d0a1a0a0000000000000000", "hex"),
    "v/deep/er/far/Three.md": "below the page\n",
    "v/x/Three.md": "in another folder\n",
    "w/Five.md": "no vault\n",
  };
  const base = "https://notes.example";
  const textOf = async (
    text: string,
    options: Options = {},
    path = "v/a/One.md",
  ): Promise<string | undefined> =>
    (await readFolder({ ...files, [path]: text }, path, options)).document.sections[0]?.text;

  it.each([
    ["[[Home]]", `[Home](${base}/Home)`],
    ["![[Own#A]]", `## A\n\nSee [B](${base}/Own#B).`],
    ["[[home|go]]", `[go](${base}/Home)`],
    ["[go](Home.md)", `[go](${base}/Home)`],
    ["[[Two]]", `[Two](${base}/deep/Two)`],
    ["[[er/Two]]", `[er/Two](${base}/deep/er/Two)`],
    ["[[Home#Part one]]", `[Home > Part one](${base}/Home#Part+one)`],
    ["[[Home#Other part|o]]", `[o](${base}/Home#Other+part)`],
    ["[[#Part one]]\n\n# Part one", "[Part one](#Part+one)\n\n# Part one"],
    [
      '[[Nobody|who]] [x](https://x.example) [[pic.png]] [y](no.md "t").',
      "who [x](https://x.example) pic.png y.",
    ],
    ["[[Five]]", "Five"],
  ])("links %s", async (text, expected) => {
    expect(await textOf(text, { linkStyle: "obsidian", linkBase: base })).toBe(expected);
  });

  it("shows the texts of links without addresses", async () => {
    expect(await textOf("a [[Home]] [[#Part one|b]] [c](<Home.md>)")).toBe("a Home b c");
    expect(await textOf("[[Home]]", { links: "keep" })).toBe("[Home](<Home>)");
  });

  it("has addresses and anchors as a site with other anchors makes them", async () => {
    const options = { link: `${base}/{slug|strip:v/|lower}` } as const;
    expect(await textOf("[[Home#Other: part]]", { ...options, anchors: "github" })).toBe(
      `[Home > Other: part](${base}/home#other-part)`,
    );
  });

  it("prefers the note beside the page, and a path from the vault", async () => {
    const options = { linkStyle: "obsidian", linkBase: base } as const;
    expect(await textOf("[[Two]]", options, "v/deep/er/One.md")).toBe(`[Two](${base}/deep/er/Two)`);
    expect(await textOf("[[deep/Two]]", options, "v/deep/er/One.md")).toBe(
      `[deep/Two](${base}/deep/Two)`,
    );
  });

  it("prefers a note below the page to a shorter path", async () => {
    expect(await textOf("![[Three]]", {}, "v/deep/er/One.md")).toBe("below the page");
    expect(await textOf("![[Three]]", {}, "v/a/One.md")).toBe("in another folder");
  });

  it("has sections with its anchors", async () => {
    const { document } = await readFolder(files, "v/Home.md", {
      linkStyle: "obsidian",
      linkBase: base,
      sections: "headings",
    });
    expect(document.title).toBe("Home");
    expect(document.sections.map(({ link }) => link)).toEqual([
      `${base}/Home#Welcome+home`,
      `${base}/Home#Part+one`,
      `${base}/Home#Other+part`,
    ]);
  });

  it("uploads images that a name finds", async () => {
    const { uploads, images } = await readFolder(
      { ...files, "v/a/One.md": "![[pic.png|20]] ![x](pic.png) ![[no.png]]" },
      "v/a/One.md",
      { images: "upload" },
    );
    expect(uploads?.map(({ path }) => path)).toEqual(["v/files/pic.png"]);
    expect(images).toBe(1);
  });

  it.each([
    [
      "x\n\n![[#Part]]\n\n# Part\n\na [[Home]]\n\n# Next\n\nb",
      "x\n\n# Part\n\na Home\n\n# Part\n\na Home\n\n# Next\n\nb",
    ],
    ["x ![[One#^id]]\n\nown block ^id", "x own block\n\nown block"],
    ["![[Home#Part one]]", "## Part one\n\nfirst"],
    ["a ![[No note]] b", "a  b"],
    ["# Part\n\na\n\n![[#Part]]", "# Part\n\na\n\n# Part\n\na"],
  ])("embeds %j", async (text, expected) => {
    expect((await textOf(text))?.replace(/[ \t]+$/gm, "").trim()).toBe(expected);
  });
});

import { describe, expect, it } from "vitest";
import { readMarkdown } from "../../../src/documents/formats/markdown/markdown.ts";
import { expectLinear } from "../../cost.ts";
import { createFolder, list, readFolder } from "../folder.ts";
import { around, siteOf } from "./around.ts";

const docfx = { ...around, site: { ...siteOf("docfx"), prefix: "d/" } };
const readPage = (text: string): ReturnType<typeof readMarkdown> =>
  readMarkdown(text, "d/a.md", docfx);

describe("a page of DocFX", () => {
  it.each([
    [
      "tabs",
      "# [On `Windows`](#tab/win)\n\na\n\n> ## [On Linux](#tab/linux/x) ##\n\n***",
      "**On `Windows`**\n\na\n\n> **On Linux**\n\n***",
    ],
    [
      "alerts",
      "> [!NOTE]\n> a\n\n- > [!tip]\n  > b",
      "> **Note**\n>\n> a\n\n- > **Tip**\n  >\n  > b",
    ],
    ["a box", '> [!div class="next"]\n> [Next](b.md)', "> \n> [Next](b.md)"],
    ["paths from its root", "[a](~/x/b.md) ![i](<~/y z.png>)", "[a](/d/x/b.md) ![i](</d/y z.png>)"],
    [
      "names of an API",
      "<xref:System.Text.Rune> <xref:A.B.C*?displayProperty=nameWithType> <xref:A.List%601?displayProperty=fullName>",
      "Rune B.C A.List",
    ],
    ["texts of an API", '[the rune](xref:System.Text.Rune) [`x`](<xref:A.B> "t")', "the rune `x`"],
    ["texts of a method", "[**Draw**](<xref:A.Page.Draw(System.Int32)>)", "**Draw**"],
    [
      "a name in the text of a name",
      "[<xref:A.B>](xref:A.B) [*<xref:A.C>*](b.md)",
      "B [*C*](b.md)",
    ],
    [
      "templates and code",
      "{{ a }} {{< b >}} {% c %} `<xref:A.B>`\n\n```\n# [A](#tab/a)\n```",
      "{{ a }} {{< b >}} {% c %} `<xref:A.B>`\n\n```\n# [A](#tab/a)\n```",
    ],
  ])("has %s", (_, text, body) => {
    expect(readPage(text).body).toBe(body);
  });

  it("has images, names and generic types within a line", () => {
    const text =
      'Press :::image type="icon" source="~/a.png":::, :::no-loc text="Azure"::: <xref:A.Set`1> or <xref:A.B`2>.\n\n:::image source="b.png" alt-text="B":::';
    expect(readPage(text).body).toBe("Press ![](/d/a.png), Azure Set or B.\n\n![B](b.png)");
  });

  it("needs no configuration that JSON refuses", async () => {
    const files = { "d/docfx.json": '{ "build": {}, } // x', "d/a.md": "a" };
    expect((await readFolder(files, "d/a.md")).notices).toBeUndefined();
  });

  it("has links and images of included files as their folder reads them", async () => {
    const files = {
      "docfx.json": "{}",
      "a/b.md": "# A page\n\n[!INCLUDE [x](../parts/c.md)]\n",
      "parts/c.md":
        "Read [more](../a/d.md#x), [this](#e) or [that](https://a.example/f.md) `[g](h.md)`.\n\n![I](i.png)\n\n[!INCLUDE [y](in/j.md)]\n",
      "parts/in/j.md": "[K](k.md)\n\n[l]: ../m.md\n",
    };
    const { sections } = (await readFolder(files, "a/b.md")).document;
    expect(sections[0]?.text).toContain(
      "Read [more](d.md#x), [this](#e) or [that](https://a.example/f.md) `[g](h.md)`.\n\n![I](../parts/i.png)\n\n[K](../parts/in/k.md)\n\n[l]: ../parts/m.md",
    );
  });

  it("counts what it cannot show", () => {
    const { body, leftOut } = readPage(
      'a\n\n:::code language="csharp" source="~/../no.cs" id="x":::\n\n> [!VIDEO https://v.example/1]\n\nb\n',
    );
    expect(body).toBe("a\n\n\n\n> \n\nb\n");
    expect(leftOut?.map(({ kind, line }) => [kind, line])).toEqual([
      ["include", 3],
      ["directive", 5],
    ]);
  });

  it("takes linear time", () => {
    for (const part of [
      "<xref:",
      "[",
      "[a](xref:",
      "](~/",
      "# [",
      "# [a](#tab/",
      "[!div",
      ":::code ",
      "@a",
      '@"',
    ]) {
      expectLinear(20_000, (size) => readPage(part.repeat(size)));
    }
  });
});

describe("a site of DocFX", () => {
  const files = {
    "d/docfx.json": "{}",
    "d/core/keys.md": "---\ntitle: Own\nuid: core/keys\n---\n# Keys of a table\n\n## Part\n",
    "d/core/short.md": '\uFEFF---\nuid: "core/short"\ntitle: Short\n---\ntext\n',
    "d/core/TOC.md": "# [A](a.md)\n",
    "d/TOC.yml": "- name: A\n",
    "d/includes/x.md": "x\n",
    "e/other.md": "---\nuid: other\n---\n",
  };

  it("reads links of an included file from its folder", async () => {
    const text = "[!INCLUDE [x](../includes/links.md)]\n";
    const part =
      "[Keys](../core/keys.md#part) ![i](i.png) [u](https://x.example/a.md) `[c](c.md)`\n";
    const page = "d/x/y/a.md";
    const found = { ...files, "d/x/includes/links.md": part, [page]: text };
    expect((await readFolder(found, page)).parsed?.body.trim()).toBe(
      "[Keys](../core/keys.md#part) ![i](../includes/i.png) [u](https://x.example/a.md) `[c](c.md)`",
    );
  });

  it("links pages by their uids", async () => {
    const text =
      "<xref:core/keys> [k](xref:core/keys#part) <xref:core/short?text=x> [o](xref:other) [a](~/core/Keys.md)";
    const { document } = await readFolder({ ...files, "d/x/a.md": text }, "d/x/a.md", {
      linkStyle: "docfx",
      linkBase: "https://x.example",
    });
    const base = "https://x.example/core";
    expect(document.sections[0]?.text).toBe(
      `[Keys of a table](<${base}/keys.html>) [k](<${base}/keys.html#part>) [x](<${base}/short.html>) o [a](${base}/keys.html)`.replace(
        /[<>]/g,
        "",
      ),
    );
  });

  it.each([
    ["see @core/keys.", "see [Keys](/d/core/keys.md)."],
    ['@"core/keys?text=the+keys"s', "[the keys](/d/core/keys.md)s"],
    ["@'core/keys#part'|(@core/keys)", "[Keys](/d/core/keys.md#part)|(@core/keys)"],
    [
      "@core/keys, @core/keys~~, @a.b @core/keys:x",
      "[Keys](/d/core/keys.md), [Keys](/d/core/keys.md)~~, @a.b @core/keys:x",
    ],
    // What names no page stays: most are no references.
    [
      '\\@core/keys `@core/keys` me@x.example @someone @1 @"x\n',
      '\\@core/keys `@core/keys` me@x.example @someone @1 @"x\n',
    ],
  ])("links pages by the short form of their uids: %s", (text, body) => {
    const pageWithUid = (uid: string) =>
      uid === "core/keys" ? { path: "d/core/keys.md", title: "Keys" } : undefined;
    const site = { ...docfx, includes: { ...docfx.includes, pageWithUid } };
    expect(readMarkdown(text, "d/a.md", site).body.replace(/\(<([^>]*)>\)/g, "($1)")).toBe(body);
  });

  it("has no page of a table of contents or an include", () => {
    const pages = list(createFolder(files)).filter((each) => !each.startsWith("skipped"));
    expect(pages).toEqual(["d/core/keys.md", "d/core/short.md", "e/other.md"]);
  });
});

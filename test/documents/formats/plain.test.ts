import { describe, expect, it } from "vitest";
import { around } from "./around.ts";
import { readAdoc } from "../../../src/documents/formats/adoc/adoc.ts";
import { readOkAsync } from "../folder.ts";

describe("AsciiDoc", () => {
  it.each([
    ["first line", "= Hello\nAuthor <a@example.com>\n:toc:\n\ntext", "Hello"],
    [
      "below comments and attributes",
      "// x\n:toc: left\n////\n= no\n////\n\n= Guide to *X*\n",
      "Guide to X",
    ],
    ["the other mark", "# Hello", "Hello"],
    ["underlined", "git-add(1)\n==========\n\nNAME\n----\n", "git-add(1)"],
    ["an example block is none", "A long line of text\n====\nexample\n====", undefined],
    ["a section is none", "== Section\n= Late", undefined],
    ["text first", "text\n\n= Late", undefined],
    ["an unclosed comment", "////\n= Hidden", undefined],
  ])("title: %s", async (_name, text, title) => {
    expect((await readAdoc(text, "a.adoc", around)).title).toBe(title);
  });

  it("a signature of the same extension is no text", async () => {
    const { body } = await readAdoc("-----BEGIN PGP SIGNATURE-----\n\nabc", "a.asc", around);
    expect(body).toBe("");
  });
});

describe("as documents", () => {
  it.each([
    ["page.rst", "Title\n=====\n\ntext", "Title"],
    ["page.rest", "---\ntitle: Mine\n---\nTitle\n=====\n", "Mine"],
    ["my-page.rst", "text", "My page"],
    ["page.adoc", "= Title\n\ntext", "Title"],
    ["page.ASCIIDOC", "= Title\n\ntext", "Title"],
    ["my_notes.asc", "text", "My notes"],
  ])("%s", async (path, text, title) => {
    const { document } = await readOkAsync(text, {}, path);
    expect(document).toMatchObject({ id: path, title, semantic_identifier: title });
  });
});

import { describe, expect, it } from "vitest";
import { noIncludes } from "../../../src/documents/read/includes.ts";
import { readAdoc } from "../../../src/documents/read/readers/adoc/adoc.ts";
import { readRst } from "../../../src/documents/read/readers/rst.ts";
import { readOkAsync } from "../folder.ts";

describe("reStructuredText", () => {
  it.each([
    ["underlined", "Hello *world*\n=============\n\ntext", "Hello *world*"],
    ["over- and underlined", "=====\n Big \n=====\n\nNext\n----\n", "Big"],
    [
      "after comments",
      ".. comment\n\n.. _label:\n\nThe ``code`` title\n~~~~~~~~~~~~~~~~~~\n",
      "The code title",
    ],
    ["roles", ":mod:`json` --- JSON\n====================\n", "json --- JSON"],
    ["a transition is none", "text\n\n-----\n\nmore\n", undefined],
    ["too short is none", "A long line of text\n---\n", undefined],
    ["a directive is none", ".. note::\n=========\n", undefined],
    ["none", "only text", undefined],
    ["an empty file", "", undefined],
    ["a table", "=====  =====\nA      B\n=====  =====\n", undefined],
  ])("title: %s", (_name, text, title) => {
    expect(readRst(text, "a.rst").title).toBe(title);
  });

  it("the text stays as it is, front matter apart", () => {
    const parsed = readRst("---\ntitle: T\n---\nA\n=\n\n# no heading\n", "a.rst");
    expect(parsed).toMatchObject({
      isMarkdown: false,
      body: "A\n=\n\n# no heading\n",
      bodyLine: 4,
    });
    expect(parsed.frontMatter?.data["title"]).toBe("T");
  });
});

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
  ])("title: %s", (_name, text, title) => {
    expect(readAdoc(text, "a.adoc", { includes: noIncludes, componentAttributes: [] }).title).toBe(
      title,
    );
  });

  it("a signature of the same extension is no text", () => {
    expect(
      readAdoc("-----BEGIN PGP SIGNATURE-----\n\nabc", "a.asc", {
        includes: noIncludes,
        componentAttributes: [],
      }).body,
    ).toBe("");
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

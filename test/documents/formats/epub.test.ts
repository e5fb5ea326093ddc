import { describe, expect, it } from "vitest";
import type { Parsed } from "../../../src/documents/formats/format.ts";
import { readEpub } from "../../../src/documents/formats/epub/epub.ts";
import { pageSections } from "../../../src/documents/map/sections.ts";
import { CliError } from "../../../src/errors.ts";
import { bomb, type Part, zip } from "./archive.ts";

type Parts = Record<string, string | Uint8Array | Part>;

const container =
  '<container><rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>';
const page = (body: string, more = ""): string =>
  `<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title>no</title></head><body ${more}>${body}</body></html>`;

interface Opf {
  metadata?: string;
  /** Attributes of items of the manifest by id; else the file `OEBPS/ID.xhtml`. */
  items?: Record<string, string>;
  /** The ids of the reading order. */
  spine?: string[];
  guide?: string;
}

function opf(chapters: string[], { metadata = "", items = {}, spine, guide = "" }: Opf): string {
  const all = { ...Object.fromEntries(chapters.map((id) => [id, ""])), ...items };
  const manifest = Object.entries(all).map(
    ([id, more]) =>
      `<item id="${id}" ${more.includes("href=") ? "" : `href="${id}.xhtml"`} ${more.includes("media-type=") ? "" : 'media-type="application/xhtml+xml"'} ${more}/>`,
  );
  const refs = (spine ?? Object.keys(all)).map((id) => `<itemref idref="${id}"/>`);
  return `<package><metadata xmlns:dc="dc">${metadata}</metadata><manifest>${manifest.join("")}</manifest><spine>${refs.join("").replaceAll('="last"', '="last" linear="no"')}</spine><guide>${guide}</guide></package>`;
}

/** A book of chapters by id; `parts` add or replace files. */
function epub(chapters: Record<string, string>, book: Opf = {}, parts: Parts = {}): Uint8Array {
  const files = Object.entries(chapters).map(([id, text]) => [
    `OEBPS/${id}.xhtml`,
    text.startsWith("<?xml") ? text : page(text),
  ]);
  return zip({
    mimetype: "application/epub+zip",
    "META-INF/container.xml": container,
    "OEBPS/book.opf": opf(Object.keys(chapters), book),
    ...(Object.fromEntries(files) as Record<string, string>),
    ...parts,
  });
}

const read = (...given: Parameters<typeof epub>): Promise<Parsed> =>
  readEpub(epub(...given), "a.epub");

async function failure(bytes: Uint8Array): Promise<string> {
  const error: unknown = await readEpub(bytes, "a.epub").catch((reason: unknown) => reason);
  if (error instanceof CliError && error.exit === "usage")
    return [error.message, ...error.hints].join("; ");
  throw new Error("expected a failure", { cause: error });
}

describe("chapters", () => {
  it("are sections in reading order, those outside of it last", async () => {
    const chapters = { b: "<h1>B</h1><p>b</p>", last: "<p>end</p>", a: "<h1>A</h1><p>a</p>" };
    const parsed = await read(chapters, { spine: ["a", "last", "b", "a"] });
    expect(parsed.pages?.map(({ text }) => text)).toEqual(["# A\n\na\n", "# B\n\nb\n", "end\n"]);
    expect(parsed.body).toBe("# A\n\na\n\n# B\n\nb\n\nend\n");
    expect(parsed.headings?.map(({ text }) => text)).toEqual(["A", "B"]);
  });

  it("have the link of their book, and no other name than their own", () => {
    const pages = [{ text: "a", label: "", fragment: "" }];
    const sectionsOf = (link?: string) => pageSections(pages, { link, maxChars: undefined });
    expect(sectionsOf("https://x.example/b")).toEqual([{ text: "a", link: "https://x.example/b" }]);
    expect(sectionsOf()).toEqual([{ text: "a" }]);
  });

  it.each([
    [
      "the contents",
      { items: { nav: 'properties="nav"' } },
      "<nav><ol><li>A</li></ol></nav><p>no</p>",
    ],
    [
      "a page that the guide calls contents",
      { items: { nav: "" }, guide: '<reference type="toc" href="nav.xhtml#x"/>' },
      "no",
    ],
    [
      "a cover of the guide",
      { items: { nav: "" }, guide: '<reference type="cover" href="nav.xhtml"/>' },
      "no",
    ],
    ["a cover by its type", { items: { nav: "" } }, page("no", 'epub:type="cover"')],
  ] as [string, Opf, string][])("lack %s", async (_name, book, text) => {
    const parsed = await read({ a: "<p>a</p>", nav: text }, book);
    expect(parsed.body).toBe("a\n");
    expect(parsed.leftOut).toBeUndefined();
  });

  it("are those of the guide in a book that has no others", async () => {
    const guide = '<reference type="toc" href="a.xhtml"/>';
    expect((await read({ a: "<p>a</p>" }, { guide })).body).toBe("a\n");
  });

  it("lack a page of the cover's picture, by its name", async () => {
    const cover = '<img src="c.png" alt="Cover"/>';
    expect((await read({ cover, a: "<p>a</p>" })).body).toBe("a\n");
    expect((await read({ cover: "<p>Dust covers</p>", a: cover })).body).toBe(
      "Dust covers\n\nCover\n",
    );
  });

  it("leave their pictures out, with the words of these, and count them", async () => {
    const pictures =
      '<p>b</p><img src="../i/a.png" alt="A lamp"/><svg><image href="b.svg"/></svg><img src="c.png" alt=""/>';
    const ornaments = '<img src="d.png" role="presentation"/><img src="e.png" aria-hidden="true"/>';
    const parsed = await read({ cover: '<img src="0.png"/>', a: pictures + ornaments });
    expect(parsed.body).toBe("b\n\nA lamp\n");
    expect(parsed.leftOut).toEqual(
      ["../i/a.png", "b.svg", "c.png"].map((what) => ({
        kind: "embedded",
        what,
        line: undefined,
      })),
    );
  });

  it("what stands for a chapter of another type is read", async () => {
    const items = { pdf: 'href="x.pdf" media-type="application/pdf" fallback="a"' };
    expect((await read({ a: "<p>a</p>" }, { items, spine: ["pdf"] })).body).toBe("a\n");
  });

  it.each([
    ["a file that is missing", { items: { x: "" } }, "OEBPS/x.xhtml: no such file"],
    ["an item that is missing", { spine: ["x", "a"] }, "x: it is not in the manifest"],
    [
      "an absolute address",
      { items: { x: 'href="/etc/passwd"' } },
      "/etc/passwd: it leads out of the book",
    ],
    [
      "a way out",
      { items: { x: 'href="../../b.xhtml"' } },
      "../../b.xhtml: it leads out of the book",
    ],
    [
      "a way out in escapes",
      { items: { x: 'href="%2e%2e/../b.xhtml"' } },
      "it leads out of the book",
    ],
    [
      "a web address",
      { items: { x: 'href="https://a.example/b.xhtml"' } },
      "https://a.example/b.xhtml: it leads out of the book",
    ],
    [
      "a picture",
      { items: { x: 'href="p.svg" media-type="image/svg+xml"' } },
      "p.svg: it is no text (image/svg+xml)",
    ],
    [
      "circles",
      {
        items: {
          x: 'href="p" media-type="image/a" fallback="y"',
          y: 'href="q" media-type="image/a" fallback="x"',
        },
        spine: ["a", "x"],
      },
      "p: its fallbacks lead back to it",
    ],
  ] as [string, Opf, string][])(
    "that cannot be read are named: %s",
    async (_name, book, reason) => {
      const parsed = await read({ a: "<p>a</p>" }, book);
      expect(parsed.body).toBe("a\n");
      expect(parsed.warnings).toEqual([expect.stringContaining(reason)]);
      expect(parsed.leftOut?.map(({ kind }) => kind)).toEqual(["include"]);
    },
  );

  it("are XHTML in their encoding", async () => {
    const latin = Buffer.from(
      page("caf\xe9<br/><i/>x<section/>y").replace("UTF-8", "ISO-8859-1"),
      "latin1",
    );
    const wide = Buffer.from(`\uFEFF${page("ß").replace("UTF-8", "UTF-16")}`, "utf16le");
    const parsed = await read(
      { a: "", b: "" },
      {},
      { "OEBPS/a.xhtml": latin, "OEBPS/b.xhtml": wide },
    );
    expect(parsed.body).toBe("café\nx\n\ny\n\nß\n");
  });

  it("have formulas, readings, words of pictures, and no scripts", async () => {
    const text =
      '<p><math xmlns="m"><mfrac><mi>a</mi><mi>b</mi></mfrac></math> <ruby>base<rt>kana</rt></ruby> <img src="i.png" alt="A lamp"/></p><script>no</script><p hidden="">no</p>';
    const parsed = await read({ a: text });
    expect(parsed.body).toBe("a/b base (kana) A lamp\n");
    expect(parsed.leftOut?.map(({ kind }) => kind)).toEqual(["embedded", "hidden"]);
  });
});

describe("links and notes", () => {
  it("between chapters are links within the document, with ids of their own", async () => {
    const parsed = await read({
      a: '<h1 id="s">A</h1><p><a href="b.xhtml#s">one</a> <a href="b.xhtml">two</a> <a href="#s">three</a> <a href="c.xhtml">four</a> <a href="d.xhtml">five</a> <a href="https://x.example/">six</a> <a href="../../x">seven</a></p>',
      b: '<p>x</p><h1 id="s">B</h1>',
      c: "<h2>C</h2>",
    });
    expect(parsed.body).toBe(
      "# A\n\n[one](#s-2) [two](#s-2) [three](#s) [four](#chapter-3) five [six](https://x.example/) seven\n\nx\n\n# B\n\n## C\n",
    );
    expect(parsed.headings?.map(({ anchor }) => anchor)).toEqual(["s", "s-2", "chapter-3"]);
    expect(parsed.ids).toEqual(expect.arrayContaining(["s", "s-2"]));
  });

  it("to notes are their numbers, and each note stands once in the chapter of its first mark", async () => {
    const parsed = await read({
      a: '<p>x<sup><a epub:type="noteref" href="#n1">1</a></sup> y<a role="doc-noteref" href="notes.xhtml#n2">2</a></p><aside epub:type="footnote" id="n1"><p>Foot <a epub:type="backlink" href="#r">back</a></p><p>more</p></aside><p>z</p>',
      b: '<p>w<a epub:type="noteref" href="notes.xhtml#n2">2</a></p>',
      notes:
        '<h1>Notes</h1><ol><li id="n2" epub:type="endnote"><p>End <a href="a.xhtml#x">↩</a></p></li><li id="n3" epub:type="endnote"><p>Nobody refers to it</p></li></ol>',
    });
    expect(parsed.pages?.map(({ text }) => text)).toEqual([
      "x[^1] y[^2]\n\nz\n\n[^1]: Foot more\n\n[^2]: End\n",
      "w[^2]\n",
      "# Notes\n\n- Nobody refers to it\n".replace("- ", "1. "),
    ]);
  });

  it("a note that refers to itself ends", async () => {
    const note =
      '<aside epub:type="footnote" id="n"><p>Foot <a epub:type="noteref" href="#n">1</a></p></aside>';
    expect((await read({ a: `<p>x<a epub:type="noteref" href="#n">1</a></p>${note}` })).body).toBe(
      "x[^1]\n\n[^1]: Foot [^1]\n",
    );
  });
});

describe("files", () => {
  it("the properties of the book become front matter", async () => {
    const metadata =
      '<dc:title>T</dc:title><dc:title>Sub</dc:title><dc:creator>A</dc:creator><dc:creator>B</dc:creator><dc:date>1999-01-01</dc:date><meta property="dcterms:modified">2024-02-03T04:05:06Z</meta><dc:subject>x</dc:subject><dc:subject>y</dc:subject>';
    const { frontMatter, title } = await read({ a: "<h1>One</h1>" }, { metadata });
    expect(frontMatter?.data).toMatchObject({
      title: "T",
      author: ["A", "B"],
      keywords: ["x", "y"],
    });
    expect(JSON.stringify(frontMatter?.data)).toContain("2024-02-03");
    expect(title).toBe("One");
  });

  const encryption = (algorithm: string): Parts => ({
    "META-INF/encryption.xml": `<encryption><EncryptedData><EncryptionMethod Algorithm="${algorithm}"/></EncryptedData></encryption>`,
  });

  it("mangled fonts do not matter", async () => {
    const parts = encryption("http://www.idpf.org/2008/embedding");
    expect((await read({ a: "<p>a</p>" }, {}, parts)).body).toBe("a\n");
  });

  it("the type of a document is harmless without entities", async () => {
    const book = `<!DOCTYPE package SYSTEM "x.dtd">${opf(["a"], {})}`;
    expect((await read({ a: "<p>a</p>" }, {}, { "OEBPS/book.opf": book })).body).toBe("a\n");
  });

  it.each([
    [
      "encrypted text",
      epub({ a: "a" }, {}, encryption("http://www.w3.org/2001/04/xmlenc#aes128-cbc")),
      "it is protected against reading by other programs (META-INF/encryption.xml); save it without protection as .epub, or exclude it",
    ],
    ["rights", epub({ a: "a" }, {}, { "META-INF/rights.xml": "<rights/>" }), "META-INF/rights.xml"],
    [
      "no container",
      zip({ mimetype: "application/epub+zip" }),
      "it contains no META-INF/container.xml: it is no EPUB",
    ],
    [
      "a container without a package",
      epub({ a: "a" }, {}, { "META-INF/container.xml": "<container/>" }),
      "names no package",
    ],
    [
      "none of its chapters",
      epub({}, { items: { a: "", b: "" } }),
      "cannot be read: it contains none of its chapters (first: OEBPS/a.xhtml)",
    ],
    ["no package", zip({ "META-INF/container.xml": container }), "it contains no OEBPS/book.opf"],
    ["broken XML", epub({ a: "a" }, {}, { "OEBPS/book.opf": "<package>" }), "its XML is broken"],
    [
      "entities",
      epub({ a: "a" }, {}, { "OEBPS/book.opf": '<!DOCTYPE a [<!ENTITY b "c">]><package/>' }),
      "document type with entities",
    ],
    ["cut off", epub({ a: "a" }).subarray(0, 300), "damaged or cut off"],
    ["too large", epub({ a: "" }, {}, { "OEBPS/a.xhtml": bomb }), "larger than the limit"],
    ["endless depth", epub({ a: "<span>".repeat(6000) }), "nested"],
    ["another file", Buffer.from("{}"), "it is no ZIP archive"],
  ])("fails by name: %s", async (_name, bytes, reason) => {
    const message = await failure(bytes);
    expect(message).toMatch(/^a\.epub: /);
    expect(message).toContain(reason);
  });

  it("a book without text is empty", async () => {
    expect(await read({ a: "" })).toMatchObject({ body: "", emptyReason: "empty: no text" });
  });
});

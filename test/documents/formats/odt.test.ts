import { describe, expect, it } from "vitest";
import type { Parsed } from "../../../src/documents/formats/format.ts";
import { readOdt } from "../../../src/documents/formats/odt/odt.ts";
import { CliError } from "../../../src/errors.ts";
import { zip } from "./archive.ts";

type Parts = Record<string, string>;

const wrap = (inner: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><office:document-content>${inner}</office:document-content>`;

/** A text with this body and these styles of places; `parts` add or replace others. */
const odt = (body: string, styles = "", parts: Parts = {}): Uint8Array =>
  zip({
    mimetype: "application/vnd.oasis.opendocument.text",
    "content.xml": wrap(
      `<office:automatic-styles>${styles}</office:automatic-styles><office:body><office:text>${body}</office:text></office:body>`,
    ),
    "styles.xml": wrap(`<office:styles>${commonStyles}</office:styles>`),
    ...parts,
  });

const style = (name: string, family: string, attributes = "", properties = ""): string =>
  `<style:style style:name="${name}" style:family="${family}" ${attributes}><style:text-properties ${properties}/></style:style>`;
const level = (at: number, format: string, more = ""): string =>
  `<text:list-level-style-number text:level="${at}" style:num-format="${format}" ${more}/>`;

const commonStyles = [
  style("Title", "paragraph"),
  style("Geheim", "paragraph", "", 'text:display="none"'),
  style("Preformatted_20_Text", "paragraph"),
  style("Quotations", "paragraph"),
  style("A", "paragraph", 'style:parent-style-name="B"'),
  style("B", "paragraph", 'style:parent-style-name="A"'),
  style("Heading_20_2", "paragraph", 'style:default-outline-level="2"', 'fo:font-weight="bold"'),
  `<text:outline-style><text:outline-level-style text:level="1" style:num-format="I" style:num-suffix="."/><text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/><text:outline-level-style text:level="3" style:num-format=""/></text:outline-style>`,
].join("");
const placeStyles = [
  style("T1", "text", "", 'fo:font-weight="bold"'),
  style("T2", "text", "", 'fo:font-style="italic"'),
  style("T3", "text", "", 'style:text-line-through-style="solid"'),
  style("T4", "text", "", 'style:text-position="super 58%"'),
  style("T5", "text", "", 'text:display="none"'),
  style("T6", "text", "", 'style:font-name="Symbol"'),
  style("P1", "paragraph", 'style:parent-style-name="Geheim"'),
  style("P2", "paragraph", 'style:parent-style-name="Heading_20_2" style:list-style-name=""'),
  `<text:list-style style:name="L1">${level(1, "1", 'style:num-suffix="."')}${level(2, "a", 'text:start-value="3" style:num-prefix="(" style:num-suffix=")"')}${level(3, "1", 'text:display-levels="3"')}</text:list-style>`,
  `<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1" text:bullet-char="•"/></text:list-style>`,
  `<text:list-style style:name="L3">${level(1, "1", 'loext:num-list-format="§ %1%:"')}</text:list-style>`,
].join("");

const p = (text: string, name = ""): string =>
  `<text:p${name === "" ? "" : ` text:style-name="${name}"`}>${text}</text:p>`;
const h = (text: string, at: number, more = ""): string =>
  `<text:h text:outline-level="${at}" ${more}>${text}</text:h>`;
const span = (name: string, text: string): string =>
  `<text:span text:style-name="${name}">${text}</text:span>`;
const item = (...blocks: string[]): string => `<text:list-item>${blocks.join("")}</text:list-item>`;
const list = (name: string, ...items: string[]): string =>
  `<text:list${name === "" ? "" : ` text:style-name="${name}"`}>${items.join("")}</text:list>`;

const read = (body: string, parts: Parts = {}): Promise<Parsed> =>
  readOdt(odt(body, placeStyles, parts), "a.odt");

async function failure(bytes: Uint8Array): Promise<string> {
  const error: unknown = await readOdt(bytes, "a.odt").catch((reason: unknown) => reason);
  if (error instanceof CliError && error.exit === "usage")
    return [error.message, ...error.hints].join("; ");
  throw new Error("expected a failure", { cause: error });
}

describe("text", () => {
  it.each([
    ["title", p("T", "Title"), "# T"],
    [
      "numbered headings",
      h("A", 1) + h("B", 2) + h("C", 2) + h("D", 1) + h("E", 2) + h("F", 3),
      "# I. A\n\n## I.1 B\n\n## I.2 C\n\n# II. D\n\n## II.1 E\n\n### F",
    ],
    [
      "headings without a number",
      h("A", 1, 'text:is-list-header="true"') + h("B", 2, 'text:style-name="P2"'),
      "# A\n\n## B",
    ],
    [
      "headings that count again",
      h("A", 1) + h("B", 1, 'text:restart-numbering="true" text:start-value="7"'),
      "# I. A\n\n# VII. B",
    ],
    ["styles based on each other", p("x", "A"), "x"],
    [
      "blanks between spans",
      p(`a ${span("T1", "b")} ${span("T2", "c")}\n  ${span("T3", "d")}e`),
      "a **b** *c* ~~d~~e",
    ],
    [
      "blanks, tabs and breaks",
      p('a<text:s text:c="3"/>b<text:tab/>c<text:line-break/>d'),
      "a b c\nd",
    ],
    ["raised text and signs", p(`10${span("T4", "6")} ${span("T6", "a")}`), "10⁶ α"],
    [
      "code",
      p('a<text:s text:c="2"/>b', "Preformatted_20_Text") + p("c", "Preformatted_20_Text"),
      "```\na  b\nc\n```",
    ],
    ["quotation", p("q", "Quotations"), "> q"],
    [
      "links",
      p(
        '<text:a xlink:href="https://x.example/a b">t</text:a> <text:a xlink:href="../b.odt">u</text:a> <text:a xlink:href="#b">v</text:a> <text:a xlink:href="javascript:x">w</text:a>',
      ),
      "[t](<https://x.example/a b>) [u](b.odt) v w",
    ],
    [
      "tracked changes",
      `<text:tracked-changes><text:changed-region><text:deletion>${p("gone")}</text:deletion></text:changed-region></text:tracked-changes>${p('a<text:change text:change-id="1"/>b')}`,
      "ab",
    ],
    [
      "fields as shown",
      p(
        '<text:drop-down text:name="x"><text:label text:value="no"/>chosen</text:drop-down> <text:placeholder>&lt;name></text:placeholder> <text:variable-set text:display="none">7</text:variable-set><text:bookmark-ref>see 2</text:bookmark-ref>',
      ),
      "chosen \\<name> see 2",
    ],
    [
      "readings",
      p(
        "<text:ruby><text:ruby-base>base</text:ruby-base><text:ruby-text>kana</text:ruby-text></text:ruby>",
      ),
      "base (kana)",
    ],
    [
      "no table of contents",
      `<text:table-of-content><text:index-body>${p("One 1")}</text:index-body></text:table-of-content>${p("a")}`,
      "a",
    ],
    [
      "a bibliography without its patterns",
      `<text:bibliography><text:bibliography-source><text:index-title-template>no</text:index-title-template></text:bibliography-source><text:index-body>${p("Book")}</text:index-body></text:bibliography>`,
      "Book",
    ],
    ["sections", `<text:section text:name="x">${p("a")}</text:section>`, "a"],
    [
      "the mark of an ignore region",
      `${p("a")}${p("&lt;!-- knowctl:ignore -->")}${p("no")}${p("&lt;!-- /knowctl:ignore -->")}`,
      "a",
    ],
    ["text as text", p("# a &lt;b> *c*"), "\\# a \\<b> \\*c\\*"],
  ])("%s", async (_name, body, text) => {
    expect((await read(body)).body).toBe(`${text}\n`);
  });

  it.each([
    ["a paragraph by its style", p("no", "P1")],
    ["a part of a line", p(span("T5", "no"))],
    ["a section", `<text:section text:display="none">${p("no")}</text:section>`],
    [
      "a section by its condition",
      `<text:section text:display="condition" text:is-hidden="true">${p("no")}</text:section>`,
    ],
    ["a field", p('<text:hidden-text text:is-hidden="true" text:string-value="no"/>')],
    ["a paragraph by a field", p('no<text:hidden-paragraph text:is-hidden="true"/>')],
    [
      "a text box in hidden text",
      p(span("T5", `no<draw:frame><draw:text-box>${p("no")}</draw:text-box></draw:frame>`)),
    ],
  ])("hidden text is left out and counted: %s", async (_name, body) => {
    const parsed = await read(body + p("yes"));
    expect(parsed.body).toBe("yes\n");
    expect(parsed.leftOut?.map(({ kind }) => kind)).toEqual(["hidden"]);
  });

  it("comments are left out and counted", async () => {
    const parsed = await read(
      p(
        `a<office:annotation><dc:creator>x</dc:creator>${p("no")}</office:annotation>b<office:annotation-end/>`,
      ),
    );
    expect(parsed.body).toBe("ab\n");
    expect(parsed.leftOut?.map(({ kind }) => kind)).toEqual(["comment"]);
  });

  it("notes stand at the end, in the order of their marks", async () => {
    const note = (text: string): string =>
      `<text:note><text:note-citation>9</text:note-citation><text:note-body>${p(text)}${p("more")}</text:note-body></text:note>`;
    const body = p(`a${note("foot")}`) + list("L2", item(p(`b${note("end")}`)));
    expect((await read(body)).body).toBe("a[^1]\n\n- b[^2]\n\n[^1]: foot more\n\n[^2]: end more\n");
  });
});

describe("lists", () => {
  it.each([
    [
      "bullets",
      list("L2", item(p("a"), list("L2", item(p("b")))), item(p("c"))),
      "- a\n  - b\n- c",
    ],
    [
      "numbers",
      list(
        "L1",
        item(p("a"), list("", item(p("b")), item(p("c"), list("", item(p("d")))))),
        item(p("e")),
      ),
      "1. a\n   - (c) b\n   - (d) c\n     - 1.d.1 d\n2. e",
    ],
    ["their own text", list("L3", item(p("a")), item(p("b"))), "- § 1: a\n- § 2: b"],
    [
      "a start",
      list(
        "L1",
        item(p("a")),
        '<text:list-item text:start-value="5"><text:p>b</text:p></text:list-item>',
        item(p("c")),
      ),
      "1. a\n5. b\n6. c",
    ],
    [
      "a list that begins again",
      list("L1", item(p("a"))) + p("x") + list("L1", item(p("b"))),
      "1. a\n\nx\n\n1. b",
    ],
    [
      "a list that goes on",
      list("L1", item(p("a"))) +
        p("x") +
        '<text:list text:style-name="L1" text:continue-numbering="true"><text:list-item><text:p>b</text:p></text:list-item></text:list>',
      "1. a\n\nx\n\n2. b",
    ],
    [
      "paragraphs of one item",
      list("L1", item(p("a"), p("b")), item(p("c"))),
      "1. a\n\n   b\n\n2. c",
    ],
    [
      "a header without a number",
      `<text:list text:style-name="L1"><text:list-header>${p("h")}</text:list-header>${item(p("a"))}</text:list>`,
      "- h\n\n1. a",
    ],
    ["an empty item counts", list("L1", item(p("a")), item(p("")), item(p("b"))), "1. a\n3. b"],
    [
      "headings in items",
      list("L1", item(h("A", 1), p("a")), item(h("B", 1))),
      "# 1. A\n\n- a\n\n# 2. B",
    ],
  ])("%s", async (_name, body, text) => {
    expect((await read(body)).body).toBe(`${text}\n`);
  });
});

describe("tables and drawings", () => {
  const cell = (text: string, more = ""): string =>
    `<table:table-cell ${more}>${p(text)}</table:table-cell>`;
  const row = (...cells: string[]): string =>
    `<table:table-row>${cells.join("")}</table:table-row>`;
  const covered = "<table:covered-table-cell/>";

  it("cells that span stand in each place, covered ones in none", async () => {
    const table = `<table:table><table:table-column/><table:table-header-rows>${row(cell("A", 'table:number-columns-spanned="2"'), covered, cell("B"))}</table:table-header-rows><table:table-rows>${row(cell("1", 'table:number-rows-spanned="2"'), cell("2"), cell("3"))}${row(covered, cell("4", 'table:number-columns-repeated="2"'))}</table:table-rows></table:table>`;
    expect((await read(table)).body).toBe(
      "| A | A | B |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 1 | 4 | 4 |\n",
    );
  });

  it("repeated rows and columns are bounded", async () => {
    const many = 'table:number-columns-repeated="999999999"';
    const rows = `<table:table-row table:number-rows-repeated="999999999">${cell("a", many)}</table:table-row>`;
    const { body } = await read(
      `<table:table>${rows.repeat(3)}<table:table-row table:number-rows-repeated="999999999"><table:table-cell ${many}/></table:table-row></table:table>`,
    );
    expect(body.split("\n").length).toBeLessThan(400);
    expect(body.length).toBeLessThan(200_000);
    const more = await read(`<table:table>${rows.repeat(100)}</table:table>`);
    expect(more.body.length).toBeLessThan(1_000_000);
  });

  it("text boxes are blocks, pictures their alternative text", async () => {
    const frame = (inner: string): string => `<draw:frame>${inner}</draw:frame>`;
    const body = [
      p(`a${frame(`<draw:text-box>${p("box")}</draw:text-box>`)}b`),
      p(
        frame(
          '<draw:image xlink:href="Pictures/1.png"/><svg:title>T</svg:title><svg:desc>A red\nlamp</svg:desc>',
        ),
      ),
      frame("<draw:image/><svg:title>Only a title</svg:title>"),
      `<draw:g><draw:custom-shape>${p("shape")}</draw:custom-shape></draw:g>`,
    ];
    expect((await read(body.join(""))).body).toBe(
      "box\n\nab\n\nA red lamp\n\nOnly a title\n\nshape\n",
    );
  });

  it("formulas are those of their objects, of a broken one nothing", async () => {
    const formula = (name: string): string =>
      p(`x<draw:frame><draw:object xlink:href="./${name}"/><draw:image/></draw:frame>`);
    const parts = {
      "Object 1/content.xml":
        '<!DOCTYPE math:math PUBLIC "-//OpenOffice.org//DTD Modified W3C MathML 1.01//EN" "math.dtd"><math:math><math:semantics><math:mrow><math:mfrac><math:mi>a</math:mi><math:mi>b</math:mi></math:mfrac></math:mrow><math:annotation>no</math:annotation></math:semantics></math:math>',
      "Object 2/content.xml": "<math>",
    };
    const body = formula("Object 1") + formula("Object 2") + formula("Object 3");
    expect((await read(body, parts)).body).toBe("x a/b\n\nx\n\nx\n");
  });

  it("fields of forms show what they hold", async () => {
    const forms = `<office:forms><form:form><form:checkbox form:id="c1" form:label="Yes" form:current-state="checked"/><form:listbox form:id="c2"><form:option form:label="no"/><form:option form:label="two" form:current-selected="true"/></form:listbox><form:text form:id="c3" form:current-value="typed"/></form:form></office:forms>`;
    const control = (id: string): string => `<draw:control draw:control="${id}"/> `;
    expect(
      (await read(forms + p(control("c1") + control("c2") + control("c3") + control("c9")))).body,
    ).toBe("☒ Yes two typed\n");
  });
});

describe("files", () => {
  it("the properties become front matter", async () => {
    const meta =
      "<office:document-meta><office:meta><dc:title>T</dc:title><meta:initial-creator>A</meta:initial-creator><dc:creator>B</dc:creator><dc:date>2024-02-03T04:05:06</dc:date><meta:keyword>x</meta:keyword><meta:keyword>y</meta:keyword></office:meta></office:document-meta>";
    const { frontMatter, title } = await read(h("One", 1), { "meta.xml": meta });
    expect(frontMatter?.data).toMatchObject({ title: "T", author: ["A"], keywords: ["x", "y"] });
    expect(title).toBe("I. One");
  });

  it("broken styles cost the styles, and are said", async () => {
    const { body, warnings } = await read(p("a", "P1"), { "styles.xml": "<x>" });
    expect(body).toBe("a\n");
    expect(warnings).toEqual([expect.stringContaining("a.odt: styles, and so headings, ignored")]);
  });

  it.each([
    [
      "a sheet",
      odt("", "", { mimetype: "application/vnd.oasis.opendocument.spreadsheet" }),
      "it is no OpenDocument text",
    ],
    [
      "a password",
      odt("", "", {
        "META-INF/manifest.xml":
          "<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>",
      }),
      "it is protected by a password; save it without protection as .odt, or exclude it",
    ],
    [
      "no content",
      zip({ mimetype: "application/vnd.oasis.opendocument.text" }),
      "it contains no content.xml",
    ],
    ["broken XML", odt("<text:p>"), "its XML is broken"],
    [
      "entities",
      odt("", "", { "content.xml": '<!DOCTYPE x [<!ENTITY a "b">]><x/>' }),
      "document type with entities",
    ],
    ["cut off", odt(p("a")).subarray(0, 300), "damaged or cut off"],
    ["empty", new Uint8Array(), "no OpenDocument text: it is empty"],
    ["another file", Buffer.from("{}"), "it is no ZIP archive"],
  ])("fails by name: %s", async (_name, bytes, reason) => {
    const message = await failure(bytes);
    expect(message).toMatch(/^a\.odt: /);
    expect(message).toContain(reason);
  });
});

import type { Parsed } from "../../../src/documents/formats/format.ts";
import { deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readDocx } from "../../../src/documents/formats/docx/docx.ts";
import { openArchive, unpack } from "../../../src/documents/formats/office/archive.ts";
import { CliError } from "../../../src/errors.ts";
import { readOkAsync } from "../folder.ts";
import { bomb, docx, zip } from "./archive.ts";

const p = (text: string, properties = ""): string =>
  `<w:p>${properties === "" ? "" : `<w:pPr>${properties}</w:pPr>`}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
const style = (id: string): string => `<w:pStyle w:val="${id}"/>`;
const item = (depth: number): string =>
  `<w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="1"/></w:numPr>`;

const styles = `<w:styles xmlns:w="urn:w">
  <w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
  <w:style w:styleId="Eigene"><w:name w:val="Eigene"/><w:basedOn w:val="berschrift1"/></w:style>
  <w:style w:styleId="Umriss"><w:name w:val="x"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>
  <w:style w:styleId="Titel"><w:name w:val="Title"/></w:style>
  <w:style w:styleId="Toc"><w:basedOn w:val="berschrift1"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>
  <w:style w:styleId="Punkt"><w:pPr><w:numPr><w:numId w:val="4"/></w:numPr></w:pPr></w:style>
  <w:style w:styleId="Geheim"><w:rPr><w:vanish/></w:rPr></w:style>
  <w:style w:styleId="A"><w:basedOn w:val="B"/></w:style>
  <w:style w:styleId="B"><w:basedOn w:val="A"/></w:style>
</w:styles>`;

const read = (body: string, parts: Record<string, string> = {}): Promise<Parsed> =>
  readDocx(docx(body, { "word/styles.xml": styles, ...parts }), "a.docx");

async function failure(bytes: Uint8Array): Promise<CliError> {
  const error: unknown = await readDocx(bytes, "a.docx").catch((reason: unknown) => reason);
  if (error instanceof CliError && error.exit === "usage") return error;
  throw new Error("expected a failure", { cause: error });
}

describe("text", () => {
  it.each([
    ["heading by a localised style", p("One", style("berschrift1")), "# One"],
    ["heading by a style based on one", p("One", style("Eigene")), "# One"],
    ["heading by the outline level of a style", p("Three", style("Umriss")), "### Three"],
    ["heading by its own outline level", p("Two", '<w:outlineLvl w:val="1"/>'), "## Two"],
    ["title", p("T", style("Titel")), "# T"],
    ["style that takes the outline level back", p("Toc", style("Toc")), "Toc"],
    ["styles based on each other", p("x", style("A")), "x"],
    ["unknown style", p("x", style("toString")), "x"],
    ["list", p("a", item(0)) + p("b", item(1)) + p("c"), "- a\n  - b\n\nc"],
    ["list by style", p("a", style("Punkt")), "- a"],
    ["no list after all", p("a", style("Punkt") + '<w:numPr><w:numId w:val="0"/></w:numPr>'), "a"],
    [
      "tab and break",
      "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>",
      "a b\nc",
    ],
    ["tab stops are no tabs", p("a", '<w:tabs><w:tab w:val="left"/></w:tabs>'), "a"],
    ["link", `<w:p><w:hyperlink><w:r><w:t>here</w:t></w:r></w:hyperlink></w:p>`, "here"],
    [
      "deleted",
      `<w:p><w:del><w:r><w:delText>no</w:delText><w:t>no</w:t></w:r></w:del><w:ins><w:r><w:t>yes</w:t></w:r></w:ins></w:p>`,
      "yes",
    ],
    [
      "moved",
      `<w:p><w:moveFrom><w:r><w:t>no</w:t></w:r></w:moveFrom><w:moveTo><w:r><w:t>yes</w:t></w:r></w:moveTo></w:p>`,
      "yes",
    ],
    [
      "field codes",
      `<w:p><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>7</w:t></w:r></w:p>`,
      "7",
    ],
    ["entities", p("a &lt;b&gt; &amp; &#x41;"), "a \\<b> & A"],
    ["white space between elements", "<w:p>\n  <w:r>\n <w:t>a</w:t>\n</w:r> </w:p>", "a"],
    ["CDATA", p("<![CDATA[a<b]]>"), "a\\<b"],
    ["control characters", p("a\u0001b"), "ab"],
    [
      "text box once",
      `<w:p><w:r><mc:AlternateContent xmlns:mc="urn:mc"><mc:Choice><w:txbxContent>${p("box")}</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>${p("box")}</w:txbxContent></mc:Fallback></mc:AlternateContent><w:t>around</w:t></w:r></w:p>`,
      "box\n\naround",
    ],
    [
      "raised text",
      `<w:p><w:r><w:t>10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>6</w:t></w:r><w:r><w:t>2</w:t></w:r></w:p>`,
      "10⁶2",
    ],
  ])("%s", async (_name, body, text) => {
    expect((await read(body)).body).toBe(`${text}\n`);
  });

  it.each([
    [
      "run",
      `<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>no</w:t></w:r><w:r><w:t>yes</w:t></w:r></w:p>`,
    ],
    ["paragraph style", p("no", style("Geheim")) + p("yes")],
    [
      "character style",
      `<w:p><w:r><w:rPr><w:rStyle w:val="Geheim"/></w:rPr><w:t>no</w:t></w:r><w:r><w:t>yes</w:t></w:r></w:p>`,
    ],
    ["not hidden", `<w:p><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>yes</w:t></w:r></w:p>`],
    ["only the end mark", p("yes", "<w:rPr><w:vanish/></w:rPr>")],
    [
      "formerly",
      `<w:p><w:r><w:rPr><w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange></w:rPr><w:t>yes</w:t></w:r></w:p>`,
    ],
    [
      "text box in hidden text",
      `<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:txbxContent>${p("no")}</w:txbxContent></w:r></w:p>${p("yes")}`,
    ],
  ])("hidden text is left out: %s", async (_name, body) => {
    const parsed = await read(body);
    expect(parsed.body).toBe("yes\n");
    expect(parsed.leftOut?.map(({ kind }) => kind)).toEqual(
      body.includes(">no<") ? ["hidden"] : undefined,
    );
  });

  it.each([
    ["# no heading", "\\# no heading"],
    ["#tag", "#tag"],
    ["---", "\\---"],
    ["===", "\\==="],
    ["- dash", "\\- dash"],
    ["1. one", "1\\. one"],
    ["1.5 is a number", "1.5 is a number"],
    ["```js", "\\`\\`\\`js"],
    ["&lt;!-- x", "\\<\\!-- x"],
    ["&lt;pre>", "\\<pre>"],
    ["> 3", "\\> 3"],
    ["snake_case *x*", "snake_case \\*x\\*"],
    ["a `b` [c](d) &amp;lt; C:\\x", "a \\`b\\` [c\\](d) \\&lt; C:\\x"],
  ])("what Markdown would take for structure: %s", async (text, expected) => {
    expect((await read(p(text))).body).toBe(`${expected}\n`);
    expect((await read(p(text, item(0)))).body).toBe(`- ${expected}\n`);
  });

  it("tables: a row a line, a row with a table in it as blocks", async () => {
    const row = (...cells: string[]): string =>
      `<w:tr>${cells.map((cell) => `<w:tc>${cell}</w:tc>`).join("")}</w:tr>`;
    const inner = `<w:tbl>${row(p("x"), p("y"))}</w:tbl>`;
    const table = `<w:tbl>${row(p("A"), p("B|C"))}${row("", p(""))}${row(p("1") + p("2"), inner)}</w:tbl>`;
    expect((await read(table + p("end"))).body).toBe(
      "|  |  |\n| --- | --- |\n| A | B\\|C |\n\n1\n\n2\n\n|  |  |\n| --- | --- |\n| x | y |\n\nend\n",
    );
  });

  it("notes stand at the end, numbered as they are referred to", async () => {
    const note = (kind: string, id: string, text: string): string =>
      `<w:${kind}s xmlns:w="urn:w"><w:${kind} w:id="0">${p("separator")}</w:${kind}><w:${kind} w:id="${id}">${p(text)}${p("more")}</w:${kind}></w:${kind}s>`;
    const body = `<w:p><w:r><w:t>a</w:t><w:endnoteReference w:id="2"/></w:r><w:r><w:footnoteReference w:id="3"/></w:r></w:p>`;
    const parts = {
      "word/footnotes.xml": note("footnote", "3", "foot"),
      "word/endnotes.xml": note("endnote", "2", "end"),
    };
    expect((await read(body, parts)).body).toBe("a[^1][^2]\n\n[^1]: end more\n\n[^2]: foot more\n");
  });
});

describe("links, numbers and pictures", () => {
  const run = (text: string, properties = ""): string =>
    `<w:r>${properties}<w:t xml:space="preserve">${text}</w:t></w:r>`;
  const field = (type: string): string => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`;
  const code = (text: string): string => `<w:r><w:instrText>${text}</w:instrText></w:r>`;
  const relations = {
    "word/_rels/document.xml.rels": `<R><Relationship Type="x/hyperlink" Id="r1" TargetMode="External" Target="https://x.example/a b"/><Relationship Type="x/diagramData" Id="r2" Target="diagrams/data1.xml"/><Relationship Type="x/numbering" Id="r3" Target="numbering.xml"/><Relationship Type="x/styles" Id="r4" Target="styles.xml"/></R>`,
  };

  it.each([
    [
      "by relation",
      `<w:p>${run("see ")}<w:hyperlink r:id="r1">${run("th")}${run("is[1] ")}</w:hyperlink>${run("x")}</w:p>`,
      "see [this\\[1\\]](<https://x.example/a b>) x",
    ],
    [
      "to a place in a page",
      `<w:p><w:hyperlink r:id="r1" w:anchor="b">${run("a")}</w:hyperlink></w:p>`,
      "[a](<https://x.example/a b#b>)",
    ],
    [
      "to a place in the document",
      `<w:p><w:hyperlink w:anchor="b">${run("a")}</w:hyperlink></w:p>`,
      "a",
    ],
    [
      "that are their own text",
      `<w:p><w:hyperlink r:id="r1">${run("https://x.example/a b")}</w:hyperlink></w:p>`,
      "https://x.example/a b",
    ],
    [
      "in headings",
      `<w:p><w:pPr>${style("berschrift1")}</w:pPr><w:hyperlink r:id="r1">${run("a")}</w:hyperlink></w:p>`,
      "# [a](<https://x.example/a b>)",
    ],
    [
      "by field",
      `<w:p>${field("begin")}${code(' HYPERLINK "https://x')}${code('.example" \\l "b" ')}${field("separate")}${run("a")}${field("end")}${run("c")}</w:p>`,
      "[a](https://x.example#b)c",
    ],
    [
      "by simple field",
      `<w:p><w:fldSimple w:instr=' HYPERLINK "u"'>${run("a")}</w:fldSimple></w:p>`,
      "[a](u)",
    ],
    [
      "other fields",
      `<w:p>${field("begin")}${code(" PAGE ")}${field("separate")}${run("7")}${field("end")}</w:p>`,
      "7",
    ],
    [
      "that never end",
      `<w:p>${field("begin")}${code('HYPERLINK "u"')}${field("separate")}${run("a")}</w:p>${p("b")}`,
      "[a](u)\n\nb",
    ],
    [
      "of code",
      `<w:p><w:fldSimple w:instr='HYPERLINK "javascript:x"'>${run("a")}</w:fldSimple></w:p>`,
      "a",
    ],
  ])("links %s", async (_name, body, text) => {
    expect((await read(body.replaceAll("<w:p>", '<w:p xmlns:r="r">'), relations)).body).toBe(
      `${text}\n`,
    );
  });

  const level = (depth: number, format: string, start = 1): string =>
    `<w:lvl w:ilvl="${depth}"><w:start w:val="${start}"/><w:numFmt w:val="${format}"/></w:lvl>`;
  const numbering = `<w:numbering xmlns:w="urn:w"><w:abstractNum w:abstractNumId="0">${level(0, "decimal")}${level(1, "lowerLetter", 3)}${level(2, "bullet")}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num></w:numbering>`;
  const itemOf = (list: number, depth: number): string =>
    p("a", `<w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="${list}"/></w:numPr>`);

  it("lists keep their numbers", async () => {
    const body = [
      [1, 0],
      [1, 1],
      [1, 1],
      [1, 2],
      [1, 0],
      [1, 1],
      [2, 0],
      [3, 0],
      [9, 0],
    ].map(([list = 0, depth = 0]) => itemOf(list, depth));
    const parsed = await read(body.join(""), { ...relations, "word/numbering.xml": numbering });
    expect(parsed.body).toBe(
      "1. a\n   - c. a\n   - d. a\n     - a\n2. a\n   - c. a\n3. a\n1. a\n\n- a\n",
    );
  });

  it("broken numbers cost the numbers, and are said", async () => {
    const parsed = await read(itemOf(1, 0), {
      ...relations,
      "word/numbering.xml": "<w:numbering>",
    });
    expect(parsed.body).toBe("- a\n");
    expect(parsed.warnings).toEqual([expect.stringContaining("a.docx: numbers of lists")]);
  });

  const numberedStyles = `<w:styles xmlns:w="urn:w">
    <w:style w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
    <w:style w:styleId="H2"><w:name w:val="heading 2"/><w:basedOn w:val="H1"/><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr></w:style>
    <w:style w:styleId="H3"><w:name w:val="heading 3"/><w:basedOn w:val="H1"/></w:style>
  </w:styles>`;
  const labelled = (depth: number, format: string, text: string, more = ""): string =>
    `<w:lvl w:ilvl="${depth}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`;
  const outline = `<w:numbering xmlns:w="urn:w"><w:abstractNum w:abstractNumId="0">${labelled(0, "upperRoman", "%1.")}${labelled(1, "decimal", "%1.%2", "<w:isLgl/>")}${labelled(2, "lowerLetter", "%2 (%3)", '<w:pStyle w:val="H3"/>')}${labelled(3, "decimalZero", "§ %1.%4", "<w:isLgl/>")}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`;

  it("headings and items have the numbers that the page shows", async () => {
    const body = [
      p("A", style("H1")),
      p("B", style("H1")),
      p("C", style("H2")),
      p("D", style("H2")),
      p("E", style("H3")),
      p("F", '<w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr>'),
      p("G", '<w:numPr><w:ilvl w:val="3"/><w:numId w:val="1"/></w:numPr>'),
      p("H", `${style("H1")}<w:numPr><w:numId w:val="0"/></w:numPr>`),
    ].join("");
    const parts = { "word/styles.xml": numberedStyles, "word/numbering.xml": outline };
    const parsed = await read(body, { ...relations, ...parts });
    expect(parsed.body).toBe(
      "# I. A\n\n# II. B\n\n## 2.1 C\n\n## 2.2 D\n\n### 2 (a) E\n\n- 2.3 F\n  - § 2.01 G\n\n# H\n",
    );
    expect(parsed.headings?.map(({ text }) => text).slice(0, 3)).toEqual([
      "I. A",
      "II. B",
      "2.1 C",
    ]);
  });

  it("counts in ordinals", async () => {
    const ordinals = `<w:numbering xmlns:w="urn:w"><w:abstractNum w:abstractNumId="0">${labelled(0, "ordinal", "%1")}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`;
    const body = Array.from({ length: 22 }, (_, at) => p(`i${at}`, item(0))).join("");
    const parsed = await read(body, { ...relations, "word/numbering.xml": ordinals });
    const labels = parsed.body.match(/\d+\w\w(?= i)/g);
    expect(labels?.slice(0, 4)).toEqual(["1st", "2nd", "3rd", "4th"]);
    expect([10, 11, 12, 20, 21].map((at) => labels?.[at])).toEqual([
      "11th",
      "12th",
      "13th",
      "21st",
      "22nd",
    ]);
  });

  const symbol = (font: string, char: string): string =>
    `<w:sym w:font="${font}" w:char="${char}"/>`;
  const box = (inner: string): string =>
    `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox>${inner}</w:checkBox></w:ffData></w:fldChar></w:r>${code(" FORMCHECKBOX ")}${field("separate")}${field("end")}`;
  const cell = (text: string, properties = ""): string =>
    `<w:tc><w:tcPr>${properties}</w:tcPr>${p(text)}</w:tc>`;
  const math = (inner: string): string => `<w:p><m:oMath xmlns:m="urn:m">${inner}</m:oMath></w:p>`;
  const m = (name: string, ...parts: string[]): string =>
    `<m:${name}>${parts.join("")}</m:${name}>`;
  const word = (text: string): string => m("r", m("t", text));

  it.each([
    [
      "symbols",
      `<w:p><w:r>${symbol("Wingdings", "F0FE")}${symbol("Wingdings", "F0A8")}${symbol("Symbol", "F0B0")}${symbol("Symbol", "F0B3")}</w:r></w:p>`,
      "☒☐°≥",
    ],
    [
      "letters in the font of symbols",
      `<w:p>${run("ab ", '<w:rPr><w:rFonts w:ascii="Symbol"/></w:rPr>')}${run("\uf067c")}</w:p>`,
      "αβ γc",
    ],
    [
      "check boxes of forms",
      `<w:p>${box('<w:default w:val="1"/>')}${run("a ")}${box('<w:default w:val="1"/><w:checked w:val="0"/>')}${run("b")}</w:p>`,
      "☒ a ☐ b",
    ],
    [
      "formulas",
      math(
        [
          word("E=m"),
          m("sSup", m("e", word("c")), m("sup", word("2"))),
          word("+"),
          m("f", m("num", word("a")), m("den", word("b+1"))),
          m("rad", m("radPr", m("degHide")), m("deg"), m("e", word("x"))),
        ].join(""),
      ),
      "E=m c^2+a/(b+1) √x",
    ],
    ["formulas without what was deleted", math(`<w:del>${word("2")}</w:del>${word("x")}`), "x"],
    [
      "sums, brackets and matrices",
      math(
        [
          `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>${m("sub", word("i"))}${m("sup", word("n"))}${m("e", word("k"))}</m:nary>`,
          `<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr>${m("e", m("m", m("mr", m("e", word("1")), m("e", word("2"))), m("mr", m("e", word("3")))))}</m:d>`,
        ].join(""),
      ),
      "∑_i^n k[1, 2; 3]",
    ],
    [
      "readings",
      `<w:p>${run("a ")}<w:r><w:ruby><w:rt>${run("kana")}</w:rt><w:rubyBase>${run("base")}</w:rubyBase></w:ruby></w:r>${run(" b")}</w:p>`,
      "a base (kana) b",
    ],
    [
      "the outer result of nested fields",
      `<w:p>${field("begin")}${code(" IF ")}${field("begin")}${code("MERGEFIELD a")}${field("separate")}${run("inner")}${field("end")}${code(' = "x" "y"')}${field("separate")}${run("outer")}${field("end")}${run(" end")}</w:p>`,
      "outer end",
    ],
    [
      "cells that stand in several columns and rows",
      `<w:tbl><w:tblPr><w:tblLook w:val="0020"/></w:tblPr><w:tr>${cell("A", '<w:gridSpan w:val="2"/>')}${cell("B")}</w:tr><w:tr>${cell("1", '<w:vMerge w:val="restart"/>')}${cell("2")}${cell("3")}</w:tr><w:tr>${cell("no", "<w:vMerge/>")}${cell("4")}${cell("5")}</w:tr><w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>${cell("6")}${cell("7")}</w:tr><w:tr><w:trPr><w:del/></w:trPr>${cell("no")}</w:tr></w:tbl>`,
      "| A | A | B |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 1 | 4 | 5 |\n|  | 6 | 7 |",
    ],
    [
      "emphasis, struck and lowered text",
      `<w:p>${run("a", "<w:rPr><w:b/></w:rPr>")}${run("b", "<w:rPr><w:b/></w:rPr>")} ${run(" c", "<w:rPr><w:i/></w:rPr>")}${run(" d ", "<w:rPr><w:dstrike/></w:rPr>")}${run("H")}${run("2", '<w:rPr><w:vertAlign w:val="subscript"/></w:rPr>')}${run("e", '<w:rPr><w:b w:val="0"/></w:rPr>')}</w:p>`,
      "**ab** *c* ~~d~~ H2e",
    ],
  ])("%s", async (_name, body, text) => {
    const parsed = await read(body.replaceAll("<w:p>", '<w:p xmlns:r="r">'), relations);
    expect(parsed.body).toBe(`${text}\n`);
  });

  it("code and quotations have their styles", async () => {
    const names = ["Source Code", "Quote", "Verbatim Char"];
    const list = names.map(
      (name, index) => `<w:style w:styleId="s${index}"><w:name w:val="${name}"/></w:style>`,
    );
    const parts = { "word/styles.xml": `<w:styles xmlns:w="w">${list.join("")}</w:styles>` };
    const body = `${p("# a", style("s0"))}${p("  b", style("s0"))}${p("c", style("s1"))}<w:p>${run("d ")}${run("*e*", '<w:rPr><w:rStyle w:val="s2"/></w:rPr>')}</w:p>`;
    expect((await read(body, { ...relations, ...parts })).body).toBe(
      "```\n# a\n  b\n```\n\n> c\n\nd `*e*`\n",
    );
  });

  it("a mark of an ignore region is one", async () => {
    const body = `${p("a")}${p("&lt;!-- knowctl:ignore -->")}${p("no")}${p("&lt;!-- /knowctl:ignore -->")}${p("b")}`;
    expect((await read(body)).body).toBe("a\n\nb\n");
    const open = await failure(docx(p("&lt;!-- knowctl:ignore -->")));
    expect(open.message).toBe("a.docx: the knowctl:ignore region is never closed");
  });

  it("pictures and diagrams keep their words", async () => {
    const diagram = `<d:dataModel xmlns:d="d" xmlns:a="a"><d:pt><d:t> <a:bodyPr/><a:p><a:r><a:t>One</a:t></a:r></a:p><a:p><a:r><a:t>two</a:t></a:r></a:p></d:t></d:pt><d:pt><d:t><a:p/></d:t></d:pt><d:pt><d:t><a:p><a:r><a:t>Three</a:t></a:r></a:p></d:t></d:pt></d:dataModel>`;
    const drawing = (inner: string): string =>
      `<w:p><w:r><w:drawing>${inner}</w:drawing></w:r></w:p>`;
    const body = [
      drawing(
        '<wp:docPr xmlns:wp="wp" descr="A red&#10;lamp Description automatically generated"/>',
      ),
      drawing('<d:relIds xmlns:d="d" xmlns:r="r" r:dm="r2"/>'),
      drawing('<d:relIds xmlns:d="d" xmlns:r="r" r:dm="r2"/>'),
    ];
    const parts = { ...relations, "word/diagrams/data1.xml": diagram };
    expect((await read(body.join(""), parts)).body).toBe("A red lamp\n\n- One two\n- Three\n");
  });

  it("charts keep their titles and the names of what they show", async () => {
    const chart = `<c:chartSpace xmlns:c="c" xmlns:a="a"><c:title><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:title><c:ser><c:tx><c:v>North</c:v></c:tx><c:val><c:v>17</c:v></c:val></c:ser></c:chartSpace>`;
    const body = `<w:p><w:r><w:drawing><c:chart xmlns:c="c" xmlns:r="r" r:id="r2"/></w:drawing></w:r></w:p>`;
    const parts = { ...relations, "word/diagrams/data1.xml": chart };
    expect((await read(body, parts)).body).toBe("Sales\n\nNorth\n");
  });

  it("content controls are text, comments and the text of headers are not", async () => {
    const body = `<w:sdt><w:sdtPr><w:alias w:val="no"/></w:sdtPr><w:sdtContent>${p("yes")}</w:sdtContent></w:sdt><w:p><w:commentRangeStart w:id="1"/>${run("more")}<w:r><w:commentReference w:id="1"/></w:r></w:p>`;
    const parts = {
      "word/comments.xml": `<w:comments xmlns:w="urn:w"><w:comment w:id="1">${p("no")}</w:comment></w:comments>`,
      "word/header1.xml": `<w:hdr xmlns:w="urn:w">${p("no")}</w:hdr>`,
    };
    expect((await read(body, parts)).body).toBe("yes\n\nmore\n");
  });

  it("one long address with many links does not make a long text", async () => {
    const parts = {
      "word/_rels/document.xml.rels": `<R><Relationship Type="x/hyperlink" Id="r1" TargetMode="External" Target="u${"a".repeat(100_000)}"/></R>`,
    };
    const links = `<w:hyperlink r:id="r1">${run("a")}</w:hyperlink>`.repeat(2000);
    const { body } = await read(`<w:p xmlns:r="r">${links}</w:p>`, parts);
    expect(body.length).toBeLessThan(20_000_000);
  });

  it("headings have no anchors: no program finds them by one", async () => {
    const { document } = await readOkAsync(
      docx(p("A __b__", style("berschrift1")) + p("c"), { "word/styles.xml": styles }),
      { sections: "headings", link: "https://x.example/{path}" },
      "a.docx",
    );
    expect(document.sections).toEqual([{ text: "A __b__\n\nc", link: "https://x.example/a.docx" }]);
  });
});

describe("as a document", () => {
  const core = (inner: string): Record<string, string> => ({
    "docProps/core.xml": `<cp:coreProperties xmlns:cp="c" xmlns:dc="d" xmlns:dcterms="t">${inner}</cp:coreProperties>`,
  });

  it("properties become fields, sections follow the headings", async () => {
    const bytes = docx(
      p("One", style("berschrift1")) + p("text") + p("Two", style("Umriss")) + p("more"),
      {
        "word/styles.xml": styles,
        ...core(
          "<dc:title>Core</dc:title><dc:creator>Ann; Bob &lt;b@example.com&gt;</dc:creator><dcterms:modified>2024-05-01T10:00:00+02:00</dcterms:modified><cp:keywords>a; b,c</cp:keywords><dc:subject>S</dc:subject>",
        ),
      },
    );
    const { document } = await readOkAsync(bytes, { sections: "headings" }, "a.docx");
    expect(document).toMatchObject({
      title: "Core",
      doc_updated_at: "2024-05-01T08:00:00Z",
      primary_owners: [{ display_name: "Ann" }, { display_name: "Bob", email: "b@example.com" }],
      metadata: { tags: ["a", "b", "c"], subject: "S" },
      sections: [{ text: "One\n\ntext" }, { text: "One > Two\n\nmore" }],
    });
  });

  it.each([
    ["placeholders", "<dc:title>Untitled</dc:title><dc:creator> </dc:creator>"],
    ["no date", "<dcterms:modified>yesterday</dcterms:modified>"],
    ["nobody", "<dc:creator>&lt;&gt;</dc:creator>"],
    ["broken", "<dc:title>"],
  ])("properties that say nothing do not fail it: %s", async (_name, inner) => {
    const { document } = await readOkAsync(
      docx(p("List&lt;T>", '<w:outlineLvl w:val="0"/>'), core(inner)),
      {},
      "a.docx",
    );
    expect(document).toMatchObject({ title: "List<T>", metadata: {} });
  });

  it("the text may stand in a part of another name", async () => {
    const bytes = zip({
      "_rels/.rels": `<R><Relationship Type="x/officeDocument" Target="/word/document2.xml"/></R>`,
      "word/document2.xml": `<w:document xmlns:w="w">${p("text")}</w:document>`,
    });
    expect((await readDocx(bytes, "a.docx")).body).toBe("text\n");
  });

  it("broken styles cost the headings, and are said", async () => {
    const parsed = await read(p("One", style("Heading1")), { "word/styles.xml": "<w:styles>" });
    expect(parsed.body).toBe("# One\n");
    expect(parsed.warnings).toEqual([expect.stringContaining("a.docx: styles")]);
  });
});

describe("what cannot be read", () => {
  const whole = docx(p("text ".repeat(100)));
  /** With another number in the directory of its parts: 4.3.12 of APPNOTE.TXT. */
  const patched = (at: number, value: number): Buffer => {
    const bytes = Buffer.from(zip({ "word/document.xml": { content: "", method: 0 } }));
    bytes.writeUInt32LE(value, bytes.indexOf("PK\x01\x02") + at);
    return bytes;
  };
  const ole = Buffer.from("d0cf11e0a1b11ae10000000000000000", "hex");
  it.each([
    ["an old format", ole, /old format of \.doc/],
    ["a password", Buffer.concat([ole, Buffer.from("EncryptedPackage", "utf16le")]), /password/],
    ["empty", Buffer.alloc(0), /it is empty/],
    ["text", Buffer.from("hello"), /no ZIP archive/],
    ["cut off", whole.subarray(0, whole.length - 30), /damaged or cut off/],
    ["cut off early", whole.subarray(0, 60), /damaged or cut off/],
    ["no document", zip({ "a.txt": "x" }), /contains no word\/document\.xml/],
    ["an encrypted part", zip({ "word/document.xml": { content: "x", flags: 1 } }), /is encrypted/],
    [
      "another packing",
      zip({ "word/document.xml": { content: "x", method: 14 } }),
      /not supported/,
    ],
    [
      "damaged data",
      zip({ "word/document.xml": { content: "\xFF\xFF", isPacked: true } }),
      /damaged/,
    ],
    [
      "data that is not what was packed",
      zip({ "word/document.xml": { content: "<w:document/>", checksum: 1 } }),
      /damaged/,
    ],
    ["a part that ends behind the file", patched(20, 1000), /damaged/],
    ["a part that begins behind the file", patched(42, 0xffffff), /damaged/],
    ["broken XML", docx("<w:p>"), /XML is broken/],
    ["not UTF-8", zip({ "word/document.xml": Buffer.from("<a>\xE4</a>", "latin1") }), /not UTF-8/],
    ["an unknown entity", docx(p("&nbsp;")), /XML is broken/],
  ])("%s", async (_name, bytes, message) => {
    const error = await failure(bytes);
    expect(error.message).toMatch(/^a\.docx: /);
    expect(error.message).toMatch(message);
    expect(error.hints).toHaveLength(1);
  });

  it.each([
    ["external entity", '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>'],
    ["billion laughs", '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY x "&a;&a;&a;">]>'],
    ["external DTD", '<!DOCTYPE d SYSTEM "http://127.0.0.1:9/x.dtd">'],
  ])("a document type is refused: %s", async (_name, doctype) => {
    const xml = `<?xml version="1.0"?>${doctype}<w:document>${p("&x;")}</w:document>`;
    const error = await failure(zip({ "word/document.xml": xml }));
    expect(error.message).toMatch(/declares a document type|Invalid character entity/);
    expect(error.message).not.toContain("root:");
  });

  it.each([
    ["elements", "<a>".repeat(100_000), /1000 levels deep/],
    [
      "attributes",
      `<a ${Array.from({ length: 5000 }, (_, i) => `a${i}=""`).join(" ")}/>`,
      /1000 attributes/,
    ],
    ["a name", `<${"a".repeat(300_000)}/>`, /XML is broken/],
  ])("no end of %s", async (_name, xml, message) => {
    expect((await failure(zip({ "word/document.xml": xml }))).message).toMatch(message);
  });
});

describe("archives that unpack without end", () => {
  const mebibyte = Buffer.alloc(1024 * 1024, " ");

  it("a part that unpacks to more than the budget", async () => {
    const bytes = docx("", { "word/document.xml": bomb });
    expect(bytes.length).toBeLessThan(100_000);
    expect((await failure(bytes)).message).toContain("larger than the limit for one document");
  });

  it("many parts share one budget", async () => {
    const part = Buffer.alloc(33 * 1024 * 1024, " ");
    const bytes = docx("", {
      "word/document.xml": `<a>${part.toString()}</a>`,
      "word/styles.xml": part,
    });
    expect((await failure(bytes)).message).toContain("larger than the limit for one document");
  });

  it.each([
    ["that says it is small", { content: mebibyte, statedBytes: 10 }],
    ["that says it is huge", { content: mebibyte, statedBytes: 0xffffffff }],
    ["that is stored", { content: mebibyte, method: 0 }],
  ])("bytes are counted, not believed: a part %s", (_name, part) => {
    const bytes = zip({ a: part });
    expect(() => unpack(openArchive(bytes, mebibyte.length - 1), "a")).toThrow("larger");
    const archive = openArchive(bytes, mebibyte.length);
    expect(unpack(archive, "a")).toHaveLength(mebibyte.length);
    expect(archive.left).toBe(0);
  });

  it("zlib never hands out more than the budget has left", () => {
    const packed = deflateRawSync(Buffer.alloc(64 * 1024 * 1024));
    const bytes = zip({ a: { content: packed, isPacked: true } });
    const archive = openArchive(bytes, 1000);
    const before = process.memoryUsage().arrayBuffers;
    expect(() => unpack(archive, "a")).toThrow("larger");
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
  });

  it("more parts than any document has", () => {
    const parts = Object.fromEntries(
      Array.from({ length: 20_001 }, (_, i) => [`p${i}`, { content: "", method: 0 }]),
    );
    expect(() => openArchive(zip(parts), 1)).toThrow("more than 20000 parts");
  });

  it("an archive within the archive is not opened", async () => {
    expect(
      (await readDocx(docx(p("x"), { "word/embeddings/a.docx": docx("") }), "a.docx")).body,
    ).toBe("x\n");
  });
});

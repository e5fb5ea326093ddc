import { describe, expect, it } from "vitest";
import type { Parsed } from "../../../src/documents/formats/format.ts";
import {
  builtInFormat,
  formatNumber,
  formatText,
} from "../../../src/documents/formats/xlsx/number-format.ts";
import { readXlsx } from "../../../src/documents/formats/xlsx/xlsx.ts";
import { CliError } from "../../../src/errors.ts";
import { bomb, xlsx, zip, type SheetParts } from "./archive.ts";

const text = (value: string): string => `<c t="inlineStr"><is><t>${value}</t></is></c>`;
const number = (value: number, style = 0): string => `<c s="${style}"><v>${value}</v></c>`;
const row = (...cells: string[]): string =>
  `<row>${cells.map((cell) => (cell.startsWith("<") ? cell : text(cell))).join("")}</row>`;

const read = (
  sheets: readonly (string | SheetParts)[],
  parts: Record<string, string> = {},
): Promise<Parsed> => readXlsx(xlsx(sheets, parts), "a.xlsx");
const bodyOf = async (
  sheet: string | SheetParts,
  parts: Record<string, string> = {},
): Promise<string> => (await read([sheet], parts)).body.replace("## Sheet1\n\n", "").trimEnd();

async function failure(bytes: Uint8Array): Promise<string> {
  const error: unknown = await readXlsx(bytes, "a.xlsx").catch((reason: unknown) => reason);
  if (error instanceof CliError && error.exit === "usage") {
    return [error.message, ...error.hints].join("; ");
  }
  throw new Error("expected a failure", { cause: error });
}

describe("numbers as they are shown", () => {
  it.each<[value: number, code: string, shown: string]>([
    [0.1 + 0.2, "General", "0.3"],
    [1234567890123, "General", "1234567890123"],
    [1 / 3, "General", "0.333333333"],
    [123456.789123, "General", "123456.7891"],
    [1.5e-7, "General", "1.5E-07"],
    [1.5e20, "General", "1.5E+20"],
    [-2, "General", "-2"],
    [1.005, "0.00", "1.01"],
    [-0.001, "0.00", "0.00"],
    [0.5, "#.##", ".5"],
    [2.5, "0.0##", "2.5"],
    [1234567.891, "#,##0.00", "1,234,567.89"],
    [12, "#,##0", "12"],
    [1234567, "#,##0,", "1,235"],
    [2_500_000, '0.0,,"M"', "2.5M"],
    [0.256, "0%", "26%"],
    [0.256, "0.0%", "25.6%"],
    [-5, "#,##0;(#,##0)", "(5)"],
    [-5, "0;[Red]-0", "-5"],
    [0, '0;-0;"none"', "none"],
    [-0.4, "0;(0)", "(0)"],
    [5, '"$"#,##0.00', "$5.00"],
    [5, "[$€-407] 0.00", "€ 5.00"],
    [5, "#,##0.00\\ [$kr-41D]", "5.00 kr"],
    [-5, '_-* #,##0.00\\ "€"_-;-* #,##0.00\\ "€"_-', "-5.00 €"],
    [123456789, "000-00-0000", "123-45-6789"],
    [5551234567, "(###) ###-####", "(555) 123-4567"],
    [7, "0000", "0007"],
    [12345, "0.00E+00", "1.23E+04"],
    [0.00012, "0.0E+0", "1.2E-04"],
    [3, '0" pcs"', "3 pcs"],
    [3, '"Week "General', "Week 3"],
    [50, '[>=100]"many";[<100]"few"', "few"],
    [50, '[<=50]"few";"many"', "few"],
    [50, '[<>50]"other";"same"', "same"],
    // The examples of support.microsoft.com, "Display numbers as fractions".
    [123.456, "# ?/?", "123 1/2"],
    [123.456, "# ??/??", "123 26/57"],
    [123.456, "# ???/???", "123 57/125"],
    [123.456, "# ?/2", "123 1/2"],
    [123.456, "# ?/4", "123 2/4"],
    [123.456, "# ??/16", "123 7/16"],
    [123.456, "# ?/10", "123 5/10"],
    [123.456, "# ??/100", "123 46/100"],
    [0.5, "# ?/?", "1/2"],
    [0.5, "0 ?/?", "0 1/2"],
    [-2.25, '# ?/?" in"', "-2 1/4 in"],
    [2, "# ?/?", "2"],
    [0, "# ??/??", "0"],
    [2.999, "# ?/?", "3"],
    [0.001, "# ?/?", "0"],
    [1.5, "?/?", "3/2"],
    [1e300, "# ?/?", "1E+300"],
    [1234.5, "#,##0 ?/?", "1,234 1/2"],
    [42, ";;;", ""],
    [45658, "yyyy-mm-dd", "2025-01-01"],
    [45658.75, "d.m.yyyy hh:mm", "1.1.2025 18:00"],
    [45658.75, "mm/dd/yy h:mm AM/PM", "01/01/25 6:00 PM"],
    [45658.5, "h AM/PM", "12 PM"],
    [45658.02, "h AM/PM", "12 AM"],
    [45658, "[$-409]dddd, mmmm d, yyyy", "Wednesday, January 1, 2025"],
    [45658, "mmm-yy", "Jan-25"],
    [0.5, "h:mm:ss", "12:00:00"],
    [45658.999999, "yyyy-mm-dd hh:mm", "2025-01-02 00:00"],
    [1.5, "[h]:mm", "36:00"],
    [0.0625, "[mm]:ss", "90:00"],
    [0.00001157407, "s.00", "1.00"],
    [1, "yyyy-mm-dd", "1900-01-01"],
    [61, "yyyy-mm-dd", "1900-03-01"],
    [-1, "yyyy-mm-dd", "-1"],
    [1e9, "yyyy-mm-dd", "1000000000"],
  ])("%d as %s is %s", (value, code, shown) => {
    expect(formatNumber(value, code, false)).toBe(shown);
  });

  it("counts days from 1904 where the file does", () => {
    expect(formatNumber(0, "yyyy-mm-dd", true)).toBe("1904-01-01");
  });

  it("shows texts by their section", () => {
    expect(formatText("7", '0;0;0;"No. "@')).toBe("No. 7");
    expect(formatText("7", "@")).toBe("7");
    expect(formatText("7", "0.00")).toBe("7");
  });

  it("knows formats without a code", () => {
    expect(formatNumber(1.25, builtInFormat(12), false)).toBe("1 1/4");
    expect(formatNumber(1.12, builtInFormat(13), false)).toBe("1 3/25");
    expect(formatNumber(45658, builtInFormat(14), false)).toBe("2025-01-01");
    expect(builtInFormat(163)).toBe("General");
  });

  it.each([
    "0".repeat(100_000),
    '"',
    "[",
    "\\",
    "[h",
    "E+",
    "0.",
    "%",
    ";;;;;;",
    "0".repeat(900) + ".",
  ])("a broken or hostile code ends", (code) => {
    expect(formatNumber(1.5, code, false).length).toBeLessThan(2000);
  });
});

describe("cells", () => {
  const styles = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="0.00&quot; m&quot;"/></numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs></styleSheet>`;
  const strings = `<sst><si><t>plain</t></si><si><r><t>rich </t></r><r><rPr><b/></rPr><t>text</t></r><rPh sb="0" eb="1"><t>reading</t></rPh></si><si><t>two_x000D_\nlines _x0041_</t></si></sst>`;
  const shared = { "xl/styles.xml": styles, "xl/sharedStrings.xml": strings };
  const string = (at: number): string => `<c t="s"><v>${at}</v></c>`;

  it.each([
    ["shared", string(0), "plain"],
    ["rich, without its reading", string(1), "rich text"],
    ["lines and characters by code", string(2), "two\nlines A"],
    ["no string", '<c t="s"/><c t="s"><v></v></c>', ""],
    ["inline", text("a &lt;b&gt;"), "a \\<b>"],
    ["date", number(45658, 1), "2025-01-01"],
    ["custom format", number(3, 2), "3.00 m"],
    ["unknown style", number(3, 99), "3"],
    ["boolean", '<c t="b"><v>1</v></c>', "TRUE"],
    ["text of a formula", '<c t="str"><f>A1</f><v>made</v></c>', "made"],
    ["number of a formula", "<c><f>1+1</f><v>2</v></c>", "2"],
    ["date as text", '<c t="d"><v>2031-05-01</v></c>', "2031-05-01"],
    ["empty", "<c/>", ""],
    [
      "link in a formula",
      '<c t="str"><f>HYPERLINK("https://example.com","here")</f><v>here</v></c>',
      "[here](https://example.com)",
    ],
  ])("%s", async (_name, cell, shown) => {
    expect(await bodyOf(`<row>${cell}</row>`, shared)).toBe(shown);
  });

  it("errors are shown and named; formulas without a value are counted", async () => {
    const parsed = await read([
      `<row>${text("a")}<c r="B1" t="e"><v>#DIV/0!</v></c><c r="C1"><f>1</f></c><c r="D1"><f>2</f><v></v></c></row>`,
    ]);
    expect(parsed.body).toContain("| a | #DIV/0! |");
    expect(parsed.warnings).toEqual(["a.xlsx: 1 cell shows an error (first: Sheet1!B1 #DIV/0!)"]);
    expect(parsed.leftOut).toEqual(
      [1, 2].map(() => ({
        kind: "expression",
        what: "Sheet1!C1: a formula without its value",
        line: undefined,
      })),
    );
  });
});

describe("sheets", () => {
  it("are sections in their order; hidden sheets, rows and columns are counted", async () => {
    const parsed = await read([
      { rows: row("a"), name: "Prices &amp; more" },
      { rows: row("b"), attributes: 'state="hidden"' },
      { rows: row("c"), attributes: 'state="veryHidden"' },
      {
        rows: `<row hidden="1">${text("no")}</row><row hidden="1"></row>${row("yes", "no", "too")}`,
        columns:
          '<cols><col min="2" max="2" hidden="1"/><col min="4" max="16384" hidden="1"/></cols>',
        name: "Last",
      },
      "",
    ]);
    expect(parsed.body).toBe("## Prices & more\n\na\n\n## Last\n\n| yes | too |\n| --- | --- |\n");
    expect(parsed.headings?.map(({ text: title }) => title)).toEqual(["Prices & more", "Last"]);
    expect(parsed.leftOut?.map(({ what }) => what)).toEqual([
      "hidden sheet",
      "hidden sheet",
      "row of Last",
      "column of Last",
    ]);
  });

  it("a small one is a table, with a header if the first full row has only texts", async () => {
    expect(await bodyOf(row("Lamps of 2031") + row("Name", "Price") + row("Lux", number(20)))).toBe(
      "Lamps of 2031\n\n| Name | Price |\n| --- | --- |\n| Lux | 20 |",
    );
    expect(await bodyOf(row("Lux", number(20)) + row("Nox", number(30)))).toBe(
      "|  |  |\n| --- | --- |\n| Lux | 20 |\n| Nox | 30 |",
    );
  });

  it("a larger one is a paragraph for each row", async () => {
    const rows = Array.from({ length: 1200 }, (_, at) => row(`n${at}`, "<c/>", number(at)));
    const body = await bodyOf(row("Name:", "Size", "Price &amp;\ntax") + rows.join(""));
    expect(body.startsWith("Name: n0\nPrice & tax: 0\n\nName: n1\nPrice & tax: 1\n\n")).toBe(true);
    expect(body.match(/^Name: n\d+$/gm)?.length).toBe(1200);
    // A column without a value has its name.
    expect(body.endsWith("\n\nName: n1199\nPrice & tax: 1199\n\nSize:")).toBe(true);
    const wide = Array.from({ length: 11 }, (_, at) => `c${at}`);
    expect(await bodyOf(row(...wide) + row(...wide))).toMatch(/^c0: c0\nc1: c1\n/);
    expect(await bodyOf(row(...wide, ...wide.map((_, at) => number(at))) + row(...wide))).toMatch(
      /^c0, c1, .*, 10\n\nc0, c1/,
    );
  });

  it("merged cells are repeated, unless they are as wide as the sheet", async () => {
    const rows =
      '<row r="1"><c r="A1" t="inlineStr"><is><t>All</t></is></c></row>' +
      '<row r="2"><c r="A2" t="inlineStr"><is><t>K</t></is></c><c r="B2" t="inlineStr"><is><t>L</t></is></c><c r="C2" t="inlineStr"><is><t>M</t></is></c></row>' +
      '<row r="3"><c r="A3" t="inlineStr"><is><t>x</t></is></c><c r="B3"><v>1</v></c></row>' +
      '<row r="4"><c r="B4"><v>2</v></c><c r="C4"><v>3</v></c></row>' +
      '<row r="5"><c r="A5" t="inlineStr"><is><t>all of them</t></is></c></row>';
    const merged = ["A1:C1", "A3:A4", "B3:C3", "A5:C5", "A9:XFD1048576", "nonsense"];
    const after = `<mergeCells>${merged.map((ref) => `<mergeCell ref="${ref}"/>`).join("")}</mergeCells>`;
    expect(await bodyOf({ rows, after })).toBe(
      "All\n\n| K | L | M |\n| --- | --- | --- |\n| x | 1 | 1 |\n| x | 2 | 3 |\n| all of them |",
    );
  });

  it("merged cells of a larger sheet stand once under each column", async () => {
    const names = Array.from({ length: 11 }, (_, at) => `c${at}`);
    const rows = row(...names) + row("x", "<c/>", ...names.slice(2));
    const after = '<mergeCells><mergeCell ref="A2:B2"/></mergeCells>';
    expect(await bodyOf({ rows, after })).toMatch(/^c0: x\nc1: x\nc2: c2\n/);
  });

  it("links, comments, charts, embedded files, macros, texts of drawings", async () => {
    const parsed = await read(
      [
        {
          rows: '<row r="1"><c r="A1" t="inlineStr"><is><t>site</t></is></c></row>',
          after: '<hyperlinks><hyperlink ref="A1" r:id="h"/></hyperlinks>',
          relations: {
            h: "hyperlink https://example.com/",
            c: "comments ../comments1.xml",
            d: "drawing ../drawings/d.xml",
            o: "oleObject ../embeddings/o.bin",
          },
        },
      ],
      {
        "xl/comments1.xml":
          "<comments><commentList><comment><text><t>psst</t></text></comment></commentList></comments>",
        "xl/drawings/d.xml":
          '<x:wsDr xmlns:x="urn:x" xmlns:a="urn:a"><x:sp><x:txBody><a:p><a:r><a:t>A box</a:t></a:r></a:p></x:txBody></x:sp><x:pic><x:nvPicPr><x:cNvPr descr="A cat"/></x:nvPicPr></x:pic></x:wsDr>',
        "xl/drawings/_rels/d.xml.rels":
          '<Relationships><Relationship Id="a" Type="x/chart" Target="c.xml"/></Relationships>',
        "xl/_rels/workbook.xml.rels":
          '<Relationships><Relationship Id="r0" Type="x/worksheet" Target="worksheets/sheet0.xml"/><Relationship Id="v" Type="x/vbaProject" Target="v.bin"/></Relationships>',
      },
    );
    expect(parsed.body).toBe("## Sheet1\n\n[site](https://example.com/)\n\nA box\n\nA cat\n");
    expect(parsed.leftOut?.map(({ kind, what }) => `${kind}: ${what}`)).toEqual([
      "script: macros",
      "embedded: embedded file",
      "comment: comment of a cell",
      "embedded: chart",
    ]);
  });
});

describe("what cannot be read", () => {
  const ole = Buffer.from("d0cf11e0a1b11ae10000000000000000", "hex");
  const many = `<row>${'<c t="s"><v>0</v></c>'.repeat(2000)}</row>`;
  it.each([
    ["an old format", ole, /old format of \.xls.*save it as \.xlsx/],
    ["a password", Buffer.concat([ole, Buffer.from("EncryptedPackage", "utf16le")]), /password/],
    ["a page", Buffer.from("<html><table><tr><td>1"), /it is HTML.*--format html/],
    ["CSV", Buffer.from("a,b\n1,2\n"), /it is text.*--format csv/],
    ["noise", Buffer.from("\0\x01\x02"), /no ZIP archive/],
    ["another office format", zip({ "xl/workbook.xml": "<w:document/>" }), /no Excel workbook/],
    ["a broken sheet", xlsx(["<row>"]), /XML is broken/],
    ["a text that is not there", xlsx([`<row><c t="s"><v>7</v></c></row>`]), /text that the file/],
    [
      "entities",
      xlsx([""], { "xl/sharedStrings.xml": '<!DOCTYPE a [<!ENTITY b "c">]><sst/>' }),
      /document type/,
    ],
    [
      "a bomb",
      xlsx([""], { "xl/worksheets/sheet0.xml": bomb }),
      /larger than the limit.*each row is a document/,
    ],
    [
      "one text in thousands of cells",
      xlsx([many], { "xl/sharedStrings.xml": `<sst><si><t>${"x".repeat(32_000)}</t></si></sst>` }),
      /its text is larger than the limit.*each row is a document/,
    ],
  ])("%s", async (_name, bytes, message) => {
    expect(await failure(bytes)).toMatch(message);
  });

  it("a sheet that is not there is named", async () => {
    const rels = { "xl/_rels/workbook.xml.rels": "<Relationships/>" };
    expect((await read([row("a")], rels)).warnings).toEqual([
      "a.xlsx: sheet Sheet1 ignored: the file lacks it",
    ]);
  });

  it("a long name of a column is not repeated without end", async () => {
    const names = Array.from({ length: 11 }, (_, at) => `c${at}`);
    const rows = row("x".repeat(30_000), ...names) + row("a", "b").repeat(1200);
    expect(await failure(xlsx([rows]))).toMatch(/its text is larger than the limit/);
  });

  it("places that do not exist cost nothing", async () => {
    const cell = (reference: string): string =>
      `<c r="${reference}" t="inlineStr"><is><t>a</t></is></c>`;
    const rows = `<row r="99999999999">${cell("ZZZZ1")}${cell("XFD1048576")}${cell("")}</row>`;
    expect(await bodyOf(rows)).toContain("a");
    const columns = '<cols><col min="1" max="99999999999" hidden="1"/></cols>';
    expect((await read([{ rows, columns }])).body).toBe("");
  });
});

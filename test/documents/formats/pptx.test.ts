import { describe, expect, it } from "vitest";
import type { Parsed } from "../../../src/documents/formats/format.ts";
import { readPptx } from "../../../src/documents/formats/pptx/pptx.ts";
import { CliError } from "../../../src/errors.ts";
import { bomb, pptx, zip, type SlideParts } from "./archive.ts";

const run = (text: string, properties = ""): string =>
  `<a:r><a:rPr ${properties}/><a:t>${text}</a:t></a:r>`;
const p = (inner: string, properties = ""): string =>
  `<a:p>${properties}${inner.startsWith("<") ? inner : run(inner)}</a:p>`;
const level = (number: number, inner = ""): string => `<a:pPr lvl="${number}">${inner}</a:pPr>`;
const shape = (text: string, place?: string, name = ""): string =>
  `<p:sp><p:nvSpPr><p:cNvPr id="1" name="x" ${name}/><p:cNvSpPr/><p:nvPr>${place === undefined ? "" : `<p:ph ${place}/>`}</p:nvPr></p:nvSpPr><p:txBody><a:bodyPr/>${text}</p:txBody></p:sp>`;
const title = (text: string): string => shape(p(text), 'type="title"');
const bullets = (text: string): string => shape(text, 'idx="1"');
const frame = (data: string, name = ""): string =>
  `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="4" name="y" ${name}/></p:nvGraphicFramePr><a:graphic><a:graphicData>${data}</a:graphicData></a:graphic></p:graphicFrame>`;
const picture = (text: string): string =>
  `<p:pic><p:nvPicPr><p:cNvPr id="5" name="z" descr="${text}"/></p:nvPicPr></p:pic>`;

const master = `<p:sldMaster><p:cSld><p:spTree>${shape(p("Click to edit"), 'type="body"')}</p:spTree></p:cSld><p:txStyles><p:bodyStyle><a:lvl1pPr><a:buChar char="•"/></a:lvl1pPr><a:lvl2pPr><a:buChar char="–"/></a:lvl2pPr></p:bodyStyle></p:txStyles></p:sldMaster>`;
const layout = `<p:sldLayout><p:cSld><p:spTree>${shape(`<a:lstStyle><a:lvl1pPr><a:buNone/></a:lvl1pPr></a:lstStyle>${p("Prompt of the layout")}`, 'type="body" idx="9"')}</p:spTree></p:cSld></p:sldLayout>`;
const shared = {
  "ppt/slideMasters/slideMaster1.xml": master,
  "ppt/slideLayouts/slideLayout1.xml": layout,
};

const read = (
  slides: readonly (string | SlideParts)[],
  parts: Record<string, string> = {},
): Promise<Parsed> => readPptx(pptx(slides, { ...shared, ...parts }), "a.pptx");
const bodyOf = async (shapes: string): Promise<string> =>
  (await read([title("T") + shapes])).body.replace("## T\n\n", "").trimEnd();

async function failure(bytes: Uint8Array): Promise<string> {
  const error: unknown = await readPptx(bytes, "a.pptx").catch((reason: unknown) => reason);
  if (error instanceof CliError && error.exit === "usage") {
    return [error.message, ...error.hints].join("; ");
  }
  throw new Error("expected a failure", { cause: error });
}

describe("slides", () => {
  it("come in the order of the presentation, each with its title", async () => {
    const parsed = await read([
      shape(p("Road map"), 'type="ctrTitle"') + shape(p("for 2031"), 'type="subTitle" idx="9"'),
      shape(p("no title here")),
      bullets(p("first")) + title("Second"),
      "",
    ]);
    expect(parsed.body).toBe(
      "## Road map\n\nfor 2031\n\n## Slide 2\n\nno title here\n\n## Second\n\n- first\n",
    );
    expect(parsed.title).toBe("Road map");
    expect(parsed.headings?.map(({ text }) => text)).toEqual(["Road map", "Slide 2", "Second"]);
  });

  it("of two titles the first one names the slide", async () => {
    expect((await read([title("One") + title("Two")])).body).toMatch(/^## One\n\n[^]*Two/);
  });

  it("a first slide without a title gives the deck none", async () => {
    expect((await read([shape(p("x")), title("Later")])).title).toBeUndefined();
  });

  it("hidden slides and shapes are counted, not sent", async () => {
    const { body, leftOut } = await read([
      title("A") +
        shape(p("secret"), undefined, 'hidden="1"') +
        shape(p(""), undefined, 'hidden="1"'),
      { shapes: title("B"), attributes: 'show="0"' },
      title("C"),
    ]);
    expect(body).toBe("## A\n\n## C\n");
    expect(leftOut?.map(({ kind, what }) => `${kind}: ${what}`)).toEqual([
      "hidden: hidden shape",
      "hidden: hidden slide",
    ]);
  });

  it("what masters repeat, and prompts of layouts, are not sent", async () => {
    const footers = ["dt", "ftr", "sldNum"]
      .map((type) => shape(p("12"), `type="${type}"`))
      .join("");
    const number = shape(p('<a:fld type="slidenum"><a:t>7</a:t></a:fld>'));
    expect(await bodyOf(footers + number + shape("<a:p/>", 'type="body" idx="9"'))).toBe("## T");
  });

  it("notes stand below the slide; comments, embedded files and macros are counted", async () => {
    const slide = {
      shapes: title("A"),
      relations: {
        n: "notesSlide ../notesSlides/n.xml",
        c: "comments ../comments/c.xml",
        o: "oleObject ../embeddings/o.bin",
      },
    };
    const notes = `<p:notes><p:cSld><p:spTree>${shape(p("Slide image"), 'type="sldImg"')}${shape(p("Breathe.") + p("Smile."), 'type="body" idx="1"')}${shape(p("3"), 'type="sldNum"')}</p:spTree></p:cSld></p:notes>`;
    const parsed = await read([slide, title("B")], {
      "ppt/notesSlides/n.xml": notes,
      "ppt/comments/c.xml": "<p:cmLst><p:cm><p:text>why?</p:text></p:cm><p:cm/></p:cmLst>",
    });
    expect(parsed.body).toBe("## A\n\nNotes:\n\nBreathe.\n\nSmile.\n\n## B\n");
    expect(parsed.leftOut?.map(({ kind }) => kind)).toEqual(["embedded", "comment", "comment"]);
  });

  it("properties are front matter, but for titles that programs set", async () => {
    const core = (text: string): Record<string, string> => ({
      "docProps/core.xml": `<c:coreProperties xmlns:dc="urn:d" xmlns:c="urn:c"><dc:title>${text}</dc:title><dc:creator>Ada</dc:creator></c:coreProperties>`,
    });
    const dataOf = async (text: string): Promise<unknown> =>
      (await read([title("A")], core(text))).frontMatter?.data;
    expect(await dataOf("Plan")).toEqual({ title: "Plan", author: ["Ada"] });
    for (const each of [
      "Presentation",
      "PowerPoint Presentation",
      "Presentazione di PowerPoint",
      "PowerPoint-Präsentation",
    ]) {
      expect(await dataOf(each)).toEqual({ author: ["Ada"] });
    }
  });
});

describe("text", () => {
  it.each([
    [
      "bullets of the master by level",
      bullets(p("a") + p("b", level(1)) + p("c")),
      "- a\n  - b\n- c",
    ],
    ["no bullets by the layout", shape(p("a") + p("b", level(1)), 'idx="9"'), "a\n\n- b"],
    [
      "a paragraph without its bullet",
      bullets(p("a", "<a:pPr><a:buNone/></a:pPr>") + p("b")),
      "a\n\n- b",
    ],
    ["a text box has none", shape(p("a") + p("b")), "a\n\nb"],
    [
      "numbers",
      shape(
        ["a", "b", "c"]
          .map((text) => p(text, level(0, '<a:buAutoNum type="arabicPeriod" startAt="3"/>')))
          .join(""),
      ),
      "3. a\n4. b\n5. c",
    ],
    [
      "letters in brackets",
      shape(
        ["a", "b"]
          .map((text) => p(text, level(0, '<a:buAutoNum type="alphaLcParenBoth"/>')))
          .join(""),
      ),
      "- (a) a\n- (b) b",
    ],
    [
      "lists of two shapes are two lists",
      bullets(p("a")) + picture("A cat") + bullets(p("b")),
      "- a\n\nA cat\n\n- b",
    ],
    ["breaks", shape(p(`${run("a")}<a:br/>${run("b")}`)), "a\nb"],
    [
      "looks, joined",
      shape(
        p(
          run("a", 'b="1"') +
            run("b", 'b="1"') +
            run("c", 'strike="sngStrike"') +
            run("2", 'baseline="30000"') +
            run(" d", 'strike="noStrike"'),
        ),
      ),
      "**ab**~~c~~² d",
    ],
    [
      "groups in order",
      `<p:grpSp><p:nvGrpSpPr/>${shape(p("a"))}${shape(p("b"))}</p:grpSp>${shape(p("c"))}`,
      "a\n\nb\n\nc",
    ],
    [
      "one of two forms",
      `<mc:AlternateContent xmlns:mc="urn:m"><mc:Choice>${shape(p("new"))}</mc:Choice><mc:Fallback>${shape(p("old"))}</mc:Fallback></mc:AlternateContent>`,
      "new",
    ],
    [
      "words of a picture",
      picture("A red car&#10;Description automatically generated"),
      "A red car",
    ],
    ["no names of files", picture("C:\\pics\\IMG 1.png"), "## T"],
    [
      "formulas",
      shape(
        p(
          '<a14:m xmlns:a14="urn:14"><m:oMath xmlns:m="urn:m"><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath></a14:m>',
        ),
      ),
      "a/b",
    ],
    [
      "signs of symbol fonts",
      shape(p('<a:r><a:rPr><a:sym typeface="Wingdings"/></a:rPr><a:t>þ</a:t></a:r>')),
      "☒",
    ],
  ])("%s", async (_name, shapes, text) => {
    expect(await bodyOf(shapes)).toBe(text);
  });

  it("links lead outside; those to other slides are text", async () => {
    const link = (id: string, text: string): string =>
      `<a:r><a:rPr><a:hlinkClick r:id="${id}"/></a:rPr><a:t>${text}</a:t></a:r>`;
    const { body } = await read([
      {
        shapes: title("A") + shape(p(link("h", "the ") + link("h", "site") + link("s", " next"))),
        relations: { h: "hyperlink https://example.com/(a)", s: "slide slide2.xml" },
      },
      title("B"),
    ]);
    expect(body).toContain("[the site](<https://example.com/(a)>) next");
  });

  it("tables: merged cells as in pages, a header where the table has one", async () => {
    const cell = (text: string, attributes = ""): string =>
      `<a:tc ${attributes}><a:txBody>${p(text)}</a:txBody></a:tc>`;
    const rows = [
      cell("A") + cell("B") + cell("C"),
      cell("1", 'rowSpan="2"') + cell("2", 'gridSpan="2"') + cell("gone", 'hMerge="1"'),
      cell("gone", 'vMerge="1"') + cell("3") + cell("4"),
    ];
    const table = `<a:tbl><a:tblPr firstRow="1"/>${rows.map((row) => `<a:tr>${row}</a:tr>`).join("")}</a:tbl>`;
    expect(await bodyOf(frame(table))).toBe(
      "| A | B | C |\n| --- | --- | --- |\n| 1 | 2 | 2 |\n| 1 | 3 | 4 |",
    );
  });

  it("words of diagrams and charts", async () => {
    const diagram = '<dgm:relIds xmlns:dgm="urn:d" xmlns:r="urn:r" r:dm="d"/>';
    const chart = '<c:chart xmlns:c="urn:c" xmlns:r="urn:r" r:id="c"/>';
    const cached = (name: string, kind: string, ...values: string[]): string =>
      `<c:${name}><c:${kind}Ref><c:${kind}Cache>${values.map((each) => `<c:pt><c:v>${each}</c:v></c:pt>`).join("")}</c:${kind}Cache></c:${kind}Ref></c:${name}>`;
    const { body } = await read(
      [
        {
          shapes: title("A") + frame(diagram) + frame(chart, 'descr="A bar chart"'),
          relations: { d: "diagramData ../diagrams/d.xml", c: "chart ../charts/c.xml" },
        },
      ],
      {
        "ppt/diagrams/d.xml": `<dgm:dataModel xmlns:dgm="urn:d" xmlns:a="urn:a"><dgm:pt><dgm:t>${p("plan")}${p("it")}</dgm:t></dgm:pt><dgm:pt><dgm:t>${p("do")}</dgm:t></dgm:pt></dgm:dataModel>`,
        "ppt/charts/c.xml": `<c:chartSpace xmlns:c="urn:c" xmlns:a="urn:a"><c:title>${p("Sales")}</c:title><c:ser>${cached("tx", "str", "North")}${cached("cat", "str", "Q1", "Q2")}${cached("val", "num", "17", "18")}</c:ser><c:ser>${cached("tx", "str", "South")}${cached("cat", "num", "45000")}</c:ser></c:chartSpace>`,
      },
    );
    expect(body).toBe(
      "## A\n\n- plan it\n- do\n\nA bar chart\n\nSales\n\nNorth, South\n\nQ1, Q2\n",
    );
  });
});

describe("what cannot be read", () => {
  const whole = pptx([title("A")], shared);
  const ole = Buffer.from("d0cf11e0a1b11ae10000000000000000", "hex");
  it.each([
    ["an old format", ole, /old format of \.ppt.*save it as \.pptx/],
    ["a password", Buffer.concat([ole, Buffer.from("EncryptedPackage", "utf16le")]), /password/],
    ["cut off", whole.subarray(0, whole.length - 30), /damaged or cut off/],
    ["no archive", Buffer.from("hello"), /no ZIP archive/],
    ["another office format", zip({ "ppt/presentation.xml": "<w:document/>" }), /no PowerPoint/],
    ["a broken slide", pptx([title("A"), "<a:p>"], shared), /XML is broken/],
    [
      "entities",
      pptx([title("A")], {
        ...shared,
        "ppt/slides/slide1.xml": '<!DOCTYPE a [<!ENTITY b "c">]><p:sld/>',
      }),
      /declares a document type/,
    ],
    [
      "a bomb",
      pptx([title("A")], {
        ...shared,
        "ppt/slides/slide1.xml": bomb,
      }),
      /larger than the limit/,
    ],
    [
      "one slide a million times",
      zip({
        "ppt/presentation.xml": `<p:presentation xmlns:r="urn:r"><p:sldIdLst>${'<p:sldId r:id="a"/>'.repeat(20_000)}</p:sldIdLst></p:presentation>`,
        "ppt/_rels/presentation.xml.rels":
          '<Relationships><Relationship Id="a" Type="x/slide" Target="s.xml"/></Relationships>',
        "ppt/s.xml": "<p:sld/>",
        // What is no XML costs only its bytes.
        "ppt/_rels/s.xml.rels":
          '<Relationships><Relationship Id="n" Type="x/notesSlide" Target="n.xml"/></Relationships>',
        "ppt/n.xml": "x".repeat(1024 * 1024),
      }),
      /larger than the limit/,
    ],
  ])("%s", async (_name, bytes, message) => {
    expect(await failure(bytes)).toMatch(message);
  });

  it("a broken layout or broken notes cost only what they say", async () => {
    const slide = { shapes: title("A") + bullets(p("b")), relations: { n: "notesSlide n.xml" } };
    const parsed = await readPptx(
      pptx([slide], { "ppt/slideLayouts/slideLayout1.xml": "<a>", "ppt/slides/n.xml": "<" }),
      "a.pptx",
    );
    expect(parsed.body).toBe("## A\n\nb\n");
    expect(parsed.warnings).toEqual([
      expect.stringContaining("a.pptx: a layout ignored"),
      expect.stringContaining("a.pptx: speaker notes ignored"),
    ]);
  });

  it("a slide that is not there is named", async () => {
    const slide = `<p:sldId r:id="r0"/><p:sldId r:id="r9"/>`;
    const presentation = `<p:presentation xmlns:r="urn:r"><p:sldIdLst>${slide}</p:sldIdLst></p:presentation>`;
    const parsed = await read([title("A")], { "ppt/presentation.xml": presentation });
    expect(parsed.body).toBe("## A\n");
    expect(parsed.warnings).toEqual(["a.pptx: slide 2 ignored: the file lacks it"]);
  });

  it("names of parts never leave the archive", async () => {
    const slide = { shapes: title("A"), relations: { n: "notesSlide ../../../../etc/hostname" } };
    expect((await read([slide])).body).toBe("## A\n");
  });
});

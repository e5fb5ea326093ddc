import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readPdf, checkStreams } from "../../../src/documents/formats/pdf/pdf.ts";
import { readDocument } from "../../../src/documents/inspect/read.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { CliError } from "../../../src/errors.ts";
import { createFolder, fileIn, readOkAsync, type Options } from "../folder.ts";
import { pdf, pdfOf, type PdfPart } from "./pdf-file.ts";

async function failure(bytes: Uint8Array): Promise<CliError> {
  const error: unknown = await readPdf(bytes, "a.pdf").catch((reason: unknown) => reason);
  if (error instanceof CliError && error.exit === "usage") return error;
  throw new Error("expected a failure", { cause: error });
}

describe("pages", () => {
  const sections = async (pages: string[], options: Options = {}): Promise<unknown> =>
    (await readOkAsync(pdf(pages), options, "docs/a.pdf")).document.sections;

  it("a section a page, with its number, blank ones left out", async () => {
    expect(await sections(["one", "", "three"])).toEqual([
      { text: "Page 1\n\none" },
      { text: "Page 3\n\nthree" },
    ]);
  });

  it("where there is a link, it leads to the page", async () => {
    expect(await sections(["one", "two"], { link: "https://example.com/{path}" })).toEqual([
      { text: "one", link: "https://example.com/docs/a.pdf#page=1" },
      { text: "two", link: "https://example.com/docs/a.pdf#page=2" },
    ]);
  });

  it("a link that leads into the document stays", async () => {
    expect(await sections(["one"], { link: "https://example.com/{name}#top" })).toEqual([
      { text: "Page 1\n\none", link: "https://example.com/a#top" },
    ]);
  });

  it("a long page is cut at its paragraphs, each part with the number", async () => {
    expect(await sections(["a a a\n\n\nb b b"], { maxSectionChars: 14 })).toEqual([
      { text: "Page 1\n\na a a" },
      { text: "Page 1\n\nb b b" },
    ]);
  });

  it("text by line, a blank one where there is room", async () => {
    const { pages, body } = await readPdf(pdf(["a (b) \\c\nnext line\n\n\napart"]), "a.pdf");
    expect(pages?.[0]?.text).toBe("a (b) \\c\nnext line\n\napart");
    expect(body).toBe(pages?.[0]?.text);
  });
});

describe("what a reader of the page sees", () => {
  const textOf = async (bytes: Uint8Array) => (await readPdf(bytes, "a.pdf")).pages?.[0]?.text;

  it.each([
    ["(taki-\nmata sanctus)", "(takimata sanctus)"],
    ["well-known, and well-\nknown.", "well-known, and well-known."],
    ["see file-\nname.ts and A-\nfoo", "see file-\nname.ts and A-\nfoo"],
    ["pages 1-\n2, pre-\nWar", "pages 1-\n2, pre-\nWar"],
  ])("joins words divided at a line end: %j", async (page, expected) => {
    expect(await textOf(pdf([page]))).toBe(expected);
  });

  it("has the values of form fields, but no password", async () => {
    const field = (entries: string): PdfPart => ({
      dictionary: `/Type /Annot /Subtype /Widget /Rect [0 0 9 9] /P 3 0 R ${entries}`,
    });
    const bytes = pdfOf([
      { dictionary: "/Type /Catalog /Pages 2 0 R /AcroForm << /Fields [5 0 R 6 0 R 7 0 R] >>" },
      { dictionary: "/Type /Pages /Count 1 /Kids [3 0 R]" },
      {
        dictionary:
          "/Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Annots [5 0 R 6 0 R 7 0 R] /Contents 4 0 R",
      },
      { dictionary: "", stream: Buffer.from("BT ET") },
      field("/FT /Tx /T (First name) /V (Alice)"),
      field("/FT /Tx /T (PIN) /V (1234) /Ff 8192"),
      field("/FT /Tx /T (Empty) /V ()"),
    ]);
    expect(await textOf(bytes)).toBe("First name: Alice");
  });
});

describe("properties", () => {
  it("become fields", async () => {
    const info =
      "/Title (Handbook) /Author (Ann Lee; Bob) /Subject (S) /Keywords (a, b) /ModDate (D:20240501093000+02'00')";
    const { document } = await readOkAsync(pdf(["text"], { info }), {}, "a.pdf");
    expect(document).toMatchObject({
      title: "Handbook",
      doc_updated_at: "2024-05-01T07:30:00Z",
      primary_owners: [{ display_name: "Ann Lee" }, { display_name: "Bob" }],
      metadata: { tags: ["a", "b"], subject: "S" },
    });
  });

  it.each([
    ["none", ""],
    ["placeholders", "/Title (Microsoft Word - a.doc) /Author ( )"],
    ["no date", "/ModDate (D:20240230) /CreationDate (now)"],
    ["other kinds", "/Title [1 2] /Author 7 /Keywords << /a /b >>"],
    ["control characters", "/Title (\\000\\001)"],
    ["names of prototypes", "/__proto__ (x) /constructor (y)"],
  ])("that say nothing do not fail it: %s", async (_name, info) => {
    const { document } = await readOkAsync(pdf(["text"], { info }), {}, "my-file.pdf");
    expect(document).toMatchObject({ title: "My file", metadata: {} });
    expect(document).not.toHaveProperty("doc_updated_at");
  });
});

describe("what cannot be read", () => {
  const whole = pdf(["text", "more"]);
  it.each([
    ["empty", new Uint8Array()],
    ["text", Buffer.from("hello")],
    ["a header alone", Buffer.from("%PDF-1.7\n%%EOF")],
    ["cut off", whole.subarray(0, 300)],
    ["no pages", pdfOf([{ dictionary: "/Type /Catalog" }])],
    [
      "a page that leads nowhere",
      pdfOf([
        { dictionary: "/Type /Catalog /Pages 2 0 R" },
        { dictionary: "/Type /Pages /Count 2 /Kids [9 0 R 9 0 R]" },
      ]),
    ],
  ])("%s", async (_name, bytes) => {
    const error = await failure(Uint8Array.from(bytes));
    expect(error.message).toMatch(
      /^a\.pdf: cannot be read: it is (?:(?:no PDF, or )?damaged|empty)$/,
    );
    expect(error.hints).toHaveLength(1);
  });

  it("a password", async () => {
    const parts = [
      { dictionary: "/Type /Catalog /Pages 2 0 R" },
      { dictionary: "/Type /Pages /Count 0 /Kids []" },
      {
        dictionary: `/Filter /Standard /V 1 /R 2 /P -4 /O <${"ab".repeat(32)}> /U <${"cd".repeat(32)}>`,
      },
    ];
    const bytes = pdfOf(parts, `/Encrypt 3 0 R /ID [<${"00".repeat(16)}> <${"00".repeat(16)}>]`);
    expect((await failure(bytes)).message).toBe("a.pdf: cannot be read: it is password-protected");
  });

  it("more pages than any document has", async () => {
    const parts = [
      { dictionary: "/Type /Catalog /Pages 2 0 R" },
      { dictionary: `/Type /Pages /Count 20001 /Kids [${"3 0 R ".repeat(20_001)}]` },
      { dictionary: "/Type /Page /Parent 2 0 R" },
    ];
    expect((await failure(pdfOf(parts))).message).toContain("more than 20000 pages");
  });

  it("a scan is skipped, and why", async () => {
    const root = createFolder({ "a.pdf": pdf(["", ""]) });
    const reading = await readDocument(fileIn(root, "a.pdf"), compileSettings({ root }));
    expect(reading).toMatchObject({
      kind: "skipped",
      reason: expect.stringContaining("contain no text"),
    });
  });

  it("a damaged table of objects is found again", async () => {
    const text = Buffer.from(whole)
      .toString("latin1")
      .replace(/startxref\n\d+/, "startxref\n7");
    const { pages } = await readPdf(Uint8Array.from(Buffer.from(text, "latin1")), "a.pdf");
    expect(pages?.map(({ text }) => text)).toEqual(["text", "more"]);
  });
});

describe("streams that unpack without end", () => {
  const mebibytes = (count: number): Uint8Array =>
    deflateSync(Buffer.alloc(count * 1024 * 1024, " "));
  const withStreams = (...streams: [string, Uint8Array][]): Uint8Array =>
    pdfOf(streams.map(([dictionary, stream]) => ({ dictionary, stream })));

  it.each([
    ["one", withStreams(["/Filter /FlateDecode", mebibytes(5)])],
    ["two together", withStreams(["", mebibytes(3)], ["", mebibytes(3)])],
    ["another spelling", withStreams(["/Filter /F#6cateDecode", mebibytes(5)])],
    ["packed twice", withStreams(["", deflateSync(mebibytes(5))])],
    [
      "packed five times",
      withStreams(["", [1, 2, 3, 4].reduce((all) => deflateSync(all), mebibytes(1))]),
    ],
    ["one that is cut off", withStreams(["", mebibytes(5).subarray(0, 5000)])],
  ])("are refused: %s", async (_name, bytes) => {
    expect(await checkStreams(bytes, 4 * 1024 * 1024)).toContain("larger than");
  });

  it.each([
    ["small ones", withStreams(["", mebibytes(1)], ["", mebibytes(1)])],
    ["small ones packed twice", withStreams(["", deflateSync(mebibytes(1))])],
    [
      "text that begins as packed data does",
      withStreams(["", deflateSync(Buffer.from("x\x01 is text ".repeat(99)))]),
    ],
    ["images", withStreams(["/Type /XObject /Subtype /Image", mebibytes(5)])],
    ["what is not packed", withStreams(["", Buffer.alloc(5 * 1024 * 1024)])],
    ["an empty file", new Uint8Array()],
  ])("are let through: %s", async (_name, bytes) => {
    expect(await checkStreams(bytes, 4 * 1024 * 1024)).toBeUndefined();
  });

  it("the reader asks", async () => {
    const bomb = withStreams(["", mebibytes(65)], ["", Buffer.alloc(200_000)]);
    expect((await failure(bomb)).message).toContain("larger than the limit for one document");
  });
});

import { describe, expect, it } from "vitest";
import { around } from "./around.ts";
import { readAdoc } from "../../../src/documents/formats/adoc/adoc.ts";
import { createFolder, failure, fileIn, readOkAsync } from "../folder.ts";
import * as fc from "../../property.ts";
import type { Row, RowReader } from "../../../src/documents/formats/format.ts";
import { readCsv } from "../../../src/documents/formats/csv.ts";
import { readJson, readNdjson } from "../../../src/documents/formats/json.ts";
import { rowsOf, rowsOfPieces } from "./rows.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readDocument } from "../../../src/documents/inspect/read.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { projectFolder } from "../../support.ts";

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

describe("pieces", () => {
  const texts: [string, RowReader, string][] = [
    ["CSV", readCsv, 'sep=;\nid;text\n1;"a\n""b"" ;c"\n\n2;ü\n 3;"d"'],
    ["CSV without a line for the delimiter", readCsv, '\ufeff"i;d";text\n1;a,b\n2;c\n'],
    ["NDJSON", readNdjson, '\ufeff{"text":"a"}\n\n{"text": ]}\n{"text":"ü\\n"}'],
    ["JSON", readJson, ' [ {"text":"a ] \\" , }"},\n7, "x\\\\",\n [1],{"text":"b","n":[{}]} ]\n'],
    ["one JSON value", readJson, '{"text":"a",\n"n":[1]} \n'],
  ];

  describe.each(texts)("%s in pieces", (_name, read, text) => {
    it("gives the rows of the whole text, wherever it is cut", () => {
      const whole = rowsOf(read, text);
      expect([...rowsOfPieces(read, text)]).toEqual(whole);
      fc.assert(
        fc.property(fc.array(fc.nat(text.length), { maxLength: 5 }), (cuts) => {
          const ends = [...cuts.toSorted((a, b) => a - b), text.length];
          const pieces = ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
          expect([...rowsOfPieces(read, pieces)]).toEqual(whole);
        }),
      );
    });
  });

  /** The most rows that were given to a reader and not yet returned. */
  function mostHeld(
    read: RowReader,
    { head, row, between, tail }: Record<"head" | "row" | "between" | "tail", string>,
    count: number,
  ): number {
    let given = 0;
    let [returned, most] = [0, 0];
    function* pieces(): Generator<string> {
      yield head;
      for (; given < count; most = Math.max(most, given - returned)) {
        given++;
        yield given === 1 ? row : between + row;
      }
      yield tail;
    }
    for (const _ of rowsOfPieces(read, pieces())) returned++;
    expect(returned).toBe(count);
    return most;
  }

  const value = "x".repeat(10_000);

  it.each([
    ["CSV", readCsv, { head: "text\n", row: `"${value}\n"`, between: "\n", tail: "" }],
    ["NDJSON", readNdjson, { head: "", row: `{"text":"${value}"}`, between: "\n", tail: "" }],
    ["JSON", readJson, { head: "[", row: `{"text":"${value}"}`, between: ",", tail: "]" }],
  ] as const)("%s holds no more than one row", (_name, read, parts) => {
    expect(mostHeld(read, parts, 300)).toBeLessThanOrEqual(2);
  });

  /** The rows before a failure, and the failure. */
  function untilFailure(read: RowReader, pieces: Iterable<string>, max: number): [number, string] {
    const rows: Row[] = [];
    const message = failure(() => {
      for (const row of rowsOfPieces(read, pieces, max)) rows.push(row);
    });
    return [rows.length, message];
  }

  function* broken(head: string, rest: string, count: number): Generator<string> {
    yield head;
    for (let piece = 0; piece < count; piece++) yield rest;
  }

  describe("a text that is broken far from its start", () => {
    const mebibyte = 1024 * 1024;

    it("fails at the line of a quote that is not closed, after the rows before", () => {
      const lines = "line,\n".repeat(20_000);
      expect(untilFailure(readCsv, broken('id,text\n1,a\n2,"b\n', lines, 20), mebibyte)).toEqual([
        1,
        "data:3:1: the row has no end within 1.0 MiB",
      ]);
      expect(untilFailure(readCsv, broken("text\na\n", "b".repeat(1000), 3000), mebibyte)).toEqual([
        1,
        "data:3:1: the row has no end within 1.0 MiB",
      ]);
    });

    it("fails at the item of JSON that does not end", () => {
      expect(
        untilFailure(readJson, broken('[{"text":"a"},\n {"text":', "[7, ", 1000), 1000),
      ).toEqual([1, "data:2:2: the value that begins here is broken, or longer than 0.1 MiB"]);
    });

    it.each([
      ['[{"text":"a"},{"text":}]', 1, 'data:1:23: JSON is broken at "}"'],
      ['[{"text":"a"},\n{"text":"b\n"}]', 1, 'data:2:9: JSON is broken at "\\""'],
      ['[{"text":"a"} {"text":"b"}]', 1, 'data:1:15: JSON is broken at "{"'],
      ['[{"text":"a"},]', 1, 'data:1:15: JSON is broken at "]"'],
      ['[{"text":"a"}]\n]', 1, 'data:2:1: JSON is broken at "]"'],
      ['[{"text":"a"},\n{"text":"b"}', 2, "data:2:13: JSON is broken at the end"],
      ["", 0, "data: no JSON: it is empty"],
    ])("fails where JSON stops being JSON: %j", (text, rows, message) => {
      expect(untilFailure(readJson, text, 1000)).toEqual([rows, message]);
    });

    it("fails a line of NDJSON that is too long, and goes on", () => {
      const rows = [
        ...rowsOfPieces(readNdjson, [`{"text":"${value}`, value, '"}\n{"text":"b"}'], 15_000),
      ];
      expect(rows).toMatchObject([
        {
          kind: "failed",
          line: 1,
          reason: expect.stringContaining("data:1:1: the line is longer") as string,
        },
        { kind: "text", line: 2, row: 2 },
      ]);
    });
  });
});

describe("office", () => {
  // A text as pandoc and LibreOffice wrote it, and one of Ghostscript, to which qpdf gave passwords.
  const fixture = (name: string): Uint8Array =>
    readFileSync(join(projectFolder, "test", "fixtures", "documents", "office", name));

  const fields = {
    title: "Core Title",
    primary_owners: [{ display_name: "Jo Doe" }, { display_name: "Al Roe" }],
  };

  describe("files that programs wrote", () => {
    it.each(["pandoc.docx", "libreoffice.docx"])("%s", async (name) => {
      const { document } = await readOkAsync(fixture(name), { sections: "headings" }, name);
      expect(document).toMatchObject(fields);
      expect(document.sections).toMatchObject([
        { text: "Core Title\n\nJo Doe\n\nAl Roe" },
        {
          text: expect.stringMatching(
            /^First heading\n\nText with a \[link\]\(https:\/\/example\.com\/?\) and note\[\^1\]\. `?code`? a\*b\n\n- one\n- two\n  - nested\n\n1\. n1\n2\. n2\n\n\| A \| B \|\n\| --- \| --- \|\n\| 1 \| 2 \|\n\n\[\^1\]: The note text\.$/,
          ),
        },
        { text: expect.stringMatching(/^First heading > Second\b/) },
      ]);
      expect(document.sections.at(-1)).toMatchObject({
        text: "First heading > Second\n\n```\ncode block\n# not heading\n```\n\n> quote",
      });
    });

    it.each(["ghostscript.pdf", "owner-password.pdf"])("%s", async (name) => {
      const { document } = await readOkAsync(fixture(name), {}, name);
      expect(document).toMatchObject(fields);
      expect(document.sections).toEqual([
        { text: "Page 1\n\nFirst heading\n\nText of the first page,\non two lines." },
        { text: "Page 2\n\nThe second page" },
      ]);
    });

    it("a password is asked for by nobody", async () => {
      const root = createFolder({ "a.pdf": fixture("password.pdf") });
      await expect(readDocument(fileIn(root, "a.pdf"), compileSettings({ root }))).rejects.toThrow(
        "a.pdf: cannot be read: it is password-protected",
      );
    });
  });
});

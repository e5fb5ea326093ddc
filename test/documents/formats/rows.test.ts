import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { readCsv, readTsv } from "../../../src/documents/formats/csv.ts";
import { failure } from "../folder.ts";
import { documentsOf, rowsIn, rowsOf, textsOf } from "./rows.ts";
import { scanJson } from "../../../src/documents/text/json-text.ts";
import { readJson, readNdjson } from "../../../src/documents/formats/json.ts";
import { parseColumnMap } from "../../../src/documents/formats/rows.ts";

describe("a table", () => {
  it.each([
    ["commas", "id,text\n1,a\n2,b\n", ['1 line 2: "a"', '2 line 3: "b"']],
    ["semicolons", "id;text\n1;a,b\n", ['1 line 2: "a,b"']],
    ["tabs", "id\ttext\n1\ta\n", ['1 line 2: "a"']],
    ["bars", "id|text\n1|a\n", ['1 line 2: "a"']],
    ["a delimiter within quotes", '"a;b;c",text\n1,x\n', ['1 line 2: "x"']],
    ["a line for the delimiter", "sep=;\nid;text\n1;a\n", ['1 line 3: "a"']],
    ["no line break at the end", "id,text\n1,a", ['1 line 2: "a"']],
    ["a byte order mark", "\ufefftext,id\na,1\n", ['1 line 2: "a"']],
    ["one column", "text\na\n\nb\n", ['1 line 2: "a"', '2 line 4: "b"']],
    ["blank lines", "\n\nid,text\n\n1,a\n  \n2,b\n\n", ['1 line 5: "a"', '2 line 7: "b"']],
    ["breaks in quotes", 'id,text\n1,"a\n\nb"\n2,c\n', ['1 line 2: "a\\n\\nb"', '2 line 5: "c"']],
    ["doubled quotes", 'id,text\n1,"say ""hi"""\n', ['1 line 2: "say \\"hi\\""']],
    [
      "quotes that enclose nothing",
      'id,text\n1,5" pipe\n2,"a"b\n',
      ['1 line 2: "5\\" pipe"', '2 line 3: "\\"a\\"b"'],
    ],
    [
      "too few and too many",
      "id,text,x\n1,a\n2,b,c\n3,d,e,f\n",
      [
        "1 line 2: data:2:1: expected 3 columns, found 2; quote values that contain the delimiter or a line break",
        '2 line 3: "b"',
        "3 line 4: data:4:1: expected 3 columns, found 4; quote values that contain the delimiter or a line break",
      ],
    ],
    [
      "a quote that a row below closes",
      'id,text\n1,"a\n2,"b"\n3,c\n4,"""d"" x\ny"\n',
      [
        '1 line 2: data:2:1: a quote opens in this row and its value goes on in the rows below; write " within quotes as ""',
        '2 line 4: "c"',
        '3 line 5: "\\"d\\" x\\ny"',
      ],
    ],
    ["a header alone", "id,text\n", []],
    ["nothing", "", []],
  ])("with %s", (_name, text, rows) => {
    expect(textsOf(readCsv, text)).toEqual(rows);
  });

  it("of tabs takes commas in the header for text", () => {
    expect(textsOf(readTsv, "a,b,c\ttext\n1\tx,y\n")).toEqual(['1 line 2: "x,y"']);
  });

  it.each([
    ["id,text,id\n", "data:1:1: two columns for id"],
    ["text,x,\n1,2,3\n", undefined],
    ["id,title\n", "data:1:1: no column text, body or content for the text"],
    [`text${",".repeat(10_000)}\n`, "data:1:1: more than 10000 columns"],
    ['id,text\n1,a\n2,"b\n3,c\n', "data:3:1: a quote opens in this row and is never closed"],
  ])("%.20j … as a whole: %s", (text, message) => {
    if (message === undefined) expect(rowsOf(readCsv, text)).toHaveLength(1);
    else expect(failure(() => rowsOf(readCsv, text))).toBe(message);
  });

  it("takes one long value, but not a line of millions", () => {
    expect(rowsOf(readCsv, `text,x\n"${",".repeat(2_000_000)}",y\n`)).toHaveLength(1);
    expect(failure(() => rowsOf(readCsv, `text\nx\n${",".repeat(2_000_000)}\n`))).toBe(
      "data:3:1: more than 10000 columns",
    );
  });

  it("gives the rows before a quote that is never closed", () => {
    const rows = rowsIn(readCsv, 'text\na\n"b\n');
    expect(rows.next().value).toMatchObject({ kind: "text", row: 1 });
    expect(failure(() => rows.next())).toMatch(/^data:3:1: /);
  });

  it("parses no further than rows are taken", () => {
    const text = `text\n${"x\n".repeat(140_000)}"never closed`;
    const rows = rowsIn(readCsv, text);
    expect(rows.next().value).toMatchObject({ row: 1, line: 2 });
  });

  it("finds values that are longer than the piece it looks at", () => {
    const long = 'ä, ""\n'.repeat(60_000);
    const text = `id,text\n1,x\n2,"${long}"\n3,y\n4,"${long}"`;
    const rows = rowsOf(readCsv, text);
    expect(rows.map(({ line }) => line)).toEqual([2, 3, 60_004, 60_005]);
    expect(rows[1]).toMatchObject({ parsed: { body: long.replaceAll('""', '"') } });
    expect(rows[3]).toMatchObject({ parsed: { body: long.replaceAll('""', '"') } });
  });

  it("gives back any cells that were written by the rules", () => {
    const cell = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", ";", " ", "ü") });
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell)), (rows) => {
        const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
        const text = ["text,other", ...rows.map((cells) => cells.map(quote).join(","))].join("\n");
        const found = rowsOf(readCsv, text).map((row) => {
          if (row.kind !== "text") throw new Error(row.kind);
          return [row.parsed.body, row.parsed.frontMatter?.data["other"] ?? ""];
        });
        expect(found).toEqual(rows);
      }),
    );
  });
});

describe("the document of a row", () => {
  const settings = { storesCreation: true };
  const named = {
    semantic_identifier: "Shown",
    title: "Found",
    doc_updated_at: "2024-05-01T00:00:00Z",
    doc_created_at: "2023-05-01T00:00:00Z",
    primary_owners: [{ display_name: "Ann" }],
    secondary_owners: [{ display_name: "Bob" }],
    metadata: {},
  };
  it("takes the names of the interface", () => {
    const text =
      "Semantic_Identifier,title,text,doc_updated_at,doc_created_at,primary_owners,secondary_owners\n" +
      "Shown,Found,x,2024-05-01,2023-05-01,Ann,Bob\n";
    expect(documentsOf(readCsv, text, { settings })).toMatchObject([named]);
  });
  it("takes the names of the interface in the map", () => {
    const text = "a,b,c,d,e,f,g\nShown,Found,x,2024-05-01,2023-05-01,Ann,Bob\n";
    const map =
      "semantic_identifier=a,title=b,text=c,doc_updated_at=d,doc_created_at=e,primary_owners=f,secondary_owners=g";
    expect(documentsOf(readCsv, text, { settings, map })).toMatchObject([named]);
    const other = map.replace("doc_created_at", "created").replace("doc_updated_at", "updated");
    expect(documentsOf(readCsv, text, { settings, map: other })).toMatchObject([named]);
  });
  it("keeps a creation that the service would drop as metadata", () => {
    const text = "text,born\nx,2023-05-01\n";
    const [document] = documentsOf(readCsv, text, { map: "created=born" });
    expect(document).toMatchObject({ metadata: { born: "2023-05-01" } });
  });

  it("takes columns of the well-known names in any case; the others are metadata", () => {
    const text =
      "ID,Title,Body,URL,Updated,Owner,Tags,Size,Empty,\n" +
      '7,Bolt,Steel,https://x.example/7,2024-05-01,Ann <a@x.example>,"m8, steel",1.10,,?\n';
    expect(documentsOf(readCsv, text)).toEqual([
      {
        id: "7",
        semantic_identifier: "Bolt",
        title: "Bolt",
        sections: [{ text: "Steel", link: "https://x.example/7" }],
        source: "file",
        metadata: { Size: "1.10", column_10: "?", tags: ["m8", "steel"] },
        doc_updated_at: "2024-05-01T00:00:00Z",
        primary_owners: [{ display_name: "Ann", email: "a@x.example" }],
      },
    ]);
  });

  it.each([
    [
      "title=name,text=note,id=sku",
      { title: "Bolt", id: "S1", metadata: { title: "T", labels: "x,y" } },
    ],
    [
      "text=note,tags=labels",
      { title: "T", metadata: { name: "Bolt", sku: "S1", tags: ["x", "y"] } },
    ],
    [
      "text=note,metadata.kind=title",
      {
        title: "Data 1",
        metadata: { kind: "T", name: "Bolt", sku: "S1", labels: "x,y" },
      },
    ],
    [
      "text=note,metadata.title=title",
      {
        title: "Data 1",
        metadata: { title: "T", name: "Bolt", sku: "S1", labels: "x,y" },
      },
    ],
    ["text=note,title=note", { title: "words" }],
  ])("is mapped by %s", (map, expected) => {
    const text = 'sku,name,note,labels,title\nS1,Bolt,words,"x,y",T\n';
    const settings = { frontMatter: { title: ["title"] } };
    const [document] = documentsOf(readCsv, text, { map, settings });
    expect(document).toMatchObject({ sections: [{ text: "words" }], ...expected });
  });

  it("is found where the configuration gives fields other keys", () => {
    const settings = { frontMatter: { title: ["titel"], id: ["nr"] } };
    const text = "nr,titel,name,text\n1,T,N,x\n";
    const titles = (map?: string): unknown[] =>
      documentsOf(readCsv, text, { settings, ...(map !== undefined && { map }) }).map((each) =>
        typeof each === "string" ? each : [each.id, each.title],
      );
    expect(titles()).toEqual([["1", "T"]]);
    expect(titles("title=name")).toEqual([["1", "N"]]);
  });

  it.each([
    ["text,date\na,soon\n", "data:2:1: column date: not a date: soon"],
    ["text,owner\n\nb,<>\n", "data:3:1: column owner: an owner has no name"],
  ])("of %j is refused with its line", (text, message) => {
    const [reason] = documentsOf(readCsv, text);
    expect(reason).toMatch(message);
  });

  it.each([
    ["text,id\n,1\n", "skipped: empty: no text in the row"],
    ["text,draft\na,yes\n", "skipped: draft: true in the row (--drafts sends it)"],
  ])("of %j is none: %s", (text, reason) => {
    expect(documentsOf(readCsv, text)).toEqual([reason]);
  });

  it("names the columns when the map names one that is not there", () => {
    expect(failure(() => rowsOf(readCsv, "id,text\n1,a\n", { map: "title=name" }))).toBe(
      "data:1:1: no column name, which --map names",
    );
  });

  it("leaves columns out that could reach a prototype, and says so", () => {
    const rows = rowsOf(readCsv, "text,__proto__,constructor\na,b,c\nd,e,f\n");
    expect(rows.map((row) => row.kind === "text" && row.parsed.warnings.length)).toEqual([2, 0]);
    expect(documentsOf(readCsv, "text,__proto__\na,b\n")).toMatchObject([{ metadata: {} }]);
  });
});

describe("json", () => {
  it.each([
    ['{"text":"a"}', ['1 line 1: "a"']],
    ['\ufeff\n [ {"text":"a"} ,\n\n{"text":"b"}]\n', ['1 line 2: "a"', '2 line 4: "b"']],
    ["[]", []],
    [
      '[{"text":"a"}, 7, {"text":"c"}]',
      [
        '1 line 1: "a"',
        "2 line 1: data:1:16: expected an object; write a document, or an object with a member for the text",
        '3 line 1: "c"',
      ],
    ],
    ['{"id":"a","title":"A","sections":[{"text":"x"}]}', ["1 line 1: document"]],
  ])("%j", (text, rows) => {
    expect(textsOf(readJson, text)).toEqual(rows);
  });

  it.each([
    ["", "data: no JSON: it is empty"],
    [" \n", "data: no JSON: it is empty"],
    ["[1,\n  2", "data:2:4: JSON is broken at the end"],
    ['[{"text":"a"},]', 'data:1:15: JSON is broken at "]"'],
    ['{"text":"a"}\n{"text":"b"}', 'data:2:1: JSON is broken at "{"'],
    ['{"text":"a\nb"}', 'data:1:9: JSON is broken at "\\""'],
  ])("broken JSON fails before the first row: %j", (text, message) => {
    const rows = rowsIn(readJson, text);
    expect(failure(() => rows.next())).toBe(message);
  });

  it("long strings do not overflow the stack", () => {
    const value = JSON.stringify({ text: 'x\n"'.repeat(1_000_000) });
    expect(scanJson(value, 0)).toEqual({ end: value.length });
    expect(rowsOf(readJson, `[${value}]`)).toMatchObject([{ kind: "text" }]);
  });

  it("scanning agrees with JSON.parse on any text", () => {
    const piece = fc.constantFrom(
      '"',
      "\\",
      "u00e4",
      "[",
      "]",
      "{",
      "}",
      ",",
      ":",
      "1",
      "-",
      ".5",
      "e3",
      "true",
      " ",
      "\n",
      "a",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.array(piece).map((all) => all.join("")),
        ),
        (text) => {
          const extent = scanJson(text, 0);
          const isWhole = "end" in extent && text.slice(extent.end).trim() === "";
          let parses = true;
          try {
            JSON.parse(text);
          } catch {
            parses = false;
          }
          expect(isWhole).toBe(parses);
        },
      ),
    );
  });
});

describe("ndjson", () => {
  const given = '{"id":"a","title":"A","sections":[{"text":"x"}]}';

  it("holds rows, documents and documents with their pair", () => {
    const text = `\ufeff{"text":"one"}\n\n${given}\n{"document":${given},"cc_pair_id":7}\n`;
    expect(rowsOf(readNdjson, text)).toMatchObject([
      { kind: "text", row: 1, line: 1, parsed: { body: "one" } },
      { kind: "json", row: 2, line: 3 },
      { kind: "json", row: 3, line: 4 },
    ]);
    expect(documentsOf(readNdjson, text)).toMatchObject([
      { sections: [{ text: "one" }] },
      { id: "a" },
      { id: "a" },
    ]);
  });

  it.each([
    ['{"text": ]}', 'data:1:10: JSON is broken at "]"; write one JSON object per line'],
    ['{"text": "a"', "data:1:13: JSON is broken at the end; write one JSON object per line"],
    ['{"text": "a"} {}', 'data:1:15: JSON is broken at "{"; write one JSON object per line'],
    [
      "7",
      "data:1:1: expected an object; write a document, or an object with a member for the text",
    ],
    [
      "[]",
      "data:1:1: expected an object; write a document, or an object with a member for the text",
    ],
    [
      '{"id":"a"}',
      "data:1:1: no member text or body or content for the text; name it: --map text=MEMBER; members here: id",
    ],
    ['{"text":{}}', "data:1:1: member text: expected text; name another member: --map text=MEMBER"],
    ['{"text":"\\u0000","a":"\\ud800"}', "data:1:1: holds a NUL or half a surrogate pair"],
    [
      '{"id":7,"sections":[{"text":"x"}]}',
      'data:1:1: id: expected text, found a number; write "id": "7"',
    ],
    [
      `{"text":"a","x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
      "data:1:1: holds more than 2000 values",
    ],
  ])("a bad line is a failed row and the others go on: %.40s", (bad, reason) => {
    expect(textsOf(readNdjson, `${bad}\n{"text":"b"}\n`)).toEqual([
      expect.stringContaining(`1 line 1: ${reason}`),
      '2 line 2: "b"',
    ]);
  });

  describe("members of a row", () => {
    it("keep every digit and become text", () => {
      const text =
        '{"id":12345678901234567890,"Text":"a","n":1.50,"big":[1e400,0.12345678901234567890],"s":"\\"1234567890123456789","o":{"t":true,"z":null}}';
      expect(documentsOf(readNdjson, text)).toMatchObject([
        {
          id: "12345678901234567890",
          metadata: {
            n: "1.50",
            big: ["1e400", "0.12345678901234567890"],
            s: '"1234567890123456789',
            "o.t": "true",
          },
        },
      ]);
    });

    it("are mapped", () => {
      const text = '{"sku":"S","name":"N","title":"T","notes":"x"}\n{"sku":"R","notes":"y"}\n';
      expect(documentsOf(readNdjson, text, { map: "id=sku,title=name,text=notes" })).toMatchObject([
        { id: "S", title: "N", metadata: { title: "T" }, sections: [{ text: "x" }] },
        { id: "R", metadata: {}, sections: [{ text: "y" }] },
      ]);
    });

    it("take the names of the interface, also for an object of metadata", () => {
      const row = {
        text: "x",
        title: "Found",
        semantic_identifier: "Shown",
        doc_updated_at: "2024-05-01",
        primary_owners: [{ display_name: "Ann", email: "ann@x.com" }],
        secondary_owners: null,
        metadata: { team: "x", n: 1.1, none: null },
      };
      expect(documentsOf(readNdjson, JSON.stringify(row))).toEqual([
        {
          id: "data#1",
          semantic_identifier: "Shown",
          title: "Found",
          sections: [{ text: "x" }],
          source: "file",
          metadata: { team: "x", n: "1.1" },
          doc_updated_at: "2024-05-01T00:00:00Z",
          primary_owners: [{ display_name: "Ann", email: "ann@x.com" }],
        },
      ]);
      const mapped = { text: "x", metadata: { team: "x" } };
      expect(
        documentsOf(readNdjson, JSON.stringify(mapped), { map: "metadata.own=metadata" }),
      ).toMatchObject([{ metadata: { "own.team": "x" } }]);
    });
    it("that the map names must be in some row", () => {
      const read = (): unknown => rowsOf(readNdjson, '{"text":"a"}\n', { map: "title=nmae" });
      expect(failure(read)).toBe("data: no row has a member nmae, which --map names");
    });

    it("reach no prototype", () => {
      const text = '{"text":"a","__proto__":{"x":"1"},"constructor":"c"}';
      expect(documentsOf(readNdjson, text)).toMatchObject([{ metadata: {} }]);
      expect(({} as { x?: string }).x).toBeUndefined();
    });
  });
});

describe("row keys", () => {
  it.each([
    ["title=name,text=body", { title: "name", text: "body" }],
    [" title = Full name , owners=by", { title: "Full name", owners: "by" }],
    ["semantic_identifier=a,doc_updated_at=b", { semantic_identifier: "a", doc_updated_at: "b" }],
    ["text=a=b", { text: "a=b" }],
    ["metadata.size=cm,metadata.a.b=c", { "metadata.size": "cm", "metadata.a.b": "c" }],
  ])("%s", (text, map) => {
    expect(parseColumnMap(text)).toEqual(map);
  });

  it.each([
    ["", "--map : not FIELD=COLUMN"],
    ["title", "--map title: not FIELD=COLUMN"],
    ["title=", "--map title=: not FIELD=COLUMN"],
    ["name=title", "--map name: no field of this name"],
    ["constructor=x", "--map constructor: no field of this name"],
    ["metadata.=x", "--map metadata.: no field of this name"],
    ["metadata.__proto__=x", "--map metadata.__proto__: no field of this name"],
    ["title=a,title=b", "--map title: given twice"],
    ["owner=a,owners=b", "--map owners: given twice (owner)"],
    ["updated=a,doc_updated_at=b", "--map doc_updated_at: given twice (updated)"],
    ["title=a,metadata.b=a", "--map metadata.b: the column a is given twice"],
  ])("%j is refused", (text, message) => {
    expect(failure(() => parseColumnMap(text))).toBe(message);
  });
});

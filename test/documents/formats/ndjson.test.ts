import { describe, expect, it } from "vitest";
import { readNdjson } from "../../../src/documents/formats/json.ts";
import { failure } from "../folder.ts";
import { documentsOf, rowsOf, textsOf } from "./rows.ts";

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
  ["7", "data:1:1: expected an object; write a document, or an object with a member for the text"],
  ["[]", "data:1:1: expected an object; write a document, or an object with a member for the text"],
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

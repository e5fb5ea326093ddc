import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { parseJsonDocument } from "../../../src/documents/payload/json-document.ts";
import { CliError } from "../../../src/errors.ts";
import { failure } from "../folder.ts";

const sections = [{ text: "x" }];
const base = { id: "a", semantic_identifier: "A", sections };
const parse = (value: unknown): unknown => parseJsonDocument(value, "d:1:1").document;
const whole = { ...base, source: "file", metadata: {} };

describe("a document", () => {
  it.each<[string, object, object]>([
    ["the least", {}, {}],
    [
      "a title for the name",
      { semantic_identifier: undefined, title: "T" },
      { semantic_identifier: "T", title: "T" },
    ],
    ["no title", { title: "" }, { title: "" }],
    [
      "nulls",
      { title: null, metadata: null, doc_updated_at: null, primary_owners: null, x: null },
      {},
    ],
    ["an id in NFD", { id: "cafe\u0301" }, { id: "caf\u00e9" }],
    ["a source", { source: "web" }, { source: "web" }],
    [
      "sections of all kinds",
      {
        sections: [
          { text: "", link: "l", heading: "h" },
          { image_file_id: "i", text: null },
          { csv_file_id: "c", link: "l" },
        ],
      },
      {
        sections: [
          { text: "", link: "l", heading: "h" },
          { image_file_id: "i" },
          { csv_file_id: "c", link: "l" },
        ],
      },
    ],
    [
      "metadata",
      {
        metadata: {
          a: "1.10",
          b: ["x"],
          c: 1.5,
          d: true,
          e: null,
          f: { g: { h: 1 } },
          i: [1, null, { j: 1 }],
          k: [],
        },
      },
      {
        metadata: {
          a: "1.10",
          b: ["x"],
          c: "1.5",
          d: "true",
          "f.g.h": "1",
          i: ["1", '{"j":1}'],
          k: [],
        },
      },
    ],
    [
      "a local time",
      { doc_updated_at: "2024-05-01T12:00:00+02:00" },
      { doc_updated_at: "2024-05-01T10:00:00Z" },
    ],
    ["a day", { doc_created_at: "2024-05-01" }, { doc_created_at: "2024-05-01T00:00:00Z" }],
    ["seconds", { doc_updated_at: 1714557600 }, { doc_updated_at: "2024-05-01T10:00:00Z" }],
    ["milliseconds", { doc_updated_at: 1714557600000 }, { doc_updated_at: "2024-05-01T10:00:00Z" }],
    [
      "owners",
      { primary_owners: [{ email: "m", middle_initial: null, x: 1 }], secondary_owners: [] },
      { primary_owners: [{ email: "m", middle_initial: null, x: 1 }], secondary_owners: [] },
    ],
    [
      "other members",
      { chunk_count: 2, from_ingestion_api: true, own: { deep: [1] } },
      { chunk_count: 2, from_ingestion_api: true, own: { deep: [1] } },
    ],
  ])("with %s", (_name, given, expected) => {
    expect(parse({ ...base, ...given })).toStrictEqual({ ...whole, ...expected });
  });

  it("has its known members first, in one order", () => {
    const given = {
      own: 1,
      metadata: {},
      sections,
      doc_updated_at: "2024-05-01",
      title: "T",
      source: "s",
      id: "a",
    };
    expect(Object.keys(parse(given) as object)).toEqual([
      "id",
      "semantic_identifier",
      "title",
      "sections",
      "source",
      "metadata",
      "doc_updated_at",
      "own",
    ]);
  });

  it.each<[unknown, string]>([
    [[], "document: expected an object, found a list"],
    [null, "document: expected an object, found null"],
    [{}, "id: expected text, found nothing"],
    [{ ...base, id: 7 }, "id: expected text, found a number"],
    [{ ...base, id: " " }, "id: is blank"],
    [{ ...base, id: "\ud800" }, "document: holds a NUL or half a surrogate pair"],
    [{ ...base, sections: [{ text: "\0" }] }, "document: holds a NUL or half a surrogate pair"],
    [{ ...base, "\0": 1 }, "document: holds a NUL or half a surrogate pair"],
    [{ id: "a", sections }, "semantic_identifier: is missing, and so is title"],
    [{ ...base, semantic_identifier: 7 }, "semantic_identifier: expected text, found a number"],
    [{ ...base, title: [] }, "title: expected text, found a list"],
    [{ ...base, sections: undefined }, "sections: expected a list, found nothing"],
    [{ ...base, sections: [] }, "sections: contain no text and no image"],
    [{ ...base, sections: [{ text: " \n" }] }, "sections: contain no text and no image"],
    [
      { ...base, sections: [{ text: "x" }, { link: "l" }] },
      "sections[1]: has neither text nor image_file_id",
    ],
    [{ ...base, sections: ["x"] }, "sections[0]: expected an object, found a string"],
    [{ ...base, sections: [{ text: 1 }] }, "sections[0].text: expected text, found a number"],
    [
      { ...base, sections: [{ text: "x", link: 1 }] },
      "sections[0].link: expected text, found a number",
    ],
    [{ ...base, metadata: [] }, "metadata: expected an object, found a list"],
    [{ ...base, metadata: { a: Array(3000).fill(1) } }, "document: holds more than 2000 values"],
    [{ ...base, doc_updated_at: "soon" }, "doc_updated_at: not a date: soon"],
    [{ ...base, doc_updated_at: {} }, "doc_updated_at: not a date: {}"],
    [{ ...base, doc_updated_at: 1e18 }, "doc_updated_at: not a date: 1000000000000000000"],
    [
      { ...base, doc_updated_at: "0000-01-01T00:00+01:00" },
      "doc_updated_at: not a date: 0000-01-01T00:00+01:00",
    ],
    [{ ...base, primary_owners: {} }, "primary_owners: expected a list, found an object"],
    [{ ...base, primary_owners: ["Ann"] }, "primary_owners[0]: expected an object, found a string"],
    [
      { ...base, secondary_owners: [{ email: 1 }] },
      "secondary_owners[0].email: expected text, found a number",
    ],
    [{ ...base, source: "" }, "source: expected a source name, for example web, found a string"],
    [{ ...base, chunk_count: "2" }, "chunk_count: expected an integer, found a string"],
    [{ document: base, cc_pair_id: "7" }, 'cc_pair_id: expected a positive integer, found "7"'],
    [{ document: base, cc_pair_id: 0 }, "cc_pair_id: expected a positive integer, found 0"],
    [{ document: base, cc_pair_id: 1.5 }, "cc_pair_id: expected a positive integer, found 1.5"],
  ])("%j is refused", (value, message) => {
    expect(failure(() => parse(value))).toBe(`d:1:1: ${message}`);
  });

  it("of any depth is refused or taken, never a crash", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = { deep };
    expect(failure(() => parse({ ...base, own: deep }))).toBe(
      "d:1:1: document: holds more than 100 levels",
    );
  });

  it("reaches no prototype", () => {
    const text =
      '{"id":"a","title":"A","sections":[{"text":"x","__proto__":{"y":1}}],"__proto__":{"y":1}}';
    const document = parse(JSON.parse(text)) as { y?: number; sections: { y?: number }[] };
    expect([document.y, document.sections[0]?.y]).toEqual([undefined, undefined]);
  });
});

it.each([
  [base, undefined],
  [{ document: base }, undefined],
  [{ document: base, cc_pair_id: null }, undefined],
  [{ document: base, cc_pair_id: 7 }, 7],
])("pair of %j", (value, ccPairId) => {
  expect(parseJsonDocument(value, "d")).toEqual({ document: whole, ccPairId });
});

it("any JSON value is refused, or becomes a document that is taken again unchanged", () => {
  const any = fc.jsonValue();
  const some = <Type>(value: fc.Arbitrary<Type>): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 30, arbitrary: value }, any, fc.constant(undefined));
  const time = fc.oneof(
    fc.date({ noInvalidDate: true }).map((each) => each.toISOString()),
    fc.double(),
  );
  const owner = fc.dictionary(fc.constantFrom("email", "display_name", "x"), some(fc.string()));
  const section = fc.record({ text: fc.string(), link: fc.string() }, { requiredKeys: ["text"] });
  const document = fc.record({
    id: some(fc.string({ minLength: 1, unit: "binary" })),
    semantic_identifier: some(fc.string({ minLength: 1 })),
    title: some(fc.string()),
    sections: some(fc.array(section, { minLength: 1 })),
    metadata: some(fc.dictionary(fc.string(), any)),
    doc_updated_at: some(time),
    primary_owners: some(fc.array(owner)),
    own: any,
  });
  let [taken, all] = [0, 0];
  fc.assert(
    fc.property(fc.oneof({ weight: 5, arbitrary: document }, any), (value) => {
      all++;
      let once: unknown;
      try {
        once = parse(value);
      } catch (error) {
        expect(error).toBeInstanceOf(CliError);
        return;
      }
      taken++;
      const text = JSON.stringify(once);
      expect(JSON.stringify(parse(JSON.parse(text)))).toBe(text);
    }),
  );
  expect(taken).toBeGreaterThan(all / 10);
});

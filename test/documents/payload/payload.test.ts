import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import type { IngestionDocument } from "../../../src/api/schemas.ts";
import {
  buildPayload,
  changedFields,
  documentJsonIn,
  fingerprintOf,
} from "../../../src/documents/payload/payload.ts";
import { parseJsonDocument } from "../../../src/documents/payload/json-document.ts";
import { CliError } from "../../../src/errors.ts";
import { failure, readOk } from "../folder.ts";

describe("payload", () => {
  const document: IngestionDocument = {
    id: "docs/a.md",
    semantic_identifier: "A",
    sections: [{ text: "hello" }],
    source: "file",
    metadata: { team: "platform" },
    doc_updated_at: "2026-01-02T00:00:00Z",
  };

  describe("fingerprint", () => {
    const cases: [string, Partial<IngestionDocument>, string[]][] = [
      ["nothing", {}, []],
      ["a text", { sections: [{ text: "hullo" }] }, ["sections"]],
      ["only metadata", { metadata: { team: "people" } }, ["metadata"]],
      ["a title that appears", { title: "A" }, ["title"]],
      [
        "two fields",
        { source: "web", semantic_identifier: "B" },
        ["semantic_identifier", "source"],
      ],
    ];
    it.each(cases)("names what changed: %s", (_name, change, fields) => {
      const before = fingerprintOf(document);
      const after = fingerprintOf({ ...document, ...change });
      expect(before.whole === after.whole).toBe(fields.length === 0);
      expect(changedFields(before.fields, after.fields)).toEqual(fields);
    });

    it("leaves volatile fields out", () => {
      const touched = { ...document, doc_updated_at: "2026-11-21T08:00:00Z" };
      expect(fingerprintOf(touched).whole).not.toBe(fingerprintOf(document).whole);
      expect(fingerprintOf(touched, ["doc_updated_at"])).toEqual(
        fingerprintOf(document, ["doc_updated_at"]),
      );
    });
  });

  const hostile = [
    "\\",
    '"',
    "\n",
    "\t",
    "\r",
    "\0",
    "\x1f",
    "\x7f",
    "\ud800",
    "\udc00",
    "é",
    "ÿ",
    "Ā",
    "\u2028",
    "😀",
  ];
  const longText = fc
    .array(
      fc.oneof(fc.constantFrom(...hostile, "word ".repeat(30)), fc.string({ unit: "binary" })),
      {
        maxLength: 12,
      },
    )
    .map((parts) => parts.join(""));

  describe("payload", () => {
    const section = fc.record({ text: longText, link: longText }, { requiredKeys: ["text"] });
    const owner = fc.record({ email: longText, display_name: longText }, { requiredKeys: [] });
    const anyDocument = fc.record(
      {
        id: longText,
        semantic_identifier: longText,
        title: fc.option(longText, { nil: undefined }),
        sections: fc.array(section, { maxLength: 4 }),
        source: fc.string(),
        metadata: fc.dictionary(fc.string(), fc.oneof(longText, fc.array(longText))),
        doc_updated_at: fc.string(),
        primary_owners: fc.array(owner, { maxLength: 3 }),
      },
      { requiredKeys: ["id", "semantic_identifier", "sections", "source", "metadata"] },
    ) as fc.Arbitrary<IngestionDocument>;

    it("has the JSON that JSON.stringify gives", () => {
      fc.assert(
        fc.property(anyDocument, fc.option(fc.nat(), { nil: undefined }), (each, ccPairId) => {
          const { body } = buildPayload(each, ["title"], ccPairId);
          expect(Buffer.from(body).toString()).toBe(
            JSON.stringify({ document: each, cc_pair_id: ccPairId }),
          );
          expect(documentJsonIn(body, ccPairId)).toBe(JSON.stringify(each));
        }),
      );
    });

    it("has memory of its own, which can be handed to another thread", () => {
      const bodies = [1, 2].map(() => buildPayload(document, [], 2).body);
      for (const { buffer, length } of bodies) expect(buffer.byteLength).toBe(length);
    });

    it("has one fingerprint for one document, another for another", () => {
      fc.assert(
        fc.property(anyDocument, anyDocument, (one, other) => {
          const same = JSON.stringify(one) === JSON.stringify(other);
          expect(fingerprintOf(one).whole === fingerprintOf(other).whole).toBe(same);
          expect(fingerprintOf(structuredClone(one))).toEqual(fingerprintOf(one));
          expect(fingerprintOf(one).whole).toMatch(/^[\w-]{22}$/);
        }),
      );
    });

    it("names a long text that changed at its end", () => {
      const long = "word ".repeat(1000);
      const before = fingerprintOf({ ...document, sections: [{ text: `${long}a` }] });
      const after = fingerprintOf({ ...document, sections: [{ text: `${long}b` }] });
      expect(changedFields(before.fields, after.fields)).toEqual(["sections"]);
      expect(before.whole).not.toBe(after.whole);
    });
  });
});

describe("json document", () => {
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
      [
        "milliseconds",
        { doc_updated_at: 1714557600000 },
        { doc_updated_at: "2024-05-01T10:00:00Z" },
      ],
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
      [
        { ...base, primary_owners: ["Ann"] },
        "primary_owners[0]: expected an object, found a string",
      ],
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
});

describe("version tag", () => {
  const versionOf = (text: string, key = "knowctl_version", setting: boolean | string = true) =>
    readOk(text, { versionTag: setting }).document.metadata?.[key];

  it("adds the same version to the same document, and another to other text or metadata", () => {
    const version = versionOf("body\n");
    expect(version).toMatch(/^[\w-]{22}$/);
    expect(versionOf("body\n")).toBe(version);
    expect(versionOf("other\n")).not.toBe(version);
    expect(versionOf("---\nteam: hr\n---\nbody\n")).not.toBe(version);
    expect(versionOf("body\n", "build", "build")).toBe(version);
    expect(versionOf("body\n", "knowctl_version", false)).toBeUndefined();
  });

  it("fails a document that has the key itself", () => {
    const text = "---\nknowctl_version: 3\n---\nbody\n";
    expect(failure(() => readOk(text, { versionTag: true }))).toBe(
      "page.md: metadata knowctl_version: ingest.versionTag uses this key",
    );
  });
});

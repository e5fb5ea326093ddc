import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import type { IngestionDocument } from "../../../src/api/schemas.ts";
import { jsonText } from "../../../src/documents/json/json-text.ts";
import {
  buildPayload,
  changedFields,
  documentJsonIn,
  fingerprintOf,
} from "../../../src/documents/payload/payload.ts";

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
    ["two fields", { source: "web", semantic_identifier: "B" }, ["semantic_identifier", "source"]],
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
  .array(fc.oneof(fc.constantFrom(...hostile, "word ".repeat(30)), fc.string({ unit: "binary" })), {
    maxLength: 12,
  })
  .map((parts) => parts.join(""));

describe("the JSON of a text", () => {
  it.each([...hostile, ...Array.from({ length: 0x101 }, (_, code) => String.fromCharCode(code))])(
    "is that of JSON.stringify, with %j in a long text",
    (character) => {
      for (const text of [
        character,
        "x".repeat(300) + character,
        `${character}"\\n${" ".repeat(300)}`,
      ])
        expect(jsonText(text)).toBe(JSON.stringify(text));
    },
  );

  it("is that of JSON.stringify for all texts", () => {
    fc.assert(fc.property(longText, (text) => jsonText(text) === JSON.stringify(text)));
  });
});

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
        expect(body.toString()).toBe(JSON.stringify({ document: each, cc_pair_id: ccPairId }));
        expect(documentJsonIn(body, ccPairId)).toBe(JSON.stringify(each));
      }),
    );
  });

  it("is made anew where its memory was handed to another thread", () => {
    const bodyOf = (): Buffer => buildPayload(document, [], 2).body;
    const text = bodyOf().toString();
    for (let count = 0; count < 3; count++) {
      const body = bodyOf();
      const moved = structuredClone(body.buffer, { transfer: [body.buffer as ArrayBuffer] });
      expect(body.length).toBe(0);
      expect(Buffer.from(moved).includes(text)).toBe(true);
      expect([bodyOf().toString(), bodyOf().toString()]).toEqual([text, text]);
    }
  });

  it("stays as it was made while others are made", () => {
    const texts = ["é", "word ", "\n", "日本語"].flatMap((unit) =>
      [1, 2000, 9000, 70_000].map((count) => unit.repeat(count)),
    );
    const documents = texts.map((text) => ({ ...document, sections: [{ text }] }));
    const bodies = documents.map((each) => buildPayload(each, [], 2).body);
    for (const [index, each] of documents.entries()) {
      expect(bodies[index]?.toString()).toBe(JSON.stringify({ document: each, cc_pair_id: 2 }));
    }
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

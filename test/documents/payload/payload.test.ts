import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import type { IngestionDocument } from "../../../src/api/schemas.ts";
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

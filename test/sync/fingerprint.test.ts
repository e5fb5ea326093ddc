import { describe, expect, it } from "vitest";
import type { IngestionDocument } from "../../src/api/schemas.ts";
import { changedFields, fingerprintOf } from "../../src/sync/fingerprint.ts";

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

import { describe, expect, it } from "vitest";
import type { LookItem, ReadyDocument } from "../../../src/documents/inspect/inspection.ts";
import {
  packItems,
  packPaths,
  packResults,
  unpackItems,
  unpackPaths,
  unpackResults,
} from "../../../src/documents/inspect/messages.ts";
import { same } from "../../../src/documents/inspect/recorded.ts";
import * as fc from "../../property.ts";

const path = fc.string({ unit: "binary", minLength: 1 }).filter((each) => !each.includes("\0"));
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const stamped = fc.record({
  path,
  absolutePath: fc.constant(undefined),
  stamp: fc.constantFrom("1:2:3:4", ""),
  content: fc.constant(undefined),
});
const any: fc.Arbitrary<LookItem> = fc.record({
  path,
  absolutePath: optional(path),
  stamp: optional(fc.constant("1:2:3:4")),
  content: optional(fc.constant("hash")),
  parts: optional(fc.constant("parts")),
  facts: optional(fc.constant({ owners: [{ email: "a@example.com" }] })),
});

const document = (body: Uint8Array) => ({
  kind: "document" as const,
  path: "b",
  part: 0,
  id: "b",
  ccPairId: undefined,
  ownPair: undefined,
  body,
  fingerprint: { whole: "w", fields: "f" },
  updatedAt: undefined,
  stamp: "1:2:3:4",
  content: "hash",
  warnings: [],
  images: 0,
});

describe("messages between threads", () => {
  it("bring every file as it is", () => {
    const batch = fc.oneof(fc.array(stamped), fc.array(any), fc.array(fc.oneof(stamped, any)));
    fc.assert(
      fc.property(batch, (items) => {
        expect(unpackItems(packItems(items))).toEqual(items);
      }),
    );
  });

  it("tell the paths of files to peek at from files to look at", () => {
    fc.assert(
      fc.property(fc.array(path, { minLength: 1 }), fc.array(any), (paths, items) => {
        expect(unpackPaths(packPaths(paths))).toEqual(paths);
        expect(unpackPaths(packItems(items))).toBeUndefined();
      }),
    );
  });

  it("bring every result as it is, and the body of a document", () => {
    const failed = { kind: "failed" as const, path: "a", part: 0, reason: "gone" };
    const shared = Buffer.from("..body and other");
    const bodies = [shared.subarray(2, 6), shared.subarray(11), Buffer.from("alone")];
    const [one, two, three] = bodies.map((body) => new Uint8Array(body));
    const given = [same, failed, ...bodies.map(document), same];
    const expected = [same, failed, one, two, three, same];
    const results = unpackResults(packResults(given));
    expect(results.map((each) => (each.kind === "document" ? each.body : each))).toEqual(expected);
    expect(results).toEqual([
      same,
      failed,
      ...[one, two, three].map((body) => document(body ?? expect.fail())),
      same,
    ]);
  });

  it("hand over no memory for documents without a body, which all share it", () => {
    // Memory changes hands once: Node 24 throws where it is handed over again, Node 20 does not.
    const given = [document(Buffer.alloc(0)), document(Buffer.from("body"))];
    const bodies = given.map(({ body }) => new Uint8Array(body));
    const blocks = [given[1]!.body.buffer];
    const message = packResults(given);
    expect(message.blocks).toEqual(blocks);
    expect(unpackResults(message)).toEqual(bodies.map(document));
  });

  it("bring every member of a document", () => {
    const full: Required<ReadyDocument> = {
      kind: "document",
      path: "rows.csv",
      part: 3,
      line: 7,
      id: "rows#3",
      ccPairId: 2,
      ownPair: 4,
      body: new Uint8Array([0x7b, 0x7d]),
      fingerprint: { whole: "x", fields: "id:2 title:3" },
      updatedAt: "2026-01-02T00:00:00Z",
      stamp: "1:2:3:4",
      content: "d",
      parts: '["e"]',
      warnings: ["rows.csv:7: odd"],
      images: 1,
      uploads: [],
      notices: [{ kind: "access", name: "groups" }],
      report: { findings: [] },
    };
    expect(unpackResults(packResults([{ ...full }]))).toEqual([full]);
  });
});

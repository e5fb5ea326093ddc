import { expect, it } from "vitest";
import type { Looked, LookItem, ReadyDocument } from "../../../src/documents/inspect/inspection.ts";
import {
  packAnswer,
  packItems,
  unpackAnswer,
  unpackItems,
} from "../../../src/documents/inspect/wire.ts";

const itemOf = (path: string): LookItem => ({
  path,
  absolutePath: undefined,
  stamp: undefined,
  content: undefined,
});

const plain: ReadyDocument = {
  kind: "document",
  path: "a.md",
  part: 0,
  id: "a.md",
  ccPairId: 2,
  ownPair: undefined,
  body: Buffer.from('{"document":{"id":"ä"}}'),
  fingerprint: { whole: "whole", fields: "id:1 title:2" },
  updatedAt: "2026-01-02T00:00:00Z",
  stamp: "1:2:3:4",
  content: "content",
  warnings: [],
  images: 0,
  uploads: undefined,
};

it("hands every kind of result to another thread as it is", () => {
  const image = { path: "a.png", absolutePath: "/project/a.png", sha256: "ab", sizeBytes: 3 };
  const uploads = [{ ...image, mime: "image/png" as const, name: "a.png" }];
  const results: Looked[] = [
    plain,
    { ...plain, path: "c.md", id: "of its own", body: Buffer.from("") },
    { kind: "failed", path: "d.md", part: 0, reason: 'd.md: "broken"\n' },
    { ...plain, path: "e.md", id: "e.md", ccPairId: undefined, updatedAt: undefined, stamp: "" },
    { kind: "skipped", path: "f.md", part: 0, reason: "empty", stamp: "1:2:3:6", content: "none" },
    { kind: "same" },
    { ...plain, path: "h.md", ownPair: 7, warnings: ["one", "two"], images: 3, uploads },
  ];
  const items = [..."acdefgh"].map((name) => itemOf(`${name}.md`));
  expect(unpackAnswer(packAnswer(results), items)).toEqual(results);
});

it("says in few bytes that all is as recorded", () => {
  const same: Looked = { kind: "same" };
  const answer = packAnswer([same, same]);
  expect(answer).toEqual({ heads: "", blocks: [] });
  expect(unpackAnswer(answer, [itemOf("a.md"), itemOf("b.md")])).toEqual([same, same]);
});

it("hands items over with all that is known of them", () => {
  const facts = { commit: { id: "abc", date: "2026-01-02T00:00:00Z" } };
  const elsewhere = { ...itemOf("linked/a.md"), absolutePath: "/project/real/a.md" };
  const items = [itemOf("a.md"), { ...elsewhere, stamp: "1", content: "2", facts }];
  expect(unpackItems(packItems(items))).toEqual(items);
});

it.each([
  [{ stamp: "1:2:3:4" }],
  [{ stamp: "1:2:3:4", absolutePath: "/elsewhere/x" }],
  [{ stamp: "1:2:3:4", content: "hash" }],
  [{ stamp: "1:2:3:4", content: "ha/sh" }],
  [{ stamp: "1:2:3:4", content: "" }],
  [{ stamp: undefined }],
])("hands over items of any name: %j", (known) => {
  const names = [
    "a.md",
    "b/c d.md",
    "[x].md",
    '"q"\\.md',
    "line\nend.md",
    "ä/\u{1f600}.md",
    "|.md",
  ];
  const items = names.map((path) => ({ ...itemOf(path), ...known }));
  expect(unpackItems(packItems(items))).toEqual(items);
  expect(unpackItems(packItems([]))).toEqual([]);
});

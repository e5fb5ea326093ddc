import { describe, expect, it } from "vitest";
import { dialects } from "../../../src/api/dialects.ts";
import { createDocumentMatch } from "../../../src/checks/eval/documents.ts";
import { retrieved } from "./document.ts";

const storedId = dialects.onyx.storedId ?? ((id: string): string => id);
const matches = createDocumentMatch({
  idsOfPath: (path) => (path === "docs/faq.csv" ? ["faq-1", "faq-2"] : [storedId(path)]),
  storedIds: (id) => [storedId(id)],
});

describe("a document by path", () => {
  it("matches by the local file", () => {
    expect(matches({ path: "docs/a.md" }, retrieved({ path: "docs/a.md", id: "other" }))).toBe(
      true,
    );
  });

  it("matches by the stored id of the file, and by the id of each of its rows", () => {
    expect(matches({ path: "docs/a b.md" }, retrieved({ id: "docs%2Fa_b.md" }))).toBe(true);
    expect(matches({ path: "docs/faq.csv" }, retrieved({ id: "faq-2" }))).toBe(true);
    expect(matches({ path: "docs/faq.csv" }, retrieved({ id: "faq-3" }))).toBe(false);
  });

  it("matches nothing by a document without id and path", () => {
    expect(matches({ path: "docs/a.md" }, retrieved({ title: "docs/a.md" }))).toBe(false);
  });
});

it("matches an id as written, and as the service stores it", () => {
  expect(matches({ id: "docs/a b.md" }, retrieved({ id: "docs%2Fa_b.md" }))).toBe(true);
  expect(matches({ id: "docs%2Fa_b.md" }, retrieved({ id: "docs%2Fa_b.md" }))).toBe(true);
  expect(matches({ id: "docs/a" }, retrieved({ id: "docs/b" }))).toBe(false);
});

it.each([
  ["https://d.example.com/leave", "https://d.example.com/leave#days", true],
  ["https://D.example.com/leave", "https://d.example.com/leave", true],
  ["https://d.example.com/a b", "https://d.example.com/a%20b", true],
  ["https://d.example.com/leave#days", "https://d.example.com/leave#days", true],
  ["https://d.example.com/leave#days", "https://d.example.com/leave", false],
  ["https://d.example.com/leave", "https://d.example.com/leave/2023", false],
  ["https://d.example.com/leave?v=1", "https://d.example.com/leave?v=2", false],
  ["notes/leave", "notes/leave#x", true],
])("compares the link %s with %s: %s", (link, found, expected) => {
  expect(matches({ link }, retrieved({ link: found }))).toBe(expected);
});

it("matches no link where the service names none", () => {
  expect(matches({ link: "https://d.example.com/" }, retrieved())).toBe(false);
});

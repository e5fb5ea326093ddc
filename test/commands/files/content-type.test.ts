import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { contentTypeOf } from "../../../src/commands/files/local.ts";
import { temporaryFolder } from "../../support.ts";

const bytes = (...values: number[]) => Buffer.from(values);

describe("contentTypeOf", () => {
  it.each<[string, string | Buffer, string]>([
    ["a.pdf", "", "application/pdf"],
    ["A.PDF", "", "application/pdf"],
    ["a.b.csv", "", "text/csv"],
    ["a.xlsx", "", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
    ["a.jpg", "", "image/jpeg"],
    // By the extension alone: the service decides the same way.
    ["a.md", "%PDF-", "text/markdown"],
    // Without one that is known by the first bytes.
    ["plan", "%PDF-1.7", "application/pdf"],
    ["plan.unknown", bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a), "image/png"],
    ["photo", bytes(0xff, 0xd8, 0xff, 0xe0), "image/jpeg"],
    ["anim", "GIF89a", "image/gif"],
    ["pic", Buffer.from("RIFF\0\0\0\0WEBPVP8 ", "latin1"), "image/webp"],
    ["box", bytes(0x50, 0x4b, 3, 4), "application/zip"],
    ["core", bytes(0x7f, 0x45, 0), "application/octet-stream"],
    ["Makefile", "all:\n", "text/plain"],
    [".constructor", "x", "text/plain"],
    ["a.__proto__", "x", "text/plain"],
  ])("%s", (name, content, type) => {
    const path = join(temporaryFolder(), name);
    writeFileSync(path, content);
    expect(contentTypeOf(path)).toBe(type);
  });
});

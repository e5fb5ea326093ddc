import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { gunzip } from "../../../../src/documents/files/bytes/unpack.ts";
import { withoutExtension } from "../../../../src/documents/files/file-name.ts";
import { formatOf } from "../../../../src/documents/formats/formats.ts";
import { createFolder, failure, list, read, readOk } from "../../folder.ts";

const packed = gzipSync("# Hello\n\ntext\n");

describe("gzip", () => {
  it("is read as the format below it; id and path keep the whole name", () => {
    const { document } = readOk(packed, { link: "https://x.example/{slug}" }, "docs/a-page.md.gz");
    expect(document).toMatchObject({
      id: "docs/a-page.md.gz",
      title: "Hello",
      sections: [{ text: "# Hello\n\ntext\n", link: "https://x.example/docs/a-page" }],
    });
    expect(readOk(gzipSync("x"), {}, "my-log.v2.txt.GZ").document.title).toBe("My log.v2");
  });

  it.each([
    ["several members", Buffer.concat([gzipSync("a"), gzipSync("b")]), "ab"],
    ["padding with NUL", Buffer.concat([gzipSync("a"), Buffer.alloc(512)]), "a"],
    ["UTF-16 in it", gzipSync(Buffer.from("\ufeffä", "utf16le")), "ä"],
  ])("takes %s", (_name, bytes, text) => {
    expect(readOk(bytes, {}, "a.txt.gz").document.sections[0]?.text).toBe(text);
  });

  it.each([
    ["nothing", Buffer.alloc(0), "not gzip: it is empty"],
    ["what follows the end", Buffer.concat([packed, Buffer.from("\n\n")]), "not gzip, or damaged"],
    ["no gzip", Buffer.from("# Hello"), "not gzip, or damaged"],
    ["cut", packed.subarray(0, -9), "the gzip data ends too early"],
    ["only a head", packed.subarray(0, 5), "the gzip data ends too early"],
    [
      "a wrong sum",
      Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8, 7)]),
      "not gzip, or damaged",
    ],
    ["Latin-1 in it", gzipSync(Buffer.from([0x61, 0xfc, 0x61])), "not valid UTF-8 at byte 1"],
    ["gzip in gzip", gzipSync(packed), "a NUL byte (a binary file?) at byte 3"],
  ])("refuses %s", (_name, bytes, why) => {
    expect(failure(() => read(bytes, {}, "a.md.gz"))).toBe(`a.md.gz: ${why}`);
  });

  it("a bomb ends at the limit", () => {
    const bomb = gzipSync(Buffer.alloc(128 * 1024 * 1024));
    const before = process.memoryUsage().rss;
    expect(failure(() => gunzip(bomb, "a.txt.gz", 2 * 1024 * 1024))).toBe(
      "a.txt.gz: unpacked, it is larger than the limit of 2.0 MiB per file",
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
    expect(gunzip(gzipSync("abc"), "a.txt.gz", 3).toString()).toBe("abc");
    expect(failure(() => gunzip(gzipSync("abcd"), "a.txt.gz", 3))).toContain(
      "larger than the limit",
    );
  });

  it.each([
    ["a.md.gz", true],
    ["a.TXT.gz", true],
    ["a.pdf.gz", false],
    ["a.docx.gz", false],
    ["a.gz", false],
    [".gz", false],
    [".md.gz", false],
    ["a.tar.gz", false],
    ["a.md.gz.gz", false],
    ["dir.md/.gz", false],
  ])("%s is a format: %s", (path, is) => {
    expect(formatOf(path) !== undefined).toBe(is);
  });

  it.each([
    ["docs/a.b.md.gz", "docs/a.b"],
    ["docs.d/readme", "docs.d/readme"],
    ["docs/a.html", "docs/a"],
  ])("%s without extension is %s", (path, stem) => {
    expect(withoutExtension(path)).toBe(stem);
  });

  it("folders give it", () => {
    const root = createFolder({ "a.md.gz": packed, "b.md": "x", "c.tar.gz": packed });
    expect(list(root)).toEqual(["a.md.gz", "b.md", "skipped c.tar.gz: format not supported: .gz"]);
  });
});

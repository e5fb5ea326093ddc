import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readContent } from "../../../src/documents/files/bytes/content.ts";
import { invalidUtf8At } from "../../../src/documents/files/bytes/decode.ts";
import { readDocumentSync } from "../../../src/documents/inspect/read.ts";
import { readRows } from "../../../src/documents/inspect/read-rows.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { replaceInFileSystem } from "../../file-system.ts";
import { createFolder, failure, fileIn, read, readOk } from "../folder.ts";

const textOf = (content: string | Uint8Array, path?: string): string | undefined =>
  readOk(content, {}, path).document.sections[0]?.text;
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, "utf16le");

describe("encodings", () => {
  it.each([
    ["UTF-8", Buffer.from("Grüße 🎉\n"), "Grüße 🎉\n"],
    ["UTF-8 with mark", Buffer.from("\ufeffx"), "x"],
    ["UTF-16 LE", utf16("Grüße 🎉"), "Grüße 🎉"],
    ["UTF-16 BE", utf16("Grüße 🎉").swap16(), "Grüße 🎉"],
    ["CRLF", Buffer.from("a\r\nb\rc\n"), "a\nb\nc\n"],
    ["U+FFFD that is there", Buffer.from("a\ufffdb"), "a\ufffdb"],
    ["other control characters", Buffer.from("a\u001b[1mb\u0001"), "a\u001b[1mb\u0001"],
  ])("%s is read", (_name, bytes, text) => {
    expect(textOf(bytes)).toBe(text);
    expect(textOf(bytes, "page.txt")).toBe(text);
  });

  it.each([
    ["Latin-1", Buffer.from("Gr\u00fc\u00dfe", "latin1"), "not valid UTF-8 at byte 2"],
    ["overlong", Buffer.from([0x61, 0xc0, 0xaf]), "not valid UTF-8 at byte 1"],
    ["overlong of three", Buffer.from([0xe0, 0x80, 0xaf]), "not valid UTF-8 at byte 0"],
    ["surrogate", Buffer.from([0x61, 0x62, 0xed, 0xa0, 0x80]), "not valid UTF-8 at byte 2"],
    ["above U+10FFFF", Buffer.from([0xf4, 0x90, 0x80, 0x80]), "not valid UTF-8 at byte 0"],
    ["cut", Buffer.from([0x61, 0xe2, 0x82]), "not valid UTF-8 at byte 1"],
    ["NUL", Buffer.from("abc\0d"), "a NUL byte (a binary file?) at byte 3"],
    ["UTF-16 without mark", Buffer.from("ab", "utf16le"), "a NUL byte (a binary file?) at byte 1"],
    [
      "UTF-16 of odd length",
      Buffer.concat([utf16("ab"), Buffer.from([0x61])]),
      "half a UTF-16 character at byte 6",
    ],
    ["UTF-16 with half a pair", utf16("ab\ud800"), "half a surrogate pair at byte 6"],
    ["UTF-16 with NUL", utf16("a\0"), "a NUL character at byte 4"],
    ["UTF-32", Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]), "a NUL character at byte 2"],
  ])("%s is refused by name and byte", (_name, bytes, why) => {
    expect(failure(() => read(bytes))).toBe(`page.md: ${why}`);
  });

  it("the place of an invalid byte is where the decoder sees it", () => {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    for (let first = 0; first < 256; first++) {
      for (const rest of [
        [],
        [0x80],
        [0x80, 0x80],
        [0xa0, 0x80],
        [0x90, 0x80, 0x80],
        [0x80, 0x80, 0x80],
        [0xbf, 0xbf, 0xbf],
      ]) {
        const bytes = Buffer.from([0x61, first, ...rest]);
        let isValid = true;
        try {
          decoder.decode(bytes);
        } catch {
          isValid = false;
        }
        expect(invalidUtf8At(bytes) === -1, bytes.toString("hex")).toBe(isValid);
      }
    }
  });

  it("front matter is seen behind a mark and with CRLF", () => {
    const { document } = readOk("\ufeff---\r\ntitle: T\r\nx: 1\r\n---\r\nbody\r\n");
    expect(document).toMatchObject({
      title: "T",
      metadata: { x: "1" },
      sections: [{ text: "body\n" }],
    });
    expect(failure(() => read("\ufeff---js\r\n1\r\n---\r\n"))).toContain("refused");
  });
});

describe("files that are not what they were", () => {
  const setUp = (): { root: string; path: string; load: () => unknown } => {
    const root = createFolder({ "a.md": "text", "d/b.md": "text" });
    const file = fileIn(root, "a.md");
    const settings = compileSettings({ root, maxFileBytes: 1000 });
    return { root, path: file.absolutePath, load: () => readDocumentSync(file, settings) };
  };

  it("vanished", () => {
    const { path, load } = setUp();
    rmSync(path);
    expect(failure(load)).toBe("a.md: cannot be read: the file is gone");
  });
  it("became a folder", () => {
    const { path, load } = setUp();
    rmSync(path);
    mkdirSync(path);
    expect(failure(load)).toContain("not a regular file");
  });
  it("became a link", () => {
    const { root, path, load } = setUp();
    rmSync(path);
    symlinkSync(join(root, "d/b.md"), path);
    expect(failure(load)).toContain("it became a symbolic link");
  });
  it("lost their folder", () => {
    const { root } = setUp();
    const file = fileIn(root, "d/b.md");
    renameSync(join(root, "d"), join(root, "e"));
    expect(failure(() => readDocumentSync(file, compileSettings({ root })))).toContain(
      "the file is gone",
    );
  });
  it("are too large, without being read", () => {
    const { path, load } = setUp();
    truncateSync(path, 2 ** 31);
    const before = process.memoryUsage().rss;
    expect(failure(load)).toContain("2048.0 MiB is larger than the limit");
    expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);
  });
  it.skipIf(process.platform === "win32")("became a FIFO: no hang", async () => {
    const { path, load } = setUp();
    rmSync(path);
    const { execFileSync } = await import("node:child_process");
    execFileSync("mkfifo", [path]);
    expect(failure(load)).toContain("not a regular file");
  });

  it.each([
    ["by the first read", 1, false],
    ["by each read but the last one", 4, false],
    ["by every read", 5, true],
  ])("change while they are read, %s: never a mixed text", (_when, changes, isRefused) => {
    const { path } = setUp();
    const size = 100_000;
    writeFileSync(path, "-".repeat(size));
    const file = { ...fileIn(join(path, ".."), "a.md"), sizeBytes: size };
    let reads = 0;
    // In the midst of a read: the first half is the old text, the second half the new one.
    replaceInFileSystem(
      "readSync",
      (actual) => (descriptor, buffer, offset: number, length: number, position: number) => {
        const half = Math.floor(length / 2);
        const read = (from: number, count: number): number =>
          actual(descriptor, buffer, offset + from, count, position + from) as number;
        const count = read(0, half);
        if (reads++ < changes) writeFileSync(path, String(reads).repeat(size));
        return count + read(half, length - half);
      },
    );
    const load = (): Buffer => readContent(file, 10 * size).bytes;
    if (isRefused) expect(failure(load)).toBe("a.md: changed during each of 4 reads");
    else expect(load().equals(Buffer.alloc(size, String(changes)))).toBe(true);
    expect(reads).toBe(5 - (isRefused ? 0 : 4 - changes));
    // Then it is still, and read.
    expect(load().length).toBe(size);
  });
});

describe("nothing to send", () => {
  it.each([
    ["", "empty: no text"],
    [" \n\t\n", "empty: no text"],
    ["\ufeff", "empty: no text"],
    ["---\ntitle: x\n---\n\n", "empty: no text after the front matter"],
    [
      "<!-- knowctl:ignore -->x<!-- /knowctl:ignore -->\n",
      "empty: all of its text is in ignore regions",
    ],
    ["---\ningest: false\n---\nx", "ingest: false in the front matter"],
    ["---\ningest: no\n---\nx", "ingest: false in the front matter"],
    ["+++\ndraft = true\n+++\nx", "draft: true in the front matter (--drafts sends it)"],
  ])("%j is skipped with the reason", (text, reason) => {
    expect(read(text)).toMatchObject({ kind: "skipped", reason });
  });
  it("drafts are sent when asked for, switches are no metadata", () => {
    expect(
      readOk("---\ndraft: true\n---\nx", { flags: { drafts: true } }).document.metadata,
    ).toEqual({});
    expect(readOk("---\ndraft: false\ningest: true\n---\nx").document.metadata).toEqual({});
    expect(failure(() => read("---\na: 1\ndraft: maybe\n---\nx"))).toContain(
      "page.md:3:1: front matter draft",
    );
  });
});

describe("ignore regions", () => {
  const ignoreText = (text: string): string | undefined => textOf(text);
  const [open, close] = ["<!-- knowctl:ignore -->", "<!-- /knowctl:ignore -->"];
  it.each([
    [`a\n${open}\nhidden\n${close}\nb`, "a\n\nb"],
    [`a ${open}hidden${close} b`, "a  b"],
    [`a${open}x${open}y${close}z${close}b`, "ab"],
    [
      `a\n\`\`\`\n${open}\nshown\n${close}\n\`\`\`\nb`,
      `a\n\`\`\`\n${open}\nshown\n${close}\n\`\`\`\nb`,
    ],
    [`a \`${open}\` b`, `a \`${open}\` b`],
    [`a ${close} b`, `a ${close} b`],
    [`a\n${open}\n\`\`\`\nx\n\`\`\`\n${close}\nb`, "a\n\nb"],
    ["a\n<!--knowctl:ignore-->x<!--/knowctl:ignore-->b", "a\nb"],
  ])("of %j", (text, expected) => {
    expect(ignoreText(text)).toBe(expected);
  });
  it("that are never closed are an error with the line", () => {
    expect(failure(() => read(`---\na: 1\n---\nb\n${open}\nhidden`))).toBe(
      "page.md:5:1: the knowctl:ignore region is never closed",
    );
  });
});

it("counts images outside code", () => {
  const text =
    "![a](b.png) ![c][d] ![no][e]\n\n[d]: x\n\n`![no](x)`\n\n```\n![no](x)\n```\n<img src='x'>\n[no](y)";
  expect(readOk(text).images).toBe(3);
});

it("an unknown format is an error when it is read", () => {
  const root = createFolder({ "a.md": "x" });
  const file = { ...fileIn(root, "a.md"), path: "a.xls" };
  expect(failure(() => readDocumentSync(file, compileSettings({ root })))).toBe(
    "a.xls: format not supported: .xls",
  );
});

it("rows have the pair of a rule, unless they name one", async () => {
  const given = (id: string, pair: object): string =>
    JSON.stringify({
      document: { id, semantic_identifier: id, sections: [{ text: "x" }] },
      ...pair,
    });
  const text = `${given("a", {})}\n${given("b", { cc_pair_id: 7 })}\n{"id":"c","text":"x"}\n`;
  const root = createFolder({ "x.ndjson": text });
  const settings = compileSettings({ root, rules: [{ match: "*.ndjson", ccPairId: 3 }] });
  const pairs = [];
  for await (const row of readRows(fileIn(root, "x.ndjson"), settings)) {
    pairs.push(row.kind === "document" ? row.ccPairId : row.kind);
  }
  expect(pairs).toEqual([3, 7, 3]);
});

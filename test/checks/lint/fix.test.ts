import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Fix, applyFixes, fixFile } from "../../../src/checks/lint/fix.ts";
import { replaceFile } from "../../../src/replace-file.ts";
import { decodeText } from "../../../src/documents/files/bytes/decode.ts";
import { temporaryFolder } from "../../support.ts";
import * as fc from "../../property.ts";

describe("fix", () => {
  const at = (start: number, end: number, fix: string, rule = "spaces"): Fix => ({
    rule,
    span: { start, end },
    fix,
  });

  describe("applyFixes", () => {
    it.each<[string, Fix[], string, number]>([
      ["nothing", [], "0123456789", 0],
      ["fixes in any order", [at(8, 10, "b"), at(0, 2, "aaaa")], "aaaa234567b", 0],
      ["neighbours", [at(2, 4, "a"), at(4, 6, "b")], "01ab6789", 0],
      ["a deletion", [at(3, 7, "")], "012789", 0],
      ["insertions", [at(0, 0, "<"), at(10, 10, ">")], "<0123456789>", 0],
      ["an insertion before a replacement", [at(4, 6, "b"), at(4, 4, "a")], "0123ab6789", 0],
      ["an insertion behind a replacement", [at(2, 4, "a"), at(4, 4, "b")], "01ab456789", 0],
      ["the first of two that overlap", [at(2, 5, "a"), at(4, 8, "b")], "01a56789", 1],
      [
        "the first of two insertions in one place",
        [at(2, 2, "a"), at(2, 2, "a")],
        "01a23456789",
        1,
      ],
      ["the inner of two", [at(2, 8, "outer"), at(2, 4, "in")], "01in456789", 1],
    ])("applies %s", (_what, fixes, text, left) => {
      const fixed = applyFixes("0123456789", fixes);
      expect(fixed.text).toBe(text);
      expect(fixed.left).toHaveLength(left);
      expect(fixed.applied.length + left).toBe(fixes.length);
    });

    it.each([at(-1, 2, ""), at(3, 2, ""), at(0, 11, ""), at(0.5, 1, "")])(
      "calls an impossible span a bug: %j",
      (fix) => {
        expect(() => applyFixes("0123456789", [fix])).toThrow(RangeError);
      },
    );
  });

  interface Setup {
    bytes: string | Buffer;
    fixes: readonly Fix[];
    source?: string;
  }

  function runFix({ bytes, fixes, source }: Setup) {
    const root = temporaryFolder();
    const absolutePath = join(root, "a.md");
    writeFileSync(absolutePath, bytes);
    chmodSync(absolutePath, 0o640);
    const text = source ?? decodeText(Buffer.from(bytes), "a.md");
    const outcome = fixFile({ root, path: "a.md", absolutePath, source: text, fixes });
    return { outcome, root, absolutePath, after: readFileSync(absolutePath) };
  }

  describe("fixFile", () => {
    it("changes the file and says what it changed", () => {
      const fixes = [at(0, 1, "O"), at(4, 5, "T"), at(8, 8, "!", "signs")];
      const { outcome, root, after } = runFix({ bytes: "one\ntwo\n", fixes });
      expect(after.toString()).toBe("One\nTwo\n!");
      const applied = [
        { rule: "signs", places: 1 },
        { rule: "spaces", places: 2 },
      ];
      expect(outcome).toEqual({ path: "a.md", applied, left: 0 });
      expect(readdirSync(root)).toEqual(["a.md"]);
    });

    it("changes a file with the longest name of the file system", () => {
      const root = temporaryFolder();
      const path = `${"x".repeat(252)}.md`;
      const absolutePath = join(root, path);
      writeFileSync(absolutePath, "one\n");
      fixFile({ root, path, absolutePath, source: "one\n", fixes: [at(0, 1, "O")] });
      expect(readFileSync(absolutePath, "utf8")).toBe("One\n");
      expect(readdirSync(root)).toEqual([path]);
    });

    it.each([
      ["a byte order mark", "\ufeffone\ntwo\n", "\ufeffone\n\n# \u00e4\ntwo!"],
      ["line ends of Windows", "one\r\ntwo\r\n", "one\r\n\r\n# \u00e4\r\ntwo!"],
      ["line ends of old Macs", "one\rtwo\r", "one\r\r# \u00e4\rtwo!"],
      ["mixed line ends", "one\r\ntwo\n", "one\r\n\r\n# \u00e4\r\ntwo!"],
      ["both", "\ufeffone\r\ntwo\r\n", "\ufeffone\r\n\r\n# \u00e4\r\ntwo!"],
    ])("keeps %s", (_what, before, after) => {
      const result = runFix({ bytes: before, fixes: [at(4, 4, "\n# \u00e4\n"), at(7, 8, "!")] });
      expect(result.after.toString()).toBe(after);
    });

    it("leaves everything but the spans as it is", () => {
      const before = `\ufeff${"\u{1f600} x\r\n".repeat(2000)}end`;
      const source = before.slice(1).replaceAll("\r\n", "\n");
      const fixes = [...source.matchAll(/x\n/g)].map(({ index }) => at(index, index + 1, "yy"));
      const { after } = runFix({ bytes: before, fixes });
      expect(after.toString()).toBe(before.replaceAll("x", "yy"));
    });

    it.skipIf(process.platform === "win32")("keeps the mode", () => {
      const { absolutePath } = runFix({ bytes: "one", fixes: [at(0, 1, "O")] });
      expect(statSync(absolutePath).mode & 0o777).toBe(0o640);
    });

    it("does not write where the fixes change nothing", () => {
      const { absolutePath, root } = runFix({ bytes: "one", fixes: [] });
      const before = statSync(absolutePath, { bigint: true });
      fixFile({ root, path: "a.md", absolutePath, source: "one", fixes: [at(0, 1, "o")] });
      expect(statSync(absolutePath, { bigint: true }).ino).toBe(before.ino);
    });

    it.each<[string, Setup, string]>([
      [
        "UTF-16",
        { bytes: Buffer.from("\ufeffone", "utf16le"), fixes: [at(0, 1, "O")] },
        "it is not UTF-8 text",
      ],
      [
        "broken UTF-8",
        { bytes: Buffer.from([0x6f, 0xff]), fixes: [at(0, 1, "O")], source: "o" },
        "it is not UTF-8 text",
      ],
      [
        "a fix that would join a CR and an LF to one line end",
        { bytes: "one\rx\ntwo", fixes: [at(4, 5, "")] },
        "it has CR and LF as line ends",
      ],
      [
        "a changed file",
        { bytes: "two", fixes: [at(0, 1, "O")], source: "one" },
        "it changed after it was read",
      ],
    ])("refuses %s", (_what, setup, refused) => {
      const { outcome, after } = runFix(setup);
      expect(outcome).toEqual({ path: "a.md", applied: [], left: 0, refused });
      expect(after).toEqual(Buffer.from(setup.bytes));
    });

    it("refuses a file that vanished", () => {
      const root = temporaryFolder();
      const request = { root, path: "a.md", absolutePath: join(root, "a.md"), source: "one" };
      const { refused } = fixFile({ ...request, fixes: [at(0, 1, "O")] });
      expect(refused).toBe("it changed after it was read");
    });

    it("does not overwrite a change that came while it wrote", () => {
      const folder = temporaryFolder();
      const path = join(folder, "a.md");
      writeFileSync(path, "one");
      const isWanted = (): boolean => {
        writeFileSync(path, "saved by an editor");
        return false;
      };
      expect(replaceFile(path, ["fixed"], { isWanted })).toBe(false);
      expect(readFileSync(path, "utf8")).toBe("saved by an editor");
      expect(readdirSync(folder)).toEqual(["a.md"]);
    });

    it("removes what a killed run left of the file, and nothing that is younger or of another", () => {
      const folder = temporaryFolder();
      const names = [".a.md.abandoned.tmp", ".a.md.now.tmp", ".b.md.old.tmp", ".a.md.old.bak"];
      for (const name of ["a.md", ...names]) writeFileSync(join(folder, name), "one");
      const hourAgo = Date.now() / 1000 - 3600;
      for (const name of names) {
        if (name !== ".a.md.now.tmp") utimesSync(join(folder, name), hourAgo, hourAgo);
      }
      expect(replaceFile(join(folder, "a.md"), ["fixed"])).toBe(true);
      expect(readdirSync(folder).toSorted()).toEqual([...names.slice(1), "a.md"].toSorted());
    });

    it("writes through a link inside the project, and the link stays", () => {
      const root = temporaryFolder();
      mkdirSync(join(root, "docs"));
      writeFileSync(join(root, "docs", "real.md"), "one");
      const absolutePath = join(root, "a.md");
      symlinkSync(join("docs", "real.md"), absolutePath);
      fixFile({ root, path: "a.md", absolutePath, source: "one", fixes: [at(0, 1, "O")] });
      expect(readFileSync(join(root, "docs", "real.md"), "utf8")).toBe("One");
      expect(lstatSync(absolutePath).isSymbolicLink()).toBe(true);
    });

    it.each(["file", "folder"])("refuses a link of a %s out of the project", (kind) => {
      const root = temporaryFolder();
      const outside = temporaryFolder();
      writeFileSync(join(outside, "a.md"), "one");
      const path = kind === "file" ? "a.md" : "docs/a.md";
      const link = join(root, kind === "file" ? "a.md" : "docs");
      symlinkSync(kind === "file" ? join(outside, "a.md") : outside, link);
      const absolutePath = join(root, path);
      const fixes = [at(0, 1, "O")];
      const { refused } = fixFile({ root, path, absolutePath, source: "one", fixes });
      expect(refused).toBe("it is a link that leads out of the project");
      expect(readFileSync(join(outside, "a.md"), "utf8")).toBe("one");
      expect(readdirSync(outside)).toEqual(["a.md"]);
    });
  });
});

describe("fix property", () => {
  const pieces = ["\r\n", "\n", "\r", "a", "bc ", "\u00e4", "\u{1f600}", "# T", ""];
  const texts = (maxLength: number) =>
    fc.array(fc.constantFrom(...pieces), { maxLength }).map((all) => all.join(""));
  const places = fc.tuple(fc.nat(60), fc.nat(6), texts(4));

  // The rules see the text with LF; the file keeps its line ends. Both must get the same text.
  it("a fixed file is the file of the fixed text", () => {
    const root = temporaryFolder();
    const absolutePath = join(root, "a.md");
    const property = fc.property(
      texts(30),
      fc.boolean(),
      fc.array(places, { maxLength: 6 }),
      (raw, hasMark, chosen) => {
        const source = decodeText(Buffer.from(raw), "a.md");
        const fixes = chosen.map(([from, length, text]): Fix => {
          const start = Math.min(from, source.length);
          const fix = text.replace(/\r\n?/g, "\n");
          return { rule: "r", span: { start, end: Math.min(source.length, start + length) }, fix };
        });
        fc.pre(source.isWellFormed() && applyFixes(source, fixes).text.isWellFormed());
        writeFileSync(absolutePath, (hasMark ? "\ufeff" : "") + raw);
        const outcome = fixFile({ root, path: "a.md", absolutePath, source, fixes });
        const after = readFileSync(absolutePath);
        const expected = applyFixes(source, fixes);
        if (outcome.refused !== undefined) {
          const mixes = /\r(?!\n)/.test(raw) && /\n/.test(raw);
          return mixes && decodeText(after, "a.md") === source;
        }
        if (hasMark !== after.toString("utf8").startsWith("\ufeff")) return false;
        return decodeText(after, "a.md") === expected.text && outcome.left === expected.left.length;
      },
    );
    fc.assert(property, fc.few(100));
  });
});

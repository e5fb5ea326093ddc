import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { createIncludes } from "../../../src/documents/parts/includes.ts";
import {
  createPartCheck,
  createParts,
  mostParts,
  pathsInParts,
} from "../../../src/documents/parts/parts.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { type Reading, readDocumentSync } from "../../../src/documents/inspect/read.ts";
import type { TextReader } from "../../../src/documents/formats/format.ts";
import { createFolder, fileIn } from "../folder.ts";

describe("includes", () => {
  let base: string;
  let root: string;

  function write(path: string, content: string | Uint8Array): void {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), content);
  }

  beforeEach(() => {
    base = realpathSync.native(mkdtempSync(join(tmpdir(), "includes-")));
    root = join(base, "root");
    mkdirSync(root);
  });

  afterEach(() => rmSync(base, { recursive: true, force: true }));

  const problemOf = (target: string, chain = ["docs/a.md"]): unknown => {
    const read = createIncludes(root).read(target, chain);
    return "problem" in read ? read.problem : read;
  };

  describe("includes of a document", () => {
    test("takes files relative to the including file, and from the root with a slash", () => {
      write("docs/part.md", "part");
      write("shared/x.md", "shared");
      const includes = createIncludes(root);
      expect(includes.read("part.md", ["docs/a.md"])).toEqual({
        text: "part",
        path: "docs/part.md",
      });
      expect(includes.read("../shared/x.md", ["docs/a.md"])).toMatchObject({ path: "shared/x.md" });
      expect(includes.read("/shared/x.md", ["docs/a.md"])).toMatchObject({ text: "shared" });
      expect([...includes.parts]).toEqual(["docs/part.md", "shared/x.md"]);
    });

    test("a missing file is a part: the document changes when it appears", () => {
      const includes = createIncludes(root);
      expect(includes.read("gone.md", ["a.md"])).toEqual({ problem: "no such file" });
      expect([...includes.parts]).toEqual(["gone.md"]);
    });

    test.each([
      "../../secret.md",
      "/../secret.md",
      "..\\secret.md",
      "file:///etc/passwd",
      "C:x.md",
    ])("never leaves the root: %s", (target) => {
      writeFileSync(join(base, "secret.md"), "secret");
      expect(problemOf(target)).toMatch(/outside the project root|no such file/);
    });

    test("never leaves the root by a symbolic link", () => {
      writeFileSync(join(base, "secret.md"), "secret");
      symlinkSync(join(base, "secret.md"), join(root, "link.md"));
      expect(problemOf("/link.md")).toBe("it lies outside the project root");
    });

    test.each([".env", "docs/.env", ".git/config", ".knowctl/state", "link-to-env"])(
      "never takes a hidden file: %s",
      (path) => {
        write(".env", "KEY=1");
        symlinkSync(join(root, ".env"), join(root, "link-to-env"));
        expect(problemOf(`/${path}`)).toBe("it is a hidden file");
      },
    );

    test.each([
      ".snippets/a.md",
      ".snippets/code/a.json",
      ".github/workflows/a.yml",
      ".docs/a.rst",
    ])("takes a file of a hidden folder: %s", (path) => {
      write(path, "a");
      expect(problemOf(`/${path}`)).toMatchObject({ text: "a" });
    });

    test.each([
      ".ssh/id_rsa",
      ".aws/credentials",
      ".docker/config.json",
      ".config/knowctl/config.yaml",
      "docs/.m2/settings.xml",
      ".snippets/.aws/credentials",
      ".Git/x.md",
      "pages/id_rsa",
    ])("never takes a file of a hidden folder where programs keep keys: %s", (path) => {
      write(".ssh/id_rsa", "key");
      symlinkSync(join(root, ".ssh"), join(root, "pages"));
      if (!path.startsWith("pages/")) write(path, "key");
      expect(problemOf(`/${path}`)).toBe("it is a hidden file");
    });

    test("names a cycle, and stops at a depth", () => {
      write("docs/b.md", "b");
      expect(problemOf("b.md", ["docs/a.md", "docs/b.md"])).toBe(
        "a cycle: docs/a.md → docs/b.md → docs/b.md",
      );
      const deep = Array.from({ length: 17 }, (_, index) => `docs/${index}.md`);
      expect(problemOf("b.md", deep)).toBe("nested deeper than 16 files");
    });

    test("refuses binary and gigantic files", () => {
      write("bin.md", Uint8Array.of(1, 0, 2));
      write("big.md", "x".repeat(4 * 1024 * 1024 + 1));
      mkdirSync(join(root, "folder"));
      expect(problemOf("/bin.md")).toBe("a NUL byte (a binary file?) at byte 1");
      expect(problemOf("/big.md")).toMatch(/is larger than the limit of 4.0 MiB/);
      expect(problemOf("/folder")).toMatch(/not a regular file/);
    });

    test("bounds what a document includes in all", () => {
      write("big.md", "x".repeat(4 * 1024 * 1024));
      const includes = createIncludes(root);
      const read = Array.from({ length: 5 }, () => includes.read("/big.md", ["a.md"]));
      expect(read.map((each) => "text" in each)).toEqual([true, true, true, true, false]);
    });

    test("bounds how often a document includes", () => {
      write("a.md", "x");
      const includes = createIncludes(root);
      const read = Array.from({ length: 10_001 }, () => includes.read("/a.md", ["b.md"]));
      expect(read.at(-2)).toEqual({ text: "x", path: "a.md" });
      expect(read.at(-1)).toEqual({ problem: "more than 10000 includes" });
    });

    test("reads a file once, and none that is more than what is left", () => {
      write("big.md", "x".repeat(3 * 1024 * 1024));
      write("other.md", "y".repeat(2 * 1024 * 1024));
      write("small.md", "first");
      const noted: string[] = [];
      const add = (path: string): void => void noted.push(path);
      const includes = createIncludes(root, { note: add, add });
      const read = (target: string): unknown => includes.read(target, ["a.md"]);
      expect(read("/small.md")).toEqual({ text: "first", path: "small.md" });
      write("small.md", "second");
      expect(read("/small.md")).toEqual({ text: "first", path: "small.md" });
      for (let time = 0; time < 5; time++) expect(read("/big.md")).toHaveProperty("text");
      expect(read("/other.md")).toEqual({ problem: "the included files are more than 16 MiB" });
      expect(read("/small.md")).toHaveProperty("text");
      expect(read("/gone.md")).toEqual(read("/gone.md"));
      expect(noted).toEqual(["small.md", "big.md", "other.md", "gone.md"]);
    });

    test("a Git LFS pointer fails the document", () => {
      const hash = "0".repeat(64);
      write("a.txt", `version https://git-lfs.github.com/spec/v1\noid sha256:${hash}\nsize 5\n`);
      expect(() => problemOf("/a.txt")).toThrow(/a.txt: a Git LFS pointer/);
    });
  });
});

describe("parts", () => {
  /** Reads `part.txt` beside the file, and nothing else. */
  const including: TextReader = (_text, path, { includes }) => {
    const read = includes.read("part.txt", [path]);
    const body = "text" in read ? read.text : "";
    return { frontMatter: undefined, body, bodyLine: 1, isMarkdown: true, warnings: [] };
  };

  function readIn(root: string): Reading {
    const settings = compileSettings({ root });
    return readDocumentSync(fileIn(root, "docs/a.md"), settings, undefined, including);
  }

  describe("the parts of a document", () => {
    it("are its included files, also missing ones, and of a skipped file", () => {
      const root = createFolder({ "docs/a.md": "x" });
      const before = readIn(root);
      expect(before.kind).toBe("skipped");
      expect(pathsInParts(before.parts ?? "")).toEqual(["docs/part.txt"]);
      expect(createPartCheck(root)(before.parts ?? "")).toBe(true);
      writeFileSync(join(root, "docs/part.txt"), "Part.");
      expect(createPartCheck(root)(before.parts ?? "")).toBe(false);
      const after = readIn(root);
      expect(after.kind).toBe("document");
      // A part that was written just now may change again with the same stamp.
      expect(after.stamp === "" || createPartCheck(root)(after.parts ?? "")).toBe(true);
    });

    it("have any names", () => {
      const names = ["a//b", "c|d", 'e"f', "g\nh", "ü", "3"];
      const parts = createParts("/nowhere");
      for (const name of names) parts.note(name);
      const text = parts.text() ?? "";
      expect(pathsInParts(text)).toEqual(names);
      expect(text).not.toContain("//");
      expect(createPartCheck("/nowhere")(text)).toBe(true);
    });

    it("of a damaged record are none, and the file is read", () => {
      for (const text of ["", "{", "[]", "3", '["",1]']) {
        expect(createPartCheck("/nowhere")(text), text).toBe(false);
      }
      expect(pathsInParts('["x",1]')).toEqual(["1"]);
    });

    it("are recorded up to a number; beyond it, and just changed, they are not trusted", () => {
      const root = createFolder();
      mkdirSync(join(root, "docs"));
      const parts = createParts(root);
      for (let count = 0; count < mostParts; count++) parts.note(`docs/${count}.md`);
      expect(parts.isTrusted()).toBe(true);
      parts.note("docs/one-more.md");
      expect(parts.isTrusted()).toBe(false);
      expect(pathsInParts(parts.text() ?? "")).toHaveLength(mostParts);
      const fresh = createParts(root);
      fresh.add("docs/new.md", undefined);
      expect(fresh.isTrusted()).toBe(false);
    });
  });
});

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  createPartCheck,
  pathsInParts,
  createParts,
  mostParts,
} from "../../../src/documents/parts/parts.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { readDocumentSync, type Reading } from "../../../src/documents/inspect/read.ts";
import type { TextReader } from "../../../src/documents/formats/format.ts";
import { createFolder, fileIn } from "../folder.ts";

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

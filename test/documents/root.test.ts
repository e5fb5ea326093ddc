import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findRoot } from "../../src/documents/root.ts";
import { createFolder, failure } from "./folder.ts";

it("the root is --root, else the project folder, else the git root, else the argument's folder", () => {
  const top = createFolder({
    "repo/docs/a.md": "x",
    "plain/b.md": "x",
    "repo/docs/deep/c.md": "x",
  });
  mkdirSync(join(top, "repo/.git"));
  const at = (path: string): string => join(top, path);
  expect(findRoot("repo/docs", top, "plain", at("repo/docs"))).toBe(at("plain"));
  expect(findRoot("repo/docs/a.md", top, undefined, at("repo/docs"))).toBe(at("repo/docs"));
  expect(findRoot("repo/docs/deep", top)).toBe(at("repo"));
  expect(findRoot("repo/docs/deep/c.md", top)).toBe(at("repo"));
  expect(findRoot("repo/docs/**/*.md", top)).toBe(at("repo"));
  expect(findRoot("plain", top)).toBe(at("plain"));
  expect(findRoot("plain/b.md", top)).toBe(at("plain"));
  expect(findRoot("*.md", at("plain"))).toBe(at("plain"));
  expect(findRoot(undefined, at("plain"))).toBe(at("plain"));
});

it("is the real path behind links", () => {
  const top = createFolder({ "real/a.md": "x" });
  symlinkSync("real", join(top, "link"));
  expect(findRoot("link", top)).toBe(join(top, "real"));
  expect(findRoot("real", top, "link")).toBe(join(top, "real"));
});

it("has to be there", () => {
  const top = createFolder({ "a.md": "x" });
  expect(failure(() => findRoot("missing", top))).toBe("no such file or folder: missing");
  expect(failure(() => findRoot("a.md", top, "missing"))).toContain(
    "the project root is not a folder: missing",
  );
  expect(failure(() => findRoot("a.md", top, "a.md"))).toContain("not a folder");
});

import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../support.ts";
import { namesIn, proseOf, rowsOf } from "./pages.ts";

// The page for contributors names files and folders: each has to be there.

const inProject = (path: string): boolean => existsSync(join(projectFolder, path));

/** Every file and folder below these, as `src/…`. */
const known = ["docs", "src", "test"].flatMap((top) =>
  readdirSync(join(projectFolder, top), { recursive: true, encoding: "utf8" }).map(
    (name) => `${top}/${name.replaceAll("\\", "/")}`,
  ),
);

/** Whether a path is there; `<noun>` stands for any name, `*` for any part of one. */
function isThere(path: string): boolean {
  if (!/[<*]/.test(path)) return inProject(path);
  const pattern = path
    .split(/<\w+>|\*/)
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"))
    .join("[^/]+");
  return known.some((each) => new RegExp(`^${pattern}$`).test(each.replace(/\/?$/, "")));
}

const isPath = (name: string): boolean =>
  /^[\w.<*-][\w.<>*-]*(?:\/[\w.<>*-]+)*\/?$/.test(name) &&
  /\/|\.(?:ts|js|json|md|yml|yaml)$/.test(name);

/** Paths of a text that are not there: each below src/, in the project, or near the one before. */
function missingIn(text: string): string[] {
  const missing: string[] = [];
  let folder = "src";
  for (const name of namesIn(text).filter(isPath)) {
    const path = name.replace(/\/$/, "");
    const near = [folder, dirname(folder)].map((each) => `${each}/${path}`);
    const found = [`src/${path}`, path, ...near].find(isThere);
    if (found === undefined) missing.push(name);
    else folder = name.endsWith("/") ? found : dirname(found);
  }
  return missing;
}

const rows = rowsOf("CONTRIBUTING.md", "new");

describe("I want to add …", () => {
  it.each(rows)("%s: every path exists", (_what, write = "", asked = "") => {
    expect(missingIn(write)).toEqual([]);
    expect(missingIn(asked)).toEqual([]);
  });

  it("would notice a path that has moved", () => {
    expect(missingIn("`errors.ts`, `documents/readers/<format>.ts`, `old.ts`")).toEqual([
      "documents/readers/<format>.ts",
      "old.ts",
    ]);
  });
});

it("CONTRIBUTING.md names paths that exist", () => {
  const lines = proseOf("CONTRIBUTING.md")
    .split("\n")
    .filter((line) => !line.startsWith("| "));
  expect(missingIn(lines.join("\n"))).toEqual([]);
});

it("who may import whom: every room has its row, and each row is a room", () => {
  const first = rowsOf("CONTRIBUTING.md", "from").map(([cell = ""]) => cell);
  const listed = first.flatMap((cell) => cell.split(", ")).filter((name) => !name.startsWith("`"));
  const rooms = readdirSync(join(projectFolder, "src")).map((name) => name.replace(/\.ts$/, ""));
  expect(listed.toSorted()).toEqual([...rooms, "bin"].toSorted());
});

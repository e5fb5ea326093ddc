import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { anchorsOf } from "../../src/documents/text/heading-text.ts";
import { scanStructure } from "../../src/documents/text/structure.ts";
import { helpTexts } from "../../src/cli/program.ts";
import { projectFolder } from "../support.ts";
import { blocksOf, isShell, pages, proseOf, readPage } from "./pages.ts";

function anchorsIn(page: string): readonly (string | undefined)[] {
  return anchorsOf(scanStructure(readPage(page)).headings, "github");
}

/** Targets of the links of a page. In code, brackets are no link. */
function targetsIn(page: string): string[] {
  const prose = proseOf(page).replace(/`[^`\n]+`/g, "");
  return [...prose.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target]) => target!);
}

describe.each(pages)("%s", (page) => {
  it("links to files and headings that exist", () => {
    for (const target of targetsIn(page)) {
      const [path = "", anchor] = target.split("#");
      const file =
        path === "" ? join(projectFolder, page) : join(projectFolder, dirname(page), path);
      expect(existsSync(file), target).toBe(true);
      const other = relative(projectFolder, file);
      if (anchor !== undefined) expect(anchorsIn(other), target).toContain(anchor);
    }
  });

  it("names commands that exist", () => {
    const commands = new Set(Object.keys(helpTexts()));
    const groups = new Set(["help", ...[...commands].map((path) => path.split(" ")[0]!)]);
    for (const [, first = "", second = ""] of proseOf(page).matchAll(
      /`knowctl ([a-z-]+)(?: ([a-z-]+)(?=[ `]))?/g,
    )) {
      expect(groups, `knowctl ${first}`).toContain(first);
      const hasCommands = [...commands].some((path) => path.startsWith(`${first} `));
      // `ingest` takes words of its own.
      if (second === "" || !hasCommands || first === "ingest") continue;
      expect(commands).toContain(`${first} ${second}`);
    }
  });
});

it("npm commands in blocks are scripts of the package, or npm's own", () => {
  const { scripts } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const lines = pages
    .flatMap(blocksOf)
    .filter(isShell)
    .flatMap(({ body }) => body.split("\n"));
  const found = lines.flatMap((line) => [...line.matchAll(/^npm (run )?([\w-]+)/g)]);
  expect(found.length).toBeGreaterThan(5);
  for (const [, run, name] of found) {
    if (run) expect(Object.keys(scripts)).toContain(name);
    else expect(["ci", "install", "test", "pack", "pkg"]).toContain(name);
  }
});

it("every page of docs/ is reached from its index", () => {
  const index = new Set(targetsIn("docs/README.md").map((target) => target.split("#")[0]));
  const names = pages.filter((page) => page.startsWith("docs/")).map((page) => page.slice(5));
  for (const name of names)
    if (name !== "README.md") expect(index, "add it to docs/README.md").toContain(name);
});

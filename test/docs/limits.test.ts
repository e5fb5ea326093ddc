import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectFolder } from "../support.ts";
import { pages, readPage } from "./pages.ts";

// A page answers one question. A page beyond these limits answers several: split it, or cut it.

const references = ["docs/commands.md", "docs/configuration-keys.md", "docs/lint-rules.md"];
const written = pages.filter((page) => !references.includes(page));

/** Pages for users; their words count together. The words of docs/writing.md are those of the rules. */
const forUsers = written.filter(
  (page) => page === "README.md" || (page.startsWith("docs/") && page !== "docs/writing.md"),
);

const linesIn = (page: string): number => readPage(page).trimEnd().split("\n").length;
const wordsIn = (page: string): number => readPage(page).trim().split(/\s+/).length;

it("README.md fits three screens", () => {
  expect(linesIn("README.md")).toBeLessThanOrEqual(150);
});

it.each(written)("%s has at most 250 lines", (page) => {
  expect(linesIn(page)).toBeLessThanOrEqual(250);
});

// 13,000 for all that works without a look into the index; search, verify, drift, lint, suites, eval
// and the loop added the rest. What --help or another page says, a page links.
const mostWords = 18_500;

it(`the pages for users have at most ${mostWords} words`, () => {
  const words = forUsers.map((page) => [page, wordsIn(page)] as const);
  const total = words.reduce((sum, [, count]) => sum + count, 0);
  const what = `say it in fewer words, here or on another page: ${JSON.stringify(Object.fromEntries(words))}`;
  expect(total, what).toBeLessThanOrEqual(mostWords);
});

it("the package that a page names has the version of this one", () => {
  const { version } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8")) as {
    version: string;
  };
  const named = written.flatMap((page) => [
    ...readPage(page).matchAll(/knowctl-(\d[\w.-]*)\.tgz/g),
  ]);
  expect(named.length).toBeGreaterThan(0);
  for (const [name, found] of named) expect(found, name).toBe(version);
});

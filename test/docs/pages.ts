import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../support.ts";

/** A fenced block of a page. */
export interface Block {
  /** Where it begins: `docs/state.md:12`. */
  where: string;
  /** What the comment before it says, if there is one. */
  mark: string;
  language: string;
  body: string;
}

/** Every page that people read, by its path in the project; docs/commands/ is generated from --help. */
export const pages: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "SECURITY.md",
  ...readdirSync(join(projectFolder, "docs"), { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

/** Pages whose marked blocks test/e2e/pipelines.test.ts runs, each block in a folder of its own. */
export const pipelinePages: readonly string[] = [
  "docs/pipelines.md",
  "docs/shards.md",
  "docs/programs.md",
  "docs/github.md",
  "docs/gitlab.md",
  "docs/pre-commit.md",
];

export function readPage(page: string): string {
  return readFileSync(join(projectFolder, page), "utf8");
}

const fenced = /(?:^<!-- ([^\n]*?) -->\n\n)?^(`{3,})(\w*)\n(.*?)^\2$/gms;

/** The blocks of a page in order. */
export function blocksOf(page: string): Block[] {
  const text = readPage(page);
  return [...text.matchAll(fenced)].map(
    ({ index, 1: mark = "", 3: language = "", 4: body = "" }) => ({
      where: `${page}:${text.slice(0, index).split("\n").length}`,
      mark,
      language,
      body,
    }),
  );
}

/** The page without its blocks. */
export function proseOf(page: string): string {
  return readPage(page).replace(fenced, "");
}

export function isShell({ language }: Block): boolean {
  return language === "sh" || language === "console";
}

/** Cells of the tables of a page whose first column has this title, without their titles. */
export function rowsOf(page: string, title: string): string[][] {
  const rows: string[][] = [];
  let isInside = false;
  let before = "";
  for (const line of readPage(page).split("\n")) {
    // A `|` in code is written `\|`.
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    if (!line.startsWith("|")) isInside = false;
    else if (!before.startsWith("|")) isInside = cells[1] === title;
    else if (isInside && !/^-+$/.test(cells[1] ?? "")) rows.push(cells.slice(1, -1));
    before = line;
  }
  if (rows.length === 0) throw new Error(`${page}: no table begins with the column "${title}"`);
  return rows;
}

/** Texts in code: `a` and `b`. */
export function namesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
}

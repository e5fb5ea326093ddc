import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { expect, it } from "vitest";
import { projectFolder } from "./support.ts";

/** Lines and files of TypeScript below `folders`, without golden files and fixtures. */
function sizeOf(folders: readonly string[]): { lines: number; files: number } {
  const size = { lines: 0, files: 0 };
  for (const folder of folders) {
    const isFile = folder.endsWith(".ts");
    const names = isFile
      ? [""]
      : readdirSync(join(projectFolder, folder), { recursive: true, encoding: "utf8" });
    for (const name of names) {
      if (!isFile && !/\.(?:d\.)?ts$/.test(name)) continue;
      if (/^(?:golden|fixtures)$/.test(name.split(sep)[0] ?? "")) continue;
      size.files++;
      size.lines += readFileSync(join(projectFolder, folder, name), "utf8").split("\n").length - 1;
    }
  }
  return size;
}

const numberOf = (text: string): number => Number(text.replaceAll(",", ""));

/** The rows of the table "Budgets" of CONTRIBUTING.md. */
const budgets = [
  ...readFileSync(join(projectFolder, "CONTRIBUTING.md"), "utf8").matchAll(
    /^\| (`(?:src|test)[^|]*`) +\| +([\d,]+) +\| +([\d,]+) +\|/gm,
  ),
].map(([, folders = "", lines = "", files = ""]) => ({
  folders: [...folders.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
  lines: numberOf(lines),
  files: numberOf(files),
}));

it("the table of budgets names every folder of src", () => {
  const named = budgets.flatMap(({ folders }) => folders);
  const found = readdirSync(join(projectFolder, "src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `src/${name}`);
  expect(found.filter((folder) => !named.includes(folder))).toEqual([]);
});

it.each(budgets)("$folders keeps within its budget", ({ folders, lines, files }) => {
  const size = sizeOf(folders);
  expect(size.files).toBeGreaterThan(0);
  // Whoever needs more raises the row in the same commit, and says why.
  expect(size.lines, `lines of ${folders.join(", ")}`).toBeLessThanOrEqual(lines);
  expect(size.files, `files of ${folders.join(", ")}`).toBeLessThanOrEqual(files);
});

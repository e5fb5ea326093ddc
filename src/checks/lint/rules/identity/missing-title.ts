import type { LintPage, PageRule } from "../../rule.ts";
import { isNamedByFile } from "../../folder/own-title.ts";
import { documentName } from "../../folder/document-name.ts";

// What editors write into the properties of a file, and names that every folder has.
const empty = /^(?:untitled(?: document)?|(?:microsoft word - .*)|no title|document\d+|readme)$/i;

function problemOf(page: LintPage, title: string): string | undefined {
  const { path, part } = page;
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (empty.test(title)) return "the title does not say what the page is about";
  if (title.toLowerCase() === name.toLowerCase()) return "the title is only the name of the file";
  if (!isNamedByFile(page)) return undefined;
  return part === 0
    ? "the page has no title, and the name of the file replaces it"
    : `${documentName(page)} has no title, and the name of the file replaces it`;
}

/** A document whose title says no more than its file name. */
export const missingTitle: PageRule = {
  kind: "page",
  name: "missing-title",
  group: "identity",
  severity: "note",
  summary: "The title is missing, or only the file name",
  advice:
    "Search weighs the title, and citations show it. Write a heading of level 1 or `title` in the front " +
    "matter that says what the page is about. For rows, name the column: `--map title=COLUMN`.",
  bad: "Employees get 28 days of leave.\n",
  good: "# Leave of employees\n\nEmployees get 28 days of leave.\n",
  *check(page) {
    // All rows of a file have the same columns.
    const title = page.part > 1 ? undefined : page.document?.title;
    const message = typeof title === "string" ? problemOf(page, title) : undefined;
    if (message !== undefined) yield { message };
  },
};

import { bodyOf } from "../../page/body.ts";
import { createProseTest } from "../../page/prose.ts";
import { createFindSpan } from "../../page/spans.ts";
import type { PageRule } from "../../rule.ts";

// An empty first row, and the line below it: nothing else of a table has two such lines.
const emptyHeader = /^[ \t>]*\|[ \t|]*\|[ \t]*\n[ \t>]*\|?[ \t]*:?-+:?[ \t]*\|[-:| \t]*$/gm;
const mostRow = 2000;

/** Whether a row below the header has two cells with words. */
function hasWords(text: string, from: number): boolean {
  const row = text.slice(from, from + mostRow).split("\n")[1] ?? "";
  const cells = row.split("|").map((cell) => cell.replace(/!\[[^\]]*\]\([^)]*\)|<[^<>]*>/g, ""));
  return cells.filter((cell) => /[\p{L}\p{N}]/u.test(cell)).length > 1;
}

export const tableWithoutHeader: PageRule = {
  kind: "page",
  name: "table-without-header",
  group: "content",
  severity: "warning",
  summary: "A table has no column names",
  advice:
    "A model reads a table row by row. Without column names it has to guess what a number means. " +
    "Name every column.",
  bad: "# Rooms\n\nBook a room in the calendar, at least one day ahead.\n\n| | | |\n|---|---|---|\n| Aare | 12 | 3 |\n| Rhine | 6 | 1 |\n",
  good: "# Rooms\n\nBook a room in the calendar, at least one day ahead.\n\n| Room | Seats | Floor |\n|---|---|---|\n| Aare | 12 | 3 |\n| Rhine | 6 | 1 |\n",
  *check(page) {
    const body = bodyOf(page);
    const { text } = body;
    if (!page.parsed.isMarkdown || !text.includes("|") || !/\|[ \t]*:?-/.test(text)) return;
    const isProse = createProseTest(body);
    const find = createFindSpan(page, body);
    for (const { 0: header, index } of text.matchAll(emptyHeader)) {
      if (!isProse(index) || !hasWords(text, index + header.length)) continue;
      const end = text.indexOf("\n", index);
      yield { message: "the table has no column names", span: find(index, end) };
    }
  },
};

import { bodyOf, titlesOf } from "../../page/body.ts";
import { createFindSpan } from "../../page/spans.ts";
import type { PageRule } from "../../rule.ts";

const generic = new Set(
  (
    "overview|introduction|intro|summary|notes|note|remarks|example|examples|usage|details|general|background|about|" +
    "description|basics|getting started|prerequisites|requirements|index|home|readme|untitled|" +
    "miscellaneous|further information|more information|additional information|conclusion"
  ).split("|"),
);

/** Whether a title names no subject: `2. Overview`, `Notes:`. */
function isGeneric(title: string): boolean {
  const words = title
    .toLowerCase()
    .replace(/^[\d.\s]+/, "")
    .replace(/[\s.:!?]+$/, "");
  return generic.has(words);
}

export const genericHeading: PageRule = {
  kind: "page",
  name: "generic-heading",
  group: "content",
  severity: "warning",
  summary: "Neither the page's title nor the headings of a section name a subject",
  advice:
    'Hundreds of pages have a section "Overview". Taken by itself, such a section does not show what it is about. ' +
    "Name the subject in the title of the page, or in the heading.",
  bad: "# Introduction\n\n## Overview\n\nIt pays a part of your rent for the first year.\n",
  good: "# Help with moving\n\n## Overview\n\nIt pays a part of your rent for the first year.\n",
  *check(page) {
    if (!page.document) return;
    const { title, semantic_identifier: name } = page.document;
    if (!isGeneric(title ?? name)) return;
    const body = bodyOf(page);
    const find = createFindSpan(page, body);
    for (const section of body.sections) {
      const { path, start, end } = section;
      const heading = path.at(-1);
      const titles = titlesOf(section);
      const isNamed = titles.some((each) => !isGeneric(each));
      if (!heading || isNamed || body.text.slice(start, end).trim() === "") continue;
      yield {
        message: `"${titles.join(" > ")}" does not say what the section is about`,
        span: find(heading.start, heading.end),
      };
      // A better title of the page is an answer to all of them.
      return;
    }
  },
};

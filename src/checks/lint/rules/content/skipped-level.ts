import { bodyOf } from "../../page/body.ts";
import { createFindSpan } from "../../page/spans.ts";
import type { PageRule } from "../../rule.ts";

export const skippedLevel: PageRule = {
  kind: "page",
  name: "skipped-level",
  group: "content",
  severity: "note",
  summary: "A heading is more than one level below the heading before it",
  advice:
    "Sections are sent with the headings above them, and a section begins at headings of level 1 to 3. " +
    "A skipped level hides where a section belongs. Use the next level; style belongs to the site.",
  bad: "# Office\n\n## Rooms\n\nBook rooms in the calendar.\n\n#### Equipment\n\nEach room has a screen.\n",
  good: "# Office\n\n## Rooms\n\nBook rooms in the calendar.\n\n### Equipment\n\nEach room has a screen.\n",
  *check(page) {
    const body = bodyOf(page);
    let find: ReturnType<typeof createFindSpan> | undefined;
    let last = 6;
    for (const { level, start, end } of body.structure?.headings ?? []) {
      if (level > last + 1) {
        find ??= createFindSpan(page, body);
        yield {
          message: `a heading of level ${level} follows one of level ${last}`,
          span: find(start, end),
        };
      }
      last = level;
    }
  },
};

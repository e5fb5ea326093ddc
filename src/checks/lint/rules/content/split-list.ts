import { bodyOf } from "../../page/body.ts";
import { createFindSpan } from "../../page/spans.ts";
import type { PageRule } from "../../rule.ts";

// What is announced, at the end of a section. A colon alone may also end a title or a label.
const announcement =
  /\b(?:following|as follows|below|these|those)\b[^\n.!?:]{0,120}:[*_]{0,3}[ \t]*$/i;

// A shortcode or a component may show what is announced: an upload leaves it out.
const shown = /^\s*(?:\{\{[<%]|<[A-Z])/;

export const splitList: PageRule = {
  kind: "page",
  name: "split-list",
  group: "content",
  severity: "note",
  summary: "A section announces what only the next sections say",
  advice:
    '"There are the following rules:" answers nothing if the rules stand under headings of their own. ' +
    "Name them in the sentence, so that this section answers the question too.",
  bad: "# Leave\n\nThere are the following kinds of leave:\n\n## Parental leave\n\nUp to three years.\n\n## Unpaid leave\n\nUp to six months.\n",
  good: "# Leave\n\nThere are two kinds of leave: parental and unpaid.\n\n## Parental leave\n\nUp to three years.\n\n## Unpaid leave\n\nUp to six months.\n",
  *check(page) {
    const body = bodyOf(page);
    const { text } = body;
    const find = createFindSpan(page, body);
    for (const { path, nextLevel, start, end } of body.sections) {
      if (nextLevel === undefined || nextLevel <= (path.at(-1)?.level ?? 0)) continue;
      const last = text.slice(Math.max(start, end - 300), end).trimEnd();
      const line = last.slice(last.lastIndexOf("\n") + 1);
      if (!announcement.test(line)) continue;
      const lineStart = text.lastIndexOf(line, end);
      const span = find(lineStart, lineStart + line.length);
      if (span && shown.test(page.source?.slice(span.end, span.end + 200) ?? "")) continue;
      yield {
        message: "the section ends with a colon, and what it announces stands under other headings",
        span,
      };
    }
  },
};

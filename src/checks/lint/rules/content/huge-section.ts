import { bodyOf, titlesOf } from "../../page/body.ts";
import { estimateTokens } from "../../../../documents/payload/size.ts";
import { createFindSpan } from "../../page/spans.ts";
import type { PageRule } from "../../rule.ts";

const mostTokens = 4000;

const shown = (tokens: number): string => (Math.ceil(tokens / 100) * 100).toLocaleString("en");

function problemOf(text: string, name: string): string | undefined {
  const tokens = text.length <= mostTokens ? 0 : estimateTokens(text);
  if (tokens <= mostTokens) return undefined;
  return `${name} has about ${shown(tokens)} tokens, at most ${shown(mostTokens)} are expected`;
}

export const hugeSection: PageRule = {
  kind: "page",
  name: "huge-section",
  group: "content",
  severity: "warning",
  summary: `A section has more than ${shown(mostTokens)} tokens`,
  advice:
    "The service cuts a long section into chunks, and only the first one begins with the heading. " +
    "A citation leads to the top of the section, far from the answer. " +
    "Divide the section with headings of level 2 or 3 that say what follows. " +
    "The number is an estimate: four characters are one token, and so is each Chinese, Japanese or Korean character.",
  bad: `# Expenses\n\n${"Keep the receipt of every journey, and send it within a month. ".repeat(260)}\n`,
  good:
    "# Expenses\n\n## Journeys\n\nKeep the receipt of every journey, and send it within a month.\n\n" +
    "## Meals\n\nThe company pays 28 euros a day.\n",
  *check(page) {
    const body = bodyOf(page);
    const { text, structure } = body;
    // A character is at most one token.
    if (text.length <= mostTokens) return;
    if (!structure) {
      for (const { text: section = "" } of page.document?.sections ?? []) {
        const message = problemOf(section, "the text");
        if (message !== undefined) yield { message };
      }
      return;
    }
    const find = createFindSpan(page, body);
    for (const section of body.sections) {
      const { path, start, end } = section;
      if (end - start <= mostTokens) continue;
      const heading = path.at(-1);
      const name = heading ? `the section "${titlesOf(section).at(-1)}"` : "the text";
      const message = problemOf(text.slice(start, end), name);
      if (message === undefined) continue;
      yield { message, span: heading && find(heading.start, heading.end) };
    }
  },
};

import { bodyOf } from "../../page/body.ts";
import { createFindSpan } from "../../page/spans.ts";
import type { PageRule } from "../../rule.ts";

const before = "(?:above|before|earlier|previously|already)";
const said =
  "(?:mentioned|described|discussed|shown|stated|explained|noted|said|seen|defined|outlined)";
const part = "(?:section|chapter|example|paragraph|step|page|table|heading)";
/** How a text refers back to another place of the page. */
const backward = new RegExp(
  [
    `as (?:(?:we|i|was|is) (?:have )?)?(?:${before} )?${said}(?: ${before}|(?: in| by)? the (?:previous|preceding|last) ${part})`,
    `as ${before} ${said}`,
    `as above\\b(?! all)`,
    `see above`,
    `(?:in|from|like|unlike) the (?:previous|preceding|above) ${part}s?`,
    `the (?:above|preceding|previous) ${part}s?`,
    `(?:same|like|similar) (?:as|to) (?:the )?above`,
    `(?:in addition to|besides|unlike|instead of) the above`,
  ].join("|"),
  "iy",
);

// A link says which place is meant.
const link = /\]\(|\]\[|<a\s|https?:/i;
/** Whether the file has the words one after the other: those of a link have marks around them. */
const isWritten = (source: string | undefined, words: string): boolean =>
  source === undefined || new RegExp(words.replaceAll(/\s+/g, String.raw`\s+`)).test(source);
const firstSentence = /^[^\n]{0,300}?(?:[.!?](?=\s|$)|\n|$)/;

export const danglingReference: PageRule = {
  kind: "page",
  name: "dangling-reference",
  group: "content",
  severity: "warning",
  summary: "A section begins by referring to text that is not in it",
  advice:
    'An answer is written from single sections. "As mentioned above" points to a text that the model does not get. ' +
    "Repeat the fact in a few words, or name the place with a link.",
  bad: "# Travel\n\n## Hotels\n\nUp to 120 euros a night.\n\n## Trains\n\nAs mentioned above, the limit is higher in Zurich.\n",
  good: "# Travel\n\n## Hotels\n\nUp to 120 euros a night.\n\n## Trains\n\nBook second class. In Zurich, first class is allowed.\n",
  *check(page) {
    const body = bodyOf(page);
    const { text } = body;
    const find = createFindSpan(page, body);
    for (const { path, start, end } of body.sections) {
      if (path.length === 0) continue;
      const at = start + (/^\s*/.exec(text.slice(start, start + 100))?.[0].length ?? 0);
      backward.lastIndex = at;
      const found = backward.exec(text)?.[0];
      if (found === undefined || at >= end) continue;
      if (link.test(firstSentence.exec(text.slice(at, end))?.[0] ?? "")) continue;
      if (!isWritten(page.source, found)) continue;
      yield {
        message: `the section begins with "${found}", which refers to text outside it`,
        span: find(at, at + found.length),
      };
    }
  },
};

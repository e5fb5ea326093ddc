import { bodyOf, type Body } from "../../page/body.ts";
import { quoted } from "../../page/matches.ts";
import { createProseTest } from "../../page/prose.ts";
import { createFindSpan } from "../../page/spans.ts";
import type { PageRule } from "../../rule.ts";

// `- todo: the directive has options` is an entry of a list.
const todo = String.raw`TODO:.*|(?:TODO|[Tt]odo|TBD|TBA|FIXME)[^\p{L}]*`;
const later =
  "[Tt]o be (?:written|done|defined|determined|announced|completed|added)|[Cc]oming soon|[Ww]ork in progress|[Uu]nder construction";
/** A line that is only a placeholder, as a paragraph or an item of a list. */
const placeholderLine = new RegExp(
  String.raw`^[\s>]*(?:[-*+]\s+)?[*_]{0,3}\[?(?:${todo}|(?:${later})[^\p{L}]*)$`,
  "u",
);
const dummyText = /\blorem ipsum dolor\b/i;
const dummyTexts = new RegExp(dummyText, "gi");
// What all placeholders begin with, after their marks: few other lines need the pattern.
const firstLetters = /^[\s>*_[+-]{0,20}(?:to|tb|fi|co|wo|un)/i;
const longestLine = 200;

// A line that goes on with the one before it is the end of a sentence, or an entry of a list of words.
const isContinued = (before: string): boolean => /^[^#=]*[\p{L}\d,]\s*$/u.test(before);
const anywhere = /^[\s>]*(?:[-*+]\s|[*_[]|TODO:)/;

/** Whether a page shows dummy text as code as well, as the result of its example. */
function isExample(body: Body): boolean {
  const isProse = createProseTest(body);
  return [...body.text.matchAll(dummyTexts)].some(({ index }) => !isProse(index));
}

/** A placeholder, and its offset in the line. */
interface Placeholder {
  found: string;
  at: number;
}

function placeholderIn(
  line: string,
  before: string,
  hasDummyText: boolean,
): Placeholder | undefined {
  const short = line.slice(0, longestLine);
  let whole = firstLetters.test(short) ? placeholderLine.exec(line.slice(0, 1000)) : undefined;
  if (whole && !anywhere.test(line) && isContinued(before.slice(-longestLine))) whole = null;
  const found = whole?.[0] ?? (hasDummyText ? dummyText.exec(line)?.[0] : undefined);
  if (found === undefined) return undefined;
  return { found: found.trim(), at: line.indexOf(found.trim()) };
}

export const placeholder: PageRule = {
  kind: "page",
  name: "placeholder",
  group: "content",
  severity: "note",
  summary: "The text contains a placeholder where text is still missing",
  advice:
    'A question about this subject finds the page, and the page has no answer: "to be written" is not one. ' +
    "Write the text, or remove the heading until you do.",
  bad: "# Printers\n\nEvery floor has a printer next to the kitchen.\n\n## Colour\n\nTBD\n",
  good: "# Printers\n\nEvery floor has a printer next to the kitchen.\n\n## Colour\n\nThe printer on floor 3 prints in colour.\n",
  *check(page) {
    const body = bodyOf(page);
    const { text } = body;
    const hasDummyText = text.includes("orem ip") && !isExample(body);
    const isProse = createProseTest(body);
    const find = createFindSpan(page, body);
    let before = "";
    for (let start = 0; start < text.length;) {
      const next = text.indexOf("\n", start);
      const end = next === -1 ? text.length : next;
      const line = text.slice(start, end);
      const missing = placeholderIn(line, before, hasDummyText);
      before = line;
      const at = start + (missing?.at ?? 0);
      start = end + 1;
      if (!missing || !isProse(at)) continue;
      const { found } = missing;
      yield { message: `a placeholder: ${quoted(found)}`, span: find(at, at + found.length) };
    }
  },
};

import { bodyOf } from "../../page/body.ts";
import { findInFields } from "../../page/fields.ts";
import { createProseTest } from "../../page/prose.ts";
import { createFindSpan } from "../../page/spans.ts";
import type { PageRule } from "../../rule.ts";

const invisible =
  /[\u00ad\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200d\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0]+/g;
const names = new Map([
  ["\u00ad", "soft hyphen"],
  ["\u200b", "zero width space"],
  ["\u200c", "zero width non-joiner"],
  ["\u200d", "zero width joiner"],
  ["\u2060", "word joiner"],
  ["\ufeff", "byte order mark"],
]);
const commonScripts =
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Common}]/u;
const letterOrMark = /[\p{L}\p{M}]/u;
const emoji = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f\u20e3]/u;
// Removed between these, nothing becomes Markdown, a link or another word.
const isPlain = (char: string): boolean => char === "" || /[\p{L}\p{N}\s]/u.test(char);

/** Whether the characters beside it need it: Persian, Hindi, Thai and others, and emoji. */
function isOrthography(before: string, after: string): boolean {
  return [before, after].some(
    (char) => emoji.test(char) || (letterOrMark.test(char) && !commonScripts.test(char)),
  );
}

const codePoint = (char: string): string =>
  `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

function problemOf(run: string): string {
  const first = run[0] ?? "";
  const name = names.get(first);
  const shown = name === undefined ? codePoint(first) : `${name} (${codePoint(first)})`;
  return run.length === 1
    ? `invisible character: ${shown}`
    : `invisible characters: ${shown} and ${run.length - 1} more`;
}

/** Invisible characters in a row, with the characters beside them. */
interface Run {
  run: string;
  index: number;
  before: string;
  after: string;
}

/** The runs that no script needs. */
function* runsIn(text: string): Generator<Run> {
  for (const { 0: run, index } of text.matchAll(invisible)) {
    const end = index + run.length;
    const before = Array.from(text.slice(Math.max(0, index - 2), index)).at(-1) ?? "";
    const after = Array.from(text.slice(end, end + 2))[0] ?? "";
    // A mark at the start is one of the file.
    const isMark = index === 0 && run === "\ufeff";
    if (!isMark && !isOrthography(before, after)) yield { run, index, before, after };
  }
}

export const invisibleCharacters: PageRule = {
  kind: "page",
  name: "invisible-characters",
  group: "hidden",
  severity: "warning",
  summary: "The text contains characters that people do not see and models read",
  advice:
    "A zero width space or a soft hyphen divides a word: a search for the word misses it, and a copied command fails. " +
    "Remove the character; `--fix` does so in prose. Joiners of emoji and of scripts such as Persian, Hindi and Thai are not reported.",
  bad: "# Badge\n\nYour bad\u200bge opens the doors of all floors, from 6:00 to 22:00.\n",
  good: "# Badge\n\nYour badge opens the doors of all floors, from 6:00 to 22:00.\n",
  *check(page) {
    yield* findInFields(page, (text) => {
      const [first] = runsIn(text);
      return first && problemOf(first.run);
    });
    const body = bodyOf(page);
    const { text } = body;
    if (text.search(invisible) === -1) return;
    const isProse = createProseTest(body);
    const find = createFindSpan(page, body);
    for (const { run, index, before, after } of runsIn(text)) {
      const isInProse = isProse(index);
      const span = find(index, index + run.length);
      const isFound = span !== undefined && page.source?.slice(span.start, span.end) === run;
      const isFixable = isFound && isInProse && isPlain(before) && isPlain(after);
      yield { message: problemOf(run), span, fix: isFixable ? "" : undefined };
    }
  },
};

import type { Found, LintPage } from "../rule.ts";
import { formatOf, formats } from "../../../documents/read/readers.ts";
import { hideSecrets } from "../secrets/hide-secrets.ts";
import { bodyOf } from "./body.ts";
import { createProseTest } from "./prose.ts";
import { createFindSpan } from "./spans.ts";

/**
 * The matches of a pattern in the prose of a page, as findings. `pattern` is global. `messageOf`
 * returns undefined for a match that is none after all.
 */
export function* findInProse(
  page: LintPage,
  pattern: RegExp,
  messageOf: (found: string, offset: number, text: string) => string | undefined,
): Generator<Found> {
  const body = bodyOf(page);
  const isProse = createProseTest(body);
  const find = createFindSpan(page, body);
  for (const { 0: found, index } of body.text.matchAll(pattern)) {
    // Blanks before the match belong to its line, not to the finding.
    const start = index + (found.length - found.trimStart().length);
    const shown = found.trim();
    if (!isProse(start)) continue;
    const message = messageOf(shown, start, body.text);
    if (message !== undefined) yield { message, span: find(start, start + shown.length) };
  }
}

/** Whether people wrote the file as Markdown, with marks for code. */
export function isWrittenAsMarkdown({ path, source, settings }: LintPage): boolean {
  if (source === undefined) return false;
  const format = formatOf(path, settings.format);
  return format === formats.markdown || format === formats.mdx;
}

const mostFindings = 5;

/** Many findings of the same kind as one, at the first of them: a template has one in each line. */
export function* atMost(found: Iterable<Found>, many: string): Generator<Found> {
  const list: Found[] = [];
  let count = 0;
  for (const each of found) {
    count++;
    if (list.length < mostFindings) list.push(each);
  }
  if (count === list.length) return yield* list;
  yield { message: `${count} ${many}; this is the first`, span: list[0]?.span };
}

const longestShown = 60;
const longestSearched = 20 * longestShown;

/** A piece of the page for a message: on one line, and short. Nobody knows a secret that is cut. */
export function quoted(text: string): string {
  const start = text.slice(0, longestSearched).replace(/\s+/g, " ");
  let line = hideSecrets(start);
  // The last word may be such a piece, and near, where much in front of it was hidden.
  if (line !== start && text.length > longestSearched) line = `${line.replace(/[^\s…]+$/, "")}…`;
  line = line.trim();
  return line.length > longestShown ? `${line.slice(0, longestShown)}…` : line;
}

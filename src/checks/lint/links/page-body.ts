import type { LintPage, Span } from "../rule.ts";
import { removeIgnored, type RemovedLines } from "../../../documents/markdown/ignore-regions.ts";
import { oncePerPage } from "../page/once.ts";

/** The body of a page as an upload reads it, and where its text is in the file. */
export interface PageBody {
  text: string;
  /**
   * The place of `text.slice(start, end)` in the file; undefined if it is not there, for example
   * because it comes from an included file. `start` must grow from call to call.
   */
  spanOf(start: number, end: number): Span | undefined;
}

// Each failed search reads the whole file.
const mostFailures = 200;

const beforeAddress = /[("'<=]/;
const inAddress = /[\p{L}\p{N}/._-]/u;

/** Finds an address that is not part of a longer one; `isMarked` wants a mark of a link before it. */
function findWhole(source: string, text: string, from: number, isMarked: boolean): number {
  for (let at = source.indexOf(text, from); at !== -1; at = source.indexOf(text, at + 1)) {
    const before = source[at - 1] ?? "";
    const isApart = isMarked ? beforeAddress.test(before) : !inAddress.test(before);
    if (isApart && !inAddress.test(source[at + text.length] ?? "")) return at;
  }
  return -1;
}

/** For bodies that a reader made of the file: finds the same text, from the last place on. */
function createSearch(source: string, first: number): (text: string) => Span | undefined {
  let last = first;
  let failures = 0;
  return (text) => {
    if (text === "" || failures >= mostFailures) return undefined;
    let start = -1;
    for (const isMarked of [true, false]) {
      for (const from of new Set([last, first])) {
        if (start === -1) start = findWhole(source, text, from, isMarked);
        if (start === -1) failures++;
      }
    }
    if (start === -1) return undefined;
    last = start;
    return { start, end: start + text.length };
  };
}

/** Offset of a line (from 1) in a text. */
function lineStart(text: string, line: number): number {
  let start = 0;
  for (let count = 1; count < line; count++) start = text.indexOf("\n", start) + 1;
  return start;
}

interface Body {
  text: string;
  removed: RemovedLines[];
}

const readBody = oncePerPage(({ parsed, path }): Body => {
  const removed: RemovedLines[] = [];
  return { text: removeIgnored(parsed.body, path, parsed.bodyLine, removed), removed };
});

/** Whether the body is the end of the file, below the front matter, but for what was removed. */
export const isTail = oncePerPage(
  ({ source = "", parsed: { body, removed } }) =>
    body !== "" && (removed !== undefined || source.endsWith(body)),
);

/** The body of a page with text. Throws CliError `usage` for an ignore region that is never closed. */
export function pageBody(page: LintPage): PageBody {
  const { text, removed } = readBody(page);
  const { source = "", parsed } = page;
  if (!isTail(page)) {
    let search: ReturnType<typeof createSearch> | undefined;
    return {
      text,
      spanOf(start, end) {
        search ??= createSearch(source, lineStart(source, parsed.bodyLine));
        return search(text.slice(start, end));
      },
    };
  }
  const { removed: hidden = [] } = parsed;
  let shift = source.length - parsed.body.length;
  for (const { length } of hidden) shift -= length;
  let [ignored, next, nextHidden] = [0, 0, 0];
  return {
    text,
    spanOf(start, end) {
      for (let each = removed[next]; each && each.at <= start; each = removed[++next]) {
        shift += each.length;
        ignored += each.length;
      }
      for (let each = hidden[nextHidden]; each && each.at <= start + ignored;) {
        shift += each.length;
        each = hidden[++nextHidden];
      }
      return { start: start + shift, end: end + shift };
    },
  };
}

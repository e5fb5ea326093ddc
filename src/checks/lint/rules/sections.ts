import {
  bodyOf,
  titlesOf,
  type Body,
  hasWords,
  countWords,
  createProseTest,
} from "../page/body.ts";
import { createFindSpan } from "../page/spans.ts";
import type { Found, LintPage, PageRule, Span } from "../rule.ts";
import { siteOf } from "../../../documents/site/sites.ts";
import { prose } from "./metadata.ts";
import { estimateTokens } from "../../../documents/payload/payload.ts";

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
    const find = createFindSpan(page);
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

// A page without a word is short: a longer one consists of text.
const longest = 5000;

/** Keys of pages that a layout writes: their own text is in the front matter, or there is none. */
const layoutKeys = ["layout", "template", "hero", "type", "pageClass"];

const frontMatterAlone = /^(---|\+\+\+)[ \t]*\r?\n[^]*?\n\1\s*$/;

/**
 * Whether the site makes the text of a page: `_index.md` of Hugo lists its pages, a layout fills itself,
 * and nothing but front matter is a redirection, an entry of a menu or the page of an interface.
 */
const isMadeBySite = ({ path, parsed, settings, source = "" }: LintPage): boolean =>
  /(?:^|\/)_index\.\w+$/.test(path) ||
  (siteOf(path, settings) !== undefined && frontMatterAlone.test(source)) ||
  layoutKeys.some((key) => Object.hasOwn(parsed.frontMatter?.data ?? {}, key));

export const empty: PageRule = {
  kind: "page",
  name: "empty",
  group: "content",
  severity: "warning",
  summary: "The page has no text",
  advice:
    "Components, images and includes that cannot be read leave no text behind, so no question finds the page. " +
    "Write in words what the page shows, or exclude the file.",
  bad: "---\ntitle: Releases\n---\n\n<ReleaseTable year={2026} />\n",
  good: "---\ntitle: Releases\n---\n\nA release comes on the first Monday of each month.\n\n<ReleaseTable year={2026} />\n",
  *check(page) {
    const { skipped, document, parsed } = page;
    // Text in ignore regions is left out on purpose.
    if (skipped?.startsWith("empty: ") && parsed.body.trim() === "" && !isMadeBySite(page)) {
      yield { message: `the page is not sent: ${skipped.slice("empty: ".length)}` };
    }
    if (!document || document.sections.some((each) => each.image_file_id !== undefined)) return;
    const { text } = bodyOf(page);
    if (text.length < longest && !hasWords(text)) {
      yield { message: "no words: the page consists of markup and images" };
    }
  },
};

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
    const find = createFindSpan(page);
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
    const find = createFindSpan(page);
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

// A label above a list that the site makes: it has no text of its own.
const tableOfContents = /^(?:table of )?contents$|^on this page$/i;

/** Headings at which `sections: headings` begins a section. */
const splitLevels = 3;

export const skippedLevel: PageRule = {
  kind: "page",
  name: "skipped-level",
  group: "content",
  severity: "note",
  summary: "A heading of level 4 or more is more than one level below the heading before it",
  advice:
    "A section begins at headings of level 1 to 3, so the text below this heading is no section of its own. " +
    "Use the next level; style belongs to the site. A page has one finding.",
  bad: "# Office\n\n## Rooms\n\nBook rooms in the calendar.\n\n#### Equipment\n\nEach room has a screen.\n",
  good: "# Office\n\n## Rooms\n\nBook rooms in the calendar.\n\n### Equipment\n\nEach room has a screen.\n",
  *check(page) {
    const body = bodyOf(page);
    let first: Found | undefined;
    let count = 0;
    let last = 6;
    for (const { level, start, end, text: heading } of body.structure?.headings ?? []) {
      // Sections begin at levels 1 to 3: only a heading below them loses its section.
      if (level > splitLevels && last + 1 <= splitLevels && !tableOfContents.test(heading)) {
        count++;
        const message = `a heading of level ${level} follows one of level ${last}`;
        first ??= { message, span: createFindSpan(page)(start, end) };
      }
      last = level;
    }
    // A page repeats its habit: one finding leads to all places.
    if (!first) return;
    const others = count === 1 ? "" : `; ${count} headings of the page skip a level`;
    yield { ...first, message: first.message + others };
  },
};

// What is announced, at the end of a section. A colon alone may also end a title or a label.
const announcement =
  /\b(?:following|as follows|below|these|those)\b[^\n.!?:]{0,120}:[*_]{0,3}[ \t]*$/i;

// A shortcode or a component may show what is announced: an upload leaves it out.
const componentLine = /^\s*(?:\{\{[<%]|<[A-Z])/;

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
    const find = createFindSpan(page);
    for (const { path, nextLevel, start, end } of body.sections) {
      if (nextLevel === undefined || nextLevel <= (path.at(-1)?.level ?? 0)) continue;
      const last = text.slice(Math.max(start, end - 300), end).trimEnd();
      const line = last.slice(last.lastIndexOf("\n") + 1);
      if (!announcement.test(line)) continue;
      const lineStart = text.lastIndexOf(line, end);
      const span = find(lineStart, lineStart + line.length);
      if (span && componentLine.test(page.source?.slice(span.end, span.end + 200) ?? "")) continue;
      yield {
        message: "the section ends with a colon, and what it announces stands under other headings",
        span,
      };
    }
  },
};

// An empty first row, and the line below it: nothing else of a table has two such lines.
const emptyHeader = /^[ \t>]*\|[ \t|]*\|[ \t]*\n[ \t>]*\|?[ \t]*:?-+:?[ \t]*\|[-:| \t]*$/gm;
const mostRow = 2000;

/** Whether a row below the header has two cells with words. */
function hasWordsFrom(text: string, from: number): boolean {
  const row = text.slice(from, from + mostRow).split("\n")[1] ?? "";
  const cells = row.split("|").map((cell) => cell.replace(/!\[[^\]]*\]\([^)]*\)|<[^<>]*>/g, ""));
  return cells.filter((cell) => /[\p{L}\p{N}]/u.test(cell)).length > 1;
}

/** Where a table of another format than Markdown stands: its first cell that the file has as it is. */
function firstCell(
  text: string,
  from: number,
  find: (start: number, end: number) => Span | undefined,
): Span | undefined {
  const [line = ""] = /\n[^\n]*/.exec(text.slice(from, from + mostRow)) ?? [];
  for (const { 0: cell, index } of line.matchAll(/[^|\n]*[\p{L}\p{N}][^|\n]*/gu)) {
    const found = find(from + index, from + index + cell.length);
    if (found) return found;
  }
  return undefined;
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
    const find = createFindSpan(page);
    for (const { 0: header, index } of text.matchAll(emptyHeader)) {
      if (!isProse(index) || !hasWordsFrom(text, index + header.length)) continue;
      const end = text.indexOf("\n", index);
      const span = find(index, end) ?? firstCell(text, index + header.length, find);
      yield { message: "the table has no column names", span };
    }
  },
};

const fewest = 10;
// Ten words are shorter, with all their addresses.
const longestTiny = 5000;

function withoutHeadings({ text, structure }: Body): string {
  let rest = "";
  let from = 0;
  for (const { start, end } of structure?.headings ?? []) {
    rest += text.slice(from, start);
    from = end;
  }
  return rest + text.slice(from);
}

/** The description of a page, which is sent as metadata. */
const descriptionOf = ({ document }: LintPage): string =>
  Object.entries(document?.metadata ?? {})
    .filter(([key]) => prose.test(key))
    .flatMap(([, value]) => value)
    .join(" ");

/**
 * The words of a page besides its headings, with those of its description, if they are too few;
 * undefined for enough words.
 */
export function fewWords(page: LintPage): number | undefined {
  const body = bodyOf(page);
  if (body.text.length > longestTiny) return undefined;
  const words = countWords(`${withoutHeadings(body)}\n${descriptionOf(page)}`, fewest);
  return words < fewest ? words : undefined;
}

export const tiny: PageRule = {
  kind: "page",
  name: "tiny",
  group: "content",
  severity: "note",
  summary: `The page and its description have fewer than ${fewest} words besides headings`,
  advice:
    "A page of a few words matches many questions a little and answers none. " +
    "Write the answer itself, or move the sentence to the page that it belongs to.",
  bad: "# Parking\n\nSee the intranet.\n",
  good: "# Parking\n\nPark on level 2 of the garage. The gate opens with your badge from 6:00 to 22:00.\n",
  *check(page) {
    const words = fewWords(page);
    if (words === undefined || !hasWords(bodyOf(page).text)) return;
    const shown =
      words === 0
        ? "no words besides headings and addresses"
        : `${words} ${words === 1 ? "word" : "words"}`;
    yield { message: `${shown}, at least ${fewest} words are expected` };
  },
};

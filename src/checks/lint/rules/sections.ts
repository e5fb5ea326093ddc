import { bodyOf, titlesOf } from "../page/body.ts";
import { createFindSpan } from "../page/spans.ts";
import type { Found, LintPage, PageRule, Span } from "../rule.ts";
import { isWay } from "./little-text.ts";
import { estimateTokens } from "../../../documents/payload/payload.ts";

const part = "(?:section|chapter|example|paragraph|step|page|table|heading)";
// "In the previous section, we saw that …" says again what it was.
const saysAgain = ",? (?:we|you|i) (?!can|could|may|might|must|need|would)";
/** How a text refers back to another place of the page. */
const backward = new RegExp(
  [
    `as above\\b(?! all)`,
    `see above`,
    `(?:in|from|like|unlike) the (?:previous|preceding|above) ${part}s?\\b(?!${saysAgain})`,
    `the (?:above|preceding|previous) ${part}s?`,
    `(?:same|like|similar) (?:as|to) (?:the )?above`,
    `(?:in addition to|besides|unlike|instead of) the above(?=[,.:])`,
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
  severity: "note",
  summary: "A section begins by referring to text that is not in it",
  advice:
    'An answer is written from single sections. "The previous example" is a text that the model does not get. ' +
    "Repeat the fact in a few words, or name the place with a link.",
  bad: "# Travel\n\n## Hotels\n\nUp to 120 euros a night.\n\n## Trains\n\nIn the previous example, the limit is higher in Zurich.\n",
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

const longestOpening = 400;
// A name in a sentence, and code.
const named = /[\p{Ll}\p{N},;:] \p{Lu}[\p{L}\p{N}]|`[^`\n]+`|\p{Ll}\p{Lu}/u;

/** Whether the first lines of a section name what it is about; the address of a link does not. */
const namesSubject = (text: string): boolean =>
  named.test(
    text
      .slice(0, longestOpening)
      .replace(/\]\([^()\n]*\)|^#.*$/gm, "")
      .replace(/\s+/g, " "),
  );

export const genericHeading: PageRule = {
  kind: "page",
  name: "generic-heading",
  group: "content",
  severity: "warning",
  summary: "Neither the page's title nor a section's headings and first words name a subject",
  advice:
    'Hundreds of pages have a section "Overview". Taken by itself, such a section does not show what it is about. ' +
    "Name the subject in the title of the page, or in the heading.",
  bad: "# Introduction\n\n## Overview\n\nIt pays a part of your rent for the first year.\n",
  good: "# Help with moving\n\n## Overview\n\nIt pays a part of your rent for the first year.\n",
  *check(page) {
    if (!page.document) return;
    const { title, semantic_identifier: name } = page.document;
    if (!isGeneric(title ?? name) || isWay(page)) return;
    const body = bodyOf(page);
    const find = createFindSpan(page);
    for (const section of body.sections) {
      const { path, start, end } = section;
      const heading = path.at(-1);
      const titles = titlesOf(section);
      const own = body.text.slice(start, end);
      if (!heading || own.trim() === "" || titles.some((each) => !isGeneric(each))) continue;
      if (namesSubject(own)) continue;
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
const tags = /<\/?[a-z][^<>]*>/gi;
// squidfunk.github.io/mkdocs-material, "Setting up site search > Excluding sections".
const isNotSearched = /\bdata-search-exclude\b/;

// Not Intl: its first use costs 10 ms.
const shown = (tokens: number): string =>
  String(Math.ceil(tokens / 100) * 100).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");

function problemOf(text: string, name: string): string | undefined {
  // Colours of code and icons in a table are no words.
  const tokens = text.length <= mostTokens ? 0 : estimateTokens(text.replace(tags, ""));
  if (tokens <= mostTokens) return undefined;
  return `${name} has about ${shown(tokens)} tokens, at most ${shown(mostTokens)} are expected`;
}

export const hugeSection: PageRule = {
  kind: "page",
  name: "huge-section",
  group: "content",
  severity: "note",
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
    if (text.length <= mostTokens || chroniclePage.test(page.path)) return;
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
      const title = titlesOf(section).at(-1) ?? "";
      if (chronicle.test(title) || isNotSearched.test(heading?.text ?? "")) continue;
      const name = heading ? `the section "${title}"` : "the text";
      const message = problemOf(text.slice(start, end), name);
      if (message === undefined) continue;
      yield { message, span: heading && find(heading.start, heading.end) };
    }
  },
};

// A label above a list that the site makes: it has no text of its own.
const tableOfContents = /^(?:table of )?contents$|^on this page$/i;

// Lists of what was: nobody divides them, and nobody asks for their parts.
const chronicle =
  /^(?:full |detailed |complete )?change ?logs?\b|^(?:new )?contributors\b|^translations$/i;
const chroniclePage = /(?:^|\/)(?:change-?log|changes|history|release[-_]?notes|news)\.\w+$/i;

/** Headings at which `sections: headings` begins a section. */
const splitLevels = 3;

// quarto.org, "Callout Blocks", "Tabsets", and columns: the first heading is the title of the box.
const opensBox = /(?:^|\n)[ \t]*:{3,}[ \t]*[\w{][^\n]*\s*$/;

/** Whether a heading is no part of the outline of its page: another file has it, or it is the title of a box. */
function isApart({ source }: LintPage, span: Span | undefined): boolean {
  if (source === undefined) return false;
  return !span || opensBox.test(source.slice(Math.max(0, span.start - 300), span.start));
}

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
    const find = createFindSpan(page);
    let first: Found | undefined;
    let count = 0;
    let last = 6;
    for (const { level, start, end, text: heading } of body.structure?.headings ?? []) {
      // Sections begin at levels 1 to 3: only a heading below them loses its section.
      if (level > splitLevels && last + 1 <= splitLevels && !tableOfContents.test(heading)) {
        const span = find(start, end);
        const message = `a heading of level ${level} follows one of level ${last}`;
        if (!isApart(page, span)) {
          count++;
          first ??= { message, span };
        }
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
      // Its reader may have written the sentences before it in another way.
      const from = /^(?:[^]*[.!?]\s+)?/.exec(line)?.[0].length ?? 0;
      const span = find(lineStart + from, lineStart + line.length);
      // Another file, which several pages may include, says so.
      if (!span && page.source !== undefined) continue;
      if (span && componentLine.test(page.source?.slice(span.end, span.end + 200) ?? "")) continue;
      yield {
        message: "the section ends with a colon, and what it announces stands under other headings",
        span,
      };
    }
  },
};

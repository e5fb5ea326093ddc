import { bodyOf, type Body, hasWords, countWords, spanOfKey } from "../page/body.ts";
import { quoted } from "../page/spans.ts";
import type {
  Cause,
  FolderFound,
  FolderRule,
  LintPage,
  PageFact,
  PageRule,
  Span,
} from "../rule.ts";
import { isAdoc } from "../page/anchors.ts";
import { antoraPage } from "./dead-links.ts";
import { type Site, siteOf } from "../../../documents/site/sites.ts";
import type { Parsed } from "../../../documents/formats/format.ts";
import { prose } from "./metadata.ts";

// A page without a word is short: a longer one consists of text.
const longest = 5000;

/** Keys of pages that a layout writes: their own text is in the front matter, or there is none. */
const layoutKeys = ["layout", "template", "hero", "type", "pageClass", "listing"];

const frontMatterAlone = /^(---|\+\+\+)[ \t]*\r?\n[^]*?\n\1\s*$/;
const comment = /<!--[^]*?-->/g;

const indexPage = /(?:^|\/)(?:_?index|readme)\.\w+$/i;

// These generators fill no page by its front matter, and these keys say what a text is about.
const showsText = /^(?:mkdocs|mdbook|docfx|quarto)$/;
const aboutText =
  /^(?:title|subtitle|id|uid|description|author|authors|date|lang|tags|keywords|categories|ms\..*)$/;

/** Whether a page of nothing but front matter still lacks its text. */
function isMeantAsText(generator: string | undefined, { frontMatter }: Parsed): boolean {
  const keys = Object.keys(frontMatter?.data ?? {});
  return (
    showsText.test(generator ?? "") && keys.length > 0 && keys.every((key) => aboutText.test(key))
  );
}

/** jekyllrb.com, "Collections": without front matter, a file of one is no page; others may include it. */
const isPartOfJekyll = (site: Site | undefined, path: string, { frontMatter }: Parsed): boolean =>
  site?.generator === "jekyll" && !frontMatter && path.slice(site.prefix.length).startsWith("_");

/**
 * Whether the site makes the text of a page: `_index.md` of Hugo lists its pages, a layout fills itself,
 * and nothing but front matter is a redirection, an entry of a menu or the page of an interface.
 */
const isMadeBySite = ({ path, parsed, settings, source = "" }: LintPage): boolean =>
  /(?:^|\/)_index\.\w+$/.test(path) ||
  isPartOfJekyll(siteOf(path, settings), path, parsed) ||
  (!isMeantAsText(siteOf(path, settings)?.generator, parsed) &&
    (indexPage.test(path) || siteOf(path, settings) !== undefined) &&
    frontMatterAlone.test(/\.html?$/.test(path) ? source.replace(comment, "") : source)) ||
  layoutKeys.some((key) => Object.hasOwn(parsed.frontMatter?.data ?? {}, key));

// Text in ignore regions is left out on purpose.
const isEmpty = ({ skipped, parsed }: LintPage): boolean =>
  skipped?.startsWith("empty: ") === true && parsed.body.trim() === "";

/** Whether a page of a site, or of HTML, is nothing but the mark of a program: the rule text-elsewhere has one finding for all. */
const isOfProgram = (page: LintPage): boolean =>
  (siteOf(page.path, page.settings) !== undefined || /\.html?$/i.test(page.path)) &&
  programOf(page) !== undefined;

// Proofs of ownership, keys, rules for robots, and a path in place of a link to another file.
const forPrograms =
  /^\s*(?:google-site-verification:|-----BEGIN PGP PUBLIC|User-agent:|@?[\w./-]+\.md\s*$)/i;

const namesForPrograms = /(?:^|\/)(?:robots|humans)\.txt$/i;

/** Whether a file has a text for programs. */
export const isForPrograms = ({ path, source = "" }: LintPage): boolean =>
  forPrograms.test(source) || namesForPrograms.test(path);

/** Whether a PDF lies among pictures: it is one itself. */
export const isPicture = ({ path }: LintPage): boolean =>
  /(?:^|\/)(?:images?|img|fig(?:ure)?s?|logos?|icons?)\/.*\.pdf$/i.test(path);

// Targets, substitutions, attributes and comments alone: other pages include them.
const definition = /^(?:[ \t].*|:orphan:\s*|\.\.(?![ \t]+[\w:+-]+::).*|\s*)$/;
const definitionOfAdoc = /^(?:\/\/.*|:!?[\w-]+!?:.*|\s*)$/;
const isOfDefinitions = (page: LintPage): boolean => {
  const { path, source = "" } = page;
  const isPart = path.endsWith(".rst") || (isAdoc(page) && !antoraPage.test(path));
  const pattern = isAdoc(page) ? definitionOfAdoc : definition;
  return isPart && source.trim() !== "" && source.split("\n").every((line) => pattern.test(line));
};

// docs.antora.org, "Resource ID Coordinates": a file of another component or version.
const foreignInclude = /^include::[^\n[\]]*(?:@[^\n[\]]*:|:[^\n[\]]*:)[^\n[\]]*\[/m;

const textOfOthers: Cause = {
  key: "includes",
  least: 0,
  what: "pages only include files of components that are not here",
};

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
    const { document } = page;
    if (isForPrograms(page) || isPicture(page) || page.parsed.isSlide) return;
    if (isEmpty(page) && !isMadeBySite(page) && !isOfProgram(page) && !isOfDefinitions(page)) {
      const message = `the page is not sent: ${page.skipped?.slice("empty: ".length)}`;
      const isElsewhere = isAdoc(page) && foreignInclude.test(page.source ?? "");
      yield { message, cause: isElsewhere ? textOfOthers : undefined };
    }
    if (!document || document.sections.some((each) => each.image_file_id !== undefined)) return;
    const { text } = bodyOf(page);
    if (text.length < longest && !hasWords(text) && !isOfProgram(page) && !isMoved(page)) {
      yield { message: "no words: the page consists of markup and images" };
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

// What stands in place of a text that a program writes: directives that read programs and their
// configuration, those of mkdocstrings, shortcodes, loops of templates, scripts, pages of another
// site in a frame, and components.
const programs = [
  /^[ \t]*(?:\.\. |(?:`{3,}|~{3,}|:{3,})\{)(?:auto[a-z]+|doxygen[a-z]*|click|argparse|openapi|jinja)(?:::|\})[^\n]*/m,
  /^::: [A-Za-z_](?:[\w-]*\w)?(?:(?:\.\w+)+|\s*(?![^])|[ \t]*\n[ \t]+:\w+:)/m,
  /\{\{[<%](?!\s*\/?\s*(?:rel)?ref\b)[^\n]*|\{%-?\s*(?:for|include)\b[^\n]*/,
  // quarto.org, "Citations > Bibliography Generation", and cells that run.
  /^:{3,}[ \t]*\{#refs\}[^\n]*/m,
  /^[ \t]*`{3,}\{(?:r|python|julia|ojs)\b[^\n]*/m,
  /<(?:script|iframe)\b[^\n]*/i,
  /^[ \t]*<[A-Z]\w*[^\n]*/m,
];
// mintlify.com, "OpenAPI setup": the page describes an interface.
const programKeys = ["openapi", "asyncapi", "api"];
const listOfPages = /^[ \t]*(?:\.\. |(?:`{3,}|~{3,}|:{3,})\{)toctree(?:::|\})/m;
const moved =
  /\b(?:has|have|had|was|were|is|are)(?: \w+){0,2} (?:moved|relocated)\b|\bmoved (?:to|into|here)\b/i;
const mostOfMoved = 40;
const redirect = /<meta\s[^<>]*http-equiv=["']?refresh\b/i;

/** Whether a page only says where its text is now. */
export function isMoved(page: LintPage): boolean {
  const body = bodyOf(page);
  // "The page may have moved."
  if (/(?:^|\/)404\.\w+$/.test(page.path)) return false;
  if (redirect.test(page.source ?? "") && !hasWords(body.text)) return true;
  if (body.text.length > longestTiny || !moved.test(body.text)) return false;
  return countWords(withoutHeadings(body), mostOfMoved) < mostOfMoved;
}

/** Whether a page of few words leads to others: a table of contents, or the index of a folder of a site. */
export function isWay(page: LintPage): boolean {
  const { path, settings, source = "" } = page;
  if (fewWords(page) === undefined) return false;
  return listOfPages.test(source) || (indexPage.test(path) && siteOf(path, settings) !== undefined);
}

/** Where a page names the program that writes its text; undefined if none does. */
function programOf(page: LintPage): Span | undefined {
  const { parsed, source = "" } = page;
  const data = parsed.frontMatter?.data ?? {};
  const key = programKeys.find((each) => typeof data[each] === "string");
  const ofKey = key === undefined ? undefined : spanOfKey(page, key);
  if (ofKey) return ofKey;
  for (const pattern of programs) {
    const found = pattern.exec(source);
    if (found) return { start: found.index, end: found.index + found[0].trimEnd().length };
  }
  return undefined;
}

// "Use `get` from the toolbox instead of `fetch`.": an answer, unless it leads elsewhere.
const fewestOfSentence = 6;
const leadsAway = /^\s*(?:please\s+)?(?:see|refer|go|read)\b/i;

// Behind the sentence: definitions, and links on lines of their own.
const linkLines =
  /^[ \t]*(?:\[[^\]\n]+\]:[^\n]*|\[[^\]\n]*\](?:\([^()\n]*\)|\[[^\]\n]*\])|<[^<>\n]*>)[ \t]*$/gm;

function isSentence(page: LintPage): boolean {
  const text = withoutHeadings(bodyOf(page)).replace(linkLines, "");
  return /[.!。！]["')\]]*\s*$/.test(text) && !leadsAway.test(text);
}

export const tiny: PageRule = {
  kind: "page",
  name: "tiny",
  group: "content",
  severity: "note",
  summary: `The page and its description have fewer than ${fewest} words besides headings`,
  advice:
    "A page of a few words matches many questions a little and answers none. " +
    "Write the answer itself, or move the sentence to the page that it belongs to. " +
    "A whole sentence of six words is enough, if it does not lead elsewhere.",
  bad: "# Parking\n\nSee the intranet.\n",
  good: "# Parking\n\nPark on level 2 of the garage. The gate opens with your badge from 6:00 to 22:00.\n",
  *check(page) {
    const words = fewWords(page);
    if (words === undefined || !hasWords(bodyOf(page).text)) return;
    // One decision is an answer to all of them: the rule text-elsewhere.
    if (isWay(page) || isMoved(page) || programOf(page) || page.parsed.isSlide) return;
    if (isForPrograms(page) || (words >= fewestOfSentence && isSentence(page))) return;
    const shown =
      words === 0
        ? "no words besides headings and addresses"
        : `${words} ${words === 1 ? "word" : "words"}`;
    yield { message: `${shown}, at least ${fewest} words are expected` };
  },
};

interface ElsewhereFact {
  /** The place of a program's mark, and its text; undefined where the page says that it has moved. */
  program?: { text: string; span: Span } | undefined;
}

function collectElsewhere(page: LintPage): ElsewhereFact | undefined {
  if (page.part !== 0) return undefined;
  if (isEmpty(page)) {
    if (isMadeBySite(page) || !isOfProgram(page)) return undefined;
  } else if (!page.document) return undefined;
  else if (isMoved(page)) return {};
  else if (fewWords(page) === undefined || isWay(page)) return undefined;
  else if (!hasWords(bodyOf(page).text) && !isOfProgram(page)) return undefined;
  const span = programOf(page);
  return (
    span && { program: { text: quoted(page.source?.slice(span.start, span.end) ?? ""), span } }
  );
}

type Elsewhere = readonly PageFact<ElsewhereFact>[];

/** One finding for all pages of a kind. */
function* foundElsewhere(
  pages: Elsewhere,
  one: (first: ElsewhereFact) => string,
  many: (count: number, first: ElsewhereFact) => string,
): Generator<FolderFound> {
  const [first] = pages;
  if (!first) return;
  const { path, part, row, fact } = first;
  const message = pages.length === 1 ? one(fact) : many(pages.length, fact);
  yield { path, part, row, span: fact.program?.span, message };
}

/** Pages whose title is found, and whose text is not theirs. */
export const textElsewhere: FolderRule<ElsewhereFact> = {
  kind: "folder",
  name: "text-elsewhere",
  group: "content",
  severity: "note",
  summary: "A program writes the text of pages when the site is built, or the text has moved",
  advice:
    "A question finds such a page by its title, and the page has no answer. Send the built pages, or exclude " +
    "the files. A page that only says where its text is now can go when no link leads to it. " +
    "A project has one finding for programs and one for pages that have moved.",
  bad: "# Accounts of the ledger\n\n::: ledger.accounts\n",
  good: "# Accounts of the ledger\n\nAn account has a number of six digits, an owner and a balance in euros.\n\n::: ledger.accounts\n",
  collect: collectElsewhere,
  *compare(facts) {
    const [ofPrograms, ofMoved] = [true, false].map((isProgram) =>
      facts.filter(({ fact }) => (fact.program !== undefined) === isProgram),
    );
    yield* foundElsewhere(
      ofPrograms ?? [],
      ({ program }) => `a program writes the text when the site is built: ${program?.text}`,
      (count, { program }) =>
        `programs write the text of ${count} pages when the site is built; this is the first: ${program?.text}`,
    );
    yield* foundElsewhere(
      ofMoved ?? [],
      () => "the page only says where its text is now",
      (count) => `${count} pages only say where their text is now; this is the first`,
    );
  },
};

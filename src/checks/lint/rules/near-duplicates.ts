import { hash } from "node:crypto";
import type {
  Cause,
  FolderFound,
  FolderRule,
  LintPage,
  PageFact,
  ComparedPage,
  Span,
  Rule,
} from "../rule.ts";
import {
  commonFolder,
  documentName,
  findRepeated,
  haveSameName,
  isPost,
  languageOf,
  versionInName,
  versionOf,
} from "../folder.ts";
import { signatureOf, similarityOf, findSimilar } from "../page/similar.ts";
import { posix } from "node:path";
import { bodyOf, piecesOutside } from "../page/body.ts";
import { isPicture } from "./little-text.ts";
import { createFindSpan } from "../page/spans.ts";
import { claimOf, type Claim, proseSentences } from "../page/claims.ts";

/** Share of common sequences of words from which on two documents count as nearly the same. */
const threshold = 0.8;
/** The share for documents of two titles: below it, one form describes two things. */
const thresholdOfTwo = 0.9;

interface TextFact {
  signature: string;
  /** Of the text without code; undefined for a short one. */
  prose: string | undefined;
  /** Hashes of the text and of the title. */
  text: string;
  title: string;
  /** Whether the title is the name of an object of a program: a reference describes each in one form. */
  isObject: boolean;
}

const objectName = /^\S*(?:\p{Ll}\p{Lu}|\w[._:]\w|\()\S*$/u;

/**
 * Whether most of the text comes from other files: what two pages include is written once, and
 * nothing is to be moved.
 */
function isIncluded({ source, parsed }: LintPage, texts: readonly string[]): boolean {
  if (source === undefined) return false;
  const written = source.length - (parsed.frontMatter?.block.length ?? 0);
  return texts.reduce((sum, { length }) => sum + length, 0) > 2 * written;
}

/** The text of a page without its code. */
function proseOf(page: LintPage): string[] {
  const { text, structure } = bodyOf(page);
  return piecesOutside(text, structure?.opaque);
}

// docusaurus.io, "Versioning": a version is a copy of all pages on its day.
const isSnapshot = ({ path }: Page): boolean => /(?:^|\/)versioned_docs\//.test(path);

function collectText(page: LintPage): TextFact | undefined {
  if (!page.document) return undefined;
  const texts = page.document.sections.map(({ text = "" }) => text);
  if (isIncluded(page, texts) || page.parsed.isSlide || isPicture(page)) return undefined;
  const signature = signatureOf(texts);
  if (!signature) return undefined;
  const prose = signatureOf(proseOf(page));
  const hashOf = (value: string): string => hash("sha256", value, "hex").slice(0, 16);
  const title = page.document.title ?? page.document.semantic_identifier;
  return {
    signature,
    prose,
    text: hashOf(texts.join("\n")),
    title: hashOf(title.toLowerCase()),
    isObject: objectName.test(title) || texts.some((each) => each.includes(`\`${title}\``)),
  };
}

type Page = PageFact<TextFact>;

interface Pair {
  later: Page;
  first: Page;
  similarity: number;
}

// A copy of a folder, or a form that many pages fill in, is one cause: with more pairs, it is one finding.
const mostPairs = 3;

const stemOf = (path: string): string | undefined => /^(?:.*\/)?[^/.]+/.exec(path)?.[0];
/** Whether a file stands in two formats: `a.qmd` and `a.html.md`. */
const isBeside = (one: string, other: string): boolean =>
  stemOf(one) !== undefined && stemOf(one) === stemOf(other);

/**
 * What a copy has in common with others: the document that all copy, and the folder above pairs of the
 * same name, which has versions, languages or copies of folders.
 */
function causeOf({ later, first }: Pair): Cause {
  const each = documentName(later);
  const what = "documents have its text, or nearly";
  const cause: Cause = { key: documentName(first), least: mostPairs, each, what };
  if (isBeside(later.path, first.path)) {
    const beside = "documents have the text of the one beside them in another format, or nearly";
    return { ...cause, wider: { ...cause, key: "beside", what: beside } };
  }
  if (!haveSameName(later.path, first.path)) return cause;
  const key = `copies below ${commonFolder(later.path, first.path)}`;
  const ofFolder = "documents have the text of one with the same name elsewhere, or nearly";
  return { ...cause, wider: { ...cause, key, what: ofFolder } };
}

function foundAt(pair: Pair): FolderFound {
  const { later, first, similarity } = pair;
  const { path, part, row, fact } = later;
  const name = documentName(first);
  const isSame = fact.text === first.fact.text;
  const message = isSame
    ? `the text is that of ${name}`
    : `the text is nearly that of ${name}: ${shareOf(similarity)} are in both`;
  const wider = causeOf(pair);
  // Copies of one text are one question, also of few.
  const copy = { ...wider, key: `text of ${name}`, least: 1, what: "documents have its text" };
  return { path, part, row, message, cause: isSame ? { ...copy, wider } : wider };
}

/** For a message: an estimate from 120 values. */
function shareOf(similarity: number): string {
  const share = similarity > 0.99 ? "nearly all" : `about ${Math.floor(similarity * 100)} % of all`;
  return `${share} sequences of five words`;
}

const leave = `Employees have 28 days of leave in each calendar year. Ask your team lead for leave in the
portal, at least two weeks before the first day. The team lead answers within three working days. You can
carry five days over to the next year, and you use them until the end of March. A doctor's note stops
your leave: the days of illness come back to your account.`;

const kept = `<!-- file: leave.md -->\n# Leave\n\n${leave}\n\nQuestions: people@example.com.\n`;

/** Documents with nearly the same text. */
export const nearDuplicate: FolderRule<TextFact> = {
  kind: "folder",
  name: "near-duplicate",
  group: "near-duplicates",
  severity: "warning",
  summary: "Two documents have nearly the same text",
  advice:
    "Both take a place among the few documents that an answer is made from. When one is corrected, the " +
    "other stays wrong. Keep one page and link to it, move the common text to a page of its own, or skip " +
    "copies with `ingest: false`. The rule reports documents that have about 80 % or more of all their " +
    "sequences of five words in common, with different titles 90 %, at the later document; more than three copies of one document, or below one folder, are one finding. Languages and versions in folders of their own, and versions in names of files, are " +
    "compared for equal text only. Pages whose text is included from other files are not compared.",
  bad: `<!-- file: leave-2024.md -->\n# Leave\n\n${leave}\n\n${kept}`,
  good: `<!-- file: leave-2024.md -->\n---\ningest: false\n---\n# Leave\n\n${leave}\n\n${kept}`,
  collect: collectText,
  *compare(facts) {
    // Other languages and versions of a page resemble it for a reason.
    const editions = new Map<string, Page[]>();
    for (const page of facts) {
      const { path } = page;
      const key = [languageOf(path), versionOf(path), versionInName(path)].join("\n");
      const edition = editions.get(key);
      if (edition) edition.push(page);
      else editions.set(key, [page]);
    }
    const pairs = new Map<Page, Pair>();
    for (const edition of editions.values()) {
      const signatures = edition.map(({ fact }) => fact.signature);
      for (const { index, first, similarity } of findSimilar(signatures, threshold)) {
        const [later, other] = [edition[index]!, edition[first]!];
        // The same example under two explanations is no copy.
        const { prose = "", ...fact } = later.fact;
        const { prose: otherProse = "" } = other.fact;
        if (prose && otherProse && similarityOf(prose, otherProse) < threshold) continue;
        const isOfTwo = fact.title !== other.fact.title;
        const least = fact.isObject || other.fact.isObject ? 1 : thresholdOfTwo;
        if (isOfTwo && similarity < least) continue;
        pairs.set(later, { later, first: other, similarity });
      }
    }
    // Another language or version with the same text.
    for (const [later, first] of findRepeated(facts, ({ fact }) => fact.text)) {
      if (isSnapshot(later) || isSnapshot(first)) continue;
      if (!pairs.has(later)) pairs.set(later, { later, first, similarity: 1 });
    }
    for (const pair of pairs.values()) yield foundAt(pair);
  },
};

interface ClaimFact extends Claim {
  span?: Span | undefined;
}

// A page with more of them is a list of numbers.
const mostClaims = 100;
// What more documents say in different ways is a form that each of them fills in.
const mostDocuments = 5;

function collectClaims(page: LintPage): ClaimFact[] | undefined {
  if (!page.document || isPost(page.path)) return undefined;
  const find = createFindSpan(page);
  const claims: ClaimFact[] = [];
  for (const sentence of proseSentences(bodyOf(page).text)) {
    const claim = claimOf(sentence);
    if (!claim) continue;
    if (claims.length === mostClaims) return undefined;
    claims.push({ ...claim, span: find(sentence.start, sentence.end) });
  }
  return claims.length > 0 ? claims : undefined;
}

/** The same sentence in a document. */
interface Saying {
  page: ComparedPage;
  claim: ClaimFact;
}

/** The documents that say each sentence, in the order of the facts. */
function groupSayings(facts: readonly PageFact<ClaimFact[]>[]): Iterable<Saying[]> {
  const groups = new Map<string, Saying[]>();
  for (const { fact, ...page } of facts) {
    const version = versionOf(page.path);
    for (const claim of fact) {
      const key = `${claim.key} ${version}`;
      const group = groups.get(key);
      if (!group) groups.set(key, [{ page, claim }]);
      // One more than disagreeing() accepts is enough.
      else if (group.length <= mostDocuments) group.push({ page, claim });
    }
  }
  return groups.values();
}

/** Whether a document is about its number: `after-14-days.md`. */
function isNamedAfter({ page, claim }: Saying): boolean {
  const inName = new Set(posix.basename(page.path).match(/\d+/g));
  return claim.numbers.split(", ").some((number) => inName.has(number));
}

/** The sayings that differ from the first; none if the sentence is a form rather than a claim. */
function disagreeing(group: readonly Saying[]): readonly Saying[] {
  const [first] = group;
  const pages = new Set(group.map(({ page }) => page));
  const values = new Set(group.map(({ claim }) => claim.numbers));
  if (!first || values.size !== 2 || pages.size !== group.length || pages.size > mostDocuments)
    return [];
  if (group.some((saying) => isNamedAfter(saying))) return [];
  return group.filter(({ claim }) => claim.numbers !== first.claim.numbers);
}

/** Documents that say the same with other numbers. */
export const numbersDisagree: FolderRule<ClaimFact[]> = {
  kind: "folder",
  name: "numbers-disagree",
  group: "near-duplicates",
  severity: "note",
  summary: "Two documents have the same sentence with different numbers",
  advice:
    "One of the numbers may be out of date, and an answer may cite either. Correct one sentence, or " +
    "write in both what the number depends on. The rule compares whole sentences with a quantity, such as " +
    "`28 days` or `5 %`; versions in folders of their own may differ.",
  bad: "<!-- file: leave.md -->\n# Leave\n\nEmployees get 28 days of leave in each calendar year.\n\n<!-- file: welcome.md -->\n# Welcome\n\nEmployees get 25 days of leave in each calendar year.\n",
  good: "<!-- file: leave.md -->\n# Leave\n\nEmployees get 28 days of leave in each calendar year.\n\n<!-- file: welcome.md -->\n# Welcome\n\nThe page about leave says how many days you get.\n",
  collect: collectClaims,
  *compare(facts) {
    for (const group of groupSayings(facts)) {
      const [first] = group;
      for (const { page, claim } of disagreeing(group)) {
        const { path, part, row } = page;
        const other = first ? `${documentName(first.page)} says ${first.claim.numbers}` : "";
        const message = `these two disagree: "${claim.text}", but ${other}`;
        yield { path, part, row, span: claim.span, message };
      }
    }
  },
};

/** Documents that say the same, or nearly. */
export const nearDuplicateRules: readonly Rule[] = [nearDuplicate, numbersDisagree];

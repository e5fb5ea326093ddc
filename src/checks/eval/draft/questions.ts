import { plainText } from "../../../documents/text/heading-text.ts";
import { scanStructure, type Structure } from "../../../documents/text/structure.ts";
import { englishQuestion, isGeneric, topicOf, type Part } from "./english.ts";

import { usageOf } from "./phrases.ts";

/** What questions are drafted from. */
interface PageWords {
  title: string;
  /** Markdown texts of the document's sections. */
  texts: readonly string[];
}

/** A drafted question. */
export interface DraftQuestion {
  text: string;
  /** It is no question but words that people search for: the language of the page is not known. */
  isSearch: boolean;
}

const longestHeading = 90;
const fewestWords = 12;
/** Of one page: the first ones give more questions than anybody takes. */
const mostHeadings = 200;

/** One line without icons, numbers and characters that people do not see. */
function clean(text: string): string {
  return (
    plainText(text)
      // Icons of MkDocs and GitHub: `:simple-github:`.
      .replace(/(?<![^\s(]):[a-z0-9_+-]+:(?:\{[^{}]*\})?/g, "")
      .replace(/[\p{Cf}\p{Co}\p{Cn}\p{Extended_Pictographic}\ufe0f]/gu, (char) =>
        /[\d#*]/.test(char) ? char : "",
      )
      .replace(/[\p{Cc}\s]+/gu, " ")
      .trim()
      .replace(/(?<=\p{L}{3})\s*\([^()]*\)$/u, "")
      .replace(/^(?:(?:step|part|chapter|task|section) )?\d+(?:\.\d+)*\s?[.:)–-]\s+/i, "")
      .replace(/^\d+(?:\.\d+)+\s+(?=\p{Lu})/u, "")
      .replace(
        /\s*[([](?:optional|deprecated|advanced|beta|experimental|recommended|new)[)\]]$/i,
        "",
      )
      .replace(/[.:¶]+$/, "")
  );
}

/** The page itself, then its sections. */
function partsOf(title: string, text: string, { headings: all }: Structure): Part[] {
  const headings = all.slice(0, mostHeadings);
  const endOf = (index: number): number => {
    const { level = 0 } = headings[index] ?? {};
    const next = headings.slice(index + 1).find((each) => each.level <= level);
    return next?.start ?? text.length;
  };
  const sections = headings.map((heading, index) => ({
    heading: clean(heading.text),
    own: text.slice(heading.end, headings[index + 1]?.start ?? text.length),
    whole: text.slice(heading.end, endOf(index)),
  }));
  const [first] = sections;
  const intro = text.slice(0, headings[0]?.start ?? text.length);
  const isTitled = first?.heading.toLowerCase() === title.toLowerCase();
  const page = {
    // "Restore a backup - Relay": the name of the site is no part of it.
    heading: title.split(/ [|–—] | - /)[0] ?? title,
    own: isTitled && intro.trim() === "" ? (first?.own ?? "") : intro,
    whole: text,
  };
  return [page, ...(isTitled ? sections.slice(1) : sections)].filter(
    ({ heading }) => heading !== "" && heading.length <= longestHeading,
  );
}

/** Without the sections whose heading stands again on the page: it names a part of each of several things. */
function ownParts(parts: readonly Part[]): Part[] {
  const counts = new Map<string, number>();
  for (const { heading } of parts) counts.set(heading, (counts.get(heading) ?? 0) + 1);
  return parts.filter(({ heading }) => counts.get(heading) === 1);
}

// Small words of English, and of German, French, Spanish, Portuguese, Italian, Dutch, Swedish, Polish and Turkish.
const english =
  /^(?:the|of|and|to|is|for|that|with|this|you|can|are|be|it|by|if|from|your|not|which|when|has|have)$/;
const foreign =
  /^(?:der|die|das|und|ist|nicht|ein|eine|mit|für|den|wird|le|la|les|des|est|une|pour|dans|el|los|las|una|para|con|por|não|uma|os|em|il|di|che|het|een|van|och|att|som|är|w|się|na|jest|ve|bir|için)$/;
// Pages about what was, in order of time: nobody asks for their headings.
const chronicle =
  /^(?:changelog|change log|release notes|releases|news|what'?s new|history|license|licence|code of conduct|contributors|authors|credits|roadmap)\b|\brelease notes$/i;
const languageWords = 400;

/** Whether a text is in another language than English, by its letters and its small words. */
function isForeign(lower: string): boolean {
  const words = lower.match(/\p{L}+/gu)?.slice(0, languageWords) ?? [];
  const count = (pattern: RegExp): number => words.filter((word) => pattern.test(word)).length;
  return count(/\P{Script=Latin}/u) * 5 > words.length || count(foreign) > count(english);
}

const sentenceEnds = /\p{L}[.!?](?=\s|$)|[。！？]/gu;

/**
 * Of a page in another language: its headings that are questions, else `Title: heading`, which people type into
 * a search in every language. The forms of English would be wrong around its words.
 */
function otherQuestions(parts: readonly Part[], title: string): DraftQuestion[] {
  const isLong = (text: string): boolean => /\s/.test(text) || text.length > 12;
  const asked = parts.filter(({ heading }) => asks.test(heading) && isLong(heading));
  const questions = asked.map(({ heading }) => ({ text: heading, isSearch: false }));
  const others = parts.filter(
    ({ heading, own }) =>
      heading !== title && !asked.some((each) => each.heading === heading) && hasText(own),
  );
  const searches = others.map(({ heading }) => ({ text: `${title}: ${heading}`, isSearch: true }));
  return [...questions, ...(title === "" ? [] : searches)];
}

// Scripts whose words are not separated by spaces.
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;

const hasText = (text: string): boolean =>
  (text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) >= fewestWords ||
  (text.match(unspaced)?.length ?? 0) >= 2 * fewestWords;

const asks = /[?？؟]$/;

/** Whether a part says enough to answer a question; a short answer suits a question of the page's own. */
const isAnswered = ({ heading, whole }: Part): boolean =>
  hasText(whole) || (asks.test(heading) && /[\p{L}\p{N}]/u.test(whole));

/** The questions that a page answers, as people ask them, the surest first; none if its headings give none. */
export function draftQuestions({ title: raw, texts }: PageWords): DraftQuestion[] {
  const text = texts.join("\n\n");
  const title = clean(raw);
  if (chronicle.test(title)) return [];
  const structure = scanStructure(text);
  const parts = ownParts(partsOf(title, text, structure)).filter(isAnswered);
  const usage = usageOf(text, structure);
  if (isForeign(usage.lower)) {
    // A list of names has no language.
    const isText = (usage.lower.match(sentenceEnds)?.length ?? 0) >= 3;
    return isText ? otherQuestions(parts, title) : [];
  }
  const topic = topicOf(title, usage);
  const ranked = parts
    .map((part) => englishQuestion(part, topic, usage))
    .filter((each) => each !== undefined);
  return ranked
    .toSorted((a, b) => a.rank - b.rank)
    .map((each) => ({ text: each.text, isSearch: false }));
}

/** Words to search for, of a page whose headings give no question: a person makes a question of them. */
export function draftSearches({ title: raw, texts }: PageWords): DraftQuestion[] {
  const text = texts.join("\n\n");
  const title = clean(raw);
  if (chronicle.test(title)) return [];
  const parts = ownParts(partsOf(title, text, scanStructure(text)));
  return otherQuestions(
    parts.filter((part) => isAnswered(part) && !isGeneric(part.heading)),
    title,
  );
}

const asking =
  /^(?:how|do|does|did|what|which|when|where|who|why|is|are|can|could|should|will|i|a|an|the|my|to|of|in|on|for|there|have|has)$/;
const sameVerbs = new Map([
  ["setup", "configure"],
  ["create", "add"],
  ["make", "add"],
  ["delete", "remove"],
  ["modify", "change"],
  ["edit", "change"],
  ["update", "change"],
  ["customize", "configure"],
  ["choose", "select"],
  ["run", "start"],
  ["execute", "start"],
]);

/** What a question asks, whatever its small words are: equal texts ask the same. */
export function meaningOf(question: string): string {
  const words =
    question
      .toLowerCase()
      .replace(/\bset up\b/g, "setup")
      .match(/[\p{L}\p{N}_]+/gu) ?? [];
  const stems = words
    .filter((word) => !asking.test(word))
    .map(
      (word) =>
        sameVerbs.get(word) ??
        word.replace(/(?<=\p{L}{3})(?:ies|y)$/u, "i").replace(/(?<=\p{L}{2})(?:es|s)$/u, ""),
    );
  return [...new Set(stems)].sort().join(" ");
}

import type { Structure } from "../../../documents/text/structure.ts";

/** What the text of a page tells about the words of its headings. */
export interface Usage {
  /** Prose in lower case, without code and headings. */
  lower: string;
  /** The same as written. */
  prose: string;
}

// Each word of a heading is searched in the prose.
const longestProse = 100_000;

/** Reads the prose of Markdown: without code, headings, tags, addresses and marks. */
export function usageOf(text: string, { headings, opaque }: Structure): Usage {
  let rest = "";
  let from = 0;
  const ranges = [...opaque, ...headings.map(({ start, end }) => [start, end] as const)];
  for (const [start, end] of ranges.toSorted(([a], [b]) => a - b)) {
    if (start > from) rest += `${text.slice(from, start)}\n`;
    from = Math.max(from, end);
  }
  const prose = (rest + text.slice(from))
    .slice(0, longestProse)
    .replace(/<[^<>]{0,500}>/g, " ")
    .replace(/!?\[([^[\]]*)\](?:\([^()]*\)|\[[^[\]]*\])/g, "$1")
    .replace(/https?:\S+/g, " ")
    .replace(/[`*]+|^[ \t]*(?:[-*+]|\d+[.)])[ \t]+|^[ \t]*:::.*$/gm, " ")
    .replace(/\s+/g, " ");
  return { lower: prose.toLowerCase(), prose };
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** How often the prose has a text as whole words. */
function count(text: string, prose: string): number {
  const pattern = `(?<![\\p{L}\\p{N}_-])${escaped(text)}(?![\\p{L}\\p{N}_-])`;
  return (prose.match(new RegExp(pattern, "gu")) ?? []).length;
}

const plainWord = /^\p{Lu}[\p{Ll}'’-]+$/u;

/** A word of a heading in the middle of a sentence: small, if the prose writes it small. */
function midSentence(word: string, { prose }: Usage, isFirst: boolean): string {
  if (!plainWord.test(word)) return word;
  const small = word.toLowerCase();
  const inProse = count(small, prose);
  const capital = (
    prose.match(new RegExp(`(?<=\\p{Ll} )${escaped(word)}(?![\\p{L}_-])`, "gu")) ?? []
  ).length;
  if (inProse === 0 && capital === 0) return isFirst ? small : word;
  return inProse >= capital ? small : word;
}

/** The words of a heading as they stand in the middle of a sentence. `isTitle`: its first word is no name by habit. */
export function inSentence(heading: string, usage: Usage): string {
  const words = heading.split(" ");
  // The name of something: "Command Line Tools".
  if (
    words.length > 1 &&
    words.slice(1).every((word) => plainWord.test(word)) &&
    count(heading, usage.prose) > 0
  )
    return heading;
  // "Restoring a backup" has one capital by habit; of "Single Sign-On" each word has one.
  const isTitleCase = words.slice(1).some((word) => plainWord.test(word));
  return words
    .map((word, index) => midSentence(word, usage, index === 0 && words.length > 1 && !isTitleCase))
    .join(" ");
}

const determined =
  /^(?:an?|the|this|that|these|those|your|my|its|our|their|all|any|each|every|multiple|several|some|one|two|new|another|other|no)\b/i;
const preposition =
  /\s(?:for|to|in|on|with|from|via|using|by|at|as|into|onto|of|and|or|when|without|through)\s/;

/** Puts the article before a thing that the prose puts there: `configure proxy` as `configure the proxy`. */
export function withArticle(phrase: string, { lower }: Usage): string {
  if (determined.test(phrase) || /^\p{Lu}/u.test(phrase)) return phrase;
  const end = phrase.search(preposition);
  const thing = (end === -1 ? phrase : phrase.slice(0, end)).toLowerCase();
  if (!/^[\p{L}\d][\p{L}\d '’-]*$/u.test(thing)) return phrase;
  const of = (article: string): number => count(`${article} ${thing}`, lower);
  const [the, one, all] = [of("the"), of(/^[aeio]/.test(thing) ? "an" : "a"), count(thing, lower)];
  if (the + one === 0 || (the + one) * 3 < all) return phrase;
  return `${one > the ? (/^[aeio]/.test(thing) ? "an" : "a") : "the"} ${phrase}`;
}

/** `you` of a page is `I` of the person who asks. */
export const asReader = (text: string): string =>
  text
    .replace(/\byourself\b/gi, "myself")
    .replace(/\b(?:your|our)\b/gi, "my")
    .replace(/\b(for|to|with|of|from|by|about|on|around|between) you\b/gi, "$1 me")
    .replace(/\byou\b/gi, "I");

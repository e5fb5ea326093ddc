import { createLookup, scanStructure } from "../../../documents/text/structure.ts";
import { hash } from "node:crypto";
import { unspaced } from "./similar.ts";

interface Sentence {
  /** As written; a line break is a space. */
  text: string;
  /** Offsets in the body. */
  start: number;
  end: number;
}

const [shortest, longest] = [12, 300];
// Rows of tables, HTML, headings, definitions of links, directives, indented code.
const noProse = /^(?:[ \t]*(?:\||<|#{1,6}(?:[ \t]|$)|\[[^\]\n]*\]:|:::|!!!|\{|\.\.[ \t])| {4}|\t)/;
const underline = /^ {0,3}(?:=+|-+|\*+|_+)[ \t]*$/;
const listMark = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?/;
const beginsItem = /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]/;
// An end mark, closing quotes or emphasis, then a space; no space in Chinese and Japanese.
const sentenceEnd = /[.!?][)\]"'”’*_]*(?=\s|$)|[。！？][」』）”]*/g;
const abbreviation =
  /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|ca|approx|resp|incl|max|min|no|nr|fig|mr|ms|dr|st|z\.b|d\.h|bzw|usw|p\.ej)\.$/i;

function* sentencesIn(text: string, offset: number): Generator<Sentence> {
  let from = 0;
  for (const { 0: mark, index } of text.matchAll(sentenceEnd)) {
    const end = index + mark.length;
    if (mark.startsWith(".") && abbreviation.test(text.slice(Math.max(from, end - 12), index + 1)))
      continue;
    const start = from + (/^\s*/.exec(text.slice(from, from + 100))?.[0].length ?? 0);
    if (end - start >= shortest && end - start <= longest) {
      yield { text: text.slice(start, end), start: offset + start, end: offset + end };
    }
    from = end;
  }
}

/** Lines that belong together, as pairs of start and end: paragraphs, and items of lists without their marks. */
function* blocksOf(body: string): Generator<[number, number]> {
  const isOpaque = createLookup(scanStructure(body).opaque);
  let open: [number, number] | undefined;
  for (let start = 0; start < body.length;) {
    const found = body.indexOf("\n", start);
    const end = found === -1 ? body.length : found;
    const from = start;
    start = end + 1;
    if (isOpaque(from)) {
      if (open) yield open;
      open = undefined;
      continue;
    }
    // Most lines begin with a letter. None of the patterns below can match them.
    const first = body.charCodeAt(from) | 0x20;
    if (first >= 0x61 && first <= 0x7a) {
      if (open) open[1] = end;
      else open = [from, end];
      continue;
    }
    const line = body.slice(from, Math.min(end, from + 200));
    const isProse = line.trim() !== "" && !underline.test(line);
    const isItem = beginsItem.test(line);
    if (open && isProse && !isItem && !/^[ \t]*(?:\||<|#)/.test(line)) {
      open[1] = end;
    } else {
      if (open) yield open;
      const mark = listMark.exec(line)?.[0].length ?? 0;
      open = isProse && (isItem || !noProse.test(line)) ? [from + mark, end] : undefined;
    }
  }
  if (open) yield open;
}

/**
 * The whole sentences of a Markdown body or a plain text: of paragraphs and items of lists. Not of
 * headings, tables, code and HTML. Linear in the length of the text.
 */
export function* proseSentences(body: string): Generator<Sentence> {
  if (!/\d/.test(body)) return;
  for (const [start, end] of blocksOf(body)) {
    const text = body.slice(start, end);
    if (/\d/.test(text)) yield* sentencesIn(text.replaceAll("\n", " "), start);
  }
}

/** A sentence that says how much: two of them with the same words and other numbers disagree. */
export interface Claim {
  /** Hash of the words, with a sign for each number. */
  key: string;
  numbers: string;
  /** Plain text, as written. */
  text: string;
}

const fewestWords = 6;
const fewestUnspaced = 8;

// Words of a sentence that is about something that another sentence names, about one place of a
// text, or about a change. English, German, French and Spanish.
const pointing =
  "this these those it its it's they their them he she his her here following below above previous preceding earlier " +
  "former latter next another other example examples sample suppose imagine assume say i we our us my " +
  "tutorial chapter lesson exercise release released fixed fixes since added removed deprecated version " +
  "diese diesem diesen dieser dieses es folgende folgenden folgender beispiel oben unten " +
  "ce cet cette ces il elle suivant suivante suivants suivantes exemple " +
  "este esta estos estas siguiente siguientes ejemplo";
const months =
  "january february march april may june july august september october november december " +
  "jan feb mar apr jun jul aug sep sept oct nov dec januar februar märz mai juni juli oktober dezember";
const oneOf = (words: string): string => words.replaceAll(" ", "|");
const pointsElsewhere = new RegExp(
  `(?<!\\p{L})(?:${oneOf(`${pointing} ${months}`)})(?!\\p{L})|^that |[这這此该該其本]|この|その|これ|それ|以下|次の|例`,
  "iu",
);
// A key or an identifier: it does not belong in a message.
const identifier = /(?=[\w-]{8})[\w-]*(?:[A-Za-z_]\d|\d[A-Za-z_])/;
const opening = /^["'“‘(*_[]*(?:\p{Lu}|\p{Lo}|\d)/u;

const number =
  /(?<![\p{Lu}\p{Ll}\p{Lt}\p{Lm}\p{N}_.,:/#@\\=~^<>+第-])(?:\d{1,3}(?:[,\u00a0\u202f]\d{3})+|\d+)(?:[.,]\d+)?(?![\p{N}_:/=~^-]|[.,]\d)/gu;
// What follows the number: a percent sign, or what is counted.
const counted =
  /^(?:\s?[%‰°€£¥]|\s?(?:ms|s|h|kb|mb|gb|tb|kib|mib|gib|px|km|kg|mm|cm|gbit|mbit|kbit)\b|[-\s](?!(?:and|or|in|to|of|for|with|on|at|by|from|as|is|are|was|were|will|can|may|must|should|has|have|does|if|when|while|the|a|an|than|und|oder|bis|et|ou|y|o|a|x)\b)\p{L}{2,}|(?![年月号號]|日(?!間))\p{Lo})/iu;
const versionWord = /(?:(?<!\p{L})(?:v|vers|верс|wers|verz)\p{L}{0,8}|版本|バージョン|버전)\s?$/iu;
// What numbers count through, rather than how much.
const counter =
  /^(?:step|part|chapter|section|figure|table|phase|stage|level|rule|option|version)$/i;
const isYear = /^(?:19|20)\d\d$/;
const isNumberOfThing = /^\d{7,}$/;
// It says something of the field, the file or the step above it.
const withoutSubject = /^(?:must|should|shall|can|cannot|may|might|will|has|have|is|are)\s/i;

/** Whether a number at an offset says how much: not one that is part of a name. */
function isQuantity(text: string, at: number, digits: string): boolean {
  if (isYear.test(digits) || isNumberOfThing.test(digits)) return false;
  const before = text.slice(Math.max(0, at - 40), at);
  if (/[$€£¥]\s?$/.test(before)) return true;
  if (!counted.test(text.slice(at + digits.length, at + digits.length + 24))) return false;
  if (versionWord.test(before)) return false;
  // `Python 3`, `Step 2`: names, unless the word begins the sentence.
  const [, word = ""] = /(\S+)\s$/.exec(before) ?? [];
  const beginsSentence = at === word.length + 1;
  return beginsSentence ? !counter.test(word) : !/^[("'“*]*\p{Lu}/u.test(word);
}

/** Markdown as plain text: without code, nothing in code is a quantity. */
const plain = (sentence: string): string =>
  sentence
    .replace(/!?\[([^[\]]*)\](?:\([^()]*\)|\[[^[\]]*\])/g, "$1")
    .replace(/\*+|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, "")
    .replace(/\s+/g, " ")
    .trim();

const wordsOf = (text: string): number => text.match(/\p{L}[\p{L}\p{M}'’-]*/gu)?.length ?? 0;
const unspacedOf = (text: string): number =>
  Array.from(text).filter((char) => unspaced.test(char)).length;

/** The claim of a sentence; undefined if it makes none that can be compared. */
export function claimOf({ text: written }: Sentence): Claim | undefined {
  if (!/\d/.test(written) || /`|https?:|<|\{|\||=|::|…|\.\.\./.test(written)) return undefined;
  const text = plain(written);
  if (!opening.test(text) || identifier.test(text)) return undefined;
  if (withoutSubject.test(text) || pointsElsewhere.test(text)) return undefined;
  if (wordsOf(text) < fewestWords && unspacedOf(text) < fewestUnspaced) return undefined;
  const numbers: string[] = [];
  const masked = text.replace(number, (digits: string, at: number) => {
    if (!isQuantity(text, at, digits)) return digits;
    numbers.push(digits);
    return "\0";
  });
  if (numbers.length === 0) return undefined;
  const key = hash("sha256", masked.toLowerCase(), "base64").slice(0, 12);
  return { key, numbers: numbers.join(", "), text };
}

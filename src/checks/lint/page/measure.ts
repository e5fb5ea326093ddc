/** Scripts whose words are not separated by spaces. */
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const markup: readonly (readonly [mark: string, pattern: RegExp])[] = [
  ["<!--", /<!--[^]*?(?:-->|$)/g],
  // An address in angle brackets is no tag.
  ["<", /<(?!https?:)[^<>]*>/g],
  ["]:", /^\[[^\]\n]+\]:.*$/gm],
  ["](", /\]\([^()]*\)/g],
  ["&", /&[a-z]+;/gi],
];
const address = /\bhttps?:\/\/\S+/g;
const longestWord = 12;
// Their words are not separated either, and a letter is less than a syllable.
const unspaced = /^[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const lengthOf = (word: string): number => (unspaced.test(word) ? 4 : longestWord);

function withoutMarkup(text: string): string {
  let plain = text;
  for (const [mark, pattern] of markup) {
    if (plain.includes(mark)) plain = plain.replace(pattern, " ");
  }
  return plain;
}

/** Whether a text of Markdown has a word or an address. */
export function hasWords(text: string): boolean {
  // Most pages begin with words.
  if (/^[^<[&!]*[\p{L}\p{N}]/u.test(text.slice(0, 200))) return true;
  return /[\p{L}\p{N}]/u.test(withoutMarkup(text));
}

/** Counts until there are `enough`. */
function count(text: string, enough: number): number {
  let words = 0;
  const plain = withoutMarkup(text).replace(address, " ");
  for (const [word] of plain.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    if (words >= enough) break;
    words += ideographs.test(word) ? word.length / 2 : Math.ceil(word.length / lengthOf(word));
  }
  return Math.ceil(words);
}

/**
 * Number of words in a text of Markdown, without markup and addresses; any number from `enough` on
 * if the text has so many. A longer word than usual counts more than once, and two Chinese, Japanese
 * or Korean characters are one word.
 */
export function countWords(text: string, enough: number): number {
  // The start of a page nearly always decides. Markup that is cut off there counts as words.
  const start = count(text.slice(0, 60 * enough), 3 * enough);
  return start >= 3 * enough ? start : count(text, enough);
}

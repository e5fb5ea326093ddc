/** Text that stands before or behind every chunk of a document, and that nobody sent. Pure. */
import { readPieces, type JoinedText, type Piece } from "./read-chunks.ts";

/** Length of the longest beginning that all texts have; `at` reads a character. */
function commonLength(
  texts: readonly string[],
  at: (text: string, index: number) => string,
): number {
  const [first = ""] = texts;
  const most = Math.min(...texts.map(({ length }) => length));
  let length = 0;
  while (length < most && texts.every((each) => at(each, length) === at(first, length))) length++;
  return length;
}

/** The text of a chunk may begin or end with the same words: so many of them are tried. */
const mostWords = 5;

/** Lengths at which a common text may end, the longest first: behind its last words. */
function lengthsOf(text: string, isAtStart: boolean): number[] {
  const lengths = [text.length];
  let rest = text;
  for (let word = 0; word < mostWords && rest !== ""; word++) {
    rest = isAtStart ? rest.replace(/ ?\S*$/u, "") : rest.replace(/^\S* ?/u, "");
    lengths.push(rest.length);
  }
  return lengths;
}

/**
 * Whether the chunks are the text with something that is the same before or behind each of them: the
 * context of a service, or a line that all parts of an older text had.
 */
export function hasCommonFrame(text: JoinedText, pieces: readonly Piece[]): boolean {
  const filled = pieces.map((each) => each.text).filter((each) => each !== "");
  const [first = ""] = filled;
  if (filled.length < 2) return false;
  const before = first.slice(
    0,
    commonLength(filled, (each, at) => each.charAt(at)),
  );
  const after = commonLength(filled, (each, at) => each.charAt(each.length - 1 - at));
  for (const start of lengthsOf(before, true)) {
    for (const end of lengthsOf(first.slice(first.length - after), false)) {
      const inner = filled.map((each) => ({
        text: each.slice(start, Math.max(start, each.length - end)).trim(),
        spaceBefore: false,
        spaceAfter: false,
      }));
      if ("cuts" in readPieces(text, inner)) return true;
    }
  }
  return false;
}

import { countBefore } from "../../../documents/text/count-before.ts";
import type { Span } from "../rule.ts";

/** The words of a text: letters and digits, which every format writes alike. */
interface Words {
  texts: string[];
  starts: number[];
}

// The outputs of a notebook can be millions of words: what is behind these has no place.
const mostWords = 500_000;

function wordsOf(text: string, from = 0): Words {
  const words: Words = { texts: [], starts: [] };
  const pattern = /[\p{L}\p{N}]+/gu;
  pattern.lastIndex = from;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    if (words.texts.length === mostWords) break;
    words.texts.push(found[0]);
    words.starts.push(found.index);
  }
  return words;
}

/** Words from `from` to before `to`, in the body and in the file. */
interface Gap {
  body: Span;
  file: Span;
}

/** Where each sequence of `length` words begins that occurs once in a range, of `wanted` ones. */
function uniqueIn(
  { texts }: Words,
  { start, end }: Span,
  length: number,
  wanted?: ReadonlyMap<string, number>,
): Map<string, number> {
  const found = new Map<string, number>();
  for (let at = start; at + length <= end; at++) {
    const key = texts.slice(at, at + length).join(" ");
    if (wanted?.has(key) ?? true) found.set(key, found.has(key) ? -1 : at);
  }
  return found;
}

type Pair = readonly [body: number, file: number];

/** The longest part of pairs, ordered by their first numbers, whose second numbers grow as well. */
function growing(pairs: readonly Pair[]): Pair[] {
  const ends: number[] = [];
  const before: number[] = [];
  for (const [index, [, file]] of pairs.entries()) {
    const at = countBefore(ends.length, (each) => (pairs[ends[each] ?? 0]?.[1] ?? 0) < file);
    before.push(at === 0 ? -1 : (ends[at - 1] ?? -1));
    ends[at] = index;
  }
  const chosen: Pair[] = [];
  for (let at = ends.at(-1) ?? -1; at !== -1; at = before[at] ?? -1) {
    const pair = pairs[at];
    if (pair) chosen.push(pair);
  }
  return chosen.toReversed();
}

// Sequences that occur once in both texts tell where they belong: long ones first, then shorter ones
// between them (Bram Cohen, "patience diff").
const lengths = [5, 3, 2, 1];

// Of words that repeat themselves.
const mostSkipped = 200;

/** Notes in `places` the word of the file that each word of the body in a gap is. */
function pairWords(body: Words, file: Words, places: Int32Array): void {
  let gaps: Gap[] = [
    { body: { start: 0, end: body.texts.length }, file: { start: 0, end: file.texts.length } },
  ];
  for (const length of lengths) {
    const next: Gap[] = [];
    for (const gap of gaps) {
      const inBody = uniqueIn(body, gap.body, length);
      const inFile = uniqueIn(file, gap.file, length, inBody);
      const pairs: Pair[] = [];
      for (const [key, at] of inBody) {
        const place = inFile.get(key) ?? -1;
        if (at !== -1 && place !== -1) pairs.push([at, place]);
      }
      let [bodyAt, fileAt] = [gap.body.start, gap.file.start];
      const end: Pair = [gap.body.end, gap.file.end];
      for (const [start, place] of [...growing(pairs), end]) {
        // Words of an earlier pair.
        if (start < bodyAt || place < fileAt) continue;
        next.push({ body: { start: bodyAt, end: start }, file: { start: fileAt, end: place } });
        [bodyAt, fileAt] = [start, place];
        while (bodyAt < gap.body.end && body.texts[bodyAt] === file.texts[fileAt]) {
          if (fileAt >= gap.file.end) break;
          places[bodyAt++] = fileAt++;
        }
      }
    }
    gaps = next.filter((gap) => gap.body.end > gap.body.start && gap.file.end > gap.file.start);
  }
  // What is left repeats itself, such as a column of equal words: in order.
  for (const gap of gaps) {
    let at = gap.file.start;
    for (let word = gap.body.start; word < gap.body.end; word++) {
      const end = Math.min(gap.file.end, at + mostSkipped);
      let found = at;
      while (found < end && file.texts[found] !== body.texts[word]) found++;
      if (found >= end) continue;
      places[word] = found;
      at = found + 1;
    }
  }
}

/** The words of a file that stand around a piece of its body, and in it. */
export interface Around {
  /** Offset in the file where the last word before the piece ends. */
  before: number;
  /** Where the first word after it begins. */
  after: number;
  /** The first word of the piece that the file has. */
  own: number | undefined;
}

/**
 * Finds the pieces of a body in the file that its reader made it of, by their words: each format
 * writes marks, tables and addresses in its own way. `from` is the offset where the body begins.
 */
export function alignWords(
  text: string,
  source: string,
  from: number,
): (start: number, end: number) => Around {
  const body = wordsOf(text);
  const file = wordsOf(source, from);
  const places = new Int32Array(body.texts.length).fill(-1);
  pairWords(body, file, places);
  /** The first word that begins at an offset or after it. */
  const wordAt = (offset: number): number =>
    countBefore(body.starts.length, (word) => (body.starts[word] ?? 0) < offset);
  const startOf = (word: number): number => file.starts[places[word] ?? 0] ?? 0;
  // The nearest words that the file has, before each word and from it on.
  const previous = places.map((_, word) => word);
  const next = places.map((_, word) => word);
  for (let word = 0; word < places.length; word++) {
    if (places[word] === -1) previous[word] = word === 0 ? -1 : (previous[word - 1] ?? -1);
  }
  for (let word = places.length - 1; word >= 0; word--) {
    if (places[word] === -1) next[word] = next[word + 1] ?? places.length;
  }
  return (start, end) => {
    const [first, last] = [wordAt(start), wordAt(end)];
    const left = first === 0 ? -1 : (previous[first - 1] ?? -1);
    const [own, right] = [next[first] ?? places.length, next[last] ?? places.length];
    return {
      before: left < 0 ? from : startOf(left) + (body.texts[left] ?? "").length,
      after: right < places.length ? startOf(right) : source.length,
      own: own < last ? startOf(own) : undefined,
    };
  };
}

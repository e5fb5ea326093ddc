import { withLoneBlanks } from "../../documents/text/blanks.ts";
/** Reads the chunks of a document as pieces of one text. Pure. */

/** The sections of a document as one text. */
export interface JoinedText {
  text: string;
  /** Where a space stands for a border that chunks need not have, and nobody adds by a character. */
  borders: ReadonlyMap<number, "section" | "paragraph">;
}

const blankLine = /\n[^\S\n]*\n/;

/** Joins sections; `prepare` changes each one before. */
export function joinSections(
  sections: readonly string[],
  prepare: (section: string) => string = (section) => section,
): JoinedText {
  const borders = new Map<number, "section" | "paragraph">();
  const parts: string[] = [];
  let length = 0;
  for (const section of sections) {
    let border: "section" | "paragraph" = "section";
    for (const paragraph of prepare(section).split(blankLine)) {
      const part = visibleText(paragraph).trim();
      if (part === "") continue;
      if (parts.length > 0) borders.set(length++, border);
      border = "paragraph";
      parts.push(part);
      length += part.length;
    }
  }
  return { text: parts.join(" "), borders };
}

/** A chunk, trimmed, and whether white space stood at its edges. */
export interface Piece {
  text: string;
  spaceBefore: boolean;
  spaceAfter: boolean;
}

export function toPiece(chunk: string): Piece {
  const whole = visibleText(chunk);
  const text = whole.trim();
  return { text, spaceBefore: whole.startsWith(" "), spaceAfter: whole.endsWith(" ") };
}

/** What the chunks show of the way in which they were cut. All lengths are characters. */
export interface Cuts {
  /** Chunks that continue the text exactly where the chunk before ended. */
  plain: number;
  /** Of those: the text repeats itself there, as if the chunk began with an overlap. */
  twins: number;
  /** For each other chunk, how much of the text before it repeats. */
  overlaps: number[];
  /** The last chunk, if it only repeats the end of the text: its length. */
  tail: number;
  /** An overlap that fits in several ways: the text repeats itself within it. */
  isPeriodic: boolean;
  /** White space at an edge where the text has none. */
  spacesAdded: number;
  spaces: Spaces;
}

/** How many cuts between two chunks are of which kind. */
export interface Spaces {
  /** The text has white space, at the edge of a chunk. */
  kept: number;
  /** The text has white space, and no chunk has it; and of those, where no blank line stands. */
  lost: number;
  lostInLines: number;
  /** Neither text nor chunks have white space. */
  joined: number;
}

/** `repeats`: a chunk holds only text that chunks before it hold, or may. */
export type ChunkReading = { cuts: Cuts } | { failure: "differs" | "repeats" };

/** A shorter repetition is chance. */
export const shortestOverlap = 12;

/** Whether `text` repeats itself with a period of at most half of its length. */
function isPeriodic(text: string): boolean {
  const lengths = matchesOf(text, text.slice(1));
  const most = Math.floor(text.length / 2);
  for (let period = 1; period <= most; period++) {
    if (period + (lengths[period - 1] ?? 0) === text.length) return true;
  }
  return false;
}

/** Whether the chunk begins with a longer end of what the chunks hold so far. */
function isTwin(chunk: string, text: string, reached: number): boolean {
  const before = text.slice(Math.max(0, reached - chunk.length), reached);
  if (!before.includes(chunk.slice(0, shortestOverlap))) return false;
  const lengths = matchesOf(chunk, before);
  return lengths.some((length, at) => length >= shortestOverlap && at + length === before.length);
}

/** Where the chunk may stand so that it begins in what is held so far and goes on behind it. */
function placesBefore(chunk: string, text: string, reached: number): number[] {
  const start = Math.max(0, reached - chunk.length + 1);
  const window = text.slice(start, reached + chunk.length);
  if (!window.includes(chunk.slice(0, shortestOverlap))) return [];
  const places: number[] = [];
  for (const [at, length] of matchesOf(chunk, window).entries()) {
    if (length >= chunk.length && start + at < reached) places.push(start + at);
  }
  return places;
}

/** Counts the cut between two chunks, where the text has white space (`isSpace`) or none. */
function countCut(
  cuts: Cuts,
  [before, piece]: readonly [Piece, Piece],
  isSpace: boolean,
  border: "section" | "paragraph" | undefined,
): void {
  if (border === "section") return;
  const atEdge = before.spaceAfter || piece.spaceBefore;
  const { spaces } = cuts;
  if (!isSpace && atEdge) cuts.spacesAdded++;
  else spaces[atEdge ? "kept" : isSpace ? "lost" : "joined"]++;
  if (isSpace && !atEdge && !border) spaces.lostInLines++;
}

/**
 * Places each chunk in the text: behind the chunk before it, or with a beginning that repeats the
 * end of that. Every character of every chunk must be one of the text at its place, and the chunks
 * must reach its end. Linear in the length of the chunks.
 */
export function readPieces({ text, borders }: JoinedText, pieces: readonly Piece[]): ChunkReading {
  const cuts: Cuts = {
    plain: 0,
    twins: 0,
    overlaps: [],
    tail: 0,
    isPeriodic: false,
    spacesAdded: 0,
    spaces: { kept: 0, lost: 0, lostInLines: 0, joined: 0 },
  };
  let reached = 0;
  let before: Piece | undefined;
  for (const [index, piece] of pieces.entries()) {
    const { text: chunk } = piece;
    if (chunk === "") continue;
    const isSpace = text[reached] === " ";
    const next = isSpace ? reached + 1 : reached;
    if (reached < text.length && text.startsWith(chunk, next)) {
      if (before) {
        cuts.plain++;
        if (isTwin(chunk, text, reached)) cuts.twins++;
        countCut(cuts, [before, piece], isSpace, borders.get(reached));
      }
      reached = next + chunk.length;
      before = piece;
      continue;
    }
    const places = before ? placesBefore(chunk, text, reached) : [];
    const place = places.at(-1);
    if (place === undefined) {
      const isLast = pieces.slice(index + 1).every((each) => each.text === "");
      if (isLast && reached === text.length && text.endsWith(chunk)) {
        cuts.tail = chunk.length;
        break;
      }
      const isLong = chunk.length >= shortestOverlap;
      const isRepeated =
        chunk === before?.text || (isLong && text.slice(0, reached).includes(chunk));
      return { failure: isRepeated || cuts.isPeriodic ? "repeats" : "differs" };
    }
    const overlap = reached - place;
    cuts.overlaps.push(overlap);
    cuts.isPeriodic ||= places.length > 1 || isPeriodic(chunk.slice(0, overlap));
    if (piece.spaceBefore && place > 0 && text[place - 1] !== " ") cuts.spacesAdded++;
    if (before?.spaceAfter && !isSpace) cuts.spacesAdded++;
    reached = place + chunk.length;
    before = piece;
  }
  if (reached === text.length) return { cuts };
  return { failure: cuts.isPeriodic ? "repeats" : "differs" };
}

/**
 * Z-function: for each position of `text`, how many characters of `pattern` match there. Linear.
 */
export function matchesOf(pattern: string, text: string): Int32Array {
  const all = `${pattern}\0${text}`;
  const lengths = new Int32Array(all.length);
  let from = 0;
  let to = 0;
  for (let at = 1; at < all.length; at++) {
    let length = at < to ? Math.min(to - at, lengths[at - from] ?? 0) : 0;
    while (all.charCodeAt(length) === all.charCodeAt(at + length)) length++;
    lengths[at] = length;
    if (at + length > to) {
      from = at;
      to = at + length;
    }
  }
  return lengths.subarray(pattern.length + 1);
}

/** White space keeps its place, as one space. Other control characters show nothing. */
const controls = /[\0-\u0008\u000e-\u001f]+/g;
const plainText = /^[\u0020-\u007e]*$/;

/**
 * The visible characters of a text in order, with one space for each run of white space. The text is
 * decomposed (NFD): a chunk may end between a letter and its accent. Halves of characters that a
 * chunk cuts stay as they are.
 */
export function visibleText(text: string): string {
  const whole = plainText.test(text) ? text : text.normalize("NFD").replace(controls, "");
  return withLoneBlanks(whole);
}

/**
 * What the public service removes from each section before it cuts it: specials, emoji, dashes and
 * curly quotes ("General Punctuation"), arrows, dingbats. See `clean_text` in
 * backend/onyx/utils/text_processing.py of onyx-dot-app/onyx.
 */
const removable = /[\u2000-\u206f\u2190-\u21ff\u2700-\u27bf\ufff0-\uffff\u{1f000}-\u{1f9ff}]/u;
const removables = new RegExp(removable, "gu");

/** Also half of an emoji that a chunk cuts. */
export const hasRemovable = (text: string): boolean =>
  removable.test(text) || /[\ud83c-\ud83e]/u.test(text);

export const withoutRemovable = (text: string): string => text.replace(removables, "");

/** Those of them that people see: others can be added to a text without a trace. */
const seen = "[\\u2010-\\u2027\\u2030-\\u205e\\u2190-\\u21ff\\u2700-\\u27bf\\u{1f000}-\\u{1f9ff}]+";
const inWord = new RegExp(`[\\p{L}\\p{N}]${seen}(?=[\\p{L}\\p{N}])`, "gu");
/** Cells of tables and ends of sentences may have two spaces as they are. */
const spaced = new RegExp(`[^\\s|.:!?][^\\S\\n]${seen}[^\\S\\n](?=[^\\s|])`, "gu");
const mostSpaced = 20;

/**
 * How many places show that such characters were removed: within a word, nobody writes the text
 * without them; between two spaces, the chunks keep both.
 */
export function removalsShown(section: string, chunks: readonly string[]): number {
  const count = section.match(inWord)?.length ?? 0;
  const places = [...section.matchAll(spaced)].slice(0, mostSpaced);
  const shown = places.filter(({ 0: { length }, index }) => {
    const around = withoutRemovable(section.slice(Math.max(0, index - 8), index + length + 8));
    return chunks.some((chunk) => chunk.includes(around));
  });
  return count + shown.length;
}

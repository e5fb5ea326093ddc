/**
 * Compares the text that was sent with the chunks of the index: the sequences of all visible
 * characters. A run of white space is one character; other control characters are none; texts are
 * compared decomposed (NFD), so that letters and their accents are the same however they are
 * encoded.
 *
 * What chunks may have beside the sent text, or lack of it, and what shows that the service did it.
 * The same rules are in docs/verify.md. What nothing shows is `unsure`; anything else is another text.
 *
 * | difference | is allowed where |
 * | --- | --- |
 * | white space between two chunks is missing | a blank line; or most chunks lack it, two at least, and most cuts are at white space |
| the text has no white space between two chunks | chunks of the run keep white space; or two such cuts, and no white space is missing |
 * | a chunk begins with the end of the text so far (overlap) | all chunks of the document do: two at least, else those of another document, by as much |
 * | the text repeats itself between two chunks that do not overlap | three other chunks of the document begin without, or those of the run |
 * | the title before each chunk, its metadata behind each chunk | two chunks of the document have it; or those of another document |
 * | no dash, curly quote, arrow, emoji at all | a document of the run shows two removals, within words or between spaces, and no chunk has any |
 *
 * Text that a language model adds (summaries, context) can be told from an older text by nothing.
 * Pure.
 */
import { findForeign } from "./foreign-text.ts";
import {
  hasRemovable,
  joinSections,
  readPieces,
  removalsShown,
  shortestOverlap,
  toPiece,
  visibleText,
  withoutRemovable,
  type ChunkReading,
  type Cuts,
  type JoinedText,
  type Piece,
  type Spaces,
} from "./read-chunks.ts";

export interface SentText {
  /** Texts that a service may put before each chunk. */
  titles: readonly string[];
  /** The text of each section. */
  sections: readonly string[];
  metadata?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

/** What a service does to texts: what a reading relies on, or what a document shows. */
interface Habits {
  /** It puts the title before each chunk, or the metadata behind. */
  frames?: boolean;
  /** Chunks begin with so many characters of the chunk before; 0: with none. */
  overlap?: number;
  /** Characters that it may remove: it does, or keeps them. */
  removable?: "removed" | "kept";
}

export type Doubt = "spaces" | "repeats" | "overlap" | "title" | "characters";

export interface Comparison {
  /**
   * `same`: the sent text, if the service has the habits of `needs`. `other`: another text. `more`:
   * the sent text and more. `unsure`: see `doubt`.
   */
  verdict: "same" | "other" | "more" | "unsure";
  doubt?: Doubt;
  needs: Habits;
  shows: Habits;
  /** Of `same`: what the chunks show of white space between them. */
  spaces: Spaces;
  /** Of `other`: the sent words that the chunks lack first; "" if they lack none. */
  firstLacking: string;
  /** Of `more` and `other`: letters and digits that were not sent. */
  foreign: number;
  /** Chunks that are not empty. */
  chunks: number;
}

/** The form in which the public service adds metadata to a chunk. */
function metadataText(metadata: SentText["metadata"] = {}): string {
  const lines = Object.entries(metadata).map(([key, value]) => {
    return `${key} - ${[value].flat().join(", ")}`;
  });
  return lines.length === 0 ? "" : visibleText(["Metadata:", ...lines].join("\n")).trim();
}

/** The chunks without the title and metadata that all of them have; undefined if they have none. */
function withoutFrames(sent: SentText, pieces: readonly Piece[]): Piece[] | undefined {
  const filled = pieces.filter(({ text }) => text !== "");
  const title = sent.titles
    .map((each) => visibleText(each).trim())
    .toSorted((a, b) => b.length - a.length)
    .find((each) => each !== "" && filled.every(({ text }) => `${text} `.startsWith(`${each} `)));
  const metadata = metadataText(sent.metadata);
  const hasMetadata =
    metadata !== "" && filled.every(({ text }) => ` ${text}`.endsWith(` ${metadata}`));
  if (filled.length === 0 || (title === undefined && !hasMetadata)) return undefined;
  return pieces.map((piece) => {
    const text = piece.text.slice(title?.length ?? 0);
    const end = hasMetadata ? text.length - metadata.length : text.length;
    return {
      text: text.slice(0, Math.max(0, end)).trim(),
      spaceBefore: title === undefined && piece.spaceBefore,
      spaceAfter: !hasMetadata && piece.spaceAfter,
    };
  });
}

/** Overlaps of one service are alike: one that is much longer is a repetition in the text. */
function isRegular({ plain, overlaps, tail }: Cuts): boolean {
  const [longest = 0, second = 0] = overlaps.toSorted((a, b) => b - a);
  return plain === 0 && overlaps.length >= 2 && longest <= 1.25 * second + 8 && tail <= longest;
}

/** Plain beginnings that show by themselves that a service does not overlap chunks. */
const enoughPlain = 3;

/** What a reading relies on, and what it shows; a doubt that no other document can end. */
function judgeCuts(cuts: Cuts): { needs: Habits; shows: Habits; doubt?: Doubt } {
  const needs: Habits = {};
  const shows: Habits = {};
  const { plain, twins, overlaps, tail } = cuts;
  if (cuts.spacesAdded > 0) return { needs, shows, doubt: "spaces" };
  const isPlain = overlaps.length === 0 && tail === 0;
  if (isPlain) {
    if (twins === 0 ? plain > 0 : plain - twins >= enoughPlain) shows.overlap = 0;
    if (twins > 0) needs.overlap = 0;
    return { needs, shows };
  }
  if (cuts.isPeriodic || overlaps.some((each) => each < shortestOverlap)) {
    return { needs, shows, doubt: "overlap" };
  }
  // Where some chunks begin without, a repeated sentence cannot be told from an overlap.
  if (plain > 0) return { needs, shows, doubt: "overlap" };
  const longest = Math.max(tail, ...overlaps);
  if (isRegular(cuts)) shows.overlap = longest;
  else needs.overlap = longest;
  return { needs, shows };
}

const withoutSpaces = (text: string): string => text.replaceAll(" ", "");

/** Whether text and chunks differ in nothing but white space. */
function differsInSpaces({ text }: JoinedText, pieces: readonly Piece[]): boolean {
  const bare = pieces.map(({ text: each }) => toPiece(withoutSpaces(each)));
  return "cuts" in readPieces({ text: withoutSpaces(text), borders: new Map() }, bare);
}

/** Tells an older text from one with additions. */
function compareForeign(
  sent: SentText,
  sections: readonly string[],
  chunks: readonly string[],
): Pick<Comparison, "verdict" | "firstLacking" | "foreign"> {
  const found = findForeign(sent.titles, sections.join("\n\n"), chunks);
  const { isComplete, isOtherText, firstLacking, foreign } = found;
  // Context stands in every chunk, a removed paragraph in one.
  const inFew = found.chunks > 1 && foreign > 0 && found.chunksWithForeign * 2 <= found.chunks;
  const isOther = !isComplete || isOtherText || inFew;
  return { verdict: isOther ? "other" : "more", firstLacking, foreign };
}

interface Readings {
  reading: ChunkReading;
  isFramed: boolean;
}

/** Reads the chunks as they are, else without what the service may have added to each. */
function readEither(sent: SentText, text: JoinedText, pieces: readonly Piece[]): Readings {
  const whole = readPieces(text, pieces);
  if ("cuts" in whole) return { reading: whole, isFramed: false };
  const bare = withoutFrames(sent, pieces);
  const inner = bare && readPieces(text, bare);
  return inner && "cuts" in inner
    ? { reading: inner, isFramed: true }
    : { reading: whole, isFramed: false };
}

/** Whether the text itself begins with the title: then a title that a service adds looks the same. */
function beginsWithTitle({ titles }: SentText, { text }: JoinedText): boolean {
  return titles.some((title) => {
    const each = visibleText(title).trim();
    return each !== "" && `${text} `.startsWith(`${each} `);
  });
}

/** Compares a sent text with all chunks of its document, in their order. Linear in their length. */
export function compareText(sent: SentText, chunks: readonly string[]): Comparison {
  const keeps = chunks.some(hasRemovable);
  const mayRemove = !keeps && sent.sections.some(hasRemovable);
  const prepare = mayRemove ? withoutRemovable : (section: string) => section;
  const text = joinSections(sent.sections, prepare);
  const pieces = chunks.map(toPiece);
  const count = pieces.filter((each) => each.text !== "").length;
  const { reading, isFramed } = readEither(sent, text, pieces);
  const rest = {
    spaces: { kept: 0, lost: 0, lostInLines: 0, joined: 0 },
    firstLacking: "",
    foreign: 0,
    chunks: count,
  };
  const kept: Habits = keeps ? { removable: "kept" } : {};
  if ("failure" in reading) {
    const unsure = (doubt: Doubt): Comparison => {
      return { verdict: "unsure", doubt, needs: {}, shows: kept, ...rest };
    };
    if (reading.failure === "repeats") return unsure("repeats");
    if (differsInSpaces(text, pieces)) return unsure("spaces");
    const foreign = compareForeign(sent, sent.sections.map(prepare), chunks);
    const isContext = foreign.verdict === "other" && hasCommonFrame(text, pieces);
    const verdict = isContext ? "more" : foreign.verdict;
    return { ...rest, ...foreign, verdict, needs: {}, shows: kept };
  }
  const { needs, shows, doubt } = judgeCuts(reading.cuts);
  Object.assign(shows, kept);
  if (isFramed && count > 1) shows.frames = true;
  else if (isFramed) needs.frames = true;
  else if (count === 1 && beginsWithTitle(sent, text)) needs.frames = false;
  if (mayRemove) {
    needs.removable = "removed";
    const removals = sent.sections.reduce((sum, each) => sum + removalsShown(each, chunks), 0);
    if (removals >= enoughRemovals) shows.removable = "removed";
  }
  if (doubt !== undefined) return { verdict: "unsure", doubt, needs: {}, shows: kept, ...rest };
  return { verdict: "same", needs, shows, ...rest, spaces: reading.cuts.spaces };
}

/** One edit of a text adds one such character, and others make no other change. */
const enoughRemovals = 2;

// Text that stands before or behind every chunk of a document, and that nobody sent.

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
function hasCommonFrame(text: JoinedText, pieces: readonly Piece[]): boolean {
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

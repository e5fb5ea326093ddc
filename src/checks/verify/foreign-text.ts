/**
 * Tells an older text from the sent text with additions, where the chunks are not the sent text. Never
 * a proof that they are: it looks at words. Pure.
 */
import { matchesOf } from "./read-chunks.ts";

export interface ForeignText {
  /** Whether the chunks hold the words of the sent text from the first to the last. */
  isComplete: boolean;
  /** The sent words that the chunks lack first; "" if they lack none. */
  firstLacking: string;
  /** Letters and digits that were not sent. */
  foreign: number;
  /**
   * Foreign text that no service adds: a chunk without any sent text, or a longer word at the end
   * of the sent text.
   */
  isOtherText: boolean;
  /** Chunks that are not empty, and how many of them hold foreign text. */
  chunks: number;
  chunksWithForeign: number;
}

const wordCharacter = /[\p{L}\p{N}\p{M}_]/u;

/**
 * The words of a text. White space stays only between two word characters, as one space: a service
 * may change the rest when it joins sentences. Control and format characters and fences of code are dropped.
 */
function normalise(text: string): string {
  return (
    text
      .toWellFormed()
      .normalize("NFC")
      .replace(/[\p{Cf}\u0000-\u0008\u000e-\u001f\u007f]/gu, "")
      // A chunker may repeat the fence of a code block that it cuts.
      .replace(/`{3,}|~{3,}/gu, "\n")
      .replace(/\s+/gu, " ")
      .replace(/(?<![\p{L}\p{N}\p{M}_]) | (?![\p{L}\p{N}\p{M}_])/gu, "")
  );
}

/** Shorter matches are chance, unless they end a chunk, begin it, or are all that is left. */
const shortestPiece = 12;

interface Piece {
  /** In the chunk, with the repeated text before it. */
  from: number;
  to: number;
  /** New length of the sent text that the chunks hold so far. */
  reached: number;
}

/** The usual case, found faster: the chunk continues the sent text to the end of the chunk. */
function continuation(chunk: string, rest: string, reached: number): Piece | undefined {
  const at = chunk.indexOf(rest.slice(0, shortestPiece));
  if (at === -1 || rest === "") return undefined;
  const length = chunk.length - at;
  if (length < shortestPiece || !rest.startsWith(chunk.slice(at))) return undefined;
  return { from: at, to: chunk.length, reached: reached + length };
}

/** Characters before `at` in the chunk that are also before `reached` in the sent text. */
function repeatedBefore(
  chunk: string,
  at: number,
  sent: string,
  reached: number,
  most = Number.MAX_SAFE_INTEGER,
): number {
  const end = Math.min(at, reached, most);
  let count = 0;
  while (count < end && chunk[at - count - 1] === sent[reached - count - 1]) count++;
  return count;
}

/** Whether a short match is no chance: its surroundings are those of the sent text, or of a piece. */
function isPlaced(chunk: string, at: number, end: number, repeated: number): boolean {
  const start = at - repeated;
  if (start === 0 || repeated >= shortestPiece) return true;
  const joins = (place: number): boolean =>
    wordCharacter.test(chunk[place - 1] ?? "") && wordCharacter.test(chunk[place] ?? "");
  return !joins(start) && !joins(end);
}

/** The longest piece of the sent text that continues at `reached` in a chunk. */
function pieceIn(chunk: string, sent: string, reached: number): Piece | undefined {
  const rest = sent.slice(reached, reached + chunk.length);
  let best = continuation(chunk, rest, reached);
  let longest = 0;
  let context = -1;
  for (const [at, length] of best ? [] : matchesOf(rest, chunk).entries()) {
    if (length === 0 || length < longest) continue;
    const repeated = repeatedBefore(chunk, at, sent, reached, 4 * shortestPiece);
    if (length === longest && repeated < context) continue;
    const end = at + length;
    const isEdge = at === 0 || end === chunk.length || reached + length === sent.length;
    if (length < shortestPiece && !(isEdge && isPlaced(chunk, at, end, repeated))) continue;
    // Of equal pieces the one with its context: a repetition stands before the text that it repeats.
    longest = length;
    context = repeated;
    best = { from: at, to: end, reached: reached + length };
  }
  if (!best) return undefined;
  return { ...best, from: best.from - repeatedBefore(chunk, best.from, sent, reached) };
}

/** A chunk that only repeats text that earlier chunks hold: the longest such run. */
function repetitionIn(chunk: string, sent: string, reached: number): Piece | undefined {
  const start = Math.max(0, reached - 4 * chunk.length);
  const before = sent.slice(start, reached);
  let best: Piece | undefined;
  // A run of twice this length holds one of these probes as a whole.
  const probe = shortestPiece;
  for (let at = 0; at + probe <= chunk.length; at = Math.max(at + probe, best?.to ?? 0)) {
    const found = before.lastIndexOf(chunk.slice(at, at + probe));
    if (found === -1) continue;
    let [from, to] = [at, at + probe];
    const shift = found - at;
    while (from > 0 && shift + from > 0 && chunk[from - 1] === before[shift + from - 1]) from--;
    while (to < chunk.length && chunk[to] === before[shift + to]) to++;
    if (to - from > (best ? best.to - best.from : shortestPiece - 1)) best = { from, to, reached };
  }
  return best ?? (before.endsWith(chunk) ? { from: 0, to: chunk.length, reached } : undefined);
}

/** What a chunk adds to the sent text that earlier chunks hold, or repeats of it. */
function partIn(chunk: string, sent: string, reached: number): Piece | undefined {
  const piece = pieceIn(chunk, sent, reached);
  const added = piece ? piece.reached - reached : 0;
  if (piece && (added >= shortestPiece || piece.reached === sent.length)) return piece;
  // A short piece may be chance: the reading that explains more of the chunk is the right one.
  const repetition = repetitionIn(chunk, sent, reached);
  const spanOf = (each: Piece | undefined): number => (each ? each.to - each.from : 0);
  return spanOf(repetition) > spanOf(piece) ? repetition : piece;
}

/** Foreign characters around a part: letters and digits that are neither sent text nor a title. */
function foreignIn(chunk: string, part: Piece | undefined, text: Sent): number {
  const around = part ? [chunk.slice(0, part.from), chunk.slice(part.to)] : [chunk];
  let count = 0;
  for (let each of around) {
    // Without the space between a repetition and a word that was cut.
    if (each === "" || text.all.includes(each.trim())) continue;
    for (const title of text.titles) if (title !== "") each = each.replaceAll(title, "");
    count += each.replace(/[^\p{L}\p{N}]/gu, "").length;
  }
  return count;
}

interface Sent {
  /** The normalised text. */
  all: string;
  titles: readonly string[];
}

interface Reading {
  part: Piece | undefined;
  foreign: number;
  /** The sent text ends in this chunk, within a longer word. */
  endsInWord: boolean;
}

function readChunk(chunk: string, text: Sent, reached: number): Reading {
  const part = partIn(chunk, text.all, reached);
  const isEnd = part?.reached === text.all.length;
  const next = part ? (chunk[part.to] ?? "") : "";
  const endsInWord = isEnd && wordCharacter.test(next) && wordCharacter.test(text.all.at(-1) ?? "");
  return { part, foreign: foreignIn(chunk, part, text), endsInWord };
}

/** Reads a chunk with its beginning, and without the title there; returns the better reading. */
function readBest(chunk: string, text: Sent, reached: number): Reading {
  const whole = readChunk(chunk, text, reached);
  const title = text.titles.find((each) => each !== "" && chunk.startsWith(each));
  if (title === undefined) return whole;
  const bare = readChunk(chunk.slice(title.length).trimStart(), text, reached);
  const difference = (bare.part?.reached ?? 0) - (whole.part?.reached ?? 0);
  return difference > 0 || (difference === 0 && bare.foreign < whole.foreign) ? bare : whole;
}

/** The words of a normalised text from a position on, for messages. */
function wordsFrom(text: string, at: number): string {
  let start = at;
  while (start > 0 && text[start - 1] !== " " && at - start < 20) start--;
  const words = text.slice(start, start + 60);
  return start + 60 < text.length ? `${words.replace(/ \S*$/u, "")} …` : words;
}

/**
 * Looks in the chunks of a document, in their order, for the words of the sent text. Linear in their
 * length.
 */
export function findForeign(
  titles: readonly string[],
  sent: string,
  chunks: readonly string[],
): ForeignText {
  const known = titles.map(normalise).toSorted((a, b) => b.length - a.length);
  const all = normalise(sent);
  const found = { foreign: 0, chunks: 0, chunksWithForeign: 0, isOtherText: false };
  let reached = 0;
  // Foreign characters of a chunk with sent text, and without.
  let usual = 0;
  let strange = 0;
  for (const each of chunks) {
    const chunk = normalise(each);
    if (chunk === "") continue;
    if (all[reached] === " ") reached++;
    const { part, foreign, endsInWord } = readBest(chunk, { all, titles: known }, reached);
    if (part) reached = part.reached;
    found.isOtherText ||= endsInWord;
    if (part) usual = Math.max(usual, foreign);
    else strange = Math.max(strange, foreign);
    found.foreign += foreign;
    found.chunks += 1;
    if (foreign > 0) found.chunksWithForeign += 1;
  }
  // Less can be what is left of the sent text in a chunk: a rule, or the end of a table.
  if (strange > usual + shortestPiece && all !== "") found.isOtherText = true;
  const isComplete = reached === all.length;
  return { ...found, isComplete, firstLacking: isComplete ? "" : wordsFrom(all, reached) };
}

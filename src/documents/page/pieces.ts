import { withLoneBlanks } from "../text/blanks.ts";
import { decodeHTMLStrict } from "entities/decode";

/** Where a text stands. */
interface Place {
  isInLink: boolean;
  isInCell: boolean;
  /** Characters of Markdown that could be marks of emphasis in this paragraph. */
  marks: ReadonlySet<string>;
  /** The characters before and after the text; "" for none. */
  before: string;
  after: string;
}

const special = /`+|[\\*_~<&[\]|!]/g;
const reference = /&#?\w{1,40};/y;
const isBlank = (char: string): boolean => char === "" || /\s/.test(char);
const isWord = (char: string): boolean => /[\p{L}\p{N}]/u.test(char);

/** Whether a character may begin or end emphasis (CommonMark 0.31, 6.2). */
function mayMark(mark: string, before: string, after: string): { opens: boolean; closes: boolean } {
  const opens = !isBlank(after);
  const closes = !isBlank(before);
  if (mark !== "_") return { opens, closes };
  return { opens: opens && !isWord(before), closes: closes && !isWord(after) };
}

/** The characters `*`, `_` and `~` of which a pair could be emphasis in a text. */
export function possibleMarks(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const mark of ["*", "_", "~"]) {
    let hasOpen = false;
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) {
      const { opens, closes } = mayMark(mark, text[at - 1] ?? "", text[at + 1] ?? "");
      if (closes && hasOpen) {
        found.add(mark);
        break;
      }
      hasOpen ||= opens;
    }
  }
  return found;
}

/**
 * Escapes what CommonMark, with the tables and struck text of GitHub, would not read as text. Other
 * characters stay as they are: a reader sees the text of the page.
 */
export function escapeText(
  text: string,
  { isInLink, isInCell, marks, before, after }: Place,
): string {
  return text.replace(special, (char, at: number) => {
    const previous = text[at - 1] ?? before;
    const next = text[at + 1] ?? after;
    if (char.startsWith("`")) return "\\`".repeat(char.length);
    const escaped = `\\${char}`;
    if (char === "\\") return /[!-/:-@[-`{-~]/.test(next) ? escaped : char;
    if (char === "<") return /[A-Za-z/!?]/.test(next) ? escaped : char;
    if (char === "|") return isInCell ? escaped : char;
    if (char === "[") return isInLink || next === "^" ? escaped : char;
    if (char === "]") return isInLink || next === "(" || next === "[" ? escaped : char;
    // `<!` is escaped twice: no reader then takes it for a comment.
    if (char === "!")
      return previous === "<" || (next === "[" && at === text.length - 1) ? escaped : char;
    if (char === "&") {
      reference.lastIndex = at;
      const [found = ""] = reference.exec(text) ?? [];
      return decodeHTMLStrict(found) === found ? char : escaped;
    }
    if (!marks.has(char)) return char;
    const { opens, closes } = mayMark(char, previous, next);
    return opens || closes ? escaped : char;
  });
}

// Headings, lists, quotations, underlines and breaks, fences (CommonMark 0.31, 4 and 5).
const blockStart = /^(?:#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|=+\s*$|-+\s*$|~{3})/;
const numberStart = /^(\d{1,9})([.)])(?=\s|$)/;
const definitionStart = /^\[[^\]]{1,999}\]:/;
/** The line below the header of a table. */
const tableRule = /^[|:-][\s|:-]*$/;

/** Escapes the start of a line of Markdown where it would begin another block than a paragraph. */
export function escapeLineStart(line: string): string {
  if (blockStart.test(line) || definitionStart.test(line)) return `\\${line}`;
  if (tableRule.test(line) && line.includes("-")) return `\\${line}`;
  return line.replace(numberStart, "$1\\$2");
}

/** Marks of emphasis and of struck text. */
export type MarkText = "*" | "**" | "~~";

/** A piece of running text. */
export type Piece =
  /** Text of the page; `isInLink` while it is the text of a link. */
  | { kind: "text"; text: string; isInLink?: boolean }
  | { kind: "code"; text: string }
  /** Markdown as it is, and what it shows. */
  | { kind: "raw"; text: string; plain: string }
  /** The start or the end of emphasis: pairs share their `pair`. */
  | { kind: "mark"; text: MarkText; isStart: boolean; pair: object }
  | { kind: "break" };

export const textPiece = (text: string): Piece => ({ kind: "text", text });
const rawPiece = (text: string, plain = ""): Piece => ({ kind: "raw", text, plain });

const plainPiece = (piece: Piece): string =>
  piece.kind === "text" || piece.kind === "code"
    ? piece.text
    : piece.kind === "raw"
      ? piece.plain
      : piece.kind === "break"
        ? "\n"
        : "";

/** A line without the sign of a link to the text itself at its end. */
export const withoutSign = (line: string): string =>
  line.endsWith("\u00b6") ? line.slice(0, -1).trimEnd() : line;

/** Text as one line, without soft hyphens and without the sign of a link to the text itself. */
export function oneLine(text: string): string {
  return withoutSign(withLoneBlanks(text.replace(/[\u00ad\u200b]+/g, ""))).trim();
}

/** What pieces show, as one line. */
export const plainOf = (pieces: readonly Piece[]): string =>
  oneLine(pieces.map(plainPiece).join(""));

const isBlankPiece = (piece: Piece | undefined): boolean =>
  piece === undefined ||
  piece.kind === "break" ||
  (piece.kind === "text" && piece.text.trim() === "");

const longestAddress = 2000;

/** A destination as Markdown writes it; undefined for a link that leads nowhere. */
export function destination(href: string | undefined): string | undefined {
  // Browsers ignore line breaks and tabs in addresses (URL Standard, 4.4).
  const url = (href ?? "").replace(/[\t\n\r\f\0]+/g, "").trim();
  if (url === "" || url === "#" || /^(?:javascript|vbscript|data|blob):/i.test(url)) {
    return undefined;
  }
  const encoded = url.replace(/[<>\\]/g, (char) => encodeURIComponent(char));
  return /[\s()]/.test(encoded) ? `<${encoded}>` : encoded;
}

/** The blanks around pieces stay outside of their marks: `before` and `after` are blanks or nothing. */
function trimmed(pieces: readonly Piece[]): { before: Piece[]; inner: Piece[]; after: Piece[] } {
  let start = 0;
  let end = pieces.length;
  while (start < end && isBlankPiece(pieces[start])) start++;
  while (end > start && isBlankPiece(pieces[end - 1])) end--;
  const inner = pieces.slice(start, end);
  const before = pieces.slice(0, start);
  const after = pieces.slice(end);
  const [first, last] = [inner[0], inner.at(-1)];
  if (first?.kind === "text" && /^\s/.test(first.text)) {
    before.push(textPiece(" "));
    inner[0] = { ...first, text: first.text.trimStart() };
  }
  const end2 = inner.at(-1);
  if (last?.kind === "text" && end2?.kind === "text" && /\s$/.test(last.text)) {
    after.unshift(textPiece(" "));
    inner[inner.length - 1] = { ...end2, text: end2.text.trimEnd() };
  }
  return { before, inner, after };
}

/** Puts marks around pieces; without text there are none. */
export function emphasised(pieces: readonly Piece[], text: MarkText): Piece[] {
  const { before, inner, after } = trimmed(pieces);
  if (plainOf(inner) === "") return [...pieces];
  const pair = {};
  const start: Piece = { kind: "mark", text, isStart: true, pair };
  return [...before, start, ...inner, { ...start, isStart: false }, ...after];
}

/**
 * Makes pieces the text of a link. The sign of a place on the page, an image alone, or an address
 * that is its own text stay as they are. Returns whether the link had text.
 */
export function linked(
  pieces: readonly Piece[],
  href: string,
): { pieces: Piece[]; isText: boolean } {
  const words = pieces
    .filter(({ kind }) => kind === "text" || kind === "code")
    .map(plainPiece)
    .join("")
    .trim();
  if (words === "") return { pieces: [...pieces], isText: false };
  const to = destination(href);
  const isSign = href.startsWith("#") && !/\p{L}/u.test(words);
  if (to === undefined || isSign || href === words || href === `mailto:${words}`) {
    return { pieces: [...pieces], isText: true };
  }
  const { before, inner, after } = trimmed(pieces);
  const text = inner.map((piece) =>
    piece.kind === "text"
      ? { ...piece, isInLink: true }
      : piece.kind === "break"
        ? textPiece(" ")
        : piece,
  );
  return {
    pieces: [...before, rawPiece("["), ...text, rawPiece(`](${to})`), ...after],
    isText: true,
  };
}

/** Makes pieces code. A link or an image in it would be no link in a code span: they stay. */
export function asCode(pieces: readonly Piece[]): Piece[] {
  if (!pieces.every(({ kind }) => kind === "text" || kind === "break" || kind === "mark")) {
    return [...pieces];
  }
  const { before, inner, after } = trimmed(pieces.filter(({ kind }) => kind !== "mark"));
  const lines = inner.map(plainPiece).join("").split("\n");
  const codes = lines.flatMap((line, index): Piece[] => {
    const code: Piece = { kind: "code", text: withLoneBlanks(line) };
    return index === 0 ? [code] : [{ kind: "break" }, code];
  });
  return inner.length === 0 ? [...pieces] : [...before, ...codes, ...after];
}

/** An image; of an address that Markdown should not contain, only its alternative text. */
export function imagePieces(source: string | undefined, alt: string): Piece[] {
  const text = alt.replace(/[[\]\s]+/g, " ").trim();
  const address = (source ?? "").length <= longestAddress ? destination(source) : undefined;
  if (address === undefined) return text === "" ? [] : [textPiece(` ${text} `)];
  const marks = possibleMarks(text);
  const escaped = escapeText(text, {
    isInLink: true,
    isInCell: false,
    marks,
    before: "[",
    after: "]",
  });
  return [rawPiece(`![${escaped}](${address})`, `![${text}](${address})`)];
}

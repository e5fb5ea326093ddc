import { withLoneBlanks } from "../text/blanks.ts";
import { escapeLineStart, escapeText, possibleMarks, withoutSign, type Piece } from "./pieces.ts";

/** Code as Markdown, with more backticks around it than in it. */
function codeSpan(code: string): string {
  if (code.trim() === "") return code;
  if (!code.includes("`")) return `\`${code}\``;
  let longest = 1;
  for (const run of code.matchAll(/`+/g)) longest = Math.max(longest, run[0].length);
  const marks = "`".repeat(longest + 1);
  return `${marks} ${code} ${marks}`;
}

/** White space as browsers collapse it: none at the start of a line and before its end. */
function collapse(pieces: readonly Piece[]): Piece[] {
  const kept: Piece[] = [];
  let wasBlank = true;
  const trimLast = (): void => {
    for (let last = kept.at(-1); last?.kind === "text"; last = kept.at(-1)) {
      const text = last.text.trimEnd();
      if (text !== "") return void (kept[kept.length - 1] = { ...last, text });
      kept.pop();
    }
  };
  for (const piece of pieces) {
    if (piece.kind === "mark") {
      kept.push(piece);
      continue;
    }
    if (piece.kind === "break") trimLast();
    if (piece.kind !== "text") {
      kept.push(piece);
      wasBlank = piece.kind === "break";
      continue;
    }
    let text = withLoneBlanks(piece.text.replace(/[\u00ad\u200b]+/g, ""));
    if (wasBlank) text = text.trimStart();
    if (text === "") continue;
    wasBlank = text.endsWith(" ");
    const last = kept.at(-1);
    const isSame = last?.kind === "text" && last.isInLink === piece.isInLink;
    if (isSame) kept[kept.length - 1] = { ...last, text: last.text + text };
    else kept.push({ ...piece, text });
  }
  trimLast();
  return kept;
}

/** Joins code beside code, and emphasis beside the same: the marks between them would be text. */
function join(pieces: readonly Piece[]): Piece[] {
  const kept: Piece[] = [];
  // Of a second emphasis, its pair is that of the first.
  const joined = new Map<object, object>();
  for (const piece of pieces) {
    const last = kept.at(-1);
    if (piece.kind === "code" && last?.kind === "code") {
      kept[kept.length - 1] = { kind: "code", text: last.text + piece.text };
    } else if (piece.kind !== "mark") kept.push(piece);
    else {
      const pair = joined.get(piece.pair) ?? piece.pair;
      const isNext = last?.kind === "mark" && last.text === piece.text;
      if (isNext && piece.isStart && !last.isStart) {
        joined.set(piece.pair, last.pair);
        kept.pop();
      } else kept.push({ ...piece, pair });
    }
  }
  return kept;
}

const isPunctuation = (char: string): boolean => /[\p{P}\p{S}]/u.test(char);
const isSpace = (char: string): boolean => char === "" || /\s/.test(char);

/** Whether a mark between two characters can begin or end emphasis (CommonMark 0.31, 6.2). */
const flanks = (inside: string, outside: string): boolean =>
  !isSpace(inside) && (!isPunctuation(inside) || isSpace(outside) || isPunctuation(outside));

const firstChar = (piece: Piece | undefined): string => {
  if (!piece || piece.kind === "break") return "";
  if (piece.kind === "code") return "`";
  return piece.text === "" ? "" : String.fromCodePoint(piece.text.codePointAt(0) ?? 32);
};
const lastChar = (piece: Piece | undefined): string => {
  if (!piece || piece.kind === "break") return "";
  return piece.kind === "code" ? "`" : (piece.text.match(/[^]$/u)?.[0] ?? "");
};

/** Drops the marks that Markdown would show as text at their place. */
function withoutDeadMarks(pieces: readonly Piece[]): Piece[] {
  if (!pieces.some(({ kind }) => kind === "mark")) return [...pieces];
  const dead = new Set<object>();
  let before = "";
  let waiting: Extract<Piece, { kind: "mark" }>[] = [];
  const settle = (after: string): void => {
    for (const { isStart, pair } of waiting) {
      if (!(isStart ? flanks(after, before) : flanks(before, after))) dead.add(pair);
    }
    waiting = [];
  };
  for (const piece of pieces) {
    if (piece.kind === "mark") waiting.push(piece);
    else {
      settle(firstChar(piece));
      before = lastChar(piece);
    }
  }
  settle("");
  return pieces.filter((piece) => piece.kind !== "mark" || !dead.has(piece.pair));
}

function marksIn(pieces: readonly Piece[]): ReadonlySet<string> {
  const text = pieces.map((piece) => (piece.kind === "text" ? piece.text : "x")).join("");
  const found = new Set(possibleMarks(text));
  for (const piece of pieces) if (piece.kind === "mark") found.add(piece.text.charAt(0));
  return found;
}

/** Pieces as Markdown, with its lines. `isInCell` is set for the cell of a table. */
export function markdownOf(pieces: readonly Piece[], isInCell = false): string {
  const shown = withoutDeadMarks(join(collapse(pieces)));
  const marks = marksIn(shown);
  // A second backslash would end the escape: code with one before its bar stays as it is.
  const inCell = (text: string): string =>
    isInCell
      ? text.replace(/(\\*)\|/g, (bar, before: string) =>
          before.length % 2 ? bar : `${before}\\|`,
        )
      : text;
  const parts = shown.map((piece, index) => {
    if (piece.kind === "break") return "\n";
    if (piece.kind === "code") {
      return inCell(codeSpan(piece.text));
    }
    if (piece.kind !== "text") return inCell(piece.text);
    const [before, after] = [lastChar(shown[index - 1]), firstChar(shown[index + 1])];
    const isInLink = piece.isInLink === true;
    return escapeText(piece.text, { isInLink, isInCell, marks, before, after });
  });
  return parts.join("");
}

/** Pieces as the lines of a paragraph; "" without text. */
export function paragraphOf(pieces: readonly Piece[]): string {
  return markdownOf(pieces)
    .split("\n")
    .map((line) => withoutSign(line).trim())
    .filter((line) => line !== "")
    .map((line) => escapeLineStart(line))
    .join("\n");
}

import stringWidth from "string-width";

const segmenter = new Intl.Segmenter();

// string-width takes quadratic time, so long text is measured in slices.
const sliceLength = 512;

/** Terminal columns of a text: wide characters count 2, combining ones 0. */
export function displayWidth(text: string): number {
  if (/^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u024f]*$/.test(text)) return text.length;
  let width = 0;
  for (let start = 0; start < text.length; start += sliceLength) {
    width += stringWidth(text.slice(start, start + sliceLength));
  }
  return width;
}

function cut(text: string, width: number, keepsEnd: boolean): string {
  // 64 code units per column are enough; a cell of megabytes is not measured completely.
  const part = keepsEnd ? text.slice(-width * 64) : text.slice(0, width * 64);
  if (part.length === text.length && displayWidth(text) <= width) return text;
  const segments = Array.from(segmenter.segment(part), ({ segment }) => segment);
  if (keepsEnd) segments.reverse();
  const kept: string[] = [];
  let used = 0;
  for (const segment of segments) {
    used += displayWidth(segment);
    if (used > width - 1) break;
    kept.push(segment);
  }
  return keepsEnd ? `…${kept.toReversed().join("")}` : `${kept.join("")}…`;
}

/** Cuts a longer `text` to `width` columns, with `…` at the end. Never cuts inside a character. */
export function fit(text: string, width: number): string {
  return cut(text, width, false);
}

/** Same as fit(), but keeps the end of the text, with `…` at its start. */
export function fitEnd(text: string, width: number): string {
  return cut(text, width, true);
}

// Node's segmenter takes quadratic time, so a long text is split into pieces. A longer grapheme
// is cut; no real text contains one.
const pieceLength = 512;

/** The graphemes of a text, each with its index. */
export function* graphemesOf(text: string): Generator<{ segment: string; index: number }> {
  let at = 0;
  while (at < text.length) {
    // Half of a surrogate pair at the end would count as a separate character.
    const part = text.slice(at, at + pieceLength).replace(/[\ud800-\udbff]$/, "") || text.slice(at);
    const isLast = at + part.length === text.length;
    const found = [...segmenter.segment(part)];
    // The last grapheme may continue in the next piece.
    if (!isLast && found.length > 1) found.pop();
    for (const { segment, index } of found) yield { segment, index: at + index };
    const end = found.at(-1)!;
    at += end.index + end.segment.length;
  }
}

/**
 * Breaks `text` at spaces into lines of at most `width` columns. A longer word is not broken, and
 * a command in backticks stays whole, so that it can be copied.
 */
export function wrapWords(text: string, width: number): string[] {
  if (displayWidth(text) <= width) return [text];
  const lines: string[] = [];
  let line = "";
  for (const word of text.match(/(?:`[^`]*`|[^ ])+/g) ?? []) {
    if (line !== "" && displayWidth(line) + 1 + displayWidth(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

const defaultIndent = 2;
// `$ knowctl …`, `NAME=value knowctl …`: to be copied.
const command = /^ *(?:\$ |(?:\w+=\S+ )*knowctl )/;

/**
 * Breaks each line of a text for people; its further rows begin below its first word. A line that
 * is a command stays whole.
 */
export function wrapLines(text: string, columns: number): string {
  const rows = text.split("\n").flatMap((line) => {
    if (displayWidth(line) <= columns || command.test(line)) return [line];
    const [lead = ""] = /^ *(?:[→·] )?/.exec(line) ?? [];
    const indent = lead.length || defaultIndent;
    const [first = "", ...rest] = wrapWords(line.slice(lead.length), columns - indent);
    return [lead + first, ...rest.map((row) => " ".repeat(indent) + row)];
  });
  return rows.join("\n");
}

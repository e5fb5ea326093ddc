/** A line without the indentation of the blocks around it, and without blanks at its end. */
export interface Line {
  text: string;
  /** Line of the file, from 1; undefined in an included file. */
  number: number | undefined;
}

/** Lines of one block, and the index of the line after it. */
interface Taken {
  lines: Line[];
  next: number;
}

// Tabs of a longer line are no indentation, and each would become 8 blanks.
const longestWithTabs = 2000;

function expandTabs(text: string): string {
  if (!text.includes("\t")) return text;
  if (text.length > longestWithTabs) return text.replaceAll("\t", " ");
  let expanded = "";
  for (const part of text.split(/(\t)/)) {
    expanded += part === "\t" ? " ".repeat(8 - (expanded.length % 8)) : part;
  }
  return expanded;
}

/** The lines of a text. `first` is the line of the file with its first line. */
export function toLines(text: string, first: number | undefined): Line[] {
  return text.split(/\r\n|[\n\f\v]/).map((line, index) => ({
    text: expandTabs(line).trimEnd(),
    number: first === undefined ? undefined : first + index,
  }));
}

/** A page with more lines is no page: its blocks would use gigabytes. */
export const mostLines = 1_000_000;

/** Number of lines of a text. */
export function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** Number of blanks at the start, counted up to `most`. */
export function indentOf(text: string, most = Number.POSITIVE_INFINITY): number {
  let indent = 0;
  while (indent < most && text.charCodeAt(indent) === 32) indent++;
  return indent;
}

export const isBlank = (line: Line | undefined): boolean => line === undefined || line.text === "";

function withoutBlankEnds(lines: Line[]): Line[] {
  let from = 0;
  let to = lines.length;
  while (from < to && isBlank(lines[from])) from++;
  while (to > from && isBlank(lines[to - 1])) to--;
  return lines.slice(from, to);
}

function dedent(lines: readonly Line[]): Line[] {
  let least = Number.POSITIVE_INFINITY;
  for (const { text } of lines) if (text !== "") least = indentOf(text, least);
  return lines.map(({ text, number }) => ({ text: text.slice(least), number }));
}

function endOfIndented(lines: readonly Line[], at: number, least: number): number {
  let next = at;
  for (; next < lines.length; next++) {
    const text = lines[next]?.text ?? "";
    if (text !== "" && indentOf(text, least) < least) break;
  }
  return next;
}

/** The indented lines from `at`, without their common indentation. */
export function takeIndented(lines: readonly Line[], at: number): Taken {
  const next = endOfIndented(lines, at, 1);
  return { lines: withoutBlankEnds(dedent(lines.slice(at, next))), next };
}

/** The text of line `at` from `column`, and the lines below that are indented that far. */
export function takeItem(lines: readonly Line[], at: number, column: number): Taken {
  const { text = "", number } = lines[at] ?? { number: undefined };
  if (text.length <= column) return takeBody(lines, at, column);
  const next = endOfIndented(lines, at + 1, column);
  const rest = lines.slice(at + 1, next).map((line) => ({
    text: line.text.slice(column),
    number: line.number,
  }));
  return { lines: withoutBlankEnds([{ text: text.slice(column), number }, ...rest]), next };
}

/** The text of line `at` from `column`, and all indented lines below. Keeps a blank first line. */
export function takeBody(lines: readonly Line[], at: number, column: number): Taken {
  const { text = "", number } = lines[at] ?? { number: undefined };
  const next = endOfIndented(lines, at + 1, 1);
  const rest = dedent(lines.slice(at + 1, next));
  const first = { text: text.slice(column).trimStart(), number };
  return { lines: [first, ...withoutBlankEnd(rest)], next };
}

function withoutBlankEnd(lines: Line[]): Line[] {
  let to = lines.length;
  while (to > 0 && isBlank(lines[to - 1])) to--;
  return lines.slice(0, to);
}

/** The lines as one text. */
export const textOf = (lines: readonly Line[]): string => lines.map(({ text }) => text).join("\n");

/** Replaces the text of the first line. */
export const withFirst = (lines: readonly Line[], text: string): Line[] =>
  lines.map((line, index) => (index === 0 ? { ...line, text } : line));

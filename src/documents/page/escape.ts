import { decodeHTMLStrict } from "entities/decode";

/** Where a text stands. */
export interface Place {
  isInLink: boolean;
  isInCell: boolean;
  /** Characters of Markdown that could be marks of emphasis in this paragraph. */
  marks: ReadonlySet<string>;
  /** The characters before and after the text; "" for none. */
  before: string;
  after: string;
}

const special = /[\\`*_~<&[\]|!]/g;
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
    const escaped = `\\${char}`;
    if (char === "`") return escaped;
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

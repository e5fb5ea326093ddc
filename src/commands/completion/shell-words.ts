/** The line up to the cursor, split as in bash. */
export interface ShellLine {
  /** Words before the word at the cursor, without quotes; the first is the program. */
  words: string[];
  /** The beginning of the word at the cursor, without quotes. */
  current: string;
  /** Length of the part of `current` that stays as typed; the inserted text follows it. */
  kept: number;
  /** The quotation mark that is still open. */
  quote: "" | '"' | "'";
}

interface Reader extends ShellLine {
  /** A word has begun, even if it is only an empty pair of quotes. */
  inWord: boolean;
}

/** Reads inside quotation marks; returns where they end. */
function readQuoted(reader: Reader, line: string, start: number, quote: '"' | "'"): number {
  reader.quote = quote;
  reader.kept = reader.current.length;
  let at = start;
  for (; at < line.length && line[at] !== quote; at++) {
    const next = line[at + 1];
    const escapes =
      quote === '"' && line[at] === "\\" && next !== undefined && '"\\$`'.includes(next);
    if (escapes) at++;
    reader.current += line[at] ?? "";
  }
  if (at >= line.length) return at;
  reader.quote = "";
  // A closing quote also ends the part that the line editor replaces.
  reader.kept = reader.current.length;
  return at + 1;
}

/**
 * Splits a command line as bash and its line editor do. Returns words without quotes, and
 * the part of the last word that the editor replaces: the part after the last open quote,
 * or after the last unquoted character of `breaks` (COMP_WORDBREAKS). Does not expand
 * substitutions.
 */
export function readShellLine(line: string, breaks: string): ShellLine {
  const reader: Reader = { words: [], current: "", kept: 0, quote: "", inWord: false };
  let at = 0;
  while (at < line.length) {
    const character = line[at] ?? "";
    if (/[ \t\n]/.test(character)) {
      if (reader.inWord) reader.words.push(reader.current);
      Object.assign(reader, { current: "", kept: 0, inWord: false });
      at++;
      continue;
    }
    reader.inWord = true;
    if (character === '"' || character === "'") {
      at = readQuoted(reader, line, at + 1, character);
      continue;
    }
    const escaped = character === "\\";
    reader.current += escaped ? (line[at + 1] ?? "") : character;
    if (!escaped && breaks.includes(character)) reader.kept = reader.current.length;
    at += escaped ? 2 : 1;
  }
  const { words, current, kept, quote } = reader;
  return { words, current, kept, quote };
}

function escapeForBash(text: string, quote: ShellLine["quote"]): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  // bash expands `!` inside double quotes, and no escape inside them prevents it.
  if (quote === '"') return text.replace(/[\\"$`]/g, "\\$&").replaceAll("!", '"\\!"');
  return text.replace(/[^\w./,+%@-]/gu, (each) => (each > "\u007f" ? each : `\\${each}`));
}

/** Quotes a text for a bash line, after the open quotation mark. */
export function quoteForBash(text: string, quote: ShellLine["quote"]): string {
  const word = escapeForBash(text, quote);
  // The line editor adds the closing quote, unless the text ends with this quote.
  return quote !== "" && word.endsWith(quote) ? word + quote : word;
}

/** Quotes a text as one PowerShell word. */
export function quoteForPowerShell(text: string): string {
  if (/^[A-Za-z0-9_][\w./:\\=+-]*$/.test(text) || /^--[\w-]+$/.test(text)) return text;
  // PowerShell reads typographic quotes as plain quotes.
  return `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, "$&$&")}'`;
}

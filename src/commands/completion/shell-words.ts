/** The line up to the cursor as bash takes it apart. */
export interface ShellLine {
  /** Words before the one at the cursor, without quotes; the program itself is the first. */
  words: string[];
  /** The beginning of the word at the cursor, without quotes. */
  current: string;
  /** How much of `current` stays as it is typed: what is inserted follows it. */
  kept: number;
  /** The quotation mark that is still open. */
  quote: "" | '"' | "'";
}

interface Reader extends ShellLine {
  /** Something of a word has been read, be it an empty pair of quotation marks. */
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
  // A closing mark ends what the line editor will replace, as every mark does.
  reader.kept = reader.current.length;
  return at + 1;
}

/**
 * Takes a command line apart as bash and its line editor do: words with their
 * quotes removed, and what of the last one the editor replaces: what follows the
 * last open quotation mark, or the last unquoted character of `breaks`
 * (COMP_WORDBREAKS). Substitutions are not looked into.
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
  // History is expanded inside double quotes, and nothing inside them hinders it.
  if (quote === '"') return text.replace(/[\\"$`]/g, "\\$&").replaceAll("!", '"\\!"');
  return text.replace(/[^\w./,+%@-]/gu, (each) => (each > "\u007f" ? each : `\\${each}`));
}

/** A text as it must stand in a line of bash, inside the quotation mark that is open. */
export function quoteForBash(text: string, quote: ShellLine["quote"]): string {
  const word = escapeForBash(text, quote);
  // The line editor closes the quotation, unless the text ends with its mark.
  return quote !== "" && word.endsWith(quote) ? word + quote : word;
}

/** A text as one word of PowerShell. */
export function quoteForPowerShell(text: string): string {
  if (/^[A-Za-z0-9_][\w./:\\=+-]*$/.test(text) || /^--[\w-]+$/.test(text)) return text;
  // PowerShell takes typographic quotation marks for plain ones.
  return `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, "$&$&")}'`;
}

import { neutraliseLine } from "../terminal/neutralise.ts";

/**
 * Untrusted text for a cell of a Markdown table. Characters with a meaning in Markdown,
 * HTML or workflow commands become character references, which are never markup
 * (https://spec.commonmark.org/0.31.2/#entity-and-numeric-character-references).
 */
export function cell(text: string): string {
  const line = neutraliseLine(text).toWellFormed().trim();
  const short = line.length > 500 ? `${line.slice(0, 500).toWellFormed()}…` : line;
  return short
    .replace(/[!-/:-@[-`{-~]/g, (sign) =>
      /[-/.,()]/.test(sign) ? sign : `&#${sign.charCodeAt(0)};`,
    )
    .replace(/\bwww\./gi, (word) => `${word.slice(0, 3)}&#46;`);
}

/** A table of Markdown. Cells are Markdown already: foreign texts pass cell(). */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  return line(header) + line(header.map(() => "---")) + rows.map(line).join("");
}

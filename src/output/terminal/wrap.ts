import { displayWidth } from "./width.ts";

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

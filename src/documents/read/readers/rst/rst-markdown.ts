const markdownMark = /[\\`*_[\]<>#|]/;

/** Text without the escapes of reStructuredText; those of Markdown stay. */
export function unescape(text: string, isPlain: boolean): string {
  return text.replace(/\\(\s|[^\s])?/gu, (_, next: string = "") => {
    if (/^\s$/.test(next)) return "";
    return !isPlain && markdownMark.test(next) ? `\\${next}` : next;
  });
}

/** A code span that contains any text. */
export function codeSpan(text: string, isPlain: boolean): string {
  if (isPlain || text.trim() === "") return text;
  if (!text.includes("`")) return `\`${text}\``;
  let longest = 1;
  for (const run of text.matchAll(/`+/g)) longest = Math.max(longest, run[0].length);
  const marks = "`".repeat(longest + 1);
  return `${marks} ${text} ${marks}`;
}

/** A Markdown link; only its text if there is no address. */
export function link(text: string, address: string, isPlain: boolean): string {
  if (isPlain || address === "" || address.endsWith("_")) return text;
  const target = /^[^\s:/@<>]+@[^\s:/@<>]+$/.test(address) ? `mailto:${address}` : address;
  const shown = text.replace(/[[\]]/g, "\\$&");
  return /[()\s<>]/.test(target)
    ? `[${shown}](<${target.replace(/[<>\s]/g, "")}>)`
    : `[${shown}](${target})`;
}

// Code of a few lines is a value, and says what its row is about.
export const isShortCode = (code: string): boolean =>
  code.length <= 200 && code.split("\n").length <= 3;

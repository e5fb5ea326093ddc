const markdownMark = /[\\`*_[\]<>#|]/;

/** Text without the escapes of reStructuredText; those of Markdown stay. */
export function unescape(text: string, isPlain: boolean): string {
  return text.replace(/\\(\s|[^\s])?/gu, (_, next: string = "") => {
    if (/^\s$/.test(next)) return "";
    return !isPlain && markdownMark.test(next) ? `\\${next}` : next;
  });
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

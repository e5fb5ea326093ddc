/**
 * A text with one blank for each run of white space. A lone blank is no match: to replace each by
 * itself is most of the work on a long text, and takes memory for each.
 */
export function withLoneBlanks(text: string): string {
  return text.replace(/\s{2,}|[^\S ]/g, " ");
}

/** Number of characters other than white space. */
export function countVisible(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x20 || (code > 0x08 && code < 0x0e)) continue;
    // Only here Unicode has white space.
    const mayBeBlank = code === 0xa0 || (code > 0x167f && code < 0x3001) || code === 0xfeff;
    if (!mayBeBlank || !/\s/.test(text.charAt(at))) count++;
  }
  return count;
}

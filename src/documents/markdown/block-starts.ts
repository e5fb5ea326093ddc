// A longer line is data, or made to cost time.
const longestTag = 10_000;
// CommonMark 0.31, 4.6.
const blockTag =
  /^<\/?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?:[\s>]|\/>|$)/i;
const rawTag = /^<(pre|script|style|textarea)(?:[\s>]|$)/i;
const attribute = String.raw`\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>\x60]+|'[^']*'|"[^"]*"))?`;
const tagAlone = new RegExp(
  String.raw`^<(?:[A-Za-z][\w-]*(?:${attribute})*\s*/?|/[A-Za-z][\w-]*\s*)>\s*$`,
);
const fence = /^(`{3,})[^`]*$|^(~{3,})/;
export const bullet = /^(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)/;
const thematicBreak = /^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
// A longer row of marks would use up the stack of the pattern.
/** Whether a line is a thematic break. */
export const isBreak = (rest: string): boolean =>
  rest.length <= longestTag && thematicBreak.test(rest);
export const heading = /^#{1,6}(?:[ \t]|$)/;

/** How a fence or an HTML block ends. */
export interface Ending {
  /** Whether a line ends the block, and belongs to it. */
  ends: (line: string) => boolean;
  endsAtBlank: boolean;
}

/** How an HTML block that begins with this line ends; undefined for none. */
export function htmlEnding(rest: string, isInParagraph: boolean): Ending | undefined {
  if (!rest.startsWith("<")) return undefined;
  const until = (mark: RegExp): Ending => ({ ends: (line) => mark.test(line), endsAtBlank: false });
  if (rest.startsWith("<!--")) return until(/-->/);
  if (rawTag.test(rest)) return until(/<\/(?:pre|script|style|textarea)>/i);
  if (rest.startsWith("<?")) return until(/\?>/);
  if (rest.startsWith("<![CDATA[")) return until(/\]\]>/);
  if (/^<![A-Za-z]/.test(rest)) return until(/>/);
  const isAlone = !isInParagraph && rest.length <= longestTag && tagAlone.test(rest);
  if (!blockTag.test(rest) && !isAlone) return undefined;
  return { ends: () => false, endsAtBlank: true };
}

/** How a fence that begins with this line ends; undefined for none. */
export function fenceEnding(rest: string): Ending | undefined {
  const [, ticks, tildes] = fence.exec(rest) ?? [];
  const marks = ticks ?? tildes;
  if (marks === undefined) return undefined;
  const char = marks[0] ?? "";
  const ends = (line: string): boolean => {
    const text = line.trim();
    return text.length >= marks.length && text === char.repeat(text.length);
  };
  return { ends, endsAtBlank: false };
}

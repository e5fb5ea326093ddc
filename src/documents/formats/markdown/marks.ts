/** What a Markdown text may contain besides ordinary Markdown. */
export interface Marks {
  /** Includes or shortcodes; see expandMarkdown(). */
  expands: boolean;
  /** Admonitions, tabs, directives or attribute lists; see readBlocks(). */
  hasBlocks: boolean;
}

const isLetter = (code: number): boolean => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;

/** Looks at each brace once: most pages have few. */
function braceMarks(text: string): Marks {
  const marks = { expands: false, hasBlocks: false };
  for (let at = text.indexOf("{"); at !== -1; at = text.indexOf("{", at + 1)) {
    const next = text[at + 1];
    const afterNext = text[at + 2];
    if (next === "%" || next === "!" || next === "*") marks.expands = true;
    else if (next === "{" && (afterNext === "<" || afterNext === "%")) marks.expands = true;
    else if (next === ":" && afterNext === ":") marks.expands = marks.hasBlocks = true;
    else if (next === ":" || (next === " " && (afterNext === "." || afterNext === "#"))) {
      marks.hasBlocks = true;
    } else if (next === "." && isLetter(text.charCodeAt(at + 2)) && text[at - 1] !== "{") {
      // Not the `{{.Title}}` of a template.
      marks.hasBlocks = true;
    }
    if (marks.expands && marks.hasBlocks) break;
  }
  return marks;
}

// One pattern of short words costs less than a search for each word.
const lineMark = /:::|!!! |\?\?\?|=== "|8<--|<<< |\/\/\/ /;

/**
 * Says cheaply what a text may contain: most pages contain nothing of it, and each search costs
 * something on all pages.
 */
export function marksOf(text: string): Marks {
  const marks = braceMarks(text);
  // V8 searches for a word of eight characters or more ten times as slowly.
  if (text.includes("@i") && text.includes("@incl")) marks.expands = true;
  if (text.includes("![[") || text.includes("%%")) marks.expands = true;
  if (text.includes("!INC") || text.includes("!inc")) marks.expands = true;
  if (text.includes("[!code")) marks.expands = true;
  if (!lineMark.test(text)) return marks;
  const expands = /8<--|<<< |:::[ \t]*code[ \t]/.test(text);
  return { expands: expands || marks.expands, hasBlocks: true };
}

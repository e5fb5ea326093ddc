import { angled, definition, endOfBare, skipBlanks, unescape } from "../images/image-references.ts";
import { readAttribute } from "../images/image-tags.ts";
import { createUnreadTest } from "../../text/code.ts";

/** The address of a link in Markdown text. */
export interface FoundLink {
  /** Offsets of the address as written, with `<…>` or quotes. */
  start: number;
  end: number;
  /** Without escapes and character references. */
  target: string;
  isAttribute: boolean;
}

// Escapes, brackets, tags, and blank lines. A blank line ends every open bracket.
const marks = /\\[^\n]|!?\[|\]|<a(?=[\s/>])|\n[ \t]*(?=\n)/gi;
const restOfDefinition = /[ \t]*(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\))?[ \t]*(?:\n|$)/y;

/** Reads the parentheses of `[…](…)`; `at` is the offset after the opening parenthesis. */
function readInline(text: string, at: number): FoundLink | undefined {
  const start = skipBlanks(text, at);
  angled.lastIndex = start;
  const inAngles = text[start] === "<" ? angled.exec(text) : null;
  const end = inAngles ? angled.lastIndex : endOfBare(text, start);
  if (end === undefined || end === start) return undefined;
  const after = skipBlanks(text, end);
  const hasTitle = after > end && /["'(]/.test(text[after] ?? "");
  if (text[after] !== ")" && !hasTitle) return undefined;
  const target = unescape(inAngles?.[1] ?? text.slice(start, end));
  return { start, end, target, isAttribute: false };
}

/** The definitions `[label]: address`. A footnote is none. */
function findDefinitions(text: string): FoundLink[] {
  if (!text.includes("]:")) return [];
  let isCode: ((offset: number) => boolean) | undefined;
  const found: FoundLink[] = [];
  for (const match of text.matchAll(definition)) {
    const [whole, label = "", inAngles, bare = ""] = match;
    const end = match.index + whole.length;
    restOfDefinition.lastIndex = end;
    if (label.startsWith("^") || !restOfDefinition.test(text)) continue;
    isCode ??= createUnreadTest(text);
    if (isCode(match.index + whole.indexOf("["))) continue;
    const start = end - (inAngles === undefined ? bare.length : inAngles.length + 2);
    found.push({ start, end, target: unescape(inAngles ?? bare), isAttribute: false });
  }
  return found;
}

/** `[…](…)` and `<a href>` outside of code. */
function findInline(text: string): FoundLink[] {
  const isCode = createUnreadTest(text);
  const found: FoundLink[] = [];
  // Whether each open bracket is one of an image.
  let open: boolean[] = [];
  marks.lastIndex = 0;
  for (let match = marks.exec(text); match; match = marks.exec(text)) {
    const [mark] = match;
    const next = marks.lastIndex;
    if (mark.startsWith("\n")) open = [];
    if (mark.startsWith("\n") || mark.startsWith("\\") || isCode(match.index)) continue;
    if (mark === "]") {
      const isImage = open.pop();
      const link = isImage === false && text[next] === "(" ? readInline(text, next + 1) : undefined;
      if (link) found.push(link);
      if (link) marks.lastIndex = link.end;
    } else if (mark.startsWith("<")) {
      const { attribute, end } = readAttribute(text, next, "href");
      const { value: target, ...range } = attribute ?? { value: "", start: 0, end: 0 };
      if (attribute) found.push({ ...range, target, isAttribute: true });
      marks.lastIndex = end;
    } else open.push(mark.startsWith("!"));
  }
  return found;
}

/**
 * Finds the addresses of links in Markdown text, in order: `[…](…)`, definitions, and `<a href>`.
 * Not in code, and not of images. The time is linear in the length of the text, also for hostile
 * text.
 */
export function findLinks(text: string): FoundLink[] {
  const mayHaveInline = text.includes("](") || /<a\s/i.test(text);
  const all = [...(mayHaveInline ? findInline(text) : []), ...findDefinitions(text)];
  all.sort((one, other) => one.start - other.start);
  let end = 0;
  return all.filter((each) => {
    const isApart = each.start >= end;
    if (isApart) end = each.end;
    return isApart;
  });
}

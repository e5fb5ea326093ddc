import { scanStructure } from "../../documents/text/structure.ts";

/** A `knowctl-disable-next-line` comment. */
export interface Disable {
  /** Where each named rule stands in the text. */
  rules: readonly { name: string; start: number; end: number }[];
  /** Offsets of the text that it covers: the next line, or the code block there; `to` is the end. */
  from: number;
  to: number;
  /** Nothing but front matter and such comments stands before it: it also covers the whole page. */
  isAtTop: boolean;
}

const word = "knowctl-disable-next-line";

// The comments of Markdown and HTML, MDX, reStructuredText and AsciiDoc, each alone on its line.
const comment = new RegExp(
  String.raw`^[ \t]*(?:<!--|\{/\*|\.\.|//)[ \t]*${word}[ \t]+([^\n]*)$`,
  "gm",
);
const frontMatter = /^(---|\+\+\+)[ \t]*\r?\n[\s\S]*?\n\1[ \t]*(?:\r?\n|$)/;

function rulesIn(text: string, offset: number): Disable["rules"] {
  const list = text.replace(/[ \t]*(?:-->|\*\/\}).*$/, "").split(/[ \t]--(?:[ \t]|$)/, 1)[0] ?? "";
  return [...list.matchAll(/[^\s,]+/g)].map((match) => ({
    name: match[0],
    start: offset + match.index,
    end: offset + match.index + match[0].length,
  }));
}

function lineEnd(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end === -1 ? text.length : end;
}

/** The start of the first line after `offset` that is not blank. */
function nextText(text: string, offset: number): number {
  let start = lineEnd(text, offset) + 1;
  while (start < text.length) {
    const end = lineEnd(text, start);
    if (text.slice(start, end).trim() !== "") break;
    start = end + 1;
  }
  return Math.min(start, text.length);
}

const delimiter = /^(?:-{4,}|\.{4,}|={4,}|\*{4,}|\+{4,})$/;

/** The end of a delimited block of AsciiDoc, which may have an attribute line before it. */
function endOfDelimited(text: string, start: number): number | undefined {
  const line = (at: number): string => text.slice(at, lineEnd(text, at)).trimEnd();
  const from = /^\[.*\]$/.test(line(start)) ? nextText(text, start) : start;
  const mark = line(from);
  if (!delimiter.test(mark)) return undefined;
  for (let at = lineEnd(text, from) + 1; at < text.length; at = lineEnd(text, at) + 1) {
    if (line(at) === mark) return lineEnd(text, at);
  }
  return text.length;
}

/** The end of an indented block of reStructuredText: of a directive, or after `::`. */
function endOfIndented(text: string, start: number): number | undefined {
  const first = text.slice(start, lineEnd(text, start)).trimEnd();
  if (!/^[ \t]*\.\. [\w:-]+::|::$/.test(first)) return undefined;
  const indent = first.search(/\S/);
  let end = lineEnd(text, start);
  for (let at = end + 1; at < text.length; at = lineEnd(text, at) + 1) {
    const line = text.slice(at, lineEnd(text, at));
    if (line.trim() !== "" && line.search(/\S/) <= indent) break;
    end = lineEnd(text, at);
  }
  return end;
}

/** The comments in the text of a file that switch rules off. Comments in code count as text. */
export function disablesIn(text: string): Disable[] {
  if (!text.includes(word)) return [];
  const { opaque } = scanStructure(text);
  const isCode = (offset: number): boolean =>
    opaque.some(([start, end]) => start < offset && offset < end);
  let top = frontMatter.exec(text)?.[0].length ?? 0;
  const found: Disable[] = [];
  for (const match of text.matchAll(comment)) {
    const at = match.index;
    if (isCode(at)) continue;
    const list = match[1] ?? "";
    const rules = rulesIn(list, at + match[0].length - list.length);
    const from = nextText(text, at);
    const fence = opaque.find(([start]) => start === from);
    const to =
      fence?.[1] ??
      1 + (endOfDelimited(text, from) ?? endOfIndented(text, from) ?? lineEnd(text, from));
    const isAtTop = text.slice(top, at).trim() === "";
    if (isAtTop) top = lineEnd(text, at);
    found.push({ rules, from, to, isAtTop });
  }
  return found;
}

/** Whether a comment switches a rule off at an offset; undefined stands for the whole page. */
export function isDisabled(
  disables: readonly Disable[],
  rule: string,
  offset: number | undefined,
): boolean {
  return disables.some(
    ({ rules, from, to, isAtTop }) =>
      rules.some(({ name }) => name === rule) &&
      (offset === undefined ? isAtTop : from <= offset && offset < to),
  );
}

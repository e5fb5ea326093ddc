import { nameOf } from "./rst-reading.ts";

const longestLine = 1000;

/** A bar: a line of one repeated punctuation character (docutils, "reStructuredText Markup Specification", Sections). */
export function isAdornment(text: string): boolean {
  const first = text[0] ?? "";
  if (!/[!-/:-@[-`{-~]/.test(first)) return false;
  for (let at = 1; at < text.length; at++) if (text[at] !== first) return false;
  return true;
}

/** A bar that is shorter than the title and shorter than four characters is text. */
export const fits = (bar: string, title: string): boolean =>
  bar.length >= Math.min(4, title.length);

/** A title without the marks of roles, literals and links. */
const plainTitle = (title: string): string =>
  title
    .replace(/:[\w.+:-]{1,64}:`/g, "`")
    .replace(/ <[^<>]*>`_{1,2}/g, "`")
    .replace(/`+(?:__?)?/g, "")
    .replace(/\\(.)/g, "$1");

/** The lines of a text. A longer one than anybody types is blank. */
const linesOf = (text: string): string[] =>
  text.split(/\r\n|\n|\r/).map((line) => (line.length > longestLine ? "" : line.trimEnd()));

/** The title that begins at a line: with a bar below, or also above. */
function titleAt(lines: readonly string[], at: number): string | undefined {
  const [first = "", second = "", third = ""] = lines.slice(at, at + 3);
  if (isAdornment(first)) {
    const title = second.trim();
    return title !== "" && third === first && fits(first, title) ? title : undefined;
  }
  const isTitle = first !== "" && !/^\s|^\.\. /.test(first);
  return isTitle && isAdornment(second) && fits(second, first) ? first : undefined;
}

const label = /^\.\. _(?:`([^`]{1,200})` ?|((?:[^:\\]|\\.|:(?! |$)){1,200})):$/;
const mystLabel = /^\(([^()]{1,200})\)=$/;
const mystFence = /^\s*(?:`{3,}|:{3,}|~{3,})\s*\{[\w:+.-]+[^{}]*\}\s*(.*)$/;
const mystOption = /^\s*:(?:label|name):\s+(\S{1,200})$/;
const mystBlock = /^\+\+\+\s*\{.*"label"\s*:\s*"([^"]{1,200})"/;
const mystTitle = /^#{1,6} +(\S.*)$/;
const titledDirective = /^\.\. (?:table|list-table|csv-table):: +(\S.*)$/;

/** The caption of a figure: the first paragraph below its options. */
function captionAt(lines: readonly string[], at: number): string | undefined {
  if (lines[at]?.startsWith(".. figure:: ") !== true) return undefined;
  let next = at + 1;
  while (/^\s+:[\w-]+:/.test(lines[next] ?? "")) next++;
  if (lines[next] !== "") return undefined;
  const start = ++next;
  while (/^\s+\S/.test(lines[next] ?? "") && next - start < 20) next++;
  const caption = lines.slice(start, next).map((line) => line.trim());
  return caption.length > 0 && !caption[0]?.startsWith("..") ? caption.join(" ") : undefined;
}

/** A label or a section of a page. */
export interface Label {
  /** In lower case, with single blanks. */
  name: string;
  /** Plain text; undefined where no title follows. */
  title: string | undefined;
}

/**
 * The labels of a page and the titles after them, without reading its markup: `.. _label:` of
 * reStructuredText, `(label)=` of MyST, and what its directives and blocks
 * are called. `ofSections`: the titles themselves. sphinx-doc.org,
 * "Cross-referencing arbitrary locations", `sphinx.ext.autosectionlabel`.
 */
export function* labelsIn(text: string, ofSections = false): Generator<Label> {
  const lines = linesOf(text);
  let open: string[] = [];
  let directive: string | undefined;
  for (const [at, line] of lines.entries()) {
    if (line === "") continue;
    directive = mystFence.exec(line)?.[1] ?? directive;
    const own =
      (directive === undefined ? undefined : mystOption.exec(line)?.[1]) ??
      mystBlock.exec(line)?.[1];
    if (own !== undefined && !ofSections)
      yield { name: nameOf(own), title: directive || undefined };
    const [, quoted, plain] = (line.startsWith(".. _") && label.exec(line)) || [];
    const name = quoted ?? plain ?? mystLabel.exec(line)?.[1];
    if (name !== undefined) {
      open.push(nameOf(name));
      continue;
    }
    if (open.length === 0 && !ofSections) continue;
    const section = titleAt(lines, at) ?? mystTitle.exec(line)?.[1];
    const found = section ?? titledDirective.exec(line)?.[1] ?? captionAt(lines, at);
    const title = found === undefined ? undefined : plainTitle(found);
    if (!ofSections) for (const each of open) yield { name: each, title };
    else if (section !== undefined && title !== undefined) yield { name: nameOf(title), title };
    open = [];
  }
  if (!ofSections) for (const each of open) yield { name: each, title: undefined };
}

/** The first title of a page as plain text; undefined without one. */
export function firstTitle(text: string): string | undefined {
  const lines = linesOf(text);
  for (const [at, line] of lines.entries()) {
    if (line === "" || line.startsWith(" ") || isAdornment(lines[at - 1] ?? "")) continue;
    const title = titleAt(lines, at);
    if (title !== undefined) return plainTitle(title);
  }
  return undefined;
}

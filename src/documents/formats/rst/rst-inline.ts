import { escapeAttribute, escapeHtml } from "../../page/tree.ts";
import { textOf, type Value } from "../../front-matter/values.ts";
import { nameOf, type LinkedPage, type Substitution } from "./rst-reading.ts";

/** The text of HTML that escapeHtml() and the functions below have made. */
export const plainOf = (html: string): string =>
  html
    .replace(/<[^<>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");

export const codeHtml = (text: string): string => `<code>${escapeHtml(text)}</code>`;

/** Text as HTML, without the escapes of reStructuredText. */
export const unescaped = (text: string): string =>
  escapeHtml(
    text.replace(/\\(\s|[^\s])?/gu, (_, next: string = "") => (/^\s$/.test(next) ? "" : next)),
  );

/** A link around HTML; the HTML alone if there is no address. */
export function linkHtml(html: string, address: string): string {
  if (address === "" || address.endsWith("_")) return html;
  const target = /^[^\s:/@<>]+@[^\s:/@<>]+$/.test(address) ? `mailto:${address}` : address;
  return `<a href="${escapeAttribute(target)}">${html}</a>`;
}

export const imageHtml = (source: string, alt: string): string =>
  `<img src="${escapeAttribute(source)}" alt="${escapeAttribute(alt)}">`;

export function preHtml(html: string, language: string): string {
  const name = language === "" ? "" : ` class="language-${escapeAttribute(language)}"`;
  // The first line break in `pre` is no text.
  return `<pre><code${name}>\n${html}</code></pre>`;
}

/** What inline markup refers to. */
export interface Inline {
  substitutions: ReadonlyMap<string, Substitution>;
  /** Address or other name by name of the target; "" for a place in the document. */
  targets: ReadonlyMap<string, string>;
  /** Titles by the names of the targets before them. */
  titles: ReadonlyMap<string, string>;
  rawRoles: ReadonlySet<string>;
  /** Another page, by its name without extension. */
  pageOf: (name: string) => LinkedPage | undefined;
  /** A place in another page, by its label. */
  labelOf: (name: string) => LinkedPage | undefined;
  /** A value of the configuration of the site. */
  setting: (name: string) => Value | undefined;
  /** The next address of an anonymous target. */
  nextAnonymous: () => string | undefined;
  /** Gives a named target within running text its anchor. */
  noteTarget: (name: string, address: string) => void;
  /** Notes a reference whose name no target has so far. */
  noteUnknown: (name: string, written: string) => void;
  /** Notes an address that is not as the page has it. */
  noteWritten: (address: string, written: string) => void;
  /** What a footnote reference shows: `[1]`. */
  footnoteText: (label: string) => string;
  /** Characters that substitutions and titles can still add. */
  room: number;
}

/** A text while its marks are read. */
export interface Scan {
  inline: Inline;
  text: string;
  at: number;
  /** Text before it is copied. */
  from: number;
  parts: string[];
  /** Marks that no later text closes. */
  unclosed: Set<string>;
  depth: number;
}

const opens = /[\s'"([{<\-/:\p{Ps}\p{Pi}\p{Pf}\p{Pd}\p{Po}]/u;
const closes = /[\s'")\]}>\-/:.,;!?\\\p{Pe}\p{Pi}\p{Pf}\p{Pd}\p{Po}]/u;
const pairs: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "(": ")",
  "[": "]",
  "{": "}",
  "<": ">",
};
/** Longer names are text. */
export const longestName = 200;

/** Whether a mark at `at` stands where one can begin. */
const isOpener = (text: string, at: number): boolean => at === 0 || opens.test(text[at - 1] ?? "");
/** Whether a mark that ends before `at` stands where one can end. */
export const isCloser = (text: string, at: number): boolean =>
  at >= text.length || closes.test(text[at] ?? "");

/** Whether a mark of `length` at `at` can begin something. */
export function canOpen({ text }: Scan, start: number, at: number, length: number): boolean {
  const next = text[at + length];
  if (next === undefined || /\s/.test(next) || !isOpener(text, start)) return false;
  return start === 0 || pairs[text[start - 1] ?? ""] !== next;
}

/** Where the mark closes what begins at `from`; -1 if it does not. */
export function findEnd(scan: Scan, mark: string, from: number): number {
  const { text, unclosed } = scan;
  if (unclosed.has(mark)) return -1;
  for (let at = text.indexOf(mark, from + 1); at !== -1; at = text.indexOf(mark, at + 1)) {
    const before = text[at - 1] ?? " ";
    if (/\s/.test(before) || (before === "\\" && mark !== "``")) continue;
    const end = at + mark.length;
    const suffix =
      mark === "`" ? /^(?:__?|:[\w.+:-]{1,64}:(?!`))/.exec(text.slice(end, end + 70))?.[0] : "";
    const rest = mark === "|" ? /^_{0,2}/.exec(text.slice(end, end + 2))?.[0] : suffix;
    if (isCloser(text, end + (rest ?? "").length) || isCloser(text, end)) return at;
  }
  unclosed.add(mark);
  return -1;
}

/** Copies the text up to `until`, adds `html`, and goes on at `next`. */
export function flush(scan: Scan, until: number, next: number, html: string): void {
  scan.parts.push(escapeHtml(scan.text.slice(scan.from, until)), html);
  scan.from = next;
  scan.at = next;
}

/** The address of a name; "" for a place in the document, undefined for an unknown name. */
export function addressOf({ targets }: Inline, name: string): string | undefined {
  let address = targets.get(nameOf(name));
  for (let hop = 0; hop < 8 && address?.endsWith("_"); hop++) {
    const next = targets.get(nameOf(address.slice(0, -1).replace(/^`(.*)`$/, "$1")));
    if (next === undefined) break;
    address = next;
  }
  return address;
}

/** `text <target>`; where Sphinx needs no blank between them, also `text<target>`. */
function splitTarget(
  content: string,
  needsBlank = true,
): { text: string; target: string } | undefined {
  const at = content.endsWith(">") ? content.lastIndexOf("<") : -1;
  const before = content[at - 1] ?? " ";
  if (at === -1 || before === "\\" || (needsBlank && !/\s/.test(before))) return undefined;
  const target = content.slice(at + 1, -1);
  return { text: content.slice(0, at).trim() || target, target };
}

/** For a text that is rendered a second time. */
export const repeated = (inline: Inline): Inline => ({
  ...inline,
  nextAnonymous: () => undefined,
  noteTarget: () => undefined,
  noteUnknown: () => undefined,
  noteWritten: () => undefined,
  footnoteText: (label) => `[${label.replace("#", "")}]`,
});

// Roles whose text is prose. All other roles name code, keys or files.
const prose = new Set(
  "ref doc term numref abbr abbreviation acronym any title title-reference t emphasis strong sub subscript guilabel menuselection dfn eq download math index keyword manpage newsgroup program mailheader cite".split(
    " ",
  ),
);

// Roles whose whole text is shown, also what looks like a target: `:code:`cp <file>``.
const whole = new Set(
  "abbr math code literal samp file kbd command makevar regexp mimetype guilabel menuselection raw".split(
    " ",
  ),
);

/** Text and target of `text <target>`. */
interface Split {
  text: string;
  target: string;
}

const documents = new Map<string, (number: string) => [text: string, address: string]>([
  ["pep", (number) => [`PEP ${number}`, `https://peps.python.org/pep-${number.padStart(4, "0")}/`]],
  ["rfc", (number) => [`RFC ${number}`, `https://datatracker.ietf.org/doc/html/rfc${number}.html`]],
]);

/** Text and address of a numbered document, with the place in it: `8#naming-conventions`. */
function numbered(role: string, written: string): [text: string, address: string] | undefined {
  const [, number, place = ""] = /^(\d{1,6})(#[\w.-]+)?$/.exec(written.trim()) ?? [];
  const found =
    number === undefined ? undefined : documents.get(role.replace("-reference", ""))?.(number);
  return found && [found[0] + place, found[1] + place];
}

/** What a page shows for the text of a role, as HTML; "" is the role of text without a role. */
function roleText(role: string, content: string, found: Split | undefined): string {
  const split = role === "" || whole.has(role) ? undefined : found;
  const document = numbered(role, split?.target ?? content);
  if (document) return linkHtml(unescaped(split?.text ?? document[0]), document[1]);
  if (role === "abbr" || role === "math") return unescaped(content);
  const named = split?.text ?? content;
  if (role === "sup" || role === "superscript") return `<sup>${unescaped(named)}</sup>`;
  if (role === "guilabel" || role === "menuselection") {
    return unescaped(named.replace(/&(?=\S)/g, ""));
  }
  const html = unescaped(named);
  if (role === "" && /[_*]/.test(html)) return `<code>${html}</code>`;
  if (role === "" || prose.has(role)) return html;
  const plain = plainOf(html).replace(/\s+/g, " ");
  if (role === "samp" || role === "file") return codeHtml(plain.replace(/[{}]/g, ""));
  const last = !split && plain.startsWith("~") ? (/[^.]*$/.exec(plain)?.[0] ?? "") : "";
  return codeHtml(last || plain.replace(/^[!~]/, ""));
}

const simpleName = /^[\p{L}\p{N}]+(?:[-._+:][\p{L}\p{N}]+)*$/u;
// docutils: of ASCII, fewer characters stand around a reference than around other marks.
const before = /[\s'"([{<\-/:]|[^\0-\x7f]/;
const after = /[\s'")\]}>\-/:.,;!?\\]|[^\0-\x7f]/;
const isApart = (text: string, start: number, end: number): boolean =>
  (start === 0 || before.test(text[start - 1] ?? "")) && after.test(text[end] ?? " ");

// An address can end with "_" as well.
const alias = /^[\p{L}\p{N}](?:[\p{L}\p{N}]|[-._+: ](?=[\p{L}\p{N}]))*_$/u;

function phrase({ inline }: Scan, content: string, isAnonymous: boolean): string {
  const split = splitTarget(content);
  const text = unescaped(split?.text ?? content);
  if (split) {
    const target = split.target.replace(/\s+/g, "");
    const named = target.endsWith("_") ? addressOf(inline, split.target.slice(0, -1)) : undefined;
    if (named === undefined && alias.test(split.target)) {
      inline.noteUnknown(split.target.slice(0, -1), split.target);
    }
    if (named === undefined) inline.noteWritten(target, split.target);
    if (!isAnonymous && split.text.length <= longestName) {
      inline.noteTarget(nameOf(split.text), named ?? target);
    }
    return linkHtml(text, named ?? target);
  }
  const address = isAnonymous ? inline.nextAnonymous() : addressOf(inline, content);
  if (!isAnonymous && address === undefined) inline.noteUnknown(content, `\`${content}\`_`);
  return linkHtml(text, address ?? "");
}

/** Where a role before a backtick begins: `:name:` ends at `at`. */
function roleStart(text: string, at: number): number {
  if (text[at - 1] !== ":") return -1;
  let start = at - 2;
  const least = Math.max(at - 70, 0);
  while (start >= least && /[\w.+:-]/.test(text[start] ?? "")) start--;
  const from = text.indexOf(":", start + 1);
  return from < at - 2 && isOpener(text, from) ? from : -1;
}

/** Roles, and links such as `text <url>`_. */
export function readInterpreted(scan: Scan): boolean {
  const { text, at } = scan;
  const prefix = roleStart(text, at);
  const start = prefix === -1 || prefix < scan.from ? at : prefix;
  if (!canOpen(scan, start, at, 1)) return false;
  const end = findEnd(scan, "`", at + 1);
  if (end === -1) return false;
  const content = text.slice(at + 1, end);
  const after = /^(?:(__?)|:([\w.+:-]{1,64}):(?!`))/.exec(text.slice(end + 1, end + 70));
  const role = start < at ? text.slice(start + 1, at - 1) : after?.[2];
  if (role === undefined && after?.[1] !== undefined) {
    flush(scan, start, end + 1 + after[0].length, phrase(scan, content, after[1] === "__"));
    return true;
  }
  const used = start === at && after ? after[0].length : 0;
  flush(scan, start, end + 1 + used, showRole(scan, role?.toLowerCase() ?? "", content));
  return true;
}

// Sphinx needs no blank before the target in `text<target>`. Of other roles, such as those of C++,
// `<…>` is more often part of the name.
const pageRoles = new Set([
  "ref",
  "doc",
  "term",
  "numref",
  "any",
  "std:ref",
  "std:doc",
  "std:term",
]);

// sphinx-doc.org, "Cross-referencing anything": the pages that every site has.
const builtIn: Readonly<Record<string, string>> = {
  genindex: "Index",
  modindex: "Module Index",
  "py-modindex": "Python Module Index",
  search: "Search Page",
};

/** The title of a place in this page, or of a page without a file, by its label. */
const titleOf = ({ titles }: Inline, name: string): string | undefined =>
  titles.get(name) ?? (Object.hasOwn(builtIn, name) ? builtIn[name] : undefined);

// sphinx-doc.org, "Cross-referencing figures by figure number": only Sphinx counts them.
const labelRole = /^(?:std:)?(?:num)?ref$/;

/** The page or the place in another page that a role names. */
function linkedPage(inline: Inline, role: string, target: string): LinkedPage | undefined {
  if (role === "doc" || role === "std:doc") return inline.pageOf(target);
  if (!labelRole.test(role)) return undefined;
  const name = nameOf(target);
  const isOwn = inline.targets.has(name) || inline.titles.has(name) || Object.hasOwn(builtIn, name);
  return isOwn ? undefined : inline.labelOf(target);
}

// sphinx-doc.org, "add_function_parentheses".
const functions = /^(?:(?:py|c|cpp|js|php):)?(?:func|meth|function)$/;

/** sphinx-doc.org, "sphinx.ext.extlinks": a role with an address and a caption, each with a place `%s`. */
function extlink(inline: Inline, role: string, { text, target }: Split): string | undefined {
  if (!/^[\w-]+$/.test(role)) return undefined;
  const pair = inline.setting(`extlinks.${role}`);
  const [address, caption] = Array.isArray(pair) ? pair.map((each) => textOf(each)) : [];
  if (address === undefined) return undefined;
  const fill = (pattern: string): string =>
    pattern.replace(/%(?:s|%)/g, (place) => (place === "%s" ? target : "%"));
  const shown = text || fill(caption ?? address);
  return linkHtml(unescaped(shown), fill(address));
}

/** `Figure %s <target>` without the number. */
const withoutNumber = ({ text, target }: Split): Split => ({
  text: text
    .replace(/\s*(?:%s|\{number\})/g, "")
    .replace(/\{name\}/g, "")
    .trim(),
  target,
});

function showRole({ inline }: Scan, role: string, content: string): string {
  if (inline.rawRoles.has(role)) return escapeHtml(content.replace(/<[^<>]*>/g, ""));
  const written = splitTarget(content, !pageRoles.has(role));
  const split = written && role.endsWith("numref") ? withoutNumber(written) : written;
  const linked = linkedPage(inline, role, split?.target ?? content);
  const named = split?.text ?? linked?.title;
  if (linked && (named !== undefined || role === "doc")) {
    return linkHtml(unescaped(named ?? content), linked.address);
  }
  const external = extlink(inline, role, split ?? { text: "", target: content });
  if (external !== undefined) return external;
  const isShort = content.length <= longestName;
  const title = labelRole.test(role) && !split && isShort && titleOf(inline, nameOf(content));
  if (title && title.length <= inline.room) {
    inline.room -= title.length;
    return title;
  }
  const isCall = functions.test(role) && !split && !/[()]$/.test(content);
  const isPlain = textOf(inline.setting("add_function_parentheses")) === "false";
  return roleText(role, isCall && !isPlain ? `${content}()` : content, split);
}

/** `[1]_`. */
export function readFootnote(scan: Scan): boolean {
  const { text, at, inline } = scan;
  if (!isOpener(text, at)) return false;
  const found = /^\[(\d+|#[\w.-]*|\*|[\p{L}\p{N}][\p{L}\p{N}._:+-]*)\]_/u.exec(
    text.slice(at, at + longestName),
  );
  if (!found || !isCloser(text, at + found[0].length)) return false;
  flush(scan, at, at + found[0].length, escapeHtml(inline.footnoteText(found[1] ?? "")));
  return true;
}

/** `name_` and `name__`, and the target `_`text``. */
export function readUnderscore(scan: Scan): boolean {
  const { text, at, inline } = scan;
  if (text[at + 1] === "`" && canOpen(scan, at, at + 1, 1)) {
    const end = findEnd(scan, "`", at + 2);
    if (end === -1) return false;
    const target = text.slice(at + 2, end);
    if (target.length <= longestName) inline.noteTarget(nameOf(target), "");
    flush(scan, at, end + 1, unescaped(target));
    return true;
  }
  const length = text[at + 1] === "_" ? 2 : 1;
  if (!isCloser(text, at + length)) return false;
  let start = at;
  const least = Math.max(at - longestName, scan.from);
  while (start > least && /[\p{L}\p{N}._+:-]/u.test(text[start - 1] ?? "")) start--;
  const name = text.slice(start, at).replace(/^[-.+:_]+/, "");
  start = at - name.length;
  if (!simpleName.test(name) || !isOpener(text, start)) return false;
  const address = length === 2 ? inline.nextAnonymous() : addressOf(inline, name);
  if (address === undefined && length === 1 && isApart(text, start, at + 1)) {
    inline.noteUnknown(name, `${name}_`);
  }
  if (address === undefined) return false;
  flush(scan, start, at + length, linkHtml(escapeHtml(name), address));
  return true;
}

import { codeHtml, escapeHtml, linkHtml, plainOf, unescaped } from "../rst-html.ts";
import { nameOf } from "../rst-reading.ts";
import * as scanning from "../blocks/rst-scan.ts";

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

type Scan = scanning.Scan;

const simpleName = /^[\p{L}\p{N}]+(?:[-._+:][\p{L}\p{N}]+)*$/u;
// docutils: of ASCII, fewer characters stand around a reference than around other marks.
const before = /[\s'"([{<\-/:]|[^\0-\x7f]/;
const after = /[\s'")\]}>\-/:.,;!?\\]|[^\0-\x7f]/;
const isApart = (text: string, start: number, end: number): boolean =>
  (start === 0 || before.test(text[start - 1] ?? "")) && after.test(text[end] ?? " ");

// An address can end with "_" as well.
const alias = /^[\p{L}\p{N}](?:[\p{L}\p{N}]|[-._+: ](?=[\p{L}\p{N}]))*_$/u;

function phrase({ inline }: Scan, content: string, isAnonymous: boolean): string {
  const split = scanning.splitTarget(content);
  const text = unescaped(split?.text ?? content);
  if (split) {
    const target = split.target.replace(/\s+/g, "");
    const named = target.endsWith("_")
      ? scanning.addressOf(inline, split.target.slice(0, -1))
      : undefined;
    if (named === undefined && alias.test(split.target)) {
      inline.noteUnknown(split.target.slice(0, -1), split.target);
    }
    if (!isAnonymous && split.text.length <= scanning.longestName) {
      inline.noteTarget(nameOf(split.text), named ?? target);
    }
    return linkHtml(text, named ?? target);
  }
  const address = isAnonymous ? inline.nextAnonymous() : scanning.addressOf(inline, content);
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
  return from < at - 2 && scanning.isOpener(text, from) ? from : -1;
}

/** Roles, and links such as `text <url>`_. */
export function readInterpreted(scan: Scan): boolean {
  const { text, at } = scan;
  const prefix = roleStart(text, at);
  const start = prefix === -1 || prefix < scan.from ? at : prefix;
  if (!scanning.canOpen(scan, start, at, 1)) return false;
  const end = scanning.findEnd(scan, "`", at + 1);
  if (end === -1) return false;
  const content = text.slice(at + 1, end);
  const after = /^(?:(__?)|:([\w.+:-]{1,64}):(?!`))/.exec(text.slice(end + 1, end + 70));
  const role = start < at ? text.slice(start + 1, at - 1) : after?.[2];
  if (role === undefined && after?.[1] !== undefined) {
    scanning.flush(
      scan,
      start,
      end + 1 + after[0].length,
      phrase(scan, content, after[1] === "__"),
    );
    return true;
  }
  const used = start === at && after ? after[0].length : 0;
  scanning.flush(scan, start, end + 1 + used, showRole(scan, role?.toLowerCase() ?? "", content));
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

function showRole({ inline }: Scan, role: string, content: string): string {
  if (inline.rawRoles.has(role)) return escapeHtml(content.replace(/<[^<>]*>/g, ""));
  const split = scanning.splitTarget(content, !pageRoles.has(role));
  const page = role === "doc" ? inline.pageOf(split?.target ?? content) : undefined;
  if (page) {
    return linkHtml(unescaped(split?.text ?? page.title ?? content), page.address);
  }
  const isShort = content.length <= scanning.longestName;
  const title = role === "ref" && !split && isShort && inline.titles.get(nameOf(content));
  if (!title || title.length > inline.room) return roleText(role, content, split);
  inline.room -= title.length;
  return title;
}

/** `[1]_`. */
export function readFootnote(scan: Scan): boolean {
  const { text, at, inline } = scan;
  if (!scanning.isOpener(text, at)) return false;
  const found = /^\[(\d+|#[\w.-]*|\*|[\p{L}\p{N}][\p{L}\p{N}._:+-]*)\]_/u.exec(
    text.slice(at, at + scanning.longestName),
  );
  if (!found || !scanning.isCloser(text, at + found[0].length)) return false;
  scanning.flush(scan, at, at + found[0].length, escapeHtml(inline.footnoteText(found[1] ?? "")));
  return true;
}

/** `name_` and `name__`, and the target `_`text``. */
export function readUnderscore(scan: Scan): boolean {
  const { text, at, inline } = scan;
  if (text[at + 1] === "`" && scanning.canOpen(scan, at, at + 1, 1)) {
    const end = scanning.findEnd(scan, "`", at + 2);
    if (end === -1) return false;
    const target = text.slice(at + 2, end);
    if (target.length <= scanning.longestName) inline.noteTarget(nameOf(target), "");
    scanning.flush(scan, at, end + 1, unescaped(target));
    return true;
  }
  const length = text[at + 1] === "_" ? 2 : 1;
  if (!scanning.isCloser(text, at + length)) return false;
  let start = at;
  const least = Math.max(at - scanning.longestName, scan.from);
  while (start > least && /[\p{L}\p{N}._+:-]/u.test(text[start - 1] ?? "")) start--;
  const name = text.slice(start, at).replace(/^[-.+:_]+/, "");
  start = at - name.length;
  if (!simpleName.test(name) || !scanning.isOpener(text, start)) return false;
  const address = length === 2 ? inline.nextAnonymous() : scanning.addressOf(inline, name);
  if (address === undefined && length === 1 && isApart(text, start, at + 1)) {
    inline.noteUnknown(name, `${name}_`);
  }
  if (address === undefined) return false;
  scanning.flush(scan, start, at + length, linkHtml(escapeHtml(name), address));
  return true;
}

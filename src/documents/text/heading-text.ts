import { decodeHTMLStrict } from "entities/decode";
import { codeSpansOf, type Heading, scanStructure } from "./structure.ts";

/** How a site makes anchors of headings; `none`: only the ids that headings name are known. */
export type AnchorStyle =
  | "none"
  | "github"
  | "docusaurus"
  | "kramdown"
  | "mkdocs"
  | "vitepress"
  | "obsidian"
  | "myst"
  | "quarto"
  | "sphinx";

/** A heading by its text and the fragment that leads to it. */
export interface GivenHeading {
  /** As plain text. */
  text: string;
  /** The fragment that leads to it, added to the document's link. */
  anchor: string | undefined;
}

// `{#id}` of Docusaurus, `{: #id .class }` and `{ #id }` of Python-Markdown and kramdown,
// `{/* #id */}` and `{/*id*/}` of MDX, `[#id]` of Nextra; `[#12]` is an issue. `%{#id}%` is VitePress
// with the marks that its own pages recommend for text with braces.
// Neighbouring parts match different characters: otherwise a missing end takes quadratic time.
const ownId =
  /(?:%?\{:?[ \t]*(?:\.[\w-]+[ \t]+){0,9}#([^\s{}]+)(?:\s[^{}]*)?\}%?|\{\/\*(?:[ \t]*#([^\s*{}]+)[ \t]*|([\w-]+))\*\/\}|\[#(?!\d+\])([^\s[\]]+)\])[ \t]*$/;

/** The id that a page gives a heading, behind its text. */
function ownIdOf(heading: string): string | undefined {
  const [, ...ids] = ownId.exec(heading) ?? [];
  return ids.find((id) => id !== undefined);
}

/** Markdown without the ids behind its headings, which no reader of the page sees. */
export function withoutOwnIds(text: string): string {
  if (!text.includes("{") && !text.includes("[#")) return text;
  let result = "";
  let from = 0;
  for (const { start, end } of scanStructure(text).headings) {
    // An underlined heading has more lines.
    const lines = text.slice(start, end).split("\n");
    const shown = lines.map((line) =>
      ownId.test(line) ? line.replace(ownId, "").trimEnd() : line,
    );
    result += text.slice(from, start) + shown.join("\n");
    from = end;
  }
  return result + text.slice(from);
}

/**
 * Removes code spans from a text: nothing in them is Markdown or HTML. Each is replaced by its
 * number between NULs, which no text contains. Code ends with as many backticks as it begins
 * with (CommonMark 0.31, section 6.1).
 */
function extractCode(text: string): { rest: string; codes: string[] } {
  const codes: string[] = [];
  let rest = "";
  let from = 0;
  for (const [start, end] of codeSpansOf(text, (at) => text[at - 1] !== "\\")) {
    const length = /^`+/.exec(text.slice(start, end))?.[0].length ?? 0;
    rest += `${text.slice(from, start)}\0${codes.push(text.slice(start + length, end - length)) - 1}\0`;
    from = end;
  }
  return { rest: rest + text.slice(from), codes };
}

/** Plain text whose blanks are those of the page: two of them are two dashes of an anchor. */
function textWithBlanks(heading: string): string {
  const { rest, codes } = extractCode(heading.replace(ownId, ""));
  const plain = rest
    // First: what is escaped begins no tag, no link and no emphasis.
    .replace(/\\([!-/:-@[-`{-~])/g, (_, escaped: string) => `\0${codes.push(escaped) - 1}\0`)
    // The text of a link may have brackets of its own, and its title parentheses.
    .replace(
      /!?\[((?:[^[\]]|\[[^[\]]*\](?!\())*)\](?:\((?:[^()]*|[^()"]*"[^"]{0,300}"[ \t]*)\)|\[[^[\]]*\])/g,
      "$1",
    )
    .replace(/(\*{1,3}|~~)(?=\S)([^*~]*[^*~\s])\1/g, "$2")
    .replace(/(^|[^\p{L}\p{N}_])(_{1,3})(?=\S)([^_]*[^_\s])\2(?![\p{L}\p{N}_])/gu, "$1$3")
    .replace(/<\/?[A-Za-z][^<>]*>/g, "")
    .replace(/&#?\w{1,40};/g, (found) => decodeHTMLStrict(found))
    // oxlint-disable-next-line no-control-regex
    .replace(/\0(\d+)\0/g, (_, number: string) => codes[Number(number)] ?? "");
  return plain.replace(/\s/g, " ").trim();
}

/**
 * Heading as plain text: without links, emphasis, code marks and own id, and with the
 * characters that references such as `&eacute;` stand for.
 */
export const plainText = (heading: string): string => textWithBlanks(heading).replace(/ +/g, " ");

/** The slug that GitHub and github-slugger make of a text. */
export function githubSlug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
}

// Python-Markdown's `toc` extension with its default slugify, as mkdocs uses it.
function mkdocsSlug(text: string): string {
  const ascii = text.normalize("NFKD").replace(/[^ -~]/g, "");
  return ascii
    .replace(/[^\w\s-]/g, "")
    .trim()
    .toLowerCase()
    .replace(/[-\s]+/g, "-");
}

// kramdown.gettalong.org, "Automatic Generation of Header IDs": of its own parser. Its parser for GFM,
// which Jekyll uses if nothing else is said, makes the ids of GitHub.
function kramdownSlug(text: string): string {
  const slug = text.replace(/^[^A-Za-z]+/, "").replace(/[^A-Za-z\d -]/g, "");
  return slug.replaceAll(" ", "-").toLowerCase() || "section";
}

// vitepress.dev, "Header Anchors": slugify() of @mdit-vue/shared. Marks separate words, letters lose
// their accents, and no anchor begins with a digit.
function vitepressSlug(text: string): string {
  return (
    text
      .normalize("NFKD")
      .replace(/[\u0300-\u036F]/g, "")
      // oxlint-disable-next-line no-control-regex
      .replace(/[\0-\x1f]/g, "")
      .replace(/[\s~`!@#$%^&*()\-_+=[\]{}|\\;:"'“”‘’<>,.?/]+/g, "-")
      .replace(/^-|-$/g, "")
      .replace(/^(?=\d)/, "_")
      .toLowerCase()
  );
}

// mystmd, `createHtmlId`: an id begins with a letter.
const mystSlug = (text: string): string =>
  text
    .replace(/['‘’"“”]+/g, "")
    .toLowerCase()
    .replace(/[^a-z\d]+/g, "-")
    .replace(/^(?=[\d-])/, "id-")
    .replace(/-{2,}/g, "-")
    .replace(/-$/, "");

// Pandoc, "auto_identifiers".
const quartoSlug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}_.\- ]/gu, "")
    .trim()
    .replace(/\s+/g, "-")
    .replace(/^[^\p{L}]+/u, "") || "section";

/** The text of a heading as links of Obsidian name it; Obsidian Publish writes "+" for blanks. */
const obsidianAnchor = (text: string): string =>
  text
    .replace(/[:#|^\\]|%%|\[\[|\]\]/g, " ")
    .trim()
    .replace(/\s+/g, "+");

/** The anchor of the first heading with a plain text, as the site generator `style` creates it. */
export function slugOf(text: string, style: AnchorStyle): string {
  if (style === "obsidian") return obsidianAnchor(text);
  if (style === "mkdocs") return mkdocsSlug(text);
  if (style === "kramdown") return kramdownSlug(text);
  if (style === "myst") return mystSlug(text);
  if (style === "quarto") return quartoSlug(text);
  if (style === "sphinx") return makeId(text);
  return style === "vitepress" ? vitepressSlug(text) : githubSlug(text);
}

function uniqueGithub(slug: string, seen: Map<string, number>): string {
  let result = slug;
  while (seen.has(result)) {
    const count = (seen.get(slug) ?? 0) + 1;
    seen.set(slug, count);
    result = `${slug}-${count}`;
  }
  seen.set(result, 0);
  return result;
}

function uniqueMkdocs(
  slug: string,
  seen: Map<string, number>,
  lastAnchors: Map<string, string>,
): string {
  // Continues with the last anchor of the same heading: all earlier anchors are in use.
  let result = lastAnchors.get(slug) ?? slug;
  while (result === "" || seen.has(result)) {
    const [, stem, count] = /^(.*)_(\d+)$/.exec(result) ?? [];
    result = stem === undefined ? `${result}_1` : `${stem}_${Number(count) + 1}`;
  }
  lastAnchors.set(slug, result);
  seen.set(result, 0);
  return result;
}

// Letters that Unicode's decomposition leaves as they are.
const plainLetters: Readonly<Record<string, string>> = {
  ø: "o",
  đ: "d",
  ħ: "h",
  ı: "i",
  ł: "l",
  ŧ: "t",
  ß: "sz",
  æ: "ae",
  œ: "oe",
};

/** The identifier that docutils makes of a name (nodes.make_id); "" if no character fits. */
export function makeId(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^\0-\x7f]/g, (letter) => plainLetters[letter] ?? letter)
    .normalize("NFKD")
    .replace(/[^\0-\x7f]/g, "")
    .trim()
    .replace(/\s+/g, " ")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[-0-9]+|-+$/g, "");
}

function uniqueId(slug: string, seen: Map<string, number>, next: () => number): string {
  let result = slug;
  while (result === "" || seen.has(result)) result = `id${next()}`;
  seen.set(result, 0);
  return result;
}

/** Anchors of all headings of a document in order, "" for none, as the site generator `style` creates them. */
export function anchorsOf(headings: readonly Heading[], style: AnchorStyle): string[] {
  const seen = new Map<string, number>();
  const lastAnchors = new Map<string, string>();
  let unnamed = 0;
  return headings.map(({ text, level }, index) => {
    // mystmd takes the first heading as the title of the page, which has no id.
    if (style === "myst" && index === 0 && level === 1) return "";
    const own = ownIdOf(text);
    if (own !== undefined) seen.set(own, 0);
    // Docusaurus, theme-classic, Heading: the title of a page has no id, but its anchor is taken.
    const isTitle = style === "docusaurus" && level === 1;
    if (isTitle && own === undefined) uniqueGithub(slugOf(textWithBlanks(text), style), seen);
    if (isTitle) return "";
    if (own !== undefined || style === "none") return own ?? "";
    const slug = slugOf(textWithBlanks(text), style);
    // docutils, nodes.document.set_id: one that is taken, or empty, gets a number.
    if (style === "sphinx") return uniqueId(slug, seen, () => ++unnamed);
    // Obsidian opens the first of equal headings.
    if (style === "obsidian") return slug;
    return style === "mkdocs" ? uniqueMkdocs(slug, seen, lastAnchors) : uniqueGithub(slug, seen);
  });
}

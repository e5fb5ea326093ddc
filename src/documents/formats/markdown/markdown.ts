import type { Parsed, Surroundings } from "../format.ts";
import {
  type LeftOut,
  createLeftOutLog,
  type LeftOutLog,
  removeIgnored,
  type RemovedLines,
} from "../../text/left-out.ts";
import { removeHidden } from "./hidden.ts";
import {
  splitFrontMatter,
  type FrontMatter,
  type SplitText,
} from "../../front-matter/front-matter.ts";
import { textOf, type ValueMap, valueAt } from "../../front-matter/values.ts";
import { createCodeTest, scanStructure } from "../../text/structure.ts";
import { isVuePage, splitPage, toMarkdown } from "../mdx/mdx.ts";
import { readBlocks } from "./blocks.ts";
import {
  docfxMarks,
  replaceCodeDirective,
  replaceDocfx,
  replaceDocfxCode,
  replaceDocfxMark,
} from "./docfx.ts";
import type { GeneratorName } from "../../site/generators.ts";
import { withHome } from "./home.ts";
import { createSearch, type Expansion, indentBefore, type Replacement } from "./included.ts";
import { replaceMdbook } from "./mdbook.ts";
import { mkdocsMarks, replaceMkdocsMark, withAppended, includesInCode } from "./mkdocs.ts";
import { isVault, noteProperties, replaceEmbed, replaceVaultMark, vaultMarks } from "./obsidian.ts";
import {
  replaceBang,
  replaceCodeImport,
  replaceComment,
  replaceSnippet,
  replaceStar,
} from "./snippets.ts";
import { readMyst } from "../myst/myst.ts";
import { isQuarto } from "../myst/page.ts";
import { isQuartoValue } from "../myst/quarto-values.ts";
import type { GoObject } from "./template/go-values.ts";
import { replaceLiquid } from "./template/liquid.ts";
import { templateOf, templateText, type Template } from "./template/template.ts";
import { readKramdown } from "./kramdown.ts";
import { closedNames, readHugo, readLiquid, shortcodeText } from "./shortcode.ts";

const construct =
  /\{\{[<%]?|\{[%!*]|\{::comment\}|%%|;?--8<--|<<<(?=[ \t])|<!--[ \t]*@include:|\[!(?:INCLUDE|include|code)\b|:::[ \t]*code[ \t]|!\[\[/g;

/** What the pages of one generator have beside `construct`. */
interface Dialect {
  /** Finds its own marks and `construct`. */
  all: RegExp;
  /** Matches its own marks alone. */
  own: RegExp;
  replace(expansion: Expansion, at: number, mark: string): Replacement | "next" | undefined;
}

const withMarks = (marks: string): RegExp => new RegExp(`${marks}|${construct.source}`, "gm");

const dialects: Readonly<Partial<Record<GeneratorName, Dialect>>> = {
  obsidian: {
    all: withMarks(vaultMarks),
    own: /^(?:\[\[|==|\^|<%|[\x60~]{3})/,
    replace: replaceVaultMark,
  },
  mkdocs: {
    all: withMarks(mkdocsMarks),
    own: /^(?:\{[{%]$|\+\+|[+\-~=<]{2}\}$|\{(?:\+\+|--|~~|==|>>)$|==|\^|~$|:[a-z]|[ \t]*(?:\*\[|\[TOC|:::[ \t]+[\w.-]+[ \t]*$))/,
    replace: replaceMkdocsMark,
  },
  mdbook: { all: construct, own: /^\{\{[<%]?$/, replace: replaceMdbook },
  docfx: {
    all: withMarks(docfxMarks),
    own: /^(?:<xref:|@|:::$|\[$|\]\(|[ \t>]*#|\[!(?:div|video)|\{[{%])/i,
    replace: replaceDocfxMark,
  },
};

const dialectOf = ({ site }: Surroundings): Dialect | undefined => site && dialects[site.generator];

/** `{{</* name *\/>}}`: Hugo shows the shortcode itself. */
function replaceEscaped({ text, nextOf }: Expansion, at: number): Replacement | undefined {
  const mark = text[at + 2] === "<" ? ">}}" : "%}}";
  const close = nextOf(mark, at + 3);
  if (close === -1 || !text.startsWith("*/", close - 2)) return undefined;
  const inner = text.slice(at + 5, close - 2);
  return { end: close + 3, text: `${text.slice(at, at + 3)}${inner}${mark}` };
}

/** A comment of kramdown, or of a note in a vault of Obsidian. */
function removeComment(expansion: Expansion, at: number, mark: string): Replacement | undefined {
  const { text, around, log, nextOf } = expansion;
  const isNote = mark === "%%";
  if (around.keepsHidden || (isNote && !isVault(around))) return undefined;
  const from = at + mark.length;
  const ends = isNote ? ["%%"] : ["{:/comment}", "{:/}"];
  const closes = ends
    .map((each) => ({ each, close: nextOf(each, from) }))
    .filter(({ close }) => close !== -1)
    .toSorted((one, other) => one.close - other.close);
  const [first] = closes;
  if (!first) {
    // Obsidian hides the rest of the note as well.
    if (!isNote || indentBefore(text, at) === undefined) return undefined;
    log.add("comment", "", at);
    return { end: text.length, text: "" };
  }
  log.add("comment", "", at);
  return { end: first.close + first.each.length, text: "" };
}

function replaceConstruct(expansion: Expansion, at: number, mark: string): Replacement | undefined {
  const { text, isCode, chain } = expansion;
  // PyMdown includes within code, too.
  if (mark.includes("8<")) return replaceSnippet(expansion, at);
  if (mark.startsWith("{{") && text.startsWith("/*", at + 3)) return replaceEscaped(expansion, at);
  const { template } = expansion;
  // A template is rendered before Markdown is read: in code as well.
  if (template && /^\{[{%]/.test(mark)) {
    const found = replaceLiquid(expansion, template, at);
    if (found) return found;
  }
  const dialect = dialectOf(expansion.around);
  if (dialect?.own.test(mark) === true) {
    const replaced = dialect.replace(expansion, at, mark);
    if (replaced !== "next") return replaced;
  }
  if (mark === "{{") return undefined;
  // gohugo.io, "Shortcodes": Hugo reads them before Markdown, in code as well.
  const isHugo = expansion.around.site?.generator === "hugo" && /^\{\{[<%]/.test(mark);
  const isBang = mark === "{!" && includesInCode(expansion.around);
  // quarto.org, "Includes": so does Quarto, where the shortcode has its line.
  const isQuartoPage = mark === "{{<" && isQuarto(expansion.around, chain[0] ?? "");
  const isPart = isQuartoPage && /\n\{\{<[ \t]*include[ \t]/.test(text.slice(at - 1, at + 30));
  if (!isHugo && !isBang && !isPart && isCode(at)) return undefined;
  if (isQuartoPage && isQuartoValue(text, at)) return undefined;
  if (mark === "{!") return replaceBang(expansion, at);
  if (mark === "{*") return replaceStar(expansion, at);
  if (mark === "%%" || mark === "{::comment}") return removeComment(expansion, at, mark);
  if (mark === "<<<") return replaceCodeImport(expansion, at);
  if (mark === "![[") return replaceEmbed(expansion, at);
  if (mark === "[!code") return replaceDocfxCode(expansion, at);
  if (mark.startsWith(":")) return replaceCodeDirective(expansion, at);
  if (mark.startsWith("[")) return replaceDocfx(expansion, at);
  if (mark.startsWith("<!--")) return replaceComment(expansion, at);
  const isLiquid = mark === "{%";
  const tag = isLiquid ? readLiquid(expansion, at) : readHugo(expansion, at);
  return tag && shortcodeText(expansion, at, tag, isLiquid);
}

const constructOf = (around: Surroundings): RegExp => dialectOf(around)?.all ?? construct;

/** A text without the blanks at its end. A tag that takes them ends no fence's line. */
function trimmedEnd(before: string, pieces: readonly string[]): string {
  const text = before.trimEnd();
  return text === "" && /(?:^|\n)`{3,}$/.test(pieces.at(-1) ?? "") ? "\n" : text;
}

function expandText(expansion: Expansion): string {
  const { text, around } = expansion;
  const pieces: string[] = [];
  let from = 0;
  for (const { 0: mark, index } of text.matchAll(constructOf(around))) {
    if (index < from) continue;
    const found = replaceConstruct(expansion, index, mark);
    if (!found) continue;
    const before = text.slice(from, index);
    pieces.push(found.trimsBefore === true ? trimmedEnd(before, pieces) : before, found.text);
    from = found.end;
  }
  return pieces.length === 0 ? text : pieces.join("") + text.slice(from);
}

// In a tab or an admonition, a fence is indented like code. Its marks move to the start of the line. The
// names of generic types of .NET have a backtick, which begins no code.
const withoutIndents = (text: string): string => {
  const moved = text.replace(/^([ \t]+)((?:```|~~~).*)$/gm, "$2$1");
  return moved.includes("<xref:")
    ? moved.replace(/<xref:[^\s<>]{1,500}>/g, (name) => name.replaceAll("`", "_"))
    : moved;
};

interface Source {
  text: string;
  /** Root-relative paths from the document to the file of the text. */
  chain: readonly string[];
  around: Surroundings;
  log: LeftOutLog;
  template: Template | undefined;
  frontMatter: ValueMap | undefined;
  parents?: readonly GoObject[];
}

// Each level is expanded again where the template around it is not understood.
const mostParents = 8;

// An entry of a part has no place in the whole: its lines are not those of the file.
const bodyLog = (text: string, { log }: Source): LeftOutLog =>
  createLeftOutLog(text, undefined, log.entries);

function expandSource(source: Source): string {
  const { text, chain, around, log, template } = source;
  if (text.search(constructOf(around)) === -1) return text;
  const plain = withoutIndents(text);
  let fences: ReadonlySet<number> | undefined;
  return expandText({
    text,
    around,
    chain,
    log,
    isCode: createCodeTest(plain),
    opensFence(offset) {
      fences ??= new Set(scanStructure(plain).opaque.map(([start]) => start));
      return fences.has(text.lastIndexOf("\n", offset) + 1);
    },
    nextOf: createSearch(text),
    closed: closedNames(text),
    links: [],
    fences: [],
    endMarks: new Set(),
    expand(inner, path, other = template) {
      const kept = removeIgnored(inner, path, 1);
      const all = [...chain, path];
      return expandSource({
        ...source,
        text: kept,
        chain: all,
        log: bodyLog(kept, source),
        template: other,
      });
    },
    body(part) {
      if (!template || template.left.depth <= 0) return "";
      template.left.depth--;
      const shown = expandSource({ ...source, text: part, log: bodyLog(part, source) });
      template.left.depth++;
      return shown;
    },
    content(part, parent) {
      const { parents = [] } = source;
      if (parents.length >= mostParents) return undefined;
      const own = bodyLog(part, source);
      return expandSource({ ...source, text: part, log: own, parents: [...parents, parent] });
    },
    parent: source.parents?.at(-1),
    ends: [],
    frontMatter: source.frontMatter,
    template: template && templateText(template, text),
  });
}

/**
 * Replaces includes and shortcodes in the body of a Markdown file: those of MkDocs, Hugo, Jekyll,
 * VitePress and their like. `bodyLine` is the line of the file on which the body begins. The time is
 * linear in the length of the text and of what it includes. Throws CliError `usage` for an ignore
 * region that is never closed.
 */
function expandMarkdown(
  body: string,
  bodyLine: number,
  path: string,
  around: Surroundings,
  frontMatter: FrontMatter | undefined,
): { text: string; log: LeftOutLog } {
  const removed: RemovedLines[] = [];
  const text = removeIgnored(body, path, bodyLine, removed);
  const log = createLeftOutLog(text, bodyLine, [], removed);
  const data = frontMatter?.data;
  const template = templateOf({ path, around }, data);
  const source = { text, chain: [path], around, log, template, frontMatter: data };
  return { text: expandSource(source), log };
}

// A search of the whole text would cost something on all pages. Imports stand at the top.
const headChars = 2000;
const importLine = /^import\s[^\n]*?\sfrom\s+["'][^"'\n]+["'];?[ \t]*$/gm;

/**
 * Whether a `.md` file is MDX. Docusaurus reads its pages so (docusaurus.io, "MDX and React":
 * `markdown.format`, front matter `mdx.format`), but not the files beside its configuration. Elsewhere such a file
 * begins with imports.
 */
function isMdx({ frontMatter, body }: SplitText, path: string, { site }: Surroundings): boolean {
  if (site?.generator === "docusaurus" && path.slice(site.prefix.length).includes("/")) {
    return textOf(frontMatter && valueAt(frontMatter.data, "mdx.format")) !== "md";
  }
  const head = body.slice(0, headChars);
  // A line break is rare and found by memchr. A search for "import " stops at every "i".
  if (!head.startsWith("import ") && !head.includes("\nimpor")) return false;
  const isCode = createCodeTest(head);
  return [...head.matchAll(importLine)].some(({ index }) => !isCode(index));
}

/** The Markdown of a body, before hidden text is removed. */
function expand(
  { body, bodyLine, frontMatter }: SplitText,
  path: string,
  around: Surroundings,
): { text: string; leftOut: LeftOut[]; ids: readonly string[]; isSlide?: boolean } {
  const expanded =
    body.search(constructOf(around)) === -1
      ? undefined
      : expandMarkdown(body, bodyLine, path, around, frontMatter);
  const written = expanded?.text ?? body;
  const isKramdown = around.site?.generator === "jekyll" && frontMatter !== undefined;
  const text = isKramdown ? readKramdown(written) : written;
  const line = text === body ? bodyLine : undefined;
  const read = readMyst(text, { path, around, frontMatter, line });
  const leftOut = [...(expanded?.log.entries ?? []), ...read.leftOut];
  return { ...read, text: readBlocks(read.text, around.site?.generator), leftOut };
}

/**
 * A page of HTML that is a template of its site, with front matter, as Jekyll, Eleventy and Hugo have
 * them; undefined for other pages.
 */
export function expandHtml(
  text: string,
  path: string,
  around: Surroundings,
): { split: SplitText; text: string; leftOut: LeftOut[] } | undefined {
  const generator = around.site?.generator ?? "";
  if (!/^(?:jekyll|eleventy|hugo)$/.test(generator)) return undefined;
  const split = splitFrontMatter(text, path);
  if (!split.frontMatter) return undefined;
  const { body, bodyLine, frontMatter } = split;
  const expanded = expandMarkdown(body, bodyLine, path, around, frontMatter);
  return { split, text: expanded.text, leftOut: expanded.log.entries };
}

// A file in the address of an image or a link, which is no text: RFC 2397.
const embeddedFile =
  /(\]\(<?|\b(?:src|href)=["']?)data:[\w.+-]{1,100}\/[\w.+-]{1,100}(?:;[\w.=-]{1,100})*;base64,[A-Za-z\d+/=%\s]{200,}/g;

/**
 * Markdown: front matter and body, with includes, shortcodes and admonitions of site generators as
 * plain Markdown, without what no reader of the page sees. Throws CliError `usage` with
 * `path:line:column`.
 */
export function readMarkdown(text: string, path: string, around: Surroundings): Parsed {
  const split = splitPage(text, path, around);
  const { frontMatter, bodyLine, warnings } = split;
  const written = withAppended(split.body, around);
  const body = written.includes(";base64,") ? written.replace(embeddedFile, "$1data:,") : written;
  if (isMdx(split, path, around)) return toMarkdown(split, path, around);
  if (isVuePage(around)) {
    const { text: whole, log } = expandMarkdown(body, bodyLine, path, around, frontMatter);
    const page = toMarkdown({ ...split, body: whole }, path, around);
    return { ...page, leftOut: [...log.entries, ...(page.leftOut ?? [])] };
  }
  const { text: expanded, leftOut, ids, isSlide } = expand({ ...split, body }, path, around);
  const parsed: Parsed = { frontMatter, body: expanded, bodyLine, isMarkdown: true, warnings };
  if (isSlide) parsed.isSlide = true;
  if (isVault(around)) Object.assign(parsed, noteProperties(frontMatter, path));
  if (!around.keepsHidden) {
    // The lines of a body that was expanded are not those of the file.
    const isAsWritten = expanded === written;
    const log = createLeftOutLog(expanded, isAsWritten ? bodyLine : undefined, leftOut);
    const visible = removeHidden(expanded, log);
    parsed.body = visible.text;
    if (isAsWritten && visible.removed.length > 0) parsed.removed = visible.removed;
  }
  if (leftOut.length > 0) parsed.leftOut = leftOut;
  if (ids.length > 0) parsed.ids = ids;
  return withHome(parsed, around.site?.generator);
}

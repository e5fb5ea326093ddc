import { createIsControlled } from "../../text/hides.ts";
import { codeEndsIn } from "../../text/structure.ts";
import type { Included, Parsed, Surroundings, TextReader } from "../format.ts";
import { type LeftOutKind, createLeftOutLog, removeIgnored } from "../../text/left-out.ts";
import { splitAstro, splitFrontMatter, type SplitText } from "../../front-matter/front-matter.ts";
import type { Value } from "../../front-matter/values.ts";
import { plainText, slugOf } from "../../text/heading-text.ts";
import { readBlocks } from "../markdown/blocks.ts";
import { withHome } from "../markdown/home.ts";
import { createLines, endLine, write, strip, type Page, type Scan } from "./mdx-scan.ts";
import { parseData } from "../../site/config.ts";
import { importOf, readImport } from "./mdx-imports.ts";
import { rebased } from "../markdown/included.ts";
import { scanMarkup, writeImport } from "./mdx-markup.ts";
import { addScriptConstants, scanInterpolation, scanVueLine } from "./vue.ts";
import {
  isComment,
  valueOf,
  writtenTemplate,
  addConstant,
  skipBraces,
  skipImport,
  skipStatement,
} from "./mdx-js.ts";

/** Offset of the line break after `at`, or of the end. */
function lineEndOf(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

/** The part of an indentation that Markdown would read as code: MDX has no indented code. */
function excessOf(line: string, listIndent: number): number {
  const indent = /^[ \t]*/.exec(line)?.[0] ?? "";
  const width = indent.replaceAll("\t", "    ").length;
  return width >= listIndent + 4 ? Math.min(indent.length, width - listIndent) : 0;
}

/** Offset after text that must be copied unchanged: code, mathematics with braces, an escape. */
function literalEnd(text: string, at: number, spans: ReadonlyMap<number, number>): number {
  const char = text[at];
  if (char === "\\") return text[at + 1] === "\n" ? at + 1 : Math.min(at + 2, text.length);
  if (char === "`") {
    const end = spans.get(at);
    return end ?? at + (/^`+/.exec(text.slice(at, at + 100))?.[0].length ?? 1);
  }
  if (char !== "$") return at + 1;
  if (text[at + 1] === "$") {
    const end = text.slice(at + 2, at + 10_000).indexOf("$$");
    return end === -1 ? at + 2 : at + end + 4;
  }
  const [line = ""] = text.slice(at + 1, at + 1000).split("\n", 1);
  const end = line.indexOf("$");
  return end > 0 && /[\\^_]/.test(line.slice(0, end)) ? at + end + 2 : at + 1;
}

const fence = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)$/;
const listItem = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+/;
const exportForm =
  /export\s+(?:(?:default|const|let|var|async|function|class|type|interface|enum)\b|[{*])/y;
// `import A, { toc as aToc } from "./a.mdx"`, as Docusaurus shows it for partials.
const importForm =
  /^import\s+(?:([\w$]+)(?:\s*,\s*(?:\{[^{}]*\}|\*\s*as\s+[\w$]+))?|\{\s*(?:Content|default)\s+as\s+([\w$]+)\s*\})\s*\bfrom\s*["']([^"'\n]+)["']/;

/** Drops the marks of a fence whose content is read: docusaurus.io, "Markdown features > React". */
function unwrapFence({ unwrapped }: Scan, line: string, marks: string): boolean {
  const last = unwrapped.at(-1);
  if (last !== undefined && line.trim() === last) return unwrapped.pop() !== undefined;
  return /^[ \t]*`{3,}[ \t]*mdx-code-block[ \t]*$/.test(line) && unwrapped.push(marks) > 0;
}

/** Copies a fence up to the line that closes it, or to the end. */
function copyFence(scan: Scan, first: string, marks: string): void {
  const { text, lines } = scan;
  const isInItem = listItem.test(first) || scan.page.isVue;
  const excess = isInItem ? 0 : excessOf(first, scan.listIndent);
  const closing = new RegExp(`^[ \\t>]*${marks[0] === "~" ? "~" : "`"}{${marks.length},}[ \\t]*$`);
  for (let isFirst = true; scan.at < text.length; isFirst = false) {
    const end = lineEndOf(text, scan.at);
    const line = text.slice(scan.at, end);
    const indent = /^[ \t]*/.exec(line)?.[0].length ?? 0;
    write(lines, line.slice(Math.min(excess, indent)));
    // Blank lines in a fence are content.
    lines.isGap = false;
    scan.at = end;
    if (!isFirst && closing.test(line)) return;
    if (end === text.length) return;
    endLine(lines);
    scan.at = end + 1;
  }
}

function skipEsm({ text, at, fuel, page }: Scan): number {
  if (text.startsWith("import", at)) {
    const end = skipImport(text, at, fuel);
    const [, byDefault, content, source = ""] =
      (end !== -1 && importForm.exec(text.slice(at, end))) || [];
    const name = byDefault ?? content;
    const imported = importOf(source);
    if (name !== undefined && imported?.kind === "data") page.importData(name, imported);
    else if (name !== undefined && imported) page.imports.set(name, imported);
    return end;
  }
  exportForm.lastIndex = at;
  if (!text.startsWith("export", at) || !exportForm.test(text)) return -1;
  const end = skipStatement(text, at, fuel);
  if (end !== -1) addConstant(text.slice(at, end), page.scope);
  return end;
}

/** Handles constructs that can only begin a line: statements, fences, list items, directives. */
function scanLineStart(scan: Scan): void {
  const { text, at, lines } = scan;
  const line = text.slice(at, lineEndOf(text, at));
  const isBlank = line.trim() === "";
  const { isVue } = scan.page;
  if (isVue && scanVueLine(scan, line)) return;
  const esm = scan.isFresh && !isVue ? skipEsm(scan) : -1;
  if (esm !== -1) {
    scan.at = esm;
    strip(lines, false);
    endLine(lines);
    return;
  }
  const wasFresh = scan.isFresh;
  scan.isFresh = isBlank;
  const marks = line.includes("```") || line.includes("~~~") ? fence.exec(line) : undefined;
  const item = listItem.exec(line)?.[0];
  if (marks?.[1] && unwrapFence(scan, line, marks[1])) {
    scan.at += line.length;
    scan.isFresh = true;
    strip(lines, false);
  } else if (marks?.[1] && !(marks[1].startsWith("`") && marks[2]?.includes("`"))) {
    if (item) scan.listIndent = item.replaceAll("\t", "    ").length;
    copyFence(scan, line, marks[1]);
    scan.isFresh = true;
  } else if (item) scan.listIndent = item.replaceAll("\t", "    ").length;
  else if (!isBlank) {
    if (!/^[ \t]/.test(line) && wasFresh) scan.listIndent = 0;
    const excess = excessOf(line, scan.listIndent);
    if (isVue && excess > 0 && wasFresh) {
      // Indented code.
      write(lines, line);
      scan.at += line.length;
      scan.isFresh = true;
      return;
    }
    scan.at += isVue ? 0 : excess;
    // A directive: `:::note{title="x"}`. Its braces are no expression.
    if (line.includes(":::") && /^[ \t]*:{3,}/.test(line)) {
      write(lines, text.slice(scan.at, at + line.length));
      scan.at = at + line.length;
      scan.isFresh = true;
    }
  }
}

const lineRest = /[ \t]*(?:\n|$)/y;

/** The id that an expression `{/* #id *\/}` at the end of a heading gives it. */
function ownIdIn(code: string, text: string, at: number, end: number): string | undefined {
  const [, marked, bare = marked] =
    /^\/\*(?:[ \t]*#([^\s*{}]+)[ \t]*|([\w-]+))\*\/$/.exec(code) ?? [];
  lineRest.lastIndex = end;
  if (bare === undefined || !lineRest.test(text)) return undefined;
  return /^ {0,3}#{1,6}[ \t]/.test(text.slice(text.lastIndexOf("\n", at) + 1, at))
    ? bare
    : undefined;
}

/** Handles an expression at a "{"; false if there is none. */
function scanExpression(scan: Scan): boolean {
  const { text, at, lines, page } = scan;
  // A heading id of Docusaurus is no expression.
  const end = /^\{#[^\s{}]+\}/.test(text.slice(at, at + 200))
    ? -1
    : skipBraces(text, at, scan.fuel);
  if (end === -1) return false;
  scan.at = end;
  const code = text.slice(at + 1, end - 1);
  const [, slash] = /^\/\*[ \t]*(\/?)knowctl:ignore[ \t]*\*\/$/.exec(code.trim()) ?? [];
  if (slash !== undefined) {
    write(lines, `<!-- ${slash}knowctl:ignore -->`);
    scan.ignored = Math.max(0, scan.ignored + (slash === "" ? 1 : -1));
    return true;
  }
  const ownId = ownIdIn(code, text, at, end);
  if (ownId !== undefined) {
    write(lines, `{#${ownId}}`);
    return true;
  }
  // MDX writes a blank or a brace as `{" "}` or `{'{'}`.
  const value = valueOf(code, page.scope);
  const imported = page.imports.get(code.trim());
  if (value !== undefined) write(lines, value);
  else if (imported?.kind === "code") writeImport(scan, imported, new Map(), [at, end]);
  else {
    const template = writtenTemplate(code);
    if (template === undefined) strip(lines, false);
    else write(lines, template);
    if (scan.ignored === 0) {
      if (!isComment(code)) page.log.add("expression", `{${code}}`, at);
      else if (code.trim() !== "") page.log.add("comment", "", at);
    }
  }
  return true;
}

const special = /[`<{$\\\n]/g;

const scanBraces = (scan: Scan): boolean =>
  scan.page.isVue ? scanInterpolation(scan) : scanExpression(scan);

/**
 * Converts MDX to Markdown: removes imports, exports, comments, expressions and tags. Keeps the
 * text between tags and in their attributes, plain values, and code. Parses nothing: a construct
 * that does not close is text. The time is linear in the length of the text.
 */
function stripMdx(text: string, page: Page): string {
  const fuel = { left: 4 * text.length + 100_000 };
  const lines = createLines(page.slugOf);
  const spans = codeEndsIn(text, /`+|\n[ \t]*\n/g);
  const scan: Scan = {
    text,
    at: 0,
    page,
    lines,
    fuel,
    spans,
    isFresh: true,
    listIndent: 0,
    missing: new Set(),
    links: [],
    lists: [],
    tabs: new Map(),
    ignored: 0,
    rawUntil: 0,
    unwrapped: [],
  };
  let isLineStart = true;
  while (scan.at < text.length) {
    if (isLineStart) {
      const before = scan.at;
      scanLineStart(scan);
      isLineStart = lines.line.length === 0 && text[scan.at - 1] === "\n" && scan.at > before;
      if (isLineStart) continue;
    }
    special.lastIndex = scan.at;
    const next = special.exec(text)?.index ?? text.length;
    if (next > scan.at) write(lines, text.slice(scan.at, next));
    scan.at = next;
    const char = text[next];
    if (char === "\n") {
      // A tag or an expression on a line of its own ends there (mdxjs.com, "Interleaving").
      scan.isFresh ||= lines.isStripped && !lines.hasText;
      endLine(lines);
      scan.at++;
      isLineStart = true;
    } else if (!(char === "<" && scanMarkup(scan)) && !(char === "{" && scanBraces(scan))) {
      const end = literalEnd(text, next, spans);
      write(lines, text.slice(next, end));
      scan.at = Math.max(next + 1, end);
    }
  }
  if (lines.line.length > 0) endLine(lines);
  return lines.done.join("\n") + (text.endsWith("\n") ? "\n" : "");
}

/** Files from the document to the file that is read, and the attributes of the tag that includes it. */
interface Place {
  chain: readonly string[];
  props: ReadonlyMap<string, string>;
  /** Undefined for the file of the document itself. */
  log: Page["log"] | undefined;
}

function pageOf(
  { frontMatter, body, bodyLine }: SplitText,
  around: Surroundings,
  place: Place,
): Page {
  const { chain, props } = place;
  const firstLine = place.log ? undefined : bodyLine;
  const log = createLeftOutLog(body, firstLine, place.log?.entries);
  const scope = { constants: new Map<string, Value>(), frontMatter: frontMatter?.data, props };
  const isVue = isVuePage(around);
  if (isVue) addScriptConstants(body, scope);
  const read = (target: string): Included => readImport(target, around.includes, chain);
  const page: Page = {
    scope,
    isVue,
    slugOf: (heading) => slugOf(plainText(heading), isVue ? "vitepress" : "github"),
    log,
    componentAttributes: around.componentAttributes,
    keepsHidden: around.keepsHidden === true,
    isControlled: createIsControlled(body),
    imports: new Map(),
    include({ target, kind }, values, at) {
      const found = read(target);
      if ("problem" in found) {
        log.add("include", `${target}: ${found.problem}`, at);
        return "";
      }
      if (kind === "code") return found.text;
      const inner = { chain: [...chain, found.path], props: values, log };
      const split = splitFrontMatter(found.text, found.path);
      const text = stripMdx(split.body, pageOf(split, around, inner));
      return rebased(removeIgnored(text, found.path, split.bodyLine), found.path, chain);
    },
    importData(name, { target }) {
      const found = read(target);
      if ("problem" in found) return;
      const data = parseData(found.text, found.path);
      if (data !== undefined) scope.constants.set(name, data);
    },
    inner(text, at) {
      const innerLog = {
        ...log,
        add: (kind: LeftOutKind, what: string) => log.add(kind, what, at),
      };
      // One level deep: deeper JSX in attributes of JSX is data.
      return stripMdx(text, { ...page, log: innerLog, inner: () => "", include: () => "" });
    },
  };
  return page;
}

/** Whether a page is Markdown with components of Vue. */
export const isVuePage = ({ site }: Pick<Surroundings, "site">): boolean =>
  site?.generator === "vitepress";

/** The front matter and the body of a page. Throws CliError `usage`. */
export const splitPage = (
  text: string,
  path: string,
  { site }: Pick<Surroundings, "site">,
): SplitText => (site?.generator === "starlight" ? splitAstro : splitFrontMatter)(text, path);

/** The document of a split file of MDX, or of Markdown with components of Vue. Throws CliError `usage` with `path:line:column`. */
export function toMarkdown(split: SplitText, path: string, around: Surroundings): Parsed {
  const page = pageOf(split, around, { chain: [path], props: new Map(), log: undefined });
  const plain = stripMdx(split.body, page);
  const generator = around.site?.generator;
  const body = readBlocks(plain, generator);
  const parsed: Parsed = { ...split, body, isMarkdown: true, leftOut: page.log.entries };
  return withHome(parsed, generator);
}

/**
 * MDX: front matter, and the body as Markdown, with the text of imported Markdown. Throws CliError
 * `usage` with `path:line:column`.
 */
export const readMdx: TextReader = (text, path, around) =>
  toMarkdown(splitPage(text, path, around), path, around);

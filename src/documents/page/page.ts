import {
  attributeOf,
  isElement,
  isText,
  walkTree,
  type PageNode,
  parseHtml,
  hasClass,
} from "./tree.ts";
import type { GivenHeading } from "../text/heading-text.ts";
import type { LeftOut } from "../text/left-out.ts";
import { findOmitted } from "./omit.ts";
import {
  addChildren,
  endBlock,
  joinBlocks,
  type Writer,
  addBlock,
  blockNames,
  blocksOf,
  deepestNesting,
  lineOf,
} from "./writer.ts";
import { displayOf } from "../text/hides.ts";
import { markdownOf } from "./inline.ts";
import { oneLine, plainOf, textPiece } from "./pieces.ts";
import { addDefinitions, addList, lineMark } from "./lists.ts";
import { addInline } from "./phrasing.ts";
import { addTable } from "./tables.ts";

// Sphinx, Asciidoctor, Prism, highlight.js, GitHub, Pygments, SyntaxHighlighter, pandoc.
const languageClass =
  /(?:^|\s)(?:lang(?:uage)?-|highlight-(?:source-|text-)?|brush:\s*|sourceCode\s+)([A-Za-z][\w+#.-]{0,30})/;
const noLanguage = /^(?:default|none|plain|plaintext|text|notranslate|sourceCode|numberSource)$/i;
const mostAncestors = 3;

function languageIn(node: PageNode): string | undefined {
  const given = attributeOf(node, "data-lang") ?? attributeOf(node, "data-language");
  const found = given ?? languageClass.exec(attributeOf(node, "class") ?? "")?.[1];
  return found !== undefined && /^[\w+#.-]+$/.test(found) && !noLanguage.test(found)
    ? found
    : undefined;
}

/** The language of code: a class or attribute of its elements or of one around them. */
function languageOf(pre: PageNode): string {
  const first = pre.firstChild;
  const inner =
    first && isElement(first) && first.localName === "code" ? languageIn(first) : undefined;
  if (inner !== undefined) return inner;
  let at: PageNode | null = pre;
  for (let up = 0; at && up <= mostAncestors; up++) {
    const language = languageIn(at);
    if (language !== undefined) return language;
    at = at.parentNode;
  }
  return "";
}

const lineBlock = /^(?:div|p|li|tr)$/;

/** Preformatted text as it is, and in a fence that is longer than any fence in it. */
function codeBlock(
  pre: PageNode,
  omitted: ReadonlySet<PageNode>,
): { text: string; markdown: string } {
  const parts: string[] = [];
  const endLine = (): void => {
    if (parts.length > 0 && !parts.at(-1)?.endsWith("\n")) parts.push("\n");
  };
  walkTree(
    pre,
    (node) => {
      if (omitted.has(node)) return false;
      if (isText(node)) parts.push(node.data);
      else if (isElement(node) && node.localName === "br") parts.push("\n");
      else if (isElement(node) && lineBlock.test(node.localName)) endLine();
      return true;
    },
    (node) => {
      if (isElement(node) && lineBlock.test(node.localName)) endLine();
    },
  );
  const text = parts.join("").replace(/^\n/, "").trimEnd();
  if (text.trim() === "") return { text: "", markdown: "" };
  let longest = 2;
  for (const run of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run[0].length);
  const fence = "`".repeat(longest + 1);
  return { text, markdown: `${fence}${languageOf(pre)}\n${text}\n${fence}` };
}

const anchored = /^(?:section|div|article|a|span)$/;
const isInlineBlock = (node: PageNode): boolean =>
  /^(?:div|p|section|form)$/.test(node.localName) &&
  displayOf(attributeOf(node, "style"))?.startsWith("inline") === true;

function addText(writer: Writer, text: string): void {
  if (writer.inline.length > 0 || text.trim() !== "") writer.inline.push(textPiece(text));
}

function addHeading(writer: Writer, node: PageNode): void {
  endBlock(writer);
  const anchor = writer.anchor;
  let own = attributeOf(node, "id") || undefined;
  writer.isHeading = true;
  let pieces = lineOf(writer, () => addChildren(writer, node));
  writer.isHeading = false;
  for (const span of writer.spans.toReversed()) {
    if (span.goesOn) pieces = span.close(pieces, span);
  }
  own ??= idWithin(writer, node);
  const title = plainOf(pieces);
  const line = oneLine(markdownOf(pieces)).replace(/(^| )(#+)$/, "$1\\$2");
  if (title === "" || line === "") return;
  const level = Number(node.localName.slice(1));
  writer.headings.push({ text: title, anchor: own ?? anchor });
  addBlock(writer, { text: `${"#".repeat(level)} ${line}`, kind: "heading" });
}

function idWithin({ omitted }: Writer, heading: PageNode): string | undefined {
  let found: string | undefined;
  walkTree(heading, (node) => {
    if (found !== undefined || omitted.has(node)) return false;
    if (isElement(node) && anchored.test(node.localName)) found = idOf(node);
    return true;
  });
  return found;
}

function idOf(node: PageNode): string | undefined {
  const name = node.localName === "a" ? attributeOf(node, "name") : undefined;
  return attributeOf(node, "id") || name || undefined;
}

function addQuotation(writer: Writer, node: PageNode): void {
  if (writer.withHeading.has(node) || writer.nesting >= deepestNesting) {
    return addPlainBlock(writer, node);
  }
  writer.nesting++;
  const blocks = blocksOf(writer, () => addChildren(writer, node));
  writer.nesting--;
  const text = joinBlocks(blocks)
    .replace(/^(?=.)/gm, "> ")
    .replace(/^$/gm, ">");
  if (text !== ">") addBlock(writer, { text, kind: "other" });
}

function addPlainBlock(writer: Writer, node: PageNode): void {
  endBlock(writer);
  addChildren(writer, node);
  endBlock(writer);
}

function addCode(writer: Writer, node: PageNode): void {
  const code = codeBlock(node, writer.omitted);
  if (writer.isLine) {
    const lines = code.text.split("\n").map((line) => line.trim());
    const line = lines.filter((each) => each !== "").join(" ");
    if (line !== "")
      writer.inline.push(textPiece(" "), { kind: "code", text: line }, textPiece(" "));
    return;
  }
  endBlock(writer);
  if (code.markdown !== "") addBlock(writer, { text: code.markdown, kind: "other" });
}

const admonition = /^(?:admonition|admonitionblock|theme-admonition)$/;
const admonitionTitle = /^(?:admonition-title|admonitionHeading_\w+|title)$/;

/** A note or warning: its title stands before its first paragraph. */
function addAdmonition(writer: Writer, node: PageNode): void {
  const blocks = blocksOf(writer, () => addChildren(writer, node));
  const [title, first, ...rest] = blocks;
  const isTitled =
    title?.kind === "paragraph" && !/[\n:.]/.test(title.text) && title.text.length <= 200;
  if (!isTitled || !first || !hasTitle(node)) {
    for (const block of blocks) addBlock(writer, block);
    return;
  }
  const isText = first.kind === "paragraph";
  const text = `${title.text}:${isText ? ` ${first.text}` : ""}`;
  addBlock(writer, { text, kind: "paragraph" });
  for (const block of isText ? rest : [first, ...rest]) addBlock(writer, block);
}

function hasTitle(node: PageNode): boolean {
  let found = false;
  walkTree(node, (each) => {
    found ||= isElement(each) && hasClass(each, admonitionTitle);
    return !found;
  });
  return found;
}

/** A note that a `sup` refers to: one line. */
function addAside(writer: Writer, node: PageNode): void {
  const note = attributeOf(node, "data-note");
  if (note === undefined) return addPlainBlock(writer, node);
  endBlock(writer);
  const text = oneLine(markdownOf(lineOf(writer, () => addChildren(writer, node))));
  if (text !== "") addBlock(writer, { text: `[^${note}]: ${text}`, kind: "other" });
}

/** Block elements that mean something; the others only separate. */
const blockHandlers: Readonly<Record<string, (writer: Writer, node: PageNode) => void>> = {
  pre: addCode,
  blockquote: addQuotation,
  aside: addAside,
  ul: addList,
  ol: addList,
  menu: addList,
  dir: addList,
  dl: addDefinitions,
  table: addTable,
};

function addElement(writer: Writer, node: PageNode): void {
  const { localName: name } = node;
  const id = idOf(node);
  if (id !== undefined) writer.ids.add(id);
  if (/^h[1-6]$/.test(name) && !writer.isLine) return addHeading(writer, node);
  const isBlock = blockNames.has(name) && !isInlineBlock(node);
  if (isBlock) endBlock(writer);
  if (id !== undefined && anchored.test(name)) writer.anchor = id;
  if (!isBlock) return addInline(writer, node);
  const handler = Object.hasOwn(blockHandlers, name) ? blockHandlers[name] : undefined;
  if (handler && (!writer.isLine || name === "pre")) return handler(writer, node);
  if (!writer.isLine && hasClass(node, admonition)) return addAdmonition(writer, node);
  if (writer.isLine && name === "li") writer.inline.push(textPiece(` ${lineMark(node)}`));
  addPlainBlock(writer, node);
}

/** Writes a node and what is in it. */
function addNode(writer: Writer, node: PageNode): void {
  if (writer.omitted.has(node)) return;
  if (isText(node)) addText(writer, node.data);
  else if (isElement(node)) addElement(writer, node);
}

/*
 * The only writer of Markdown from HTML. Readers of other formats emit HTML for it:
 *
 * - headings as <h1> to <h6> with their own `id`; without one, the heading takes an `id` in it, or
 *   that of a section, div, article, span or <a> directly before its text;
 * - paragraphs as <p>, line breaks as <br>, quotations as <blockquote>;
 * - lists as <ul>, <ol start type reversed>, <li value>, <dl><dt><dd>, one within the <li> or <dd>
 *   of another; items may hold any blocks. Lists and cells with headings in them are only layout;
 * - tables as <table><caption><thead><tr><th><td colspan rowspan>: a cell becomes one line, unless it
 *   has a heading, a table or code of several lines;
 * - code as <code> in a line, and as <pre><code class="language-NAME"> or <pre data-lang="NAME">;
 * - emphasis as <em> or <i>, <strong> or <b>, struck text as <del> or <s>; raised text as <sup>;
 * - links as <a href>, anchors as any `id` (or <a name>), images as <img src alt>;
 * - notes and warnings as <div class="admonition"><p class="admonition-title">Note</p>…</div>;
 * - notes as <sup data-note="1"></sup>, and each as <aside data-note="1">text</aside>;
 * - formulas as <math> (MathML), ruby as <ruby>base<rt>text</rt></ruby>, what an abbreviation stands
 *   for as <abbr title>, check boxes as <input type="checkbox" checked>;
 * - an ignore region as the comments <!-- knowctl:ignore --> and <!-- /knowctl:ignore -->.
 *
 * Text is text: emit `&`, `<` and `>` as entities and escape nothing else. Elements with `hidden` or
 * `display: none`, scripts, styles, <nav>, buttons and comments are left out. What an element only
 * separates (<div>, <section>, <figure>, <td> …) needs no class; unknown elements are inline.
 */

interface PageOptions {
  /** For messages. */
  path: string;
  /** Whether elements that nobody sees are written. */
  keepsHidden?: boolean | undefined;
  /** Line of the file on which the HTML begins; undefined for HTML that a reader made. */
  firstLine?: number | undefined;
  /** Whether only the main text is written: of <main>, or of articles with most of the text. */
  onlyMain?: boolean;
}

interface Page {
  /** Markdown; "" without text. */
  body: string;
  /** The headings of the body, in order: as many as Markdown has there. */
  headings: GivenHeading[];
  /** All places that a link can lead to. */
  ids: string[];
  /** Comments and elements that nobody sees; without a line if a reader made the HTML. */
  leftOut: readonly LeftOut[];
  /** The whole tree, for what else a format wants to know of it. */
  document: PageNode;
}

/** The elements around headings. */
function findAroundHeadings(document: PageNode): ReadonlySet<PageNode> {
  const around = new Set<PageNode>();
  walkTree(document, (node) => {
    if (!isElement(node) || !/^h[1-6]$/.test(node.localName)) return true;
    for (let at = node.parentNode; at && !around.has(at); at = at.parentNode) around.add(at);
    return true;
  });
  return around;
}

function baseOf(document: PageNode): string | undefined {
  let base: string | undefined;
  walkTree(document, (node) => {
    if (base === undefined && isElement(node) && node.localName === "base") {
      base = attributeOf(node, "href");
    }
    return base === undefined;
  });
  return base?.trim() || undefined;
}

function createWriter(document: PageNode, omitted: ReadonlySet<PageNode>): Writer {
  return {
    addNode,
    omitted,
    withHeading: findAroundHeadings(document),
    base: baseOf(document),
    blocks: [],
    inline: [],
    spans: [],
    isLine: false,
    isHeading: false,
    depth: 0,
    nesting: 0,
    anchor: undefined,
    headings: [],
    ids: new Set(),
    abbreviations: new Set(),
    repeated: 0,
  };
}

/**
 * Writes HTML as Markdown (CommonMark with the tables and struck text of GitHub). Reads it like a
 * browser without scripts, also broken HTML. Throws CliError `usage` with `path` for an ignore region
 * that is never closed, and for elements nested without end.
 */
export function pageFromHtml(html: string, options: PageOptions): Page {
  const { path, keepsHidden = false, firstLine, onlyMain = false } = options;
  const document = parseHtml(html, path);
  const { nodes, leftOut, roots } = findOmitted(document, html, path, { keepsHidden, firstLine });
  const writer = createWriter(document, nodes);
  for (const root of onlyMain ? roots : [document]) {
    addChildren(writer, root);
    endBlock(writer);
  }
  const text = joinBlocks(writer.blocks);
  return {
    body: text === "" ? "" : `${text}\n`,
    headings: writer.headings,
    ids: [...writer.ids],
    leftOut,
    document,
  };
}

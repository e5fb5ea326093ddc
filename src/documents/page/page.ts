import type { GivenHeading, LeftOut } from "../read/reader.ts";
import { findOmitted } from "./omit.ts";
import { attributeOf, isElement, parseHtml, walkTree, type PageNode } from "./tree.ts";
import { addNode } from "./elements.ts";
import { addChildren, endBlock, joinBlocks, type Writer } from "./writer.ts";

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

export interface PageOptions {
  /** For messages. */
  path: string;
  /** Whether elements that nobody sees are written. */
  keepsHidden?: boolean | undefined;
  /** Line of the file on which the HTML begins; undefined for HTML that a reader made. */
  firstLine?: number | undefined;
  /** Whether only the main text is written: of <main>, or of articles with most of the text. */
  onlyMain?: boolean;
}

export interface Page {
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

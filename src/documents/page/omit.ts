import { countVisible } from "../text/blanks.ts";
import { createIsControlled, hidesElement } from "../text/hides.ts";
import {
  createLeftOutLog,
  type LeftOutLog,
  type LeftOut,
  refuseOpenRegion,
} from "../text/left-out.ts";
import {
  attributeOf,
  hasClass,
  isComment,
  isElement,
  isText,
  textOf,
  walkTree,
  type PageNode,
} from "./tree.ts";

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));

// Elements without text of the page, or with text of the site around it.
const chrome = words(
  "head script style noscript template svg nav iframe object audio video canvas button select datalist xmp noembed noframes title textarea",
);
// Navigation of DocBook, Boost and Texinfo; numbers of lines; the second copy of a formula.
const chromeClass =
  /^(?:navheader|navfooter|spirit-nav|nav-panel|linenos|linenodiv|lineno|gutter|katex-html)$/i;

/** Tables and paragraphs of links with access keys: browsers have them as commands of the site. */
function accessNavigation(root: PageNode): ReadonlySet<PageNode> {
  const found = new Set<PageNode>();
  walkTree(root, (node) => {
    if (attributeOf(node, "accesskey") === undefined || node.localName !== "a") return true;
    let at: PageNode | null = node.parentNode;
    for (let up = 0; at && up < 6 && !/^(?:table|p)$/.test(at.localName); up++) at = at.parentNode;
    if (at && /^(?:table|p)$/.test(at.localName)) found.add(at);
    return true;
  });
  for (const node of found) if (textOf(node).length > 400) found.delete(node);
  return found;
}

/** What the page's own text lacks, and where it is. */
export interface Omitted {
  /** Elements, texts and comments that are not written, and so what is in them. */
  nodes: ReadonlySet<PageNode>;
  leftOut: readonly LeftOut[];
  /** The elements of the main text: `<main>`, or articles with most of the text, or the root. */
  roots: readonly PageNode[];
}

interface Scan {
  html: string;
  log: LeftOutLog;
  nodes: Set<PageNode>;
  /** Offset behind the last construct that was looked up, and how many were not found. */
  at: number;
  missed: number;
  /** Offsets of the open ignore regions, and how many ended. */
  ignored: number[];
  ended: number;
}

// Each search that finds nothing reads the rest of the source.
const mostMissed = 100;

/** Offset of a construct of the source; the tree has no offsets, but the same order. */
function offsetOf(scan: Scan, start: string | RegExp): number | undefined {
  let found: number;
  if (scan.missed >= mostMissed) return undefined;
  if (typeof start === "string") found = scan.html.indexOf(start, scan.at);
  else {
    start.lastIndex = scan.at;
    found = start.exec(scan.html)?.index ?? -1;
  }
  if (found === -1) scan.missed++;
  if (found === -1) return undefined;
  scan.at = found + 1;
  return found;
}

/** Takes a comment: it opens or closes an ignore region, or is left out. */
function takeComment(scan: Scan, { data }: PageNode): void {
  const offset = offsetOf(scan, `<!--${data.slice(0, 200).split("\n", 1)[0]}`);
  // `<?php ?>` is a comment for a browser, too, but nobody wrote it as one.
  if (offset === undefined) return;
  const slash = /^[ \t]*(\/?)knowctl:ignore[ \t]*$/.exec(data)?.[1];
  if (slash === "") scan.ignored.push(offset);
  else if (slash !== undefined) {
    scan.ignored.pop();
    scan.ended++;
  }
  if (slash === undefined && scan.ignored.length === 0) scan.log.add("comment", "", offset);
}

// Scripts show the whole page when they are ready.
const wholePage = words("html body");

function isHidden(node: PageNode, isControlled: (id: string) => boolean): boolean {
  if (wholePage.has(node.localName)) return false;
  return hidesElement({ get: (name) => attributeOf(node, name) }, isControlled);
}

/** Counts the characters of main texts, to tell a page of articles from one with teasers. */
function createParts() {
  const parts = { main: [] as PageNode[], article: [] as PageNode[] };
  const sizes = { main: 0, article: 0, all: 0 };
  const open = { main: [] as PageNode[], article: [] as PageNode[] };
  const kindOf = (node: PageNode): "main" | "article" | undefined => {
    if (!isElement(node)) return undefined;
    const role = attributeOf(node, "role") ?? node.localName;
    const name = node.localName === "main" || node.localName === "article" ? node.localName : role;
    return name === "main" || name === "article" ? name : undefined;
  };
  return {
    enter(node: PageNode): void {
      const kind = kindOf(node);
      if (kind && open[kind].length === 0) parts[kind].push(node);
      if (kind) open[kind].push(node);
    },
    leave(node: PageNode): void {
      for (const kind of ["main", "article"] as const) {
        if (open[kind].at(-1) === node) open[kind].pop();
      }
    },
    add(count: number): void {
      sizes.all += count;
      if (open.main.length > 0) sizes.main += count;
      if (open.article.length > 0) sizes.article += count;
    },
    roots(root: PageNode): readonly PageNode[] {
      if (sizes.main > 0) return parts.main;
      // Articles may also be only teasers beside the main text.
      return sizes.article > 0 && sizes.article * 2 >= sizes.all ? parts.article : [root];
    },
  };
}

/**
 * Finds what of a page is not written: elements that nobody sees (they stay with `keepsHidden`),
 * comments, ignore regions, and what belongs to the site around the page. `firstLine` is the line of
 * the file on which the HTML begins; undefined for HTML that a program made. Throws CliError `usage`
 * for an ignore region that is never closed.
 */
export function findOmitted(
  root: PageNode,
  html: string,
  path: string,
  { keepsHidden, firstLine }: { keepsHidden: boolean; firstLine: number | undefined },
): Omitted {
  const log = createLeftOutLog(html, firstLine);
  const scan: Scan = { html, log, nodes: new Set(), at: 0, missed: 0, ignored: [], ended: 0 };
  const isControlled = createIsControlled(html);
  const navigation = accessNavigation(root);
  // A <nav> that never closes holds the rest of the page.
  const isNavOpen = countOf(html, /<nav[\s>]/gi) > countOf(html, /<\/nav[\s>]/gi);
  const parts = createParts();
  // Elements that begin in an ignore region, and how many regions had ended there.
  const begun = new Map<PageNode, number>();
  const omit = (node: PageNode): false => {
    scan.nodes.add(node);
    return false;
  };
  walkTree(
    root,
    (node) => {
      if (isComment(node)) {
        takeComment(scan, node);
        return omit(node);
      }
      const isIgnored = scan.ignored.length > 0;
      if (!isElement(node)) {
        if (isIgnored) return omit(node);
        if (isText(node)) parts.add(countVisible(node.data));
        return false;
      }
      const { localName: name } = node;
      if (isIgnored) begun.set(node, scan.ended);
      if (!keepsHidden && isHidden(node, isControlled)) {
        const tag = new RegExp(`<${name}(?=[\\s/>])[^>]{0,1000}(?:hidden|display)`, "gi");
        if (!isIgnored) log.add("hidden", `<${name}>`, offsetOf(scan, tag) ?? scan.at);
        return omit(node);
      }
      if (name === "img") parts.add(1);
      if (name === "nav" && isNavOpen) return true;
      if (isChrome(node) || navigation.has(node)) return omit(node);
      parts.enter(node);
      return true;
    },
    (node) => {
      parts.leave(node);
      if (scan.ignored.length > 0 && begun.get(node) === scan.ended) scan.nodes.add(node);
    },
  );
  const [open] = scan.ignored;
  if (open !== undefined) {
    const before = html.slice(0, open).split("\n").length - 1;
    refuseOpenRegion(path, firstLine === undefined ? undefined : firstLine + before);
  }
  return { nodes: scan.nodes, leftOut: log.entries, roots: parts.roots(root) };
}

/** Buttons are no text, but the labels of tabs are. */
function isChrome(node: PageNode): boolean {
  const role = attributeOf(node, "role");
  if (chrome.has(node.localName)) return !(node.localName === "button" && role === "tab");
  return role === "navigation" || hasClass(node, chromeClass);
}

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

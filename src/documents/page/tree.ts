import { createIncrementalHTMLParser, type PageNode } from "@mixmark-io/domino";
import { CliError } from "../../errors.ts";

export type { PageNode };

// Deeper trees cost the parser quadratic time; browsers stop at 512 levels.
const deepest = 5000;
const mostBetweenChecks = 2000;
const leastBetweenChecks = 100;
/** Elements below this depth are read as if their tags did not exist, like in Blink. */
export const deepestWritten = 500;

// A tag of so many characters may have so many attributes that comparing them takes minutes.
const longTag = /<[a-z][^<>]{5000,}/gi;
const mostAttributes = 1000;

function refuseLongTags(html: string, path: string): void {
  for (const [tag] of html.matchAll(longTag)) {
    const names = tag.replace(/"[^"]*"|'[^']*'/g, "").match(/[\s/]+[^\s/=]+/g) ?? [];
    if (names.length <= mostAttributes) continue;
    throw new CliError("usage", `${path}: an element has more than ${mostAttributes} attributes`, {
      hints: ["exclude the file"],
    });
  }
}

function depthOf(document: PageNode): number {
  let depth = 0;
  // The parser adds to the last open element.
  for (let at = document.lastChild; at; at = at.lastChild) depth++;
  return depth;
}

/**
 * Parses HTML like a browser, also broken HTML. Runs no scripts and loads nothing. Throws CliError
 * `usage` with `path` for elements that are nested too deeply, or have too many attributes.
 */
export function parseHtml(html: string, path: string): PageNode {
  refuseLongTags(html, path);
  const parser = createIncrementalHTMLParser();
  let tokens = mostBetweenChecks;
  const pause = (): boolean => --tokens <= 0;
  parser.end(html);
  while (parser.process(pause)) {
    const left = deepest - depthOf(parser.document());
    // Most tokens add a level at most.
    tokens = Math.min(mostBetweenChecks, Math.max(leastBetweenChecks, left + 1));
    if (left >= 0) continue;
    throw new CliError("usage", `${path}: elements are nested more than ${deepest} levels deep`, {
      hints: ["close the elements, or exclude the file"],
    });
  }
  return parser.document();
}

export const isElement = (node: PageNode): boolean => node.nodeType === 1;
export const isText = (node: PageNode): boolean => node.nodeType === 3 || node.nodeType === 4;
export const isComment = (node: PageNode): boolean => node.nodeType === 8;

export function attributeOf(node: PageNode, name: string): string | undefined {
  // Most elements have none: to look for one by its name costs more.
  if (!isElement(node) || !node.hasAttributes()) return undefined;
  return node.getAttribute(name) ?? undefined;
}

/** Whether a class of an element matches; `pattern` describes one whole class. */
export function hasClass(node: PageNode, pattern: RegExp): boolean {
  const classes = attributeOf(node, "class");
  return classes !== undefined && classes.split(/\s+/).some((each) => pattern.test(each));
}

export function* childrenOf(node: PageNode): Generator<PageNode> {
  for (let at = node.firstChild; at; at = at.nextSibling) yield at;
}

/**
 * Visits the nodes below `root` in document order, without recursion. `enter` returns false for an
 * element whose content is not visited; `leave` is called after the content of the others.
 */
export function walkTree(
  root: PageNode,
  enter: (node: PageNode) => boolean,
  leave?: (node: PageNode) => void,
): void {
  let at: PageNode | null = root.firstChild;
  while (at) {
    const next: PageNode | null = enter(at) ? at.firstChild : null;
    if (next) {
      at = next;
      continue;
    }
    let done: PageNode | null = at;
    leave?.(done);
    while (done && !done.nextSibling) {
      done = done.parentNode;
      if (!done || done === root) return;
      leave?.(done);
    }
    at = done?.nextSibling ?? null;
  }
}

/** The text below a node. */
export function textOf(root: PageNode, omitted?: ReadonlySet<PageNode>): string {
  const texts: string[] = [];
  walkTree(root, (node) => {
    if (omitted?.has(node)) return false;
    if (isText(node)) texts.push(node.data);
    return true;
  });
  return texts.join("");
}

/** Text as HTML. */
export const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Text as the value of an attribute in quotes. */
export const escapeAttribute = (text: string): string => escapeHtml(text).replaceAll('"', "&quot;");

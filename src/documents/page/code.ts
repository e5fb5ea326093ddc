import { attributeOf, isElement, isText, walkTree, type PageNode } from "./tree.ts";

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
export function codeBlock(
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

import { displayOf } from "../hidden/hides.ts";
import { codeBlock } from "./code.ts";
import { markdownOf } from "./inline.ts";
import { oneLine, plainOf, textPiece } from "./pieces.ts";
import { addDefinitions, addList } from "./lists.ts";
import { addInline } from "./phrasing.ts";
import { addTable } from "./tables.ts";
import { attributeOf, hasClass, isElement, isText, walkTree, type PageNode } from "./tree.ts";
import {
  addBlock,
  addChildren,
  blockNames,
  blocksOf,
  deepestNesting,
  endBlock,
  joinBlocks,
  lineOf,
  type Writer,
} from "./writer.ts";

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
  if (writer.isLine && name === "li") writer.inline.push(textPiece(" - "));
  addPlainBlock(writer, node);
}

/** Writes a node and what is in it. */
export function addNode(writer: Writer, node: PageNode): void {
  if (writer.omitted.has(node)) return;
  if (isText(node)) addText(writer, node.data);
  else if (isElement(node)) addElement(writer, node);
}

import type { GivenHeading } from "../text/heading-text.ts";
import { paragraphOf } from "./inline.ts";
import { textPiece, type Piece } from "./pieces.ts";
import { childrenOf, deepestWritten, isElement, isText, walkTree, type PageNode } from "./tree.ts";

/** A paragraph, list, table or other block of Markdown. */
export interface Block {
  text: string;
  kind: "paragraph" | "heading" | "list" | "other";
}

/** An open inline element: its pieces begin at `from`. */
interface Span {
  node: PageNode;
  from: number;
  close: (pieces: readonly Piece[], span: Span) => Piece[];
  /** Whether the rest of it, in the next block, is as it was. */
  goesOn: boolean;
}

/** A page while it is written. */
export interface Writer {
  /** Writes a node and what is in it. */
  addNode: (writer: Writer, node: PageNode) => void;
  omitted: ReadonlySet<PageNode>;
  /** The elements with a heading in them. */
  withHeading: ReadonlySet<PageNode>;
  base: string | undefined;
  blocks: Block[];
  /** Running text since the last block. */
  inline: Piece[];
  spans: Span[];
  /** In a heading or in a cell of a table all text is one line. */
  isLine: boolean;
  isHeading: boolean;
  depth: number;
  /** Lists and quotations around the text: deeper ones are no further indented. */
  nesting: number;
  /** Id of an element before the next text: of a section, for the heading at its start. */
  anchor: string | undefined;
  headings: GivenHeading[];
  ids: Set<string>;
  abbreviations: Set<string>;
  /** Characters of cells that stand in several places of their tables. */
  repeated: number;
}

// Elements that begin a block (HTML Standard, 15.3).
export const blockNames: ReadonlySet<string> = new Set(
  "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu ol optgroup option p pre search section summary table tbody td tfoot th thead tr caption ul".split(
    " ",
  ),
);

/** How deep lists and quotations are indented: a page of hostile ones stays small. */
export const deepestNesting = 10;

/** Ends the running text: it becomes a paragraph. In one line, only a blank is added. */
export function endBlock(writer: Writer): void {
  if (writer.isLine) return void writer.inline.push(textPiece(" "));
  if (writer.inline.length === 0) return;
  for (const span of writer.spans.toReversed()) closeSpan(writer, span);
  const text = paragraphOf(writer.inline);
  writer.inline = [];
  for (const span of writer.spans) span.from = 0;
  if (text !== "") addBlock(writer, { text, kind: "paragraph" });
}

export function addBlock(writer: Writer, block: Block): void {
  writer.blocks.push(block);
  writer.anchor = undefined;
}

function closeSpan(writer: Writer, span: Span): void {
  const pieces = writer.inline.splice(span.from);
  for (const piece of span.goesOn ? span.close(pieces, span) : pieces) writer.inline.push(piece);
}

/** Writes an inline element; what it does to its text may end with a block within it. */
export function addSpan(writer: Writer, node: PageNode, close: Span["close"]): void {
  const span: Span = { node, from: writer.inline.length, close, goesOn: true };
  writer.spans.push(span);
  addChildren(writer, node);
  writer.spans.pop();
  closeSpan(writer, span);
}

export function addChildren(writer: Writer, node: PageNode): void {
  writer.depth++;
  if (writer.depth > deepestWritten) addFlat(writer, node);
  else for (const child of childrenOf(node)) writer.addNode(writer, child);
  writer.depth--;
}

/** Writes the texts of a tree that is too deep for its elements. */
function addFlat(writer: Writer, root: PageNode): void {
  walkTree(root, (node) => {
    if (writer.omitted.has(node)) return false;
    if (isText(node)) writer.inline.push(textPiece(node.data));
    else if (isElement(node) && blockNames.has(node.localName)) endBlock(writer);
    return true;
  });
}

/** Writes something apart: its blocks are returned. */
export function blocksOf(writer: Writer, write: () => void): Block[] {
  endBlock(writer);
  const { blocks, spans } = writer;
  writer.blocks = [];
  write();
  endBlock(writer);
  const inner = writer.blocks;
  writer.blocks = blocks;
  writer.spans = spans;
  return inner;
}

/** Writes something as one line: its pieces are returned. */
export function lineOf(writer: Writer, write: () => void): Piece[] {
  const { inline, spans, isLine } = writer;
  Object.assign(writer, { inline: [], spans: [], isLine: true });
  write();
  const pieces = writer.inline;
  Object.assign(writer, { inline, spans, isLine });
  return pieces;
}

/** Joins blocks. A list follows the first paragraph of its item, or another list, without a blank line. */
export function joinBlocks(blocks: readonly Block[], isItem = false): string {
  const parts: string[] = [];
  for (const [index, { text, kind }] of blocks.entries()) {
    const isTight = isItem && kind === "list" && blocks[index - 1]?.kind === "paragraph";
    if (index > 0) parts.push(isTight ? "\n" : "\n\n");
    parts.push(text);
  }
  return parts.join("");
}

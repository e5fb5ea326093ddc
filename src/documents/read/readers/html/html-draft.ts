import { escapeComments, fenced, linesOf, oneLine, type Block } from "./html-blocks.ts";
import { markdownOf, plainOf, wrapLink, type Link, type Part } from "./html-links.ts";
import { createTable, type Table } from "./html-table.ts";

const maxIndent = 6;

/** An open list. */
export interface List {
  /** The number of the last item; undefined for bullets. */
  last: number | undefined;
  step: 1 | -1;
  /** A number as the page shows it. */
  shown: (number: number) => string;
}

/** Text of a page while it is read. */
export interface Draft {
  blocks: Block[];
  /** Running text since the last block; line breaks are those of `<br>`. */
  inline: Part[];
  heading: { level: number; id: string | undefined } | undefined;
  /** Anchor before the next text, for example of a section, for the heading at its start. */
  anchor: string | undefined;
  lists: List[];
  /** List mark, set from the start of a list item to its first text. */
  mark: string;
  /** Number of tables and lists so far: the group of the open one. */
  groups: number;
  table: Table;
  isInRow: boolean;
  hasCell: boolean;
  /** What the open abbreviation stands for, and those that are written already. */
  abbreviation: string | undefined;
  abbreviations: Set<string>;
  /** Where raised text, struck text and code begin in the running text. */
  raisedFrom: number | undefined;
  struckFrom: number | undefined;
  codeFrom: number | undefined;
  /** The open link, until its first block of text is written. */
  link: Link | undefined;
  /** Text of `<pre>`, kept as it is. */
  pre: string[] | undefined;
}

export function createDraft(): Draft {
  return {
    blocks: [],
    inline: [],
    heading: undefined,
    anchor: undefined,
    lists: [],
    mark: "",
    groups: 0,
    table: createTable(),
    isInRow: false,
    hasCell: false,
    abbreviation: undefined,
    abbreviations: new Set(),
    raisedFrom: undefined,
    struckFrom: undefined,
    codeFrom: undefined,
    link: undefined,
    pre: undefined,
  };
}

function pushHeading(draft: Draft, parts: readonly Part[]): void {
  const { heading } = draft;
  // oneLine() also removes the mark of a link to the heading itself.
  const title = oneLine(plainOf(parts));
  if (!heading || title === "") return;
  const { level, id = draft.anchor } = heading;
  draft.blocks.push({
    text: `${"#".repeat(level)} ${escapeComments(oneLine(markdownOf(parts)))}`,
    isTight: false,
    heading: { text: title, anchor: id },
  });
  draft.heading = undefined;
  draft.anchor = undefined;
}

export function openLink(draft: Draft, href: string | undefined): void {
  closeLink(draft);
  if (href !== undefined && !draft.pre) draft.link = { href, from: draft.inline.length };
}

/** Ends a link. Returns whether it had text. */
export function closeLink(draft: Draft): boolean {
  const { link, heading, inline } = draft;
  draft.link = undefined;
  if (!link) return false;
  // The link of a heading to itself adds nothing.
  return heading && link.href.startsWith("#") ? true : wrapLink(inline, link);
}

/** Ends the text of a link with its block. Only the first block of a link is its text. */
function pauseLink(draft: Draft): void {
  const { link } = draft;
  if (link && !closeLink(draft)) draft.link = { href: link.href, from: 0 };
}

/** Ends the running text. The next text begins a new block. */
export function endBlock(draft: Draft): void {
  if (draft.inline.length === 0) return;
  pauseLink(draft);
  const parts = draft.inline;
  draft.inline = [];
  draft.table.cell = undefined;
  draft.raisedFrom = draft.struckFrom = draft.codeFrom = undefined;
  if (draft.heading) return pushHeading(draft, parts);
  const text = markdownOf(parts);
  const { mark, lists } = draft;
  const depth = Math.min(lists.length, maxIndent);
  const indent = "  ".repeat(mark === "" || depth === 0 ? depth : depth - 1);
  const lines = linesOf(text, indent, mark);
  if (lines === "") return;
  draft.blocks.push({ text: lines, isTight: draft.isInRow || depth > 0, group: draft.groups });
  draft.mark = "";
  draft.anchor = undefined;
}

/** Ends the block; within a row only adds a blank. */
export function boundary(draft: Draft): void {
  if (draft.isInRow && !draft.heading) draft.inline.push(" ");
  else endBlock(draft);
}

export function addText(draft: Draft, text: string): void {
  // The sign of a link to the heading itself.
  const isSelfLink = draft.link?.href.startsWith("#");
  if (draft.heading && isSelfLink && /^\s*[#\u00b6\u00a7\u{1f517}]\s*$/u.test(text)) return;
  if (draft.pre) draft.pre.push(text);
  else if (text.trim() !== "") draft.inline.push(text.replaceAll("\n", " "));
  // Blanks matter only between words, not between blocks.
  else if (draft.inline.length > 0) draft.inline.push(" ");
}

/** Adds what an abbreviation stands for, at its first place on the page. */
export function closeAbbreviation(draft: Draft): void {
  const title = oneLine(draft.abbreviation ?? "");
  draft.abbreviation = undefined;
  if (title === "" || draft.heading || draft.abbreviations.has(title)) return;
  draft.abbreviations.add(title);
  addText(draft, ` (${title})`);
}

export function openHeading(draft: Draft, level: number, id: string | undefined): void {
  endBlock(draft);
  draft.heading = { level, id };
}

export function closeHeading(draft: Draft): void {
  endBlock(draft);
  draft.heading = undefined;
}

export function openPre(draft: Draft): void {
  draft.heading = undefined;
  endBlock(draft);
  draft.pre ??= [];
}

export function closePre(draft: Draft): void {
  if (!draft.pre) return;
  const text = fenced(draft.pre.join(""));
  draft.pre = undefined;
  if (text !== "") draft.blocks.push({ text, isTight: false });
}

/** Ends the open `<pre>` and the running text. */
export function endDraft(draft: Draft): void {
  closePre(draft);
  endBlock(draft);
}

/** Adds an image if Markdown can contain its address, else only its alternative text. */
export function addImage(draft: Draft, source: string | undefined, alt = ""): void {
  const text = alt.replace(/[[\]\s]+/g, " ").trim();
  const isNameable = source !== undefined && /^(?!data:)[^\s()<>]{1,2000}$/i.test(source);
  if (draft.pre) return;
  const image = `![${text}](${source})`;
  if (isNameable) draft.inline.push({ markdown: image, plain: image });
  else if (text !== "") draft.inline.push(` ${text} `);
}

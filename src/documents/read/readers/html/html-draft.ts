import { fenced, linesOf, oneLine, type Block } from "./html-blocks.ts";

const maxIndent = 6;

/** Text of a page while it is read. */
export interface Draft {
  blocks: Block[];
  /** Running text since the last block; line breaks are those of `<br>`. */
  inline: string[];
  heading: { level: number; id: string | undefined } | undefined;
  /** Anchor before the next text, for example of a section, for the heading at its start. */
  anchor: string | undefined;
  /** Open lists: the number of the last item, or -1 for bullets. */
  lists: number[];
  /** List mark, set from the start of a list item to its first text. */
  mark: string;
  isInRow: boolean;
  hasCell: boolean;
  /** Within a link to a place on this page. */
  isSelfLink: boolean;
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
    isInRow: false,
    hasCell: false,
    isSelfLink: false,
    pre: undefined,
  };
}

function pushHeading(draft: Draft, text: string): void {
  const { heading } = draft;
  // oneLine() also removes the mark of a link to the heading itself.
  const title = oneLine(text);
  if (!heading || title === "") return;
  const { level, id = draft.anchor } = heading;
  draft.blocks.push({
    text: `${"#".repeat(level)} ${title.replaceAll("<!--", "<\\!--")}`,
    isTight: false,
    heading: { text: title, anchor: id },
  });
  draft.heading = undefined;
  draft.anchor = undefined;
}

/** Ends the running text. The next text begins a new block. */
export function endBlock(draft: Draft): void {
  if (draft.inline.length === 0) return;
  const text = draft.inline.join("");
  draft.inline = [];
  if (draft.heading) return pushHeading(draft, text);
  const { mark, lists } = draft;
  const depth = Math.min(lists.length, maxIndent);
  const indent = "  ".repeat(mark === "" || depth === 0 ? depth : depth - 1);
  const lines = linesOf(text, indent, mark);
  if (lines === "") return;
  draft.blocks.push({ text: lines, isTight: draft.isInRow || depth > 0 });
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
  if (draft.heading && draft.isSelfLink && /^\s*[#\u00b6\u00a7\u{1f517}]\s*$/u.test(text)) return;
  if (draft.pre) draft.pre.push(text);
  else if (text.trim() !== "") draft.inline.push(text.replaceAll("\n", " "));
  // Blanks matter only between words, not between blocks.
  else if (draft.inline.length > 0) draft.inline.push(" ");
}

export function openHeading(draft: Draft, level: number, id: string | undefined): void {
  endBlock(draft);
  draft.heading = { level, id };
}

export function closeHeading(draft: Draft): void {
  endBlock(draft);
  draft.heading = undefined;
}

export function openItem(draft: Draft): void {
  draft.heading = undefined;
  boundary(draft);
  const last = draft.lists.length - 1;
  const count = draft.lists[last];
  draft.mark = count === undefined || count === -1 ? "- " : `${(draft.lists[last] = count + 1)}. `;
  if (draft.isInRow) draft.mark = "";
}

export function openRow(draft: Draft): void {
  draft.heading = undefined;
  endBlock(draft);
  draft.isInRow = true;
  draft.hasCell = false;
}

export function openCell(draft: Draft): void {
  if (!draft.isInRow) return endBlock(draft);
  if (draft.hasCell) draft.inline.push(" | ");
  draft.hasCell = true;
}

export function closeRow(draft: Draft): void {
  endBlock(draft);
  draft.isInRow = false;
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
  if (isNameable) draft.inline.push(`![${text}](${source})`);
  else if (text !== "") draft.inline.push(` ${text} `);
}

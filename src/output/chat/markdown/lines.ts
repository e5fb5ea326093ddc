import { leading, matchContainers, maxLeadLength, readLead, type Lead } from "./lead.ts";
import {
  addCode,
  beginBlock,
  closeFence,
  endCodeRow,
  finishText,
  openFence,
  openText,
  underline,
  writeMarker,
  writeRule,
} from "./leaves.ts";
import { createBlock } from "./prefix.ts";
import type { Reader } from "./reader.ts";
import { addToTable, endTableLine, finishTable, openTable } from "./table-block.ts";
import { parseAligns, splitCells } from "./table.ts";

const taskBox = /(?:^|[ >])(?:[-*+]|\d{1,9}[.)]) {1,4}(\[(?:[ xX]\]?)?)?$/;

/** Whether `character` still belongs to the start of the line, whose block is not yet known. */
export function leadContinues(lead: string, character: string): boolean {
  if (lead.length >= maxLeadLength) return false;
  const box = taskBox.exec(lead.slice(-20));
  if (box?.[1] === undefined && character === "[") return box !== null;
  if (box?.[1] === "[") return /[ xX]/.test(character);
  if (box?.[1]?.length === 2) return character === "]";
  if (box?.[1]?.length === 3) return character === " ";
  return leading.test(character) && !lead.endsWith("] ");
}

/** Ends the containers that the line does not continue. */
export function truncate(reader: Reader, kept: number): void {
  const { blocks, rows } = reader;
  if (blocks.slice(kept).some((block) => !block.isShown)) {
    // A list item without content.
    reader.kept = kept;
    rows.row(beginBlock(reader).first);
  }
  blocks.length = kept;
}

function continueText(reader: Reader, rest: string, next: string | undefined): void {
  const { text } = reader;
  if (!text) return;
  text.inline.newline(text.keepsLines || next === "<");
  text.inline.feed(rest);
  text.source = "";
  reader.mode = "text";
}

/** Whether `line` is a table delimiter row below a paragraph of one line, its header. */
function isTableBelow({ text, rows }: Reader, line: string): boolean {
  if (!text || rows.isWrapped || text.lines !== 1 || !text.source.includes("|")) return false;
  return parseAligns(line)?.length === splitCells(text.source).length;
}

/** Adds the line to the open paragraph, or turns that into a table or heading. False if neither. */
function extendText(reader: Reader, lead: Lead, next: string | undefined): boolean {
  const { text, rows } = reader;
  if (!text || lead.opened.length > 0) return false;
  const { leaf, rest } = lead;
  const isComplete = next === undefined;
  const isInside = lead.kept === reader.blocks.length;
  if (isComplete && isInside && isTableBelow(reader, rest)) {
    const header = text.source;
    rows.drop();
    for (const block of text.marked) block.isShown = false;
    reader.text = undefined;
    openTable(reader, header);
    addToTable(reader, rest);
    endTableLine(reader);
    return true;
  }
  if (leaf.kind === "underline" && !rows.isWrapped && text.lines === 1) {
    underline(reader, leaf.level, rest.trim());
    return true;
  }
  if (leaf.kind !== "text" && !(leaf.kind === "underline" && leaf.level === 1)) return false;
  continueText(reader, rest, next);
  if (isComplete) endTextLine(reader);
  return true;
}

function openBlocks(reader: Reader, lead: Lead): void {
  const { blocks } = reader;
  let sibling = blocks[lead.kept];
  truncate(reader, lead.kept);
  for (const container of lead.opened) {
    blocks.push(createBlock(container, blocks, sibling));
    sibling = undefined;
  }
}

function openLeaf(reader: Reader, { leaf, rest, opened }: Lead, next: string | undefined): void {
  const isComplete = next === undefined;
  const isTask = opened.at(-1)?.kind === "item" && /^\[[ xX]\] $/.test(rest);
  switch (leaf.kind) {
    case "blank":
      if (opened.length === 0) reader.gap = reader.blocks.length;
      return;
    case "rule":
      return writeRule(reader);
    case "heading":
    case "text":
      openText(reader, leaf.kind === "heading" ? leaf.level : 0, isTask ? rest : "");
      reader.mode = "text";
      addText(reader, isTask ? "" : rest.trimStart());
      if (next === "<" && reader.text) reader.text.keepsLines = true;
      if (isComplete) endTextLine(reader);
      return;
    case "underline":
      return writeRule(reader);
    case "indented":
      writeMarker(reader);
      addCode(reader, `    ${rest}`);
      reader.mode = "code";
      if (isComplete) endCodeLine(reader);
      return;
    case "table":
      openTable(reader);
      reader.mode = "table";
      addToTable(reader, rest);
      if (isComplete && reader.table) endLine(reader);
      return;
    case "fence":
      reader.info = rest;
      reader.mode = "info";
      reader.opening = leaf;
      if (isComplete) endInfo(reader);
      return;
    default:
      leaf satisfies never;
  }
}

/** Processes the complete start of a line. `next`: the following character, undefined at the line end. */
export function decide(reader: Reader, next: string | undefined): void {
  const source = reader.lead.replaceAll("\t", "    ");
  reader.lead = "";
  const isText = reader.text !== undefined;
  const lead = readLead(source, reader.blocks, next === undefined, isText);
  reader.kept = lead.kept;
  if (reader.table) {
    const isRow = lead.kept === reader.blocks.length && lead.opened.length === 0;
    if (isRow && (lead.leaf.kind === "text" || lead.leaf.kind === "table")) {
      reader.mode = "table";
      addToTable(reader, lead.rest);
      if (next === undefined) endLine(reader);
      return;
    }
    finishTable(reader);
  }
  if (extendText(reader, lead, next)) return;
  finishText(reader);
  openBlocks(reader, lead);
  openLeaf(reader, lead, next);
}

export function addText(reader: Reader, part: string): void {
  const { text } = reader;
  if (!text) return;
  text.inline.feed(part);
  if (text.lines === 0 && text.source.length < maxSourceLength) text.source += part;
}

const maxSourceLength = 2000;

function endTextLine(reader: Reader): void {
  const { text } = reader;
  reader.mode = "lead";
  if (!text) return;
  text.lines++;
  if (text.isHeading) finishText(reader);
}

function endCodeLine(reader: Reader): void {
  // An empty line of code is a row, too.
  addCode(reader, "");
  endCodeRow(reader);
  reader.mode = reader.fence ? "code-lead" : "lead";
}

/** Ends the text after the marks of a fence: it is complete, or too long for a fence. */
export function endInfo(reader: Reader, isComplete = true): void {
  const { opening, info } = reader;
  reader.opening = undefined;
  if (!opening) return;
  if (!isComplete || (opening.mark === "`" && info.includes("`"))) {
    // Inline code that looks like a fence.
    reader.info = "";
    reader.mode = "text";
    openText(reader);
    addText(reader, opening.mark.repeat(opening.length) + info);
    return isComplete ? endTextLine(reader) : undefined;
  }
  openFence(reader, opening);
}

/** Processes the complete start of a line inside a fence. */
export function decideCode(reader: Reader, isComplete: boolean): void {
  const { lead, fence, blocks } = reader;
  if (!fence) return;
  const quotes = blocks.findLastIndex((block) => block.kind === "quote") + 1;
  const { kept, at } = matchContainers(lead, blocks, isComplete);
  if (kept < quotes) {
    // The quote that contains the code has ended.
    closeFence(reader);
    reader.mode = "lead";
    if (isComplete) decide(reader, undefined);
    return;
  }
  reader.lead = "";
  // Code indented less than its list item is still code: many answers contain that.
  const indent = kept < blocks.length ? 1000 : fence.indent;
  const spaces = /^ */.exec(lead.slice(at))?.[0].length ?? 0;
  const code = lead.slice(at + Math.min(indent, spaces));
  const closing = code.trim();
  const closes = closing.length >= fence.length && closing === fence.mark.repeat(closing.length);
  if (isComplete && closes && spaces <= fence.indent + 3) {
    closeFence(reader);
    reader.mode = "lead";
    return;
  }
  addCode(reader, code);
  reader.mode = "code";
  if (isComplete) endCodeLine(reader);
}

export function endLine(reader: Reader): void {
  switch (reader.mode) {
    case "lead":
      return decide(reader, undefined);
    case "text":
      return endTextLine(reader);
    case "info":
      return endInfo(reader);
    case "code-lead":
      return decideCode(reader, true);
    case "code":
      return endCodeLine(reader);
    case "table":
      reader.mode = "lead";
      return endTableLine(reader);
    default:
      reader.mode satisfies never;
  }
}

import { oneLine } from "../html/html-blocks.ts";
import { isEntry, substitute, takeEntry } from "./source/attributes.ts";
import * as ids from "./text/ids.ts";
import { parseList } from "./source/attribute-list.ts";
import { takeItem } from "./lists.ts";
import { image } from "./text/macros.ts";
import * as start from "./starts.ts";
import * as states from "./state.ts";
import { addTable } from "./table.ts";
import { addCode, addStyled, addVerbatim, linesUntil } from "./verbatim.ts";

type State = states.State;

const isAdmonition = (style: string): boolean =>
  /^(?:NOTE|TIP|IMPORTANT|CAUTION|WARNING)$/.test(style);

// Of a paragraph, the style says whether its title has a number.
const numberedStyles = new Map<string, states.Numbered>([
  ["example", "example"],
  ["listing", "listing"],
  ["source", "listing"],
]);

const isListing = (delimiter: string, style: string): boolean =>
  style === "listing" || style === "source" || (style === "" && /^[-`]/.test(delimiter));

/** A heading with its anchor. Of the document title, `isTitle`: it has none. */
export function addHeading(state: State, written: string, level: number, isTitle = false): string {
  state.lists = [];
  state.isAttached = false;
  const { context, pending } = state;
  const anchor = /\[\[([^,[\]]+)(?:,[^[\]]*)?\]\]$/.exec(written);
  const text = anchor ? written.slice(0, anchor.index) : written;
  const title = states.plain(state, text);
  const given = anchor?.[1] ?? pending.id;
  state.pending = states.noAttributes();
  if (title === "") return "";
  const id = given === "" ? ids.sectionId(title, context.ids, context.attributes) : given;
  if (!isTitle) ids.addSection(context.ids, id, title, context.ids.labels.get(id) || title);
  const markdown = oneLine(states.inline(state, text)).replaceAll("<!--", "<\\!--");
  const marks = "#".repeat(Math.min(6, Math.max(1, level)));
  const heading = { text: title, anchor: isTitle ? undefined : id };
  state.blocks.push({ text: `${marks} ${markdown}`, isTight: false, heading });
  return title;
}

function takeSection(state: State, line: string): boolean {
  const { lines, context } = state;
  const offset = Number(context.attributes.values.get("leveloffset") ?? 0) || 0;
  const found = start.sectionOf(line);
  if (found) {
    addHeading(state, found.text, found.level + offset + state.levelOffset);
    return true;
  }
  // Within a block, the line below is its end, or the begin of another one.
  const isInItem = state.isAttached && state.lists.length > 0;
  const isWithin = isInItem || state.containers.length > 0;
  const level = isWithin ? undefined : start.underlineLevel(line, lines.peek()?.text);
  if (level === undefined) return false;
  lines.next();
  addHeading(state, line, level + offset + state.levelOffset);
  return true;
}

function closeContainer(state: State, index: number): void {
  const [first] = state.containers.splice(index);
  if (!first) return;
  state.lists = [];
  state.indent = first.indent;
  state.lists = first.lists;
  state.isAttached = true;
  if (first.attribution !== "") states.addBlock(state, first.attribution);
  state.isAttached = false;
}

function takeContainer(state: State, delimiter: string): void {
  const open = state.containers.findLastIndex((each) => each.delimiter === delimiter);
  if (open !== -1) return closeContainer(state, open);
  states.leaveLists(state);
  const attributes = states.usePending(state);
  const { style, positional, named } = attributes;
  const isStyled = /^(?:source|listing|literal|verse|comment|pass|stem|latexmath|asciimath)$/.test(
    style,
  );
  if (isAdmonition(style)) attributes.title = `${style}: ${attributes.title}`;
  // Other styles make another block of it, the option a box that opens.
  const isExample = style === "example" || (style === "" && delimiter.startsWith("="));
  const isBox = attributes.options.includes("collapsible");
  const listed = style === "source" || style === "listing" ? "listing" : undefined;
  states.addTitle(state, attributes, isExample && !isBox ? "example" : listed);
  const by = [positional[1] ?? named.get("attribution"), positional[2] ?? named.get("citetitle")];
  const isQuote = style === "quote" || style === "verse" || delimiter.startsWith("_");
  const source = by.filter((each) => each !== undefined && each !== "").join(", ");
  const attribution = isQuote && source !== "" ? states.textLines(state, `— ${source}`) : "";
  if (isStyled) {
    addStyled(state, linesUntil(state, delimiter).join("\n"), attributes);
    states.addBlock(state, attribution);
    return;
  }
  const { lists, indent } = state;
  state.containers.push({ delimiter, attribution, lists, indent });
  state.indent = states.currentIndent(state);
  state.lists = [];
}

function takeDelimited(state: State, line: string): boolean {
  if (start.isContainer(line)) takeContainer(state, line);
  else if (start.isVerbatim(line)) {
    if (!line.startsWith("/")) states.leaveLists(state);
    const attributes = states.usePending(state);
    states.addTitle(state, attributes, isListing(line, attributes.style) ? "listing" : undefined);
    addVerbatim(state, line, attributes);
  } else if (start.isTable(line)) {
    states.leaveLists(state);
    const attributes = states.usePending(state);
    states.addTitle(state, attributes, "table");
    addTable(state, line, linesUntil(state, line), attributes);
  } else return false;
  return true;
}

function takeMacro(state: State, line: string): boolean {
  const found = start.macroOf(line);
  if (!found) return false;
  states.leaveLists(state);
  const { name, target, list } = found;
  const attributes = states.usePending(state);
  const { context } = state;
  const to = states.inline(state, target);
  const { named } = parseList(list);
  for (const [key, value] of named) attributes.named.set(key, value);
  attributes.title = named.get("title") ?? attributes.title;
  if (name === "image") states.addBlock(state, image(context, to, list));
  else if (name !== "toc") {
    const address = /^youtube\b/.test(list) ? `https://www.youtube.com/watch?v=${to}` : to;
    states.addBlock(state, `[${name}](${address})`);
  }
  states.addTitle(state, attributes, name === "image" ? "figure" : undefined);
  return true;
}

/** Each blank line above the sign leads to the list around the last one. */
function attachNext(state: State): void {
  const { lists, blankLines } = state;
  lists.length -= Math.min(blankLines, Math.max(0, lists.length - 1));
  state.isAttached = lists.length > 0;
}

/** Takes a line that is no text of the page. */
function takeHidden(state: State, line: string): boolean {
  const { lines, context } = state;
  const ignore = start.ignoreMarkOf(line);
  const title = start.titleOf(line);
  if (ignore !== undefined) state.blocks.push({ text: ignore, isTight: false });
  else if (isEntry(line)) takeEntry(context.attributes, line, () => lines.next()?.text);
  else if (start.isAttributes(line)) {
    states.takeAttributes(state, substitute(context.attributes, line));
  } else if (line === "+") attachNext(state);
  else if (title !== undefined) state.pending.title = title;
  else if (start.isComment(line)) {
    lines.leaveOutComment();
    // Below an empty line it ends a list: what follows is another one.
    if (state.blankLines > 0) states.divideLists(state);
  } else return start.isBreak(line);
  return true;
}

function takeParagraph(state: State, first: string): void {
  const { lines } = state;
  const isLiteral = /^[ \t]/.test(first);
  if (isLiteral && state.lists.length > 0) state.isAttached = true;
  states.leaveLists(state);
  const taken = [first];
  const isEnd = state.lists.length > 0 ? start.endsItem : start.endsParagraph;
  for (let line = lines.peek(); line && !isEnd(line.text); line = lines.peek()) {
    lines.next();
    if (isLiteral || !start.isComment(line.text)) taken.push(line.text);
    else lines.leaveOutComment();
  }
  const attributes = states.usePending(state);
  states.addTitle(state, attributes, numberedStyles.get(attributes.style));
  const text = taken.join("\n");
  if (addStyled(state, text, attributes)) return;
  if (isLiteral && attributes.style !== "normal") return addCode(state, text, attributes);
  const label = isAdmonition(attributes.style) ? `${attributes.style}: ` : "";
  states.addBlock(state, states.textLines(state, label + text));
  const source = attributes.style === "quote" ? attributes.positional.slice(1).join(", ") : "";
  if (source !== "") states.addBlock(state, states.textLines(state, `— ${source}`));
}

/** Reads all blocks up to the end of the text. */
export function takeBlocks(state: State): void {
  const { lines } = state;
  for (let line = lines.next(); line; line = lines.next()) {
    const { text, levelOffset } = line;
    state.levelOffset = levelOffset;
    if (text === "") {
      state.blankLines++;
      continue;
    }
    const isTaken =
      takeHidden(state, text) ||
      takeDelimited(state, text) ||
      takeMacro(state, text) ||
      takeItem(state, text) ||
      takeSection(state, text);
    if (!isTaken) takeParagraph(state, text);
    state.blankLines = 0;
  }
  closeContainer(state, 0);
}

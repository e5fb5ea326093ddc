import { itemOf, type Item } from "./list-items.ts";
import * as start from "./starts.ts";
import { addTitle, inline, textLines, usePending, type ListLevel, type State } from "./state.ts";

// Deeper items stand below the same column: blanks must not make up most of a text.
const mostIndent = 24;

/** The level of the item's list: an open one with its marker, else a new one with the number of its first item. */
function levelOf(state: State, { marker }: Item, first: number): ListLevel {
  const index = state.lists.findLastIndex((level) => level.marker === marker);
  if (index !== -1) state.lists.length = index + 1;
  else state.lists.push({ marker, count: first - 1, indent: "" });
  return state.lists[state.lists.length - 1] as ListLevel;
}

function takeText(state: State, item: Item): string[] {
  const { lines } = state;
  const taken = item.text === "" ? [] : [item.text];
  if (taken.length === 0) {
    while (lines.peek()?.text === "") lines.next();
    const first = lines.peek()?.text;
    if (first === undefined || start.isNoDescription(first)) return taken;
  }
  for (let line = lines.peek(); line && !start.endsItem(line.text); line = lines.peek()) {
    lines.next();
    if (start.isComment(line.text)) lines.leaveOutComment();
    else taken.push(line.text);
  }
  return taken;
}

/** Adds the list item that a line begins. Returns whether it begins one. */
export function takeItem(state: State, line: string): boolean {
  const item = itemOf(line);
  if (!item) return false;
  state.isAttached = false;
  const pending = usePending(state);
  addTitle(state, pending);
  const given = /^\d{1,6}$/.exec(pending.named.get("start") ?? "")?.[0];
  const level = levelOf(state, item, given === undefined ? (item.number ?? 1) : Number(given));
  const outer = (state.lists.at(-2)?.indent ?? state.indent).slice(0, mostIndent);
  level.count++;
  const mark = item.isNumbered ? `${level.count}. ` : "- ";
  level.indent = outer + " ".repeat(mark.length);
  if (item.marker === "<1>") state.callouts = 0;
  const text = textLines(state, takeText(state, item).join("\n"));
  const term = item.term === undefined ? "" : inline(state, item.term);
  const first = term === "" ? text : `${term}:${text === "" ? "" : ` ${text}`}`;
  if (first === "") return true;
  const lines = first.replaceAll("\n", `\n${level.indent}`);
  state.blocks.push({ text: outer + mark + lines, isTight: true, group: state.dividers });
  return true;
}

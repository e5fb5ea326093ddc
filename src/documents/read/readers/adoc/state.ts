import type { Block } from "../html/html-blocks.ts";
import { escapeLine } from "../html/html-blocks.ts";
import { parseList, type AttributeList } from "./source/attribute-list.ts";
import { addLabel } from "./text/ids.ts";
import { inlineText } from "./text/inline.ts";
import type { InlineContext } from "./text/inline-context.ts";
import type { SourceLines } from "./source/source-lines.ts";

/** What the lines before a block say about it. */
export interface BlockAttributes extends AttributeList {
  /** `source`, `NOTE`, `quote`; "" for none. */
  style: string;
  title: string;
  id: string;
  options: string;
}

export interface ListLevel {
  marker: string;
  /** Number of its last item. */
  count: number;
  /** Of the blocks of its items. */
  indent: string;
}

/** An open delimited block that contains blocks: its end, and the lists around it. */
export interface Container {
  delimiter: string;
  attribution: string;
  lists: ListLevel[];
  indent: string;
}

export interface State {
  lines: SourceLines;
  context: InlineContext;
  blocks: Block[];
  pending: BlockAttributes;
  containers: Container[];
  lists: ListLevel[];
  /** Of blocks outside of the lists. */
  indent: string;
  /** Whether the next block belongs to the last list item. */
  isAttached: boolean;
  /** Of the line that is read. */
  levelOffset: number;
  /** Number of blank lines before the line that is read. */
  blankLines: number;
  /** Number of the last callout in code that has no number of its own. */
  callouts: number;
  /** Number of comments that have divided lists. */
  dividers: number;
}

export const noAttributes = (): BlockAttributes => ({
  positional: [],
  named: new Map(),
  style: "",
  title: "",
  id: "",
  options: "",
});

export function createState(lines: SourceLines, context: InlineContext): State {
  return {
    lines,
    context,
    blocks: [],
    pending: noAttributes(),
    containers: [],
    lists: [],
    indent: "",
    isAttached: false,
    levelOffset: 0,
    blankLines: 0,
    callouts: 0,
    dividers: 0,
  };
}

export const inline = ({ context }: State, text: string): string => inlineText(text, context);

export const plain = ({ context }: State, text: string): string =>
  inlineText(text, { ...context, isPlain: true })
    .replace(/\s+/g, " ")
    .trim();

/** Takes a line such as `[#id.role,style]` or `[[id]]`. */
export function takeAttributes(state: State, line: string): void {
  const { pending, context } = state;
  const anchor = /^\[\[([^,\]]*)(?:,(.*))?\]\]$/.exec(line);
  if (anchor) {
    pending.id = anchor[1] ?? "";
    addLabel(context.ids, pending.id, anchor[2]?.trim() ?? "");
    return;
  }
  const { positional, named } = parseList(line.slice(1, -1));
  const first = positional[0] ?? "";
  const shorthand = /^([^#.%]*)((?:[#.%][^#.%]*)+)$/.exec(first);
  const style = shorthand?.[1] ?? first;
  if (style !== "") pending.style = style;
  for (const [, kind, value = ""] of (shorthand?.[2] ?? "").matchAll(/([#.%])([^#.%]*)/g)) {
    if (kind === "#") pending.id = value;
    if (kind === "%") pending.options += ` ${value}`;
  }
  pending.id = named.get("id") ?? pending.id;
  pending.options += ` ${named.get("options") ?? named.get("opts") ?? ""}`;
  // Of two lines, the later one counts.
  for (const [index, value] of positional.entries())
    if (value !== "") pending.positional[index] = value;
  for (const [name, value] of named) pending.named.set(name, value);
  if (named.has("reftext")) addLabel(context.ids, pending.id, named.get("reftext") ?? "");
}

/** The attributes for the next block, which are then used up. */
export function usePending(state: State): BlockAttributes {
  const { pending } = state;
  if (pending.id !== "") {
    const { labels } = state.context.ids;
    if (!labels.get(pending.id)) labels.set(pending.id, plain(state, pending.title));
  }
  state.pending = noAttributes();
  return pending;
}

export const currentIndent = ({ lists, indent }: State): string => lists.at(-1)?.indent ?? indent;

/** Adds a block below the last list item, if it belongs to it. */
export function addBlock(state: State, text: string): void {
  if (text.trim() === "") return;
  const indent = currentIndent(state);
  const lines = indent === "" ? text : text.replace(/^(?=.)/gm, indent);
  state.blocks.push({ text: lines, isTight: false });
}

// A blank and a plus sign at the end of a line is a line break.
const withoutBreak = (line: string): string =>
  line.endsWith(" +") ? line.slice(0, -2).trimEnd() : line;

/** Running text as lines of Markdown, none of which is read as another structure. */
export function textLines(state: State, text: string): string {
  return inline(state, text.split("\n").map(withoutBreak).join("\n"))
    .split("\n")
    .map((line) => escapeLine(line.trim()))
    .filter((line) => line !== "")
    .join("\n");
}

/** Ends the lists, unless the next block belongs to an item. */
export function leaveLists(state: State): void {
  if (state.isAttached) state.isAttached = false;
  else state.lists = [];
}

/** Ends all lists: a list that follows is another one. */
export function divideLists(state: State): void {
  state.lists = [];
  state.dividers++;
}

/** What Asciidoctor numbers by its title. */
export type Numbered = "example" | "figure" | "listing" | "table";

/** The words before a title: `Table 2. `; "" if the page has none. */
function captionOf({ context }: State, kind: Numbered, { named }: BlockAttributes): string {
  const { values } = context.attributes;
  const own = named.get("caption") ?? values.get("caption");
  if (own !== undefined) return own;
  const word = values.get(`${kind}-caption`) ?? "";
  if (word === "") return "";
  // Asciidoctor counts in an attribute, which a page can set and show.
  const number = String((Number(values.get(`${kind}-number`)) || 0) + 1);
  values.set(`${kind}-number`, number);
  return `${word} ${number}. `;
}

/** The title above a block. */
export function addTitle(state: State, attributes: BlockAttributes, kind?: Numbered): void {
  const { title } = attributes;
  if (title === "") return;
  const caption = kind === undefined ? "" : captionOf(state, kind, attributes);
  addBlock(state, textLines(state, caption + title));
}

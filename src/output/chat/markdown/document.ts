import { neutralise } from "../../terminal/neutralise.ts";
import type { Text } from "../../terminal/text.ts";
import { prefixOf, readLeaves, type Container, type Leaf } from "./blocks.ts";
import { widthOf, drawRow, finishRow, limitOf, type Rows } from "./rows.ts";
import type { Painter, createPainter as CreatePainter } from "./code.ts";
import { openFence, type Fence } from "./fence.ts";
import type { InlineLook } from "./inline.ts";
import { drawLeaf, nothingDrawn, sourceOf, type Drawn } from "./leaf.ts";
import type { Output } from "../../terminal/output.ts";

/** A streamed Markdown document that is drawn while it arrives. */
export interface Document {
  /** Reads a piece of the source. */
  feed(text: string): void;
  /** Leaves the unfinished row, because other output follows the returned text. */
  leave(): Text[];
  /** The end of the source: finishes all open blocks. */
  end(): void;
  /** Returns the text to write to the terminal now. */
  take(): Text[];
  /** An unfinished row is on the terminal. */
  readonly midRow: boolean;
}

/**
 * The state of a document. Only its last leaf is lexed again: `lines` holds the source of that
 * leaf, and before it a placeholder for each item around it that has shown its marker already.
 */
interface State {
  readonly rows: Rows;
  readonly look: InlineLook;
  readonly painters: (language: string) => Painter | undefined;
  lines: string[];
  /** The last line, which is not complete. */
  partial: string;
  /** Number of placeholders. */
  placeholders: number;
  /** Numbers of the items around the last leaf. */
  numbers: (number | undefined)[];
  drawn: Drawn;
  /** `lines` has lines that are not drawn. */
  isStale: boolean;
  isStarted: boolean;
  fence: Fence | undefined;
  limit: number;
}

const placeholder = "# x";
/** A longer line or text is drawn in parts: so the work for each piece is bounded. */
const maxLength = 2000;
const maxPiece = 1000;
const maxNesting = 12;

const marker = String.raw`(?:[-*+]|\d{1,9}[.)])`;
const fenceMark = String.raw`(?:\x60{3}|~{3})`;
/** The start of a line whose block is not known yet. */
const undecided = new RegExp(
  String.raw`^(?:[\s>*+\-_#\d.)\x60~=|:]{0,240}|[ >]*(?:${marker}(?= )[ >]*)*${fenceMark}.{0,240})$`,
);
const tooDeep = new RegExp(
  String.raw`^((?: *(?:>|${marker}(?= ))){${maxNesting}} *\d{0,9})(?=[>\-*+.)])`,
);
const itemStart = new RegExp(`^( *)${marker} `);
const blank = /^[\s>]*$/;

/** A line as it is lexed: without tabs before its text, and with a bound of its nesting. */
function lexedLine({ lines, numbers, placeholders }: State, line: string): string {
  const spaced = line.replace(/^[\s>*+\-\d.)]+/, (lead) => lead.replaceAll("\t", "    "));
  const flat = spaced.replace(tooDeep, "$1\\");
  if (numbers.length < maxNesting) return flat;
  const indent = /^ */.exec(lines[placeholders] ?? "")![0];
  return flat.replace(itemStart, (all, own: string) =>
    own.length > indent.length ? indent + all.slice(own.length) : all,
  );
}

/** The part of a line before the text of a leaf. `items`: number of items that begin in the line. */
function leadOf(line: string, items: number): string {
  const lead = new RegExp(`^[ >]*(?:${marker}(?= |$)[ >]*){${items}}`).exec(line)?.[0] ?? "";
  // More spaces than four after a marker belong to code, and none is one.
  return items > 0 ? lead.replace(/(?: {5,}|(?<! ))$/, " ") : lead;
}

type Code = Leaf & { token: { type: "code" } };
const isIndented = (leaf: Leaf): leaf is Code =>
  leaf.token.type === "code" && leaf.token.codeBlockStyle === "indented";
const isFenced = (leaf: Leaf): boolean => leaf.token.type === "code" && !isIndented(leaf);
const isItem = ({ label }: Container): boolean => label !== undefined;

/** Starts a leaf: writes the gap before it. */
function begin(
  { rows, drawn, isStarted }: State,
  { containers, line }: Leaf,
  before: Leaf | undefined,
  lines: readonly string[],
): void {
  if (drawn.isBegun) return;
  drawn.isBegun = true;
  if (!isStarted || line === 0 || !blank.test(lines[line - 1]!)) return;
  const around = containers.filter((each) => before?.containers.includes(each));
  finishRow(rows, prefixOf(around, limitOf(rows)).rest);
}

/**
 * Keeps of the source only the last leaf and the items around it; with `isClosed` also in place
 * of the leaf a placeholder.
 */
function keepLast(
  state: State,
  leaf: Leaf,
  index: number,
  lines: readonly string[],
  isClosed: boolean,
): void {
  const items = leaf.containers.filter(isItem);
  const kept = new Map<number, number>();
  for (const { line, leaf: first } of items) {
    if (first !== index || isClosed) kept.set(line, (kept.get(line) ?? 0) + 1);
  }
  const start = items.find(({ leaf: first }) => first === index)?.line ?? leaf.line;
  if (isClosed && !kept.has(start)) kept.set(start, 0);
  const { table } = state.drawn;
  // A table keeps its first two lines: the others are collected.
  const collected = table ? leaf.token.raw.trimEnd().split("\n").length - 2 : 0;
  const rest = isClosed ? [] : lines.slice(start).toSpliced(leaf.line + 2 - start, collected);
  const indent = isIndented(leaf) ? 4 + leaf.token.text.search(/\S|$/) : 0;
  state.lines = [...kept].map(([line, count]) => {
    const lead = leadOf(lines[line]!, count);
    // The indent of code is none of the containers around it.
    return (count > 0 || line < start ? lead : lead.slice(0, lead.length - indent)) + placeholder;
  });
  state.placeholders = state.lines.length;
  state.lines.push(...rest);
  state.numbers = items.map(({ number }) => number);
  if (isClosed) state.drawn = nothingDrawn();
}

/** Shortens the source of a long text by its finished rows. */
function cut(state: State, leaf: Leaf, index: number): void {
  const { lines, placeholders, drawn } = state;
  const text = sourceOf(leaf).slice(Math.ceil(drawn.done)).replaceAll("\n", " ");
  const items = leaf.containers.filter((each) => isItem(each) && each.leaf === index).length;
  // The word is on the terminal already: after it, no text is taken for the start of a block.
  state.lines = [
    ...lines.slice(0, placeholders),
    `${leadOf(lines[placeholders]!, items)}x ${text}`,
  ];
  drawn.done = 2;
}

function startFence(
  { rows, look, painters }: State,
  leaf: Leaf,
  index: number,
  line: string,
): Fence {
  const { containers } = leaf;
  const quotes = containers.length - containers.filter(isItem).length;
  const isMarked = containers.some((each) => isItem(each) && each.leaf === index);
  const prefix = isMarked ? prefixOf(containers, limitOf(rows), index).first : [];
  return openFence(rows, line, quotes, prefix, (name) =>
    look.hasColour ? painters(name) : undefined,
  );
}

/** Draws what the source has become. `isEnd`: nothing follows. */
function update(state: State, isEnd = false): void {
  const { rows, look, numbers, placeholders } = state;
  state.isStale = false;
  const partial = undecided.test(state.partial) ? "" : lexedLine(state, state.partial);
  const lines = partial === "" ? state.lines : [...state.lines, partial];
  const leaves = readLeaves(lines.join("\n"), numbers);
  const last = leaves.length - 1;
  const leaf = leaves[last];
  if (!leaf || last < placeholders) return;
  const isCode = leaf.token.type === "code";
  // Code is drawn line by line.
  if (isCode && partial !== "") return;
  const isHuge = sourceOf(leaf).length > 2 * maxLength && leaf.token.type !== "table";
  for (let index = placeholders; index <= last; index++) {
    if (index > placeholders) state.drawn = nothingDrawn();
    begin(state, leaves[index]!, leaves[index - 1], lines);
    state.isStarted = true;
    if (index === last && isFenced(leaf)) {
      state.fence = startFence(state, leaf, last, lines[leaf.line]!);
      continue;
    }
    const isOpen = index < last ? false : !isEnd && !isHuge;
    drawLeaf({ rows, look, drawn: state.drawn }, leaves[index]!, index, isOpen, partial);
  }
  const { table, hasRow, done } = state.drawn;
  keepLast(state, leaf, last, lines, isCode || isHuge);
  if (isHuge) state.partial = "";
  else if (table === undefined && !isCode) {
    if (hasRow && done > 0 && sourceOf(leaf).length > maxLength) cut(state, leaf, last);
    if (partial !== "") state.partial = state.lines.pop()!;
  }
}

/** Ends a line outside of code. */
function endLine(state: State): void {
  const line = lexedLine(state, state.partial);
  state.partial = "";
  // Any number of empty lines is as good as one.
  if (blank.test(line) && line === state.lines.at(-1)) return;
  state.lines.push(line);
  state.isStale = true;
  const isLong = state.lines.reduce((sum, { length }) => sum + length, 0) > maxLength;
  // A line of words goes on with what it follows, so it need not be drawn at once.
  if (isLong || !/^ *[\p{L}\p{M}]/u.test(line)) update(state);
}

function endFence(state: State): void {
  state.fence?.end();
  state.fence = undefined;
}

/** Reads a part of one line; `isComplete`: the line ends with it. */
function readPart(state: State, part: string, isComplete: boolean): void {
  const rest = state.fence ? state.fence.read(part, isComplete) : part;
  if (state.fence) {
    if (rest === undefined) return;
    state.fence = undefined;
    if (rest === "") return;
  }
  state.partial += rest ?? "";
  if (state.partial.length > maxLength) {
    update(state);
    if (state.partial.length > maxLength) endLine(state);
  }
  if (isComplete) endLine(state);
}

function read(state: State, text: string): void {
  const lines = text.split("\n");
  for (const [index, line] of lines.entries()) {
    const isLast = index === lines.length - 1;
    for (let at = 0; at < line.length || (at === 0 && !isLast); at += maxPiece) {
      const isComplete = !isLast && at + maxPiece >= line.length;
      readPart(state, line.slice(at, at + maxPiece), isComplete);
    }
  }
}

function leave({ rows, fence, drawn }: State): void {
  if (fence) return fence.leave();
  const { shown } = rows;
  const end = Math.max(...shown.map((cell) => cell.end));
  // A marker or a preview is drawn again.
  if (end < 0) return drawRow(rows, []);
  rows.out.push("\n");
  rows.shown = [];
  drawn.hasRow = true;
  drawn.done = end;
}

/** A narrowed terminal wraps a row that is too long; such a row can no longer be redrawn. */
function adapt(state: State): void {
  const limit = limitOf(state.rows);
  if (limit !== state.limit && widthOf(state.rows.shown) > limit) leave(state);
  state.limit = limit;
}

function finish(state: State): void {
  if (state.fence?.held) readPart(state, "", true);
  if (state.partial !== "") endLine(state);
  endFence(state);
  update(state, true);
}

function takeWritten({ rows }: State): Text[] {
  const { out } = rows;
  rows.out = [];
  return out;
}

/**
 * Starts a document at the start of a terminal row. `painters` returns the painter of
 * a code block by the name of its language.
 */
export function createDocument(
  terminal: Rows["terminal"],
  look: InlineLook,
  painters: State["painters"],
): Document {
  const rows: Rows = { terminal, out: [], shown: [] };
  const state: State = {
    rows,
    look,
    painters,
    lines: [],
    partial: "",
    placeholders: 0,
    numbers: [],
    drawn: nothingDrawn(),
    isStale: false,
    isStarted: false,
    fence: undefined,
    limit: limitOf(rows),
  };
  // A stream may cut between the two code units of a character.
  let half = "";
  return {
    feed(text) {
      adapt(state);
      const whole = half + text;
      half = /[\ud800-\udbff]$/.exec(whole)?.[0] ?? "";
      // A single half would be written as U+FFFD, which takes a column.
      const complete = half === "" ? whole : whole.slice(0, -1);
      read(state, neutralise(complete.toWellFormed()));
    },
    leave() {
      leave(state);
      return takeWritten(state);
    },
    end() {
      if (half !== "") read(state, half.toWellFormed());
      half = "";
      finish(state);
    },
    take() {
      if (state.fence) {
        if (terminal.canRedraw) state.fence.draw();
      } else if (state.partial !== "" || state.isStale) update(state);
      return takeWritten(state);
    },
    get midRow() {
      return rows.shown.length > 0;
    },
  };
}

/** Draws a streamed text. Pass the returned texts to `output.write` at once and in order. */
export interface Drawing {
  /** Adds a piece of the text. */
  add(text: string): Promise<Text[]>;
  /** Leaves the current row, because other output follows below it. */
  leave(): Text[];
  /** Ends the text; later text is a new one. */
  end(): Promise<Text[]>;
  /** An unfinished row is on the terminal. */
  readonly midRow: boolean;
}

export interface DrawingOptions {
  /** Shorten citation markers `[[1]](…)` to `[1]`, because the list of sources has the address. */
  shortensMarkers: boolean;
}

/**
 * Draws Markdown for `output`. While a row is unfinished (`midRow`), nothing else may
 * write to `output`. Text is redacted before layout: the gate cannot find a secret that
 * is wrapped over two rows.
 */
export function createDrawing(output: Output, { shortensMarkers }: DrawingOptions): Drawing {
  const { secrets, hasColour, hasLinks, canRedraw } = output;
  const terminal = { columns: () => output.columns(), canRedraw };
  let createPainter: typeof CreatePainter | undefined;
  const startDocument = (): Document =>
    createDocument(terminal, { hasColour, hasLinks, shortensMarkers }, (language) =>
      createPainter?.(language),
    );
  let document = startDocument();
  let held = "";
  let tail = "";
  const feed = async (text: string): Promise<void> => {
    tail += text;
    // The parsers are large and rarely needed: they are loaded at the first fence.
    if (hasColour && /`{3}|~{3}/.test(tail)) {
      createPainter ??= (await import("./code.ts")).createPainter;
    }
    tail = tail.slice(-2);
    document.feed(text);
  };
  return {
    async add(text) {
      const all = held + text;
      const end = all.length - secrets.openTail(all);
      held = all.slice(end);
      await feed(secrets.redact(all.slice(0, end)));
      return document.take();
    },
    leave: () => document.leave(),
    async end() {
      const rest = secrets.redactLast(held);
      held = "";
      await feed(rest);
      document.end();
      const parts = document.take();
      document = startDocument();
      tail = "";
      return parts;
    },
    get midRow() {
      return document.midRow;
    },
  };
}

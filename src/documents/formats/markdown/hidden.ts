import {
  ignoreMarker,
  type RemovedLines,
  type LeftOutLog,
  type HiddenKind,
} from "../../text/left-out.ts";
import { piecesOf, type Piece, readAttributes, type TagSource } from "./hidden-pieces.ts";
import { createIsControlled, hidesElement } from "../../text/hides.ts";
import { codeEndsIn } from "../../text/structure.ts";

const words = (list: string): ReadonlySet<string> => new Set(list.split(" "));

// HTML Standard, 13.1.2: elements without content.
const voids = words("area base br col embed hr img input link meta source track wbr");
// HTML Standard, 13.1.2.4: a start tag of these ends a paragraph.
const endsParagraph = words(
  "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr main menu nav ol p pre search section table ul",
);
const rows = words("tr tbody thead tfoot");
const cells = words("td th tr tbody thead tfoot");
const groups = words("tbody thead tfoot");
const terms = words("dt dd");
const impliedEnds: Readonly<Record<string, ReadonlySet<string>>> = {
  p: endsParagraph,
  li: words("li"),
  dt: terms,
  dd: terms,
  td: cells,
  th: cells,
  tr: rows,
  thead: groups,
  tbody: groups,
  option: words("option optgroup"),
};

/** Open elements of a name. The time of each call is constant over a text. */
interface Stack {
  names: string[];
  counts: Map<string, number>;
}

const createStack = (): Stack => ({ names: [], counts: new Map() });

function push(stack: Stack, name: string): void {
  stack.names.push(name);
  stack.counts.set(name, (stack.counts.get(name) ?? 0) + 1);
}

function pop(stack: Stack): string | undefined {
  const name = stack.names.pop();
  if (name !== undefined) stack.counts.set(name, (stack.counts.get(name) ?? 0) - 1);
  return name;
}

/** What a tag does to the hidden part of a page. */
type Change =
  /** The page goes on as before. */
  | "none"
  /** A hidden element begins with this tag. */
  | "begins"
  /** The tag is a hidden element without content. */
  | "alone"
  /** The hidden element ended before this tag. */
  | "ended"
  /** It ends with this tag. */
  | "ends"
  /** One ended before this tag, and the next begins with it. */
  | "restarts";

/** Finds where hidden elements end, as browsers do: also without an end tag. */
interface HiddenSpan {
  isOpen(): boolean;
  open(name: string, isHidden: boolean): Change;
  close(name: string): Change;
  /** Ends the hidden element, because the text around it ended. */
  end(): void;
}

/** Creates the state for the tags of one text, in order. */
function createHiddenSpan(): HiddenSpan {
  const around = createStack();
  let inside: Stack | undefined;
  const openVisible = (name: string, isHidden: boolean): Change => {
    if (voids.has(name)) return isHidden ? "alone" : "none";
    if (!isHidden) {
      push(around, name);
      return "none";
    }
    inside = createStack();
    push(inside, name);
    return "begins";
  };
  return {
    isOpen: () => inside !== undefined,
    open(name, isHidden) {
      if (!inside) return openVisible(name, isHidden);
      while (impliedEnds[inside.names.at(-1) ?? ""]?.has(name)) pop(inside);
      if (inside.names.length === 0) {
        inside = undefined;
        const next = openVisible(name, isHidden);
        return next === "begins" ? "restarts" : "ended";
      }
      if (!voids.has(name)) push(inside, name);
      return "none";
    },
    close(name) {
      if (inside && (inside.counts.get(name) ?? 0) > 0) {
        while (pop(inside) !== name);
        if (inside.names.length > 0) return "none";
        inside = undefined;
        return "ends";
      }
      if ((around.counts.get(name) ?? 0) === 0) return "none";
      while (pop(around) !== name);
      if (!inside) return "none";
      inside = undefined;
      return "ended";
    },
    end() {
      inside = undefined;
    },
  };
}

/** A part of the text that no reader sees. */
interface Cut {
  kind: HiddenKind;
  what: string;
  from: number;
  to: number;
  /** Whether it is in an ignore region, which leaves it out anyway. */
  isIgnored: boolean;
}

interface Scan {
  text: string;
  cuts: Cut[];
  span: HiddenSpan;
  isControlled: (id: string) => boolean;
  /** The open hidden element, and the innermost container around it. */
  hidden: (Pick<Cut, "kind" | "what" | "from"> & { container: number | undefined }) | undefined;
  /** Up to here the text is read. */
  at: number;
  /** Open `knowctl:ignore` regions: what they contain is not counted. */
  ignored: number;
  /** Offset of the next occurrence of each end mark; -1 for none. */
  next: Map<string, number>;
}

const tagName = /<(\/?)([A-Za-z][A-Za-z0-9-]*)(?=[\s/>])/y;
const rawNames: ReadonlySet<string> = new Set(["script", "style"]);
const wholeMarker = new RegExp(`^${ignoreMarker}$`);
// `[//]: # (words)`: a definition of a link that nothing uses.
const definition = / {0,3}\[(?:\/\/|comment|_)[^\]\n]{0,100}\]:[ \t]*(?:#|<>)[ \t]*["'(][^\n]*/iy;

/**
 * Offset of a mark at or after `from`; -1 for none. `from` grows from call to call, so that the text
 * is searched once for each mark.
 */
function find({ text, next }: Scan, mark: string, from: number): number {
  const known = next.get(mark) ?? -2;
  if (known === -1 || known >= from) return known;
  const pattern = new RegExp(mark, "gi");
  pattern.lastIndex = from;
  const at = pattern.exec(text)?.index ?? -1;
  next.set(mark, at);
  return at;
}

function cut(scan: Scan, kind: HiddenKind, what: string, from: number, to: number): void {
  if (scan.hidden || to <= from) return;
  scan.cuts.push({ kind, what, from, to, isIgnored: scan.ignored > 0 });
}

function endHidden(scan: Scan, to: number): void {
  const { hidden } = scan;
  scan.hidden = undefined;
  if (hidden) cut(scan, hidden.kind, hidden.what, hidden.from, to);
}

/**
 * A comment, with its line if it stands alone in an HTML block: the blank line that it would leave
 * ends the block, and indented HTML after it is code.
 */
function lineOfComment(text: string, at: number, close: number, piece: Piece): [number, number] {
  let [from, to] = [at, close];
  while (text[from - 1] === " " || text[from - 1] === "\t") from--;
  while (text[to] === " " || text[to] === "\t") to++;
  const isInside = piece.kind === "html" && from > piece.start && to < piece.end;
  return isInside && text[from - 1] === "\n" && text[to] === "\n" ? [from, to + 1] : [at, close];
}

/** Reads a comment; false for a `<!--` that is text. */
function readComment(scan: Scan, piece: Piece): boolean {
  const { kind, end } = piece;
  const { text, at } = scan;
  const isEmpty = /^<!--(-?)>/.exec(text.slice(at, at + 6));
  let close = isEmpty ? at + isEmpty[0].length : -1;
  if (close === -1) {
    const mark = find(scan, "-->", at + 4);
    if (mark !== -1 && (kind === "html" || mark + 3 <= end)) close = mark + 3;
  }
  // In a paragraph it is text. In HTML, browsers hide the rest of the page.
  if (close === -1 && kind === "text") return false;
  if (close === -1) close = text.length;
  const slash = close - at < 100 ? wholeMarker.exec(text.slice(at, close))?.[1] : undefined;
  if (slash === undefined) cut(scan, "comment", "", ...lineOfComment(text, at, close, piece));
  else if (!scan.hidden) scan.ignored = Math.max(0, scan.ignored + (slash === "" ? 1 : -1));
  scan.at = close;
  return true;
}

function apply(
  scan: Scan,
  change: Change,
  tag: Pick<Cut, "kind" | "what" | "to">,
  piece: Piece,
): void {
  const { at } = scan;
  const { kind, what, to } = tag;
  if (change === "ended" || change === "restarts") endHidden(scan, at);
  if (change === "begins" || change === "restarts") {
    scan.hidden = { kind, what, from: at, container: piece.containers.at(-1) };
  }
  if (change === "ends") endHidden(scan, to);
  if (change === "alone") cut(scan, kind, what, at, to);
}

/** The end of a script or style that begins before `from`; -1 if it never closes. */
function rawEnd(scan: Scan, name: string, from: number, { kind, end }: Piece): number {
  const start = find(scan, `</${name}[\\s/>]`, from);
  const close = start === -1 ? -1 : find(scan, ">", start);
  return close === -1 || (kind === "text" && close >= end) ? -1 : close + 1;
}

/** Reads a tag; false for a "<" that is text. */
function readTag(scan: Scan, source: TagSource, piece: Piece): boolean {
  const { text, at, span } = scan;
  tagName.lastIndex = at;
  const [whole, slash, written = ""] = tagName.exec(text) ?? [];
  if (whole === undefined) return false;
  const read = readAttributes(source, at + whole.length);
  if (!read) {
    source.missing.add("tag end");
    return false;
  }
  const name = written.toLowerCase();
  const { attributes, end } = read;
  const isRaw = rawNames.has(name);
  const rawTo = isRaw && slash === "" ? rawEnd(scan, name, end, piece) : -1;
  if (rawTo !== -1) {
    cut(scan, "script", `<${name}>`, at, rawTo);
    scan.at = rawTo;
    return true;
  }
  // A drawing is no text, as in a page of HTML.
  const isTemplate = name === "template" || name === "svg";
  const isHidden = isTemplate || hidesElement(attributes, scan.isControlled);
  const change = slash === "/" ? span.close(name) : isRaw ? "none" : span.open(name, isHidden);
  const kind = isTemplate ? "script" : "hidden";
  apply(scan, change, { kind, what: `<${name}>`, to: end }, piece);
  scan.at = end;
  return true;
}

/** The end of each code span of a paragraph by its start. The rows of a table are apart. */
function spansIn(paragraph: string): Map<number, number> {
  const isTable = /^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\||$)[ \t:|-]*$/m.test(paragraph);
  return codeEndsIn(paragraph, isTable ? /`+|\n/g : /`+/g);
}

const special = /[<`\\]/g;

function readPiece(scan: Scan, piece: Piece): void {
  const { text } = scan;
  const isText = piece.kind === "text";
  const spans = spansIn(isText ? text.slice(piece.start, piece.end) : "");
  const source = { text: text.slice(0, piece.end), missing: new Set<string>() };
  if (isText) readDefinitions(scan, piece);
  while (scan.at < piece.end) {
    special.lastIndex = scan.at;
    const at = special.exec(source.text)?.index ?? piece.end;
    scan.at = at;
    const char = text[at];
    if (at >= piece.end) return;
    if (char === "<") {
      const isRead = text.startsWith("<!--", at)
        ? readComment(scan, piece)
        : readTag(scan, source, piece);
      if (!isRead) scan.at++;
    } else if (!isText) scan.at++;
    else if (char === "\\") scan.at += 2;
    else {
      const [run] = /^`+/.exec(text.slice(at, piece.end)) ?? [""];
      scan.at = piece.start + (spans.get(at - piece.start) ?? at - piece.start + run.length);
    }
  }
}

/** Definitions that serve as comments, at the start of a paragraph: elsewhere they are text. */
function readDefinitions(scan: Scan, { end }: Piece): void {
  while (scan.at < end) {
    definition.lastIndex = scan.at;
    const found = definition.exec(scan.text)?.[0];
    if (found === undefined) return;
    cut(scan, "comment", "", scan.at, scan.at + found.length);
    scan.at += found.length;
    if (scan.text[scan.at] === "\n") scan.at++;
  }
}

function readPieces(scan: Scan): void {
  let before = 0;
  for (const piece of piecesOf(scan.text)) {
    const { hidden, span } = scan;
    const isOutside =
      hidden?.container !== undefined && !piece.containers.includes(hidden.container);
    if (isOutside) {
      span.end();
      endHidden(scan, before);
    }
    if (piece.kind !== "code" && piece.end > scan.at) {
      scan.at = Math.max(scan.at, piece.start);
      // Markdown makes a paragraph of the piece: it ends elements as tags of HTML do.
      if (piece.kind === "text" && span.open("p", false) === "ended") endHidden(scan, before);
      readPiece(scan, piece);
      if (piece.kind === "text" && span.close("p") === "ended") endHidden(scan, piece.end);
    }
    before = Math.max(before, piece.end);
  }
  endHidden(scan, before);
}

const anyMarker = new RegExp(ignoreMarker, "g");

/** The marks of ignore regions in a hidden element: a region may go on behind it. */
function markersIn(text: string, { kind, from, to }: Cut): string {
  if (kind === "comment") return "";
  return [...text.slice(from, to).matchAll(anyMarker)].map(([marker]) => marker).join("");
}

const markup = /<(?:script|style|template|svg)\b/i;
const comment = /^ {0,3}\[(?:\/\/|comment|_)/im;
const hiddenTag = /<[a-z][^<>]*\b(?:hidden|display)\b/i;

/** Whether a text may have something to remove: most pages have nothing. */
const mayHide = (text: string): boolean =>
  (text.includes("[") && comment.test(text)) ||
  (text.includes("<") &&
    (text.includes("<!--") ||
      markup.test(text) ||
      (/hidden|display/i.test(text) && hiddenTag.test(text))));

/**
 * Removes what no reader of a Markdown page sees: comments, elements that are hidden for everybody,
 * scripts, styles, templates and drawings. Code stays as it is, and so do the marks of ignore regions. All
 * other text stays, byte for byte. The time is linear in the length of the text.
 */
export function removeHidden(
  text: string,
  log: LeftOutLog,
): { text: string; removed: readonly RemovedLines[] } {
  if (!mayHide(text)) return { text, removed: [] };
  const scan: Scan = {
    text,
    cuts: [],
    span: createHiddenSpan(),
    isControlled: createIsControlled(text),
    hidden: undefined,
    at: 0,
    ignored: 0,
    next: new Map(),
  };
  readPieces(scan);
  if (scan.cuts.length === 0) return { text, removed: [] };
  const kept: string[] = [];
  const removed: RemovedLines[] = [];
  let from = 0;
  let length = 0;
  for (const each of scan.cuts) {
    const markers = markersIn(text, each);
    const before = text.slice(from, each.from) + markers;
    kept.push(before);
    length += before.length;
    const lines = text.slice(each.from, each.to).split("\n").length - 1;
    removed.push({ at: length, lines, length: each.to - each.from - markers.length });
    if (!each.isIgnored) log.add(each.kind, each.what, each.from);
    from = each.to;
  }
  return { text: kept.join("") + text.slice(from), removed };
}

import { Marked } from "marked";
import type { Reference, UnknownTarget } from "../format.ts";
import {
  plainOf,
  preHtml,
  codeHtml,
  linkHtml,
  unescaped,
  type Inline,
  repeated,
  addressOf,
  canOpen,
  findEnd,
  flush,
  isCloser,
  longestName,
  type Scan,
  readFootnote,
  readInterpreted,
  readUnderscore,
} from "./rst-inline.ts";
import { escapeHtml } from "../../page/tree.ts";
import { labelOf, pageOf } from "./rst-include.ts";
import { makeId } from "../../text/heading-text.ts";
import { nameOf, type Piece, type Reading } from "./rst-reading.ts";

function readLiteral(scan: Scan): boolean {
  const { text, at } = scan;
  if (!canOpen(scan, at, at, 2)) return false;
  const end = findEnd(scan, "``", at + 2);
  if (end === -1) return false;
  // A backtick before the end belongs to the text.
  const close = text[end + 2] === "`" && isCloser(text, end + 3) ? end + 1 : end;
  flush(scan, at, close + 2, codeHtml(text.slice(at + 2, close)));
  return true;
}

function readStars(scan: Scan): boolean {
  const { text, at } = scan;
  const mark = text[at + 1] === "*" ? "**" : "*";
  if (!canOpen(scan, at, at, mark.length)) return false;
  const end = findEnd(scan, mark, at + mark.length);
  if (end === -1) return false;
  const name = mark === "*" ? "em" : "strong";
  const content = unescaped(text.slice(at + mark.length, end));
  flush(scan, at, end + mark.length, `<${name}>${content}</${name}>`);
  return true;
}

const deepestSubstitution = 8;

function readSubstitution(scan: Scan): boolean {
  const { text, at, inline, depth } = scan;
  if (!canOpen(scan, at, at, 1)) return false;
  const end = findEnd(scan, "|", at + 1);
  if (end === -1) return false;
  const name = text.slice(at + 1, end);
  const value = name.length <= longestName ? inline.substitutions.get(nameOf(name)) : undefined;
  const marks = /^_{0,2}/.exec(text.slice(end + 1, end + 3))?.[0] ?? "";
  const next = end + 1 + marks.length;
  if (!value || depth >= deepestSubstitution || value.text.length > inline.room) {
    scan.at = next;
    return true;
  }
  inline.room -= value.text.length;
  const shown = value.kind === "html" ? value.text : render(inline, value.text, depth + 1);
  const address = marks === "_" ? addressOf(inline, name) : undefined;
  flush(scan, at, next, address ? linkHtml(shown, address) : shown);
  return true;
}

function readEscape(scan: Scan): boolean {
  const { at, text } = scan;
  flush(scan, at, at + 2, unescaped(text.slice(at, at + 2)));
  return true;
}

const marks = /[\\`*|_[]/g;

function readMark(scan: Scan): boolean {
  const { text, at } = scan;
  const mark = text[at];
  if (mark === "\\") return readEscape(scan);
  if (mark === "`") return text[at + 1] === "`" ? readLiteral(scan) : readInterpreted(scan);
  if (mark === "*") return readStars(scan);
  if (mark === "|") return readSubstitution(scan);
  return mark === "[" ? readFootnote(scan) : readUnderscore(scan);
}

function render(inline: Inline, text: string, depth: number): string {
  const scan: Scan = {
    inline,
    text,
    at: 0,
    from: 0,
    parts: [],
    unclosed: new Set(),
    depth,
  };
  while (scan.at < text.length) {
    marks.lastIndex = scan.at;
    const found = marks.exec(text);
    if (!found) break;
    scan.at = found.index;
    if (readMark(scan)) continue;
    // A run of backticks or stars that opens nothing is text.
    const mark = text[scan.at++] ?? "";
    if (mark === "`" || mark === "*") while (text[scan.at] === mark) scan.at++;
  }
  return scan.parts.join("") + escapeHtml(text.slice(scan.from));
}

// A longer text is no paragraph. Its marks would use gigabytes.
const longestText = 1_000_000;

/** Running text as HTML. */
function renderInline(inline: Inline, text: string): string {
  return text.length > longestText ? escapeHtml(text) : render(inline, text, 0);
}

/** Anchors of one document. */
type AnchorOf = (name: string) => string;

/** Gives each place of a document its identifier, as Sphinx configures docutils. */
function createAnchors(): AnchorOf {
  const used = new Set<string>();
  let count = 0;
  return (name) => {
    let id = makeId(name);
    while (id === "" || used.has(id)) id = `id${++count}`;
    used.add(id);
    return id;
  };
}

/** What footnotes show. */
interface Footnotes {
  /** For a reference: `1`, `#`, `#name`, or the name of a citation. */
  ofReference: (label: string) => string;
  /** For the footnote at this place among all footnotes. */
  ofNote: (index: number) => string;
}

/** Numbers the footnotes: one with `#` gets the next number that no other footnote has. */
function numberFootnotes(labels: readonly string[]): Footnotes {
  const taken = new Set(labels);
  const numbers: string[] = [];
  const named = new Map<string, string>();
  const unnamed: string[] = [];
  let last = 0;
  for (const label of labels) {
    if (label.startsWith("#")) {
      do last++;
      while (taken.has(String(last)));
    }
    const shown = label.startsWith("#") ? String(last) : label;
    numbers.push(shown);
    if (label === "#") unnamed.push(shown);
    else if (!named.has(label)) named.set(label, shown);
  }
  let next = 0;
  return {
    ofReference: (label) => (label === "#" ? unnamed[next++] : named.get(label)) ?? label,
    ofNote: (index) => numbers[index] ?? "",
  };
}

interface Page {
  inline: Inline;
  /** What the footnote at a place among all footnotes shows. */
  ofNote: (index: number) => string;
  anchorOf: AnchorOf;
  /** Names that something in the document has, besides targets. */
  names: Set<string>;
  unknown: UnknownTarget[];
  references: Reference[];
}

type Heading = Extract<Piece, { kind: "heading" }>;

function headingHtml(page: Page, { level, text }: Heading, targets: readonly string[]): string {
  const html = renderInline(page.inline, text);
  page.names.add(nameOf(plainOf(html)));
  // The anchor is made before substitutions and references get their texts.
  const bare = { ...repeated(page.inline), substitutions: new Map(), titles: new Map() };
  const name = nameOf(plainOf(renderInline(bare, text)));
  const own = page.anchorOf(name);
  const id = makeId(name);
  // A target with the name of the title has its anchor already.
  const anchor = targets.includes(id) ? id : own;
  return `<h${level} id="${anchor}">${html}</h${level}>`;
}

/** Included Markdown; its headings get the anchors that docutils makes. */
function markdownHtml({ anchorOf }: Page, text: string): string {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens);
        return `<h${depth} id="${anchorOf(nameOf(plainOf(html)))}">${html}</h${depth}>\n`;
      },
    },
  });
  return marked.parse(text, { async: false });
}

/** HTML of a piece; `isFirst` for what begins an item, a cell, or a note: no paragraph of its own. */
function pieceHtml(page: Page, piece: Piece, targets: readonly string[], isFirst: boolean): string {
  switch (piece.kind) {
    case "heading":
      return headingHtml(page, piece, targets);
    case "text": {
      const html = renderInline(page.inline, piece.text);
      const lines = piece.isLines ? html.replaceAll("\n", "<br>\n") : html;
      return isFirst ? lines : `<p>${lines}</p>`;
    }
    case "code": {
      const { text, language, isParsed } = piece;
      return preHtml(isParsed ? renderInline(page.inline, text) : escapeHtml(text), language);
    }
    case "markdown":
      return markdownHtml(page, piece.text);
    case "note":
      return `[${escapeHtml(page.ofNote(piece.index))}] `;
    case "html":
      return piece.html;
    case "target":
      return "";
  }
}

/** Titles, as HTML, by the names of the targets before them. */
function titlesOf(pieces: readonly Piece[], inline: Inline): Map<string, string> {
  const titles = new Map<string, string>();
  let names: string[] = [];
  for (const piece of pieces) {
    if (piece.kind === "target") {
      if (piece.isPlace) names.push(piece.name);
      continue;
    }
    if (piece.kind === "heading" && names.length > 0) {
      const title = renderInline(repeated(inline), piece.text);
      for (const name of names) titles.set(name, title);
    }
    names = [];
  }
  return titles;
}

const mostUnknown = 1000;

function createPage(reading: Reading): Page {
  const { substitutions, targets, rawRoles, anonymous, footnotes } = reading;
  const anchorOf = createAnchors();
  const notes = numberFootnotes(footnotes);
  const names = new Set<string>();
  const unknown: UnknownTarget[] = [];
  const references: Reference[] = [];
  let next = 0;
  const inline: Inline = {
    substitutions,
    targets,
    titles: new Map(),
    rawRoles,
    pageOf: (name) => pageOf(reading, name),
    labelOf: (name) => labelOf(reading, name),
    setting: (name) => reading.around.site?.value(name),
    nextAnonymous: () => anonymous[next++],
    footnoteText(label) {
      anchorOf("");
      return `[${notes.ofReference(label)}]`;
    },
    noteTarget(name, address) {
      anchorOf(name);
      names.add(name);
      if (address !== "" && !targets.has(name)) targets.set(name, address);
    },
    noteUnknown(name, written) {
      if (unknown.length < mostUnknown) unknown.push({ name: nameOf(name), written });
    },
    noteWritten(address, written) {
      if (address !== written) references.push({ address, written: [written] });
    },
    room: 1024 * 1024,
  };
  return { inline, ofNote: notes.ofNote, anchorOf, names, unknown, references };
}

/** The references to names that nothing in the document has: targets may also follow below. */
function unknownIn({ unknown, names }: Page, reading: Reading): UnknownTarget[] {
  if (unknown.length === 0) return unknown;
  const notes = new Set(reading.footnotes.map((label) => nameOf(label.replace(/^#/, ""))));
  const known = [reading.targets, reading.names, names, notes];
  return unknown.filter(({ name }) => !known.some((each) => each.has(name)));
}

interface Rendered {
  html: string;
  unknown: UnknownTarget[];
  references: Reference[];
}

/** Renders what was read as HTML. */
export function renderPieces(reading: Reading): Rendered {
  const page = createPage(reading);
  page.inline.titles = titlesOf(reading.pieces, page.inline);
  const parts: string[] = [];
  /** Anchors of the targets before the next piece. */
  let targets: string[] = [];
  let isFirst = false;
  for (const piece of reading.pieces) {
    if (piece.kind === "target") {
      const anchor = page.anchorOf(piece.name);
      if (piece.isPlace) targets.push(anchor);
      continue;
    }
    parts.push(pieceHtml(page, piece, targets, isFirst));
    targets = [];
    isFirst =
      piece.kind === "note" ||
      (piece.kind === "html" && /<(?:li|dt|dd|td|th|div)\b[^<>]*>$|\] $/.test(piece.html));
  }
  const { references } = page;
  return { html: parts.join("\n"), unknown: unknownIn(page, reading), references };
}

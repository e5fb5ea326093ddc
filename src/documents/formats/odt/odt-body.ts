import { escapeAttribute, escapeHtml } from "../../page/tree.ts";
import { destination } from "../../page/pieces.ts";
import {
  addBlock,
  cellHtml,
  createContainer,
  flush,
  htmlOf,
  isBlank,
  isNumber,
  withIgnoreMarks,
  type Container,
} from "../office/blocks.ts";
import { runHtml, type Run } from "../office/run-text.ts";
import { attributeOf, elementsIn, readXml, type Archive, type XmlNode } from "../office/archive.ts";
import { controlsIn, formulaOf } from "./odt-objects.ts";
import {
  countItem,
  listOfStyle,
  looksOf,
  noRun,
  numberIn,
  runOfSpan,
  takeStyle,
  type Styles,
} from "./odt-styles.ts";

/** The state of reading a document. */
interface Walk {
  styles: Styles;
  archive: Archive;
  /** Notes as HTML, in the order of their references. */
  notes: string[];
  /** Numbers of the last items by list. */
  counts: Map<string, number[]>;
  /** Levels of the headings with text. */
  levels: number[];
  unseen: number;
  comments: number;
  /** Of all links: one long address can have many of them. */
  addressChars: number;
  /** Cells that stand for repeated ones. */
  repeated: number;
  /** What fields of forms show, by their ids. */
  controls: ReadonlyMap<string, string>;
}

interface Paragraph {
  html: string;
  isHidden: boolean;
  isCode: boolean;
  hasLink: boolean;
}

/** Where text is added: the open paragraph, and what holds it. */
interface Place {
  walk: Walk;
  container: Container;
  paragraph: Paragraph;
  run: Run;
}

/** An open item of a list. */
interface Item {
  depth: number;
  style: string | undefined;
  /** The list whose numbers go on. */
  key: string;
  start: number | undefined;
  /** Whether its first paragraph is to come: that has the label. */
  isNew: boolean;
  label: string;
}

const mostAddressChars = 16 * 1024 * 1024;
const mostRepeated = 10_000;
const mostTimes = 100;

/** Adds text to the open paragraph, unless it is hidden. */
function addText(place: Place, text: string): void {
  const { walk, paragraph, run } = place;
  if (!run.isHidden && !paragraph.isHidden) paragraph.html += runHtml(run, text);
  else if (text.trim() !== "") walk.unseen++;
}

function addHtml({ paragraph, run }: Place, html: string): void {
  if (!run.isHidden && !paragraph.isHidden) paragraph.html += html;
}

function readSpan(place: Place, node: XmlNode): void {
  const run = runOfSpan(place.walk.styles, place.run, attributeOf(node, "style-name"));
  readInline({ ...place, run }, node);
}

/** The address of a link. One that is relative begins at the package (OpenDocument 1.3 part 2, 3.7). */
function readLink(place: Place, node: XmlNode): void {
  const { walk, paragraph } = place;
  const href = (attributeOf(node, "href") ?? "").replace(/^\.\.\//, "");
  walk.addressChars += href.length;
  const isLink =
    !paragraph.hasLink &&
    !place.run.isHidden &&
    !/^(?:#|$)/.test(href) &&
    destination(href) !== undefined &&
    walk.addressChars <= mostAddressChars;
  if (isLink) paragraph.html += `<a href="${escapeAttribute(href)}">`;
  paragraph.hasLink ||= isLink;
  readInline(place, node);
  if (!isLink) return;
  paragraph.hasLink = false;
  paragraph.html += "</a>";
}

/** Adds the number of a note. What stands in it is written at the end. */
function readNote(place: Place, node: XmlNode): void {
  const { walk } = place;
  if (place.run.isHidden || place.paragraph.isHidden) return;
  const body = elementsIn(node).find(({ name }) => name === "note-body");
  const at = walk.notes.push("");
  const container = createContainer();
  if (body) readBlocks(walk, container, body);
  walk.notes[at - 1] = htmlOf(container);
  addHtml(place, `<sup data-note="${at}"></sup>`);
}

/** A drawing: its text boxes are blocks before the paragraph, its alternative text is text. */
function readShape(place: Place, node: XmlNode): void {
  const { walk, container, paragraph, run } = place;
  const formula = formulaOf(walk.archive, node);
  if (formula !== undefined) return addHtml(place, formula);
  if (node.name === "control") {
    return addHtml(place, walk.controls.get(attributeOf(node, "control") ?? "") ?? "");
  }
  const texts = new Map<string, string>();
  for (const child of elementsIn(node)) {
    if (child.name === "title" || child.name === "desc") {
      texts.set(child.name, child.children.join(" "));
    } else if (shapes.has(child.name) || child.name === "a") readShape(place, child);
    else if (!run.isHidden && !paragraph.isHidden) readBlock(walk, container, child);
  }
  const words = (texts.get("desc") ?? texts.get("title") ?? "").replace(/\s+/g, " ").trim();
  if (words !== "") addText(place, ` ${words} `);
}

const shapes = new Set(
  "frame g custom-shape rect line polyline polygon regular-polygon path circle ellipse connector caption measure control".split(
    " ",
  ),
);

const skip = (): void => {};
const ruby =
  (tag: string) =>
  (place: Place, node: XmlNode): void => {
    addHtml(place, `<${tag}>`);
    readInline(place, node);
    addHtml(place, `</${tag}>`);
  };

/** What the elements of a paragraph add; others only hold some. */
const inlines: Readonly<Record<string, (place: Place, node: XmlNode) => void>> = {
  span: readSpan,
  a: readLink,
  s: (place, node) => addText(place, " ".repeat(Math.min(40, numberIn(node, "c") ?? 1))),
  tab: (place) => addText(place, "\t"),
  "line-break": (place) => addHtml(place, place.paragraph.isCode ? "\n" : "<br>"),
  note: readNote,
  annotation: ({ walk }) => void walk.comments++,
  ruby: ruby("ruby"),
  "ruby-text": ruby("rt"),
  "hidden-text"(place, node) {
    if (attributeOf(node, "is-hidden") === "true") place.walk.unseen++;
    else readInline(place, node);
  },
  // Numbers are counted; the others are for programs.
  number: skip,
  script: skip,
  "event-listeners": skip,
};

function readInline(place: Place, node: XmlNode): void {
  for (const child of node.children) {
    // OpenDocument 1.3 part 3, 6.1.2: blanks are one, unless <text:s> says more.
    if (typeof child === "string") addText(place, child.replace(/[\t\r\n ]+/g, " "));
    else if (attributeOf(child, "display") === "none") continue;
    else if (shapes.has(child.name)) readShape(place, child);
    else if (Object.hasOwn(inlines, child.name)) inlines[child.name]?.(place, child);
    else readInline(place, child);
  }
}

/** The label of a paragraph: of its item, or of a heading outside of lists. */
function labelOf(walk: Walk, node: XmlNode, level: number, isPlain: boolean, item?: Item): string {
  const { styles, counts } = walk;
  if (item) {
    if (!item.isNew) return "";
    item.isNew = false;
    const numbers = counts.get(item.key) ?? [];
    counts.set(item.key, numbers);
    item.label = countItem(styles.lists.get(item.style ?? ""), numbers, item.depth, item.start);
    return item.label;
  }
  const isNumbered = node.name === "h" && attributeOf(node, "is-list-header") !== "true";
  if (!isNumbered || isPlain) return "";
  const numbers = counts.get("") ?? [];
  counts.set("", numbers);
  const restarts = attributeOf(node, "restart-numbering") === "true";
  const start = restarts ? (numberIn(node, "start-value") ?? 1) : undefined;
  return countItem(styles.outline, numbers, level, start);
}

function readParagraph(walk: Walk, container: Container, node: XmlNode, item?: Item): void {
  const { run, level, isPlain, isCode, isQuote } = looksOf(walk.styles, node);
  const isHidden = elementsIn(node).some(
    (each) => each.name === "hidden-paragraph" && attributeOf(each, "is-hidden") === "true",
  );
  const paragraph: Paragraph = { html: "", isHidden, isCode, hasLink: false };
  readInline({ walk, container, paragraph, run }, node);
  const label = labelOf(walk, node, level ?? 1, isPlain, item);
  const html = withIgnoreMarks(paragraph.html);
  if (isBlank(html)) return;
  const shown =
    label === "" || (item && level === undefined && isNumber(label)) ? "" : `${escapeHtml(label)} `;
  if (level !== undefined) {
    walk.levels.push(level);
    const tag = `h${Math.min(6, Math.max(1, level))}`;
    addBlock(container, `<${tag}>${shown}${html}</${tag}>`);
  } else if (isCode) {
    if (container.items.length > 0) flush(container);
    container.code.push(html);
  } else if (isQuote) addBlock(container, `<blockquote>${html}</blockquote>`);
  else addBlock(container, `<p>${shown}${html}</p>`);
}

function readItem(walk: Walk, container: Container, node: XmlNode, item: Item): void {
  let own = createContainer();
  let isFirst = true;
  const close = (): void => {
    const html = htmlOf(own);
    own = createContainer();
    if (html === "") return;
    if (container.code.length > 0) flush(container);
    const last = container.items.at(-1);
    const label = isNumber(item.label) ? item.label : "";
    // What follows a list within the item stays behind it.
    if (isFirst || !last) container.items.push({ depth: item.depth, label, html });
    else last.html += html;
    isFirst = false;
  };
  for (const child of elementsIn(node)) {
    if (child.name === "h" || child.name === "list") close();
    if (child.name === "list") readList(walk, container, child, item);
    else if (child.name === "h") readParagraph(walk, container, child, item);
    else if (child.name === "p") readParagraph(walk, own, child, item);
    else readBlock(walk, own, child);
    // What follows a heading has no number.
    if (child.name === "h") [isFirst, item.label] = [true, ""];
  }
  close();
}

/** Reads a list (OpenDocument 1.3 part 3, 5.3). It counts on where it says so. */
function readList(walk: Walk, container: Container, node: XmlNode, outer?: Item): void {
  const style = attributeOf(node, "style-name") ?? outer?.style ?? listOfStyle(walk.styles, node);
  const key = outer?.key ?? `list ${style}`;
  const continues =
    attributeOf(node, "continue-numbering") === "true" ||
    attributeOf(node, "continue-list") !== undefined;
  if (!outer && !continues) walk.counts.delete(key);
  for (const child of elementsIn(node)) {
    readItem(walk, container, child, {
      depth: (outer?.depth ?? 0) + 1,
      style: attributeOf(child, "style-override") ?? style,
      key,
      start: numberIn(child, "start-value"),
      isNew: child.name === "list-item",
      label: "",
    });
  }
}

/** The elements of a name, also within groups of rows or columns. */
function* partsNamed(node: XmlNode, name: RegExp, isHead = false): Generator<[XmlNode, boolean]> {
  for (const child of elementsIn(node)) {
    if (name.test(child.name)) yield [child, isHead];
    else if (child.name.startsWith("table-")) {
      yield* partsNamed(child, name, isHead || child.name === "table-header-rows");
    }
  }
}

/** How often a cell, or a row of `size` cells, stands there: hostile and empty ones are bounded. */
function timesOf(walk: Walk, node: XmlNode, name: string, isEmpty: boolean, size = 1): number {
  const room = 1 + Math.floor((mostRepeated - walk.repeated) / Math.max(1, size));
  const most = isEmpty ? 1 : Math.min(mostTimes, room);
  const times = Math.max(1, Math.min(most, numberIn(node, name) ?? 1));
  walk.repeated += (times - 1) * size;
  return times;
}

/** Reads a table (OpenDocument 1.3 part 3, 9.1). A covered cell belongs to the one that spans it. */
function readTable(walk: Walk, container: Container, node: XmlNode): void {
  const rows: string[] = [];
  for (const [row, isHead] of partsNamed(node, /^table-row$/)) {
    const cells: string[] = [];
    for (const [cell] of partsNamed(row, /^table-cell$/)) {
      const inner = createContainer();
      readBlocks(walk, inner, cell);
      const html = htmlOf(inner);
      const [columns, spanned] = ["columns", "rows"].map((each) =>
        numberIn(cell, `number-${each}-spanned`),
      );
      const times = timesOf(
        walk,
        cell,
        "number-columns-repeated",
        html === "" && cells.length > 50,
      );
      const text = cellHtml(isHead ? "th" : "td", html, columns, spanned);
      for (let time = 0; time < times; time++) cells.push(text);
    }
    const html = `<tr>${cells.join("")}</tr>`;
    const isEmpty = !/<t[dh][^>]*>(?!<\/t[dh]>)/.test(html);
    const times = timesOf(walk, row, "number-rows-repeated", isEmpty, cells.length);
    for (let time = 0; time < times; time++) rows.push(html);
  }
  addBlock(container, `<table>${rows.join("")}</table>`);
}

/** Whether nobody sees a section. */
const isHiddenSection = (node: XmlNode): boolean =>
  attributeOf(node, "display") === "none" ||
  (attributeOf(node, "display") === "condition" && attributeOf(node, "is-hidden") === "true");

const skippedBlocks = new Set(
  "tracked-changes table-of-content illustration-index table-index object-index user-index alphabetical-index bibliography-source annotation object object-ole image".split(
    " ",
  ),
);

function readBlock(walk: Walk, container: Container, node: XmlNode): void {
  const { name } = node;
  if (name === "p" || name === "h") readParagraph(walk, container, node);
  else if (name === "list") readList(walk, container, node);
  else if (name === "table") readTable(walk, container, node);
  else if (name === "section" && isHiddenSection(node)) walk.unseen++;
  else if (name === "forms") walk.controls = controlsIn(node);
  else if (shapes.has(name)) {
    const paragraph: Paragraph = { html: "", isHidden: false, isCode: false, hasLink: false };
    readShape({ walk, container, paragraph, run: noRun }, node);
    if (paragraph.html !== "") addBlock(container, `<p>${paragraph.html}</p>`);
  } else if (!skippedBlocks.has(name)) readBlocks(walk, container, node);
}

function readBlocks(walk: Walk, container: Container, node: XmlNode): void {
  for (const child of elementsIn(node)) readBlock(walk, container, child);
}

export interface Body extends Pick<Walk, "unseen" | "comments" | "levels"> {
  html: string;
}

/**
 * The text of content.xml as HTML for page/. `styles` are those of the whole document; those of
 * places are added. Only the open block is in memory. Throws XmlError, ZipError.
 */
export function readBody(bytes: Uint8Array, styles: Styles, archive: Archive): Body {
  const walk: Walk = {
    styles,
    archive,
    notes: [],
    counts: new Map(),
    levels: [],
    unseen: 0,
    comments: 0,
    addressChars: 0,
    repeated: 0,
    controls: new Map(),
  };
  const container = createContainer();
  readXml(bytes, (node, parent) => {
    if (takeStyle(styles, node, parent)) return true;
    if (parent !== "text") return false;
    readBlock(walk, container, node);
    return true;
  });
  const notes = walk.notes.map((html, at) => `<aside data-note="${at + 1}">${html}</aside>`);
  return { ...walk, html: htmlOf(container) + notes.join("") };
}

import { destination } from "../../page/pieces.ts";
import {
  attributeOf,
  childOf,
  descendantsOf,
  elementsIn,
  propertiesIn,
  readXml,
  textIn,
  valueOf,
  type XmlNode,
} from "../office/archive.ts";
import { addParagraph, type Counts, type Paragraph, type Parts } from "./docx-blocks.ts";
import { addBlock, cellHtml, createContainer, htmlOf, type Container } from "../office/blocks.ts";
import { mathMl } from "../office/math.ts";
import { alternativeOf, codeOfSymbol, runHtml, spanOf, type Run } from "../office/run-text.ts";
import { escapeAttribute, escapeHtml } from "../../page/tree.ts";
import { depthOf, headingOfOutline, memberOf } from "./docx-styles.ts";
import { checkBoxIn, fieldLink, marksFirstRow, styleRun } from "./docx-text.ts";

/** An open field: what it shows stands between `separate` and `end`. */
interface Field {
  instruction: string;
  isShown: boolean;
  isLink: boolean;
  checkBox: boolean | undefined;
}

/** The state of reading a document part. */
interface Walk extends Counts {
  parts: Parts;
  /** Fields may begin and end in different paragraphs. */
  fields: Field[];
  /** Of all links: one long address can have many of them. */
  addressChars: number;
  /** Ids of referenced notes, with their numbers: `footnote 3`. */
  notes: Map<string, number>;
  /** Number of hidden texts. */
  unseen: number;
}

/** Where text is added: the open paragraph, and what holds it. */
interface Place {
  walk: Walk;
  container: Container;
  paragraph: Paragraph;
  run: Run | undefined;
}

const mostAddressChars = 16 * 1024 * 1024;

// Deleted and moved text, formats before a change, the second copy of a drawing for old programs,
// tab stops.
const skippedElements = new Set(
  "del moveFrom pPrChange rPrChange sectPr Fallback tabs delText delInstrText".split(" "),
);

/** Whether a text is shown: not in hidden text, nor in the code of a field. */
const isShown = ({ walk, paragraph, run }: Place): boolean =>
  run?.isHidden === false && !paragraph.isHidden && walk.fields.every((field) => field.isShown);

/** Adds HTML to the open paragraph, unless it is hidden. */
function addHtml(place: Place, html: string): void {
  if (isShown(place)) place.paragraph.html += html;
}

/** Adds text to the open paragraph, unless it is hidden. */
function addText(place: Place, text: string): void {
  const { walk, paragraph, run } = place;
  if (!run) return;
  if ((run.isHidden || paragraph.isHidden) && text.trim() !== "") walk.unseen++;
  addHtml(place, runHtml(run, text));
}

/** Adds the number of a note. Notes are numbered by their first reference. */
function addReference(place: Place, note: string): void {
  const { notes } = place.walk;
  if (!isShown(place)) return;
  const number = notes.get(note) ?? notes.size + 1;
  notes.set(note, number);
  addHtml(place, `<sup data-note="${number}"></sup>`);
}

/** Begins a link. A link within a link is text. */
function openLink({ walk, paragraph }: Place, href: string | undefined): boolean {
  const to = destination(href);
  if (paragraph.hasLink || href === undefined || to === undefined) return false;
  walk.addressChars += to.length;
  if (walk.addressChars > mostAddressChars) return false;
  paragraph.hasLink = true;
  paragraph.html += `<a href="${escapeAttribute(href)}">`;
  return true;
}

function closeLink(paragraph: Paragraph): void {
  if (!paragraph.hasLink) return;
  paragraph.hasLink = false;
  paragraph.html += "</a>";
}

function markField(place: Place, node: XmlNode): void {
  const { fields } = place.walk;
  const type = attributeOf(node, "fldCharType");
  const field = fields.at(-1);
  if (type === "begin") {
    const checkBox = checkBoxIn(node);
    fields.push({ instruction: "", isLink: false, isShown: false, checkBox });
  } else if (type === "separate" && field) {
    field.isShown = true;
    field.isLink = openLink(place, fieldLink(field.instruction));
  } else if (type === "end" && field) {
    fields.pop();
    if (field.isLink) closeLink(place.paragraph);
    if (field.checkBox === undefined) return;
    addHtml(place, `<input type="checkbox"${field.checkBox ? " checked" : ""}>`);
  }
}

/** Adds a character of a font of signs, by its code. */
function addSymbol(place: Place, node: XmlNode): void {
  const code = parseInt(attributeOf(node, "char") ?? "", 16);
  if (Number.isInteger(code) && code <= 0xffff) {
    addText(place, codeOfSymbol(attributeOf(node, "font") ?? "", code));
  }
}

/** Adds the texts of a diagram as a list. */
function addDiagram({ walk, container, paragraph, run }: Place, node: XmlNode): void {
  const relation = attributeOf(node, "dm");
  if (relation === undefined || paragraph.isHidden || run?.isHidden) return;
  const items = walk.parts.readDiagram(relation).map((text) => `<li>${escapeHtml(text)}</li>`);
  if (items.length > 0) addBlock(container, `<ul>${items.join("")}</ul>`);
}

/** Adds the words of a chart as paragraphs. */
function addChart({ walk, container, paragraph, run }: Place, node: XmlNode): void {
  const relation = attributeOf(node, "id");
  if (relation === undefined || paragraph.isHidden || run?.isHidden) return;
  for (const text of walk.parts.readChart(relation)) {
    addBlock(container, `<p>${escapeHtml(text)}</p>`);
  }
}

function readLink(place: Place, node: XmlNode, href: string | undefined): void {
  openLink(place, href);
  readInline(place, node);
  closeLink(place.paragraph);
}

function readHyperlink(place: Place, node: XmlNode): void {
  const href = place.walk.parts.links.get(attributeOf(node, "id") ?? "");
  const anchor = attributeOf(node, "anchor");
  readLink(place, node, href !== undefined && anchor !== undefined ? `${href}#${anchor}` : href);
}

/** A run is hidden if the style of its paragraph is, unless its own properties change this. */
function readRun(place: Place, node: XmlNode): void {
  const { walk, paragraph } = place;
  const { styles } = walk.parts;
  const run: Run = {
    isHidden: memberOf(styles, paragraph.styleId, "isHidden") === true,
    isBold: false,
    isItalic: false,
    isStruck: false,
    isCode: false,
    vertical: undefined,
    font: undefined,
  };
  for (const each of propertiesIn(node, "rPr")) styleRun(styles, run, each);
  readInline({ ...place, run }, node);
}

/** The base of ruby is followed by its reading, which stands before it in the file. */
function readRuby(place: Place, node: XmlNode): void {
  const { paragraph } = place;
  const htmlIn = (name: string): string => {
    const outer = paragraph.html;
    const inner = childOf(node, name);
    paragraph.html = "";
    if (inner) readInline(place, inner);
    const html = paragraph.html;
    paragraph.html = outer;
    return html;
  };
  const reading = htmlIn("rt");
  const base = htmlIn("rubyBase");
  paragraph.html += `<ruby>${base}${reading === "" ? "" : `<rt>${reading}</rt>`}</ruby>`;
}

/** What the elements of a paragraph add; others only hold some. */
const inlines: Readonly<Record<string, (place: Place, node: XmlNode) => void>> = {
  r: readRun,
  rPr() {},
  pPr() {},
  t: (place, node) => addText(place, textIn(node)),
  tab: (place) => addText(place, "\t"),
  ptab: (place) => addText(place, "\t"),
  br: (place) => addHtml(place, "<br>"),
  cr: (place) => addHtml(place, "<br>"),
  noBreakHyphen: (place) => addText(place, "-"),
  sym: addSymbol,
  footnoteReference: (place, node) => addReference(place, `footnote ${attributeOf(node, "id")}`),
  endnoteReference: (place, node) => addReference(place, `endnote ${attributeOf(node, "id")}`),
  hyperlink: readHyperlink,
  fldSimple: (place, node) => readLink(place, node, fieldLink(attributeOf(node, "instr") ?? "")),
  fldChar: markField,
  instrText(place, node) {
    const field = place.walk.fields.at(-1);
    if (field) field.instruction += textIn(node);
  },
  docPr(place, node) {
    const words = alternativeOf(node);
    if (words !== "") addText(place, ` ${words} `);
    readInline(place, node);
  },
  relIds: addDiagram,
  chart: addChart,
  oMath({ paragraph }, node) {
    if (!paragraph.isHidden) paragraph.html += `<math>${mathMl(node)}</math>`;
  },
  ruby: readRuby,
  // A text box has blocks of its own: they stand before the paragraph that holds it.
  p: ({ walk, container, paragraph, run }, node) =>
    readParagraph(walk, container, node, paragraph.isHidden || run?.isHidden === true),
  tbl: ({ walk, container }, node) => readTable(walk, container, node),
};

function readInline(place: Place, node: XmlNode): void {
  for (const child of elementsIn(node)) {
    if (skippedElements.has(child.name)) continue;
    const read = Object.hasOwn(inlines, child.name) ? inlines[child.name] : undefined;
    (read ?? readInline)(place, child);
  }
}

function readParagraph(walk: Walk, container: Container, node: XmlNode, isHidden = false): void {
  const values = new Map<string, string | undefined>();
  for (const each of propertiesIn(node, "pPr")) {
    if (each.name === "rPr" || skippedElements.has(each.name)) continue;
    for (const property of [each, ...descendantsOf(each)]) {
      values.set(property.name, valueOf(property));
    }
  }
  const has = (name: string): boolean => values.has(name);
  const paragraph: Paragraph = {
    html: "",
    styleId: values.get("pStyle"),
    heading: has("outlineLvl") ? (headingOfOutline(values.get("outlineLvl")) ?? 0) : undefined,
    numId: has("numId") ? (values.get("numId") ?? "0") : undefined,
    depth: has("ilvl") ? depthOf(values.get("ilvl")) : undefined,
    isHidden,
    hasLink: false,
  };
  readInline({ walk, container, paragraph, run: undefined }, node);
  closeLink(paragraph);
  addParagraph(container, paragraph, walk.parts, walk);
}

interface Cell {
  html: string;
  columns: number;
  rows: number;
  /** Whether it goes on from the cell above. */
  continues: boolean;
}

interface Table {
  rows: Cell[][];
  hasHead: boolean;
}

/** The elements of a name, also within content controls and marks of changes. */
function* partsNamed(node: XmlNode, name: string): Generator<XmlNode> {
  for (const child of elementsIn(node)) {
    if (child.name === name) yield child;
    else if (!skippedElements.has(child.name)) yield* partsNamed(child, name);
  }
}

function readCell(walk: Walk, node: XmlNode): Cell {
  const container = createContainer();
  readBlocks(walk, container, node);
  const properties = propertiesIn(node, "tcPr");
  const span = properties.find(({ name }) => name === "gridSpan");
  const merge = properties.find(({ name }) => name === "vMerge");
  const merged = merge ? (valueOf(merge) ?? "continue") : "";
  return {
    html: htmlOf(container),
    columns: spanOf(span && valueOf(span)),
    rows: 1,
    continues: merged === "continue",
  };
}

/** A deleted row is not shown. */
function readRow(walk: Walk, table: Table, node: XmlNode): void {
  const marks = propertiesIn(node, "trPr");
  const before = marks.find(({ name }) => name === "gridBefore");
  const cells: Cell[] = before
    ? [{ html: "", columns: spanOf(valueOf(before)), rows: 1, continues: false }]
    : [];
  const isHead = marks.some(({ name }) => name === "tblHeader");
  table.hasHead ||= isHead && table.rows.length === 0;
  for (const cell of partsNamed(node, "tc")) cells.push(readCell(walk, cell));
  if (!marks.some(({ name }) => name === "del")) table.rows.push(cells);
}

/** Reads a table: a cell that goes on below stands in several rows. */
function readTable(walk: Walk, container: Container, node: XmlNode): void {
  const look = propertiesIn(node, "tblPr").find(({ name }) => name === "tblLook");
  const table: Table = { rows: [], hasHead: marksFirstRow(look) };
  for (const row of partsNamed(node, "tr")) readRow(walk, table, row);
  const above = new Map<number, Cell>();
  const rows = table.rows.map((cells) => {
    let column = 0;
    return cells.filter((cell) => {
      const start = above.get(column);
      const isPart = cell.continues && start !== undefined;
      if (isPart) start.rows++;
      else above.set(column, cell);
      column += cell.columns;
      return !isPart;
    });
  });
  const html = rows.map((kept, at) => {
    const tag = table.hasHead && at === 0 ? "th" : "td";
    const cells = kept.map((cell) => cellHtml(tag, cell.html, cell.columns, cell.rows));
    return `<tr>${cells.join("")}</tr>`;
  });
  addBlock(container, `<table>${html.join("")}</table>`);
}

function readBlock(walk: Walk, container: Container, node: XmlNode): void {
  if (node.name === "p") readParagraph(walk, container, node);
  else if (node.name === "tbl") readTable(walk, container, node);
  else if (!skippedElements.has(node.name)) readBlocks(walk, container, node);
}

function readBlocks(walk: Walk, container: Container, node: XmlNode): void {
  for (const child of elementsIn(node)) readBlock(walk, container, child);
}

const createWalk = (parts: Parts): Walk => ({
  parts,
  fields: [],
  addressChars: 0,
  notes: new Map(),
  unseen: 0,
  counts: new Map(),
  levels: [],
});

export interface Body extends Pick<Walk, "notes" | "unseen" | "levels"> {
  html: string;
}

/**
 * The text of word/document.xml (ECMA-376 part 1, 17) as HTML for page/. Only the open block is in
 * memory. Throws XmlError.
 */
export function readBody(bytes: Uint8Array, parts: Parts): Body {
  const walk = createWalk(parts);
  const container = createContainer();
  readXml(bytes, (node, parent) => {
    const isBlock = parent === "body" || (parent === "document" && node.name !== "body");
    if (!isBlock) return false;
    readBlock(walk, container, node);
    return true;
  });
  return { ...walk, html: htmlOf(container) };
}

/** Notes of a part by `footnote 3` or `endnote 3`, as HTML. Throws XmlError. */
export function readNotes(bytes: Uint8Array, parts: Parts): Map<string, string> {
  const walk = createWalk(parts);
  const notes = new Map<string, string>();
  readXml(bytes, (node) => {
    if (node.name !== "footnote" && node.name !== "endnote") return false;
    const container = createContainer();
    readBlocks(walk, container, node);
    notes.set(`${node.name} ${attributeOf(node, "id")}`, htmlOf(container));
    return true;
  });
  return notes;
}

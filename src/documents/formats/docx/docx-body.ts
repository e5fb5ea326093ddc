import { escapeHtml, mathMl, mathNode } from "./docx-math.ts";
import { depthOf, headingOfOutline, isOn } from "./docx-styles.ts";
import * as tables from "./docx-tables.ts";
import { addBlock, closeParagraph, htmlOf } from "./docx-blocks.ts";
import {
  addAlternative,
  addHtml,
  addReference,
  addSymbol,
  addText,
  closeLink,
  fieldLink,
  markField,
  openLink,
  openParagraph,
  openRun,
  styleRun,
} from "./docx-text.ts";
import { createContainer, createWalk, type Parts, type Walk } from "./docx-walk.ts";
import { parseXml, type XmlHandlers } from "./xml.ts";

export interface Body {
  html: string;
  /** Referenced notes, e.g. `footnote 3`, with their numbers. */
  notes: ReadonlyMap<string, number>;
  /** Number of hidden texts. */
  unseen: number;
  /** Levels of the headings. */
  levels: readonly number[];
}

// Deleted and moved text, formats before a change, the second copy of a drawing for old programs,
// tab stops.
const skippedElements = new Set(
  "del moveFrom pPrChange rPrChange sectPr Fallback tabs delText delInstrText".split(" "),
);

type Attributes = (name: string) => string | undefined;

/** Adds the texts of a diagram as a list. */
function addDiagram(walk: Walk, relation: string | undefined): void {
  const paragraph = walk.paragraphs.at(-1);
  if (relation === undefined || paragraph?.isHidden || paragraph?.run?.isHidden) return;
  const texts = walk.parts.readDiagram(relation);
  const items = texts.map((text) => `<li>${escapeHtml(text)}</li>`);
  if (items.length > 0) addBlock(walk, `<ul>${items.join("")}</ul>`);
}

function openHyperlink(walk: Walk, attributeOf: Attributes): void {
  const href = walk.parts.links.get(attributeOf("id") ?? "");
  const anchor = attributeOf("anchor");
  openLink(walk, href !== undefined && anchor !== undefined ? `${href}#${anchor}` : href);
}

/** Handlers of elements that contain or represent text. */
const opens: Readonly<Record<string, (walk: Walk, attributeOf: Attributes) => void>> = {
  p: openParagraph,
  r: openRun,
  rPr(walk) {
    // The run properties of a paragraph describe its end mark.
    walk.inRunProperties = walk.paragraphs.at(-1)?.run !== undefined;
  },
  t(walk) {
    walk.inText = true;
  },
  tab: (walk) => addText(walk, "\t"),
  ptab: (walk) => addText(walk, "\t"),
  br: (walk) => addHtml(walk, "<br>"),
  cr: (walk) => addHtml(walk, "<br>"),
  noBreakHyphen: (walk) => addText(walk, "-"),
  sym: addSymbol,
  footnoteReference: (walk, attributeOf) => addReference(walk, `footnote ${attributeOf("id")}`),
  endnoteReference: (walk, attributeOf) => addReference(walk, `endnote ${attributeOf("id")}`),
  tbl: tables.openTable,
  tr: tables.openRow,
  tc: tables.openCell,
  hyperlink: openHyperlink,
  fldSimple: (walk, attributeOf) => void openLink(walk, fieldLink(attributeOf("instr") ?? "")),
  fldChar: (walk, attributeOf) => markField(walk, attributeOf("fldCharType")),
  instrText(walk) {
    walk.inInstruction = true;
  },
  docPr: (walk, attributeOf) => addAlternative(walk, attributeOf("descr") ?? ""),
  relIds: (walk, attributeOf) => addDiagram(walk, attributeOf("dm")),
  oMath(walk) {
    walk.math.push(mathNode("oMath"));
  },
  ruby(walk) {
    walk.ruby = { outer: walk.paragraphs.at(-1)?.html ?? "", reading: "" };
  },
};

/** Handles elements that are properties of their run. */
function takeRunProperty(walk: Walk, name: string, attributeOf: Attributes): void {
  const run = walk.paragraphs.at(-1)?.run;
  const value = attributeOf("val");
  if (!run) return;
  if (name === "vanish") run.isHidden = isOn(value);
  else if (name === "b") run.isBold = isOn(value);
  else if (name === "i") run.isItalic = isOn(value);
  else if (name === "strike" || name === "dstrike") run.isStruck = isOn(value);
  else if (name === "vertAlign") run.vertical = value;
  else if (name === "rFonts") run.font = attributeOf("ascii") ?? attributeOf("hAnsi");
  else if (name === "rStyle") styleRun(walk.parts, run, value);
}

/** Handles elements that are properties of their paragraph, table or field. */
function takeProperty(walk: Walk, name: string, attributeOf: Attributes): void {
  if (walk.inRunProperties) return takeRunProperty(walk, name, attributeOf);
  const value = attributeOf("val");
  const field = walk.fields.at(-1);
  if (name === "checkBox" && field) field.checkBox = false;
  else if ((name === "default" || name === "checked") && field?.checkBox !== undefined) {
    field.checkBox = isOn(value);
  } else if (tables.takeTableProperty(walk, name, attributeOf)) return;
  const paragraph = walk.paragraphs.at(-1);
  if (!paragraph) return;
  if (name === "pStyle") paragraph.styleId = value;
  else if (name === "numId") paragraph.numId = value ?? "0";
  else if (name === "ilvl") paragraph.depth = depthOf(value);
  else if (name === "outlineLvl") paragraph.heading = headingOfOutline(value) ?? 0;
}

/** Ends a part of ruby: the base follows its reading. */
function closeRuby(walk: Walk, name: string): void {
  const { ruby } = walk;
  const paragraph = walk.paragraphs.at(-1);
  if (!ruby || !paragraph) return;
  const written = paragraph.html.slice(ruby.outer.length);
  if (name === "rt") {
    ruby.reading = written;
    paragraph.html = ruby.outer;
  } else if (name === "ruby") {
    const reading = ruby.reading === "" ? "" : `<rt>${ruby.reading}</rt>`;
    paragraph.html = `${ruby.outer}<ruby>${written}${reading}</ruby>`;
    walk.ruby = undefined;
  }
}

/** Reads an element of a formula; false outside of formulas. */
function openMath(walk: Walk, name: string, attributeOf: Attributes): boolean {
  const outer = walk.math.at(-1);
  if (!outer) return false;
  const node = mathNode(name, attributeOf("val"));
  outer.children.push(node);
  walk.math.push(node);
  return true;
}

function closeMath(walk: Walk): boolean {
  const node = walk.math.pop();
  if (!node) return false;
  if (walk.math.length > 0) return true;
  const paragraph = walk.paragraphs.at(-1);
  if (paragraph && !paragraph.isHidden) paragraph.html += `<math>${mathMl(node)}</math>`;
  return true;
}

/** Handlers of the ends of elements. */
const closes: Readonly<Record<string, (walk: Walk) => void>> = {
  t(walk) {
    walk.inText = false;
  },
  instrText(walk) {
    walk.inInstruction = false;
  },
  hyperlink: closeLink,
  fldSimple: closeLink,
  r({ paragraphs }) {
    const paragraph = paragraphs.at(-1);
    if (paragraph) paragraph.run = undefined;
  },
  rPr(walk) {
    walk.inRunProperties = false;
  },
  p: closeParagraph,
  tc: tables.closeCell,
  tr: tables.closeRow,
  tbl: tables.closeTable,
  rt: (walk) => closeRuby(walk, "rt"),
  ruby: (walk) => closeRuby(walk, "ruby"),
};

function handlersOf(walk: Walk): XmlHandlers {
  return {
    open(name, attributeOf) {
      const table = walk.tables.at(-1);
      if (name === "del" && table && walk.paragraphs.length === 0) table.isDeletedRow = true;
      if (walk.skipped > 0 || skippedElements.has(name)) walk.skipped++;
      else if (openMath(walk, name, attributeOf)) return;
      else if (Object.hasOwn(opens, name)) opens[name]?.(walk, attributeOf);
      else takeProperty(walk, name, attributeOf);
    },
    close(name) {
      if (walk.skipped > 0) walk.skipped--;
      else if (!closeMath(walk) && Object.hasOwn(closes, name)) closes[name]?.(walk);
    },
    text(text) {
      if (walk.skipped > 0) return;
      const math = walk.math.at(-1);
      const field = walk.fields.at(-1);
      if (math?.name === "t") math.text += text;
      else if (walk.inText) addText(walk, text);
      else if (walk.inInstruction && field) field.instruction += text;
    },
  };
}

/** The text of word/document.xml (ECMA-376 part 1, 17) as HTML for page/. Throws XmlError. */
export function readBody(bytes: Uint8Array, parts: Parts): Body {
  const walk = createWalk(parts);
  parseXml(bytes, handlersOf(walk));
  return { ...walk, html: htmlOf(walk.containers[0]) };
}

/** Notes of a part by `footnote 3` or `endnote 3`, as HTML. Throws XmlError. */
export function readNotes(bytes: Uint8Array, parts: Parts): Map<string, string> {
  const walk = createWalk(parts);
  const handlers = handlersOf(walk);
  const notes = new Map<string, string>();
  let key = "";
  parseXml(bytes, {
    ...handlers,
    open(name, attributeOf) {
      handlers.open(name, attributeOf);
      if (name === "footnote" || name === "endnote") key = `${name} ${attributeOf("id")}`;
    },
    close(name) {
      handlers.close(name);
      if (name !== "footnote" && name !== "endnote") return;
      notes.set(key, htmlOf(walk.containers[0]));
      walk.containers = [createContainer()];
    },
  });
  return notes;
}

import { addAlternative, addDiagram } from "./docx-pictures.ts";
import { countItem } from "./docx-numbering.ts";
import { headingOfOutline, isOn, memberOf } from "./docx-styles.ts";
import {
  addReference,
  addText,
  closeLink,
  createWalk,
  fieldLink,
  levelOf,
  markField,
  openLink,
  openParagraph,
  openRun,
  type Paragraph,
  type Parts,
  type Walk,
} from "./docx-walk.ts";
import { headingBlock, itemBlock, paragraphBlock, tableBlock, type Block } from "./docx-text.ts";
import { parseXml, type XmlHandlers } from "../xml.ts";

export interface Body {
  blocks: Block[];
  /** Referenced notes, e.g. `footnote 3`, with their numbers. */
  notes: ReadonlyMap<string, number>;
  /** Number of hidden texts. */
  unseen: number;
  /** Text of the first heading of level 1. */
  title: string | undefined;
}

// Deleted and moved text, formats before a change, the second copy of a drawing for old programs,
// tab stops.
const skippedElements = new Set(
  "del moveFrom pPrChange rPrChange sectPr Fallback tabs delText delInstrText".split(" "),
);

type Attributes = (name: string) => string | undefined;

/** Handlers of elements that contain or represent text. */
const opens: Readonly<Record<string, (walk: Walk, attributeOf: Attributes) => void>> = {
  p: openParagraph,
  r: openRun,
  rPr(walk) {
    // The run properties of a paragraph describe its end mark.
    walk.inRunProperties = walk.paragraphs.at(-1)?.isRunHidden !== undefined;
  },
  t(walk) {
    walk.inText = true;
  },
  tab: (walk) => addText(walk, "\t"),
  ptab: (walk) => addText(walk, "\t"),
  br: (walk) => addText(walk, "\n"),
  cr: (walk) => addText(walk, "\n"),
  noBreakHyphen: (walk) => addText(walk, "-"),
  footnoteReference: (walk, attributeOf) => addReference(walk, `footnote ${attributeOf("id")}`),
  endnoteReference: (walk, attributeOf) => addReference(walk, `endnote ${attributeOf("id")}`),
  tbl(walk) {
    walk.tables++;
  },
  hyperlink(walk, attributeOf) {
    const href = walk.parts.links.get(attributeOf("id") ?? "");
    const anchor = attributeOf("anchor");
    openLink(walk, href !== undefined && anchor !== undefined ? `${href}#${anchor}` : href);
  },
  fldSimple: (walk, attributeOf) => void openLink(walk, fieldLink(attributeOf("instr") ?? "")),
  fldChar: (walk, attributeOf) => markField(walk, attributeOf("fldCharType")),
  instrText(walk) {
    walk.inInstruction = true;
  },
  docPr: (walk, attributeOf) => addAlternative(walk, attributeOf("descr") ?? ""),
  relIds: (walk, attributeOf) => addDiagram(walk, attributeOf("dm")),
};

/** Handles elements that are properties of their paragraph or run. */
function openProperty(walk: Walk, name: string, attributeOf: Attributes): void {
  const paragraph = walk.paragraphs.at(-1);
  const value = attributeOf("val");
  if (!paragraph) return;
  if (walk.inRunProperties) {
    if (name === "vanish") paragraph.isRunHidden = isOn(value);
    else if (name === "vertAlign") paragraph.isRunRaised = value === "superscript";
    else if (name === "rStyle" && memberOf(walk.parts.styles, value, "isHidden") === true) {
      paragraph.isRunHidden = true;
    }
  } else if (name === "pStyle") paragraph.styleId = value;
  else if (name === "numId") paragraph.numId = value ?? "0";
  else if (name === "ilvl") paragraph.depth = Number(/^\d$/.exec(value ?? "")?.[0] ?? 0);
  else if (name === "outlineLvl") paragraph.heading = headingOfOutline(value) ?? 0;
}

function blockOf(walk: Walk, paragraph: Paragraph): Block | undefined {
  const { text, styleId, depth } = paragraph;
  const level = levelOf(walk, paragraph);
  if (level) {
    const block = headingBlock(text, level);
    if (block && level === 1) walk.title ??= text;
    return block;
  }
  const list = paragraph.numId ?? memberOf(walk.parts.styles, styleId, "numId");
  if (list === undefined || list === "0") return paragraphBlock(text);
  if (text.trim() === "") return undefined;
  return itemBlock(text, depth, countItem(walk.parts.numbering, walk.counts, list, depth));
}

function closeParagraph(walk: Walk): void {
  closeLink(walk);
  const paragraph = walk.paragraphs.pop();
  if (!paragraph) return;
  if (walk.tables > 0) {
    walk.cell.push(paragraph.text);
    return;
  }
  const block = blockOf(walk, paragraph);
  if (block) walk.blocks.push(block);
}

function closeRun({ paragraphs }: Walk): void {
  const paragraph = paragraphs.at(-1);
  if (paragraph) paragraph.isRunHidden = undefined;
}

/** A table within a table is part of the outer cell. */
function closeTablePart(walk: Walk, name: string): void {
  if (name === "tbl") walk.tables--;
  if (name === "tc" && walk.tables === 1) {
    walk.cells.push(walk.cell.join(" "));
    walk.cell = [];
  } else if (name === "tr" && walk.tables === 1) {
    walk.rows.push(walk.cells);
    walk.cells = [];
  } else if (name === "tbl" && walk.tables === 0) {
    const block = tableBlock(walk.rows);
    if (block) walk.blocks.push(block);
    walk.rows = [];
  }
}

function handlersOf(walk: Walk): XmlHandlers {
  return {
    open(name, attributeOf) {
      if (walk.skipped > 0 || skippedElements.has(name)) walk.skipped++;
      else if (Object.hasOwn(opens, name)) opens[name]?.(walk, attributeOf);
      else openProperty(walk, name, attributeOf);
    },
    close(name) {
      if (walk.skipped > 0) walk.skipped--;
      else if (name === "t") walk.inText = false;
      else if (name === "instrText") walk.inInstruction = false;
      else if (name === "hyperlink" || name === "fldSimple") closeLink(walk);
      else if (name === "r") closeRun(walk);
      else if (name === "rPr") walk.inRunProperties = false;
      else if (name === "p") closeParagraph(walk);
      else if (name === "tc" || name === "tr" || name === "tbl") closeTablePart(walk, name);
    },
    text(text) {
      if (walk.skipped > 0) return;
      const field = walk.fields.at(-1);
      if (walk.inText) addText(walk, text);
      else if (walk.inInstruction && field) field.instruction += text;
    },
  };
}

/** The text of word/document.xml (ECMA-376 part 1, 17) as blocks of Markdown. Throws XmlError. */
export function readBody(bytes: Uint8Array, parts: Parts): Body {
  const walk = createWalk(parts);
  parseXml(bytes, handlersOf(walk));
  return walk;
}

/** Notes of a part by `footnote 3` or `endnote 3`, each as one line. Throws XmlError. */
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
      notes.set(key, walk.blocks.map(({ text }) => text.replace(/\s+/g, " ")).join(" "));
      walk.blocks = [];
    },
  });
  return notes;
}

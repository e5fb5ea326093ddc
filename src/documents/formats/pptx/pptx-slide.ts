import { escapeHtml } from "../../page/tree.ts";
import {
  attributeOf,
  childOf,
  descendantsOf,
  elementsIn,
  isOn,
  propertiesIn,
  textIn,
  type XmlNode,
} from "../office/archive.ts";
import {
  addBlock,
  cellHtml,
  createContainer,
  flush,
  htmlOf,
  type Container,
} from "../office/blocks.ts";
import { alternativeOf, spanOf } from "../office/run-text.ts";
import {
  addText,
  levelsIn,
  levelsOfShape,
  lineHtml,
  type Levels,
  type TextStyle,
} from "./pptx-text.ts";

/** The list styles of the placeholders of a layout or master. */
export interface Placeholders {
  byIndex: ReadonlyMap<string, Levels>;
  byType: ReadonlyMap<string, Levels>;
  /** Those of all texts of a master, by `bodyStyle` and the like. */
  styles: ReadonlyMap<string, Levels>;
}

/** What a slide refers to. */
export interface Around {
  links: ReadonlyMap<string, string>;
  /** Of its layout and its master, in this order. */
  placeholders: readonly Placeholders[];
  /** The words of a diagram or a chart by its relation. */
  readDiagram: (relation: string) => readonly string[];
  readChart: (relation: string) => readonly string[];
}

/** The text of a slide as HTML. */
export interface Slide {
  /** "" without a title. */
  title: string;
  html: string;
  /** Number of shapes with text that are hidden. */
  hidden: number;
}

interface Placeholder {
  type: string;
  index: string;
}

/** The place that a shape fills (ECMA-376 part 1, 19.3.1.36); undefined for a shape of its own. */
function placeholderOf(shape: XmlNode): Placeholder | undefined {
  const properties = elementsIn(shape).find(({ name }) => /^nv\w*Pr$/.test(name));
  const own = properties && childOf(properties, "nvPr");
  const place = own && childOf(own, "ph");
  if (!place) return undefined;
  return { type: attributeOf(place, "type") ?? "obj", index: attributeOf(place, "idx") ?? "0" };
}

const nameOf = (shape: XmlNode): XmlNode | undefined => {
  const properties = elementsIn(shape).find(({ name }) => /^nv\w*Pr$/.test(name));
  return properties && childOf(properties, "cNvPr");
};

/** Masters have one place for each kind of text. */
const kindOf = (type: string): string => (/^(?:ctrTitle|title)$/.test(type) ? "title" : "body");

/** The places of a layout or master. */
export function readPlaceholders(root: XmlNode): Placeholders {
  const byIndex = new Map<string, Levels>();
  const byType = new Map<string, Levels>();
  const styles = new Map<string, Levels>();
  for (const node of descendantsOf(root)) {
    if (/^(?:title|body)Style$/.test(node.name)) styles.set(node.name, levelsIn(node));
    const place = node.name === "sp" ? placeholderOf(node) : undefined;
    if (!place) continue;
    byIndex.set(place.index, levelsOfShape(node));
    byType.set(kindOf(place.type), levelsOfShape(node));
  }
  return { byIndex, byType, styles };
}

/** The text of a shape begins as its place in the layout does, and as that of the master. */
function levelsFor(
  place: Placeholder | undefined,
  [layout, master]: readonly Placeholders[],
): Levels[] {
  if (!place) return [];
  const kind = kindOf(place.type);
  return [
    layout?.byIndex.get(place.index),
    master?.byType.get(kind),
    master?.styles.get(`${kind}Style`),
  ].filter((levels) => levels !== undefined);
}

interface Walk {
  around: Around;
  container: Container;
  title: string;
  hidden: number;
}

// The date, the number and the footer of each slide.
const repeated = /^(?:dt|sldNum|ftr|hdr|sldImg)$/;

const textStyle = ({ around }: Walk, levels: readonly Levels[]): TextStyle => ({
  levels,
  links: around.links,
});

function readShape(walk: Walk, shape: XmlNode): void {
  const place = placeholderOf(shape);
  const body = childOf(shape, "txBody");
  if (!body || repeated.test(place?.type ?? "")) return;
  const style = textStyle(walk, levelsFor(place, walk.around.placeholders));
  const isTitle = place !== undefined && kindOf(place.type) === "title";
  if (isTitle && walk.title === "") walk.title = lineHtml(body, style);
  else {
    addText(walk.container, body, style);
    // Lists of two shapes are two lists.
    flush(walk.container);
  }
}

function addWords({ container }: Walk, shape: XmlNode): void {
  const name = nameOf(shape);
  const words = name ? alternativeOf(name) : "";
  if (words !== "") addBlock(container, `<p>${escapeHtml(words)}</p>`);
}

function readTable(walk: Walk, table: XmlNode): void {
  const properties = childOf(table, "tblPr");
  const hasHead = properties !== undefined && isOn(attributeOf(properties, "firstRow"));
  const rows = elementsIn(table).filter(({ name }) => name === "tr");
  const html = rows.map((row, at) => {
    const tag = hasHead && at === 0 ? "th" : "td";
    const cells = elementsIn(row).map((cell) => {
      const isPart = isOn(attributeOf(cell, "hMerge")) || isOn(attributeOf(cell, "vMerge"));
      if (cell.name !== "tc" || isPart) return "";
      const inner = createContainer();
      const body = childOf(cell, "txBody");
      if (body) addText(inner, body, textStyle(walk, []));
      const [columns, spanned] = ["gridSpan", "rowSpan"].map((name) => attributeOf(cell, name));
      return cellHtml(tag, htmlOf(inner), spanOf(columns), spanOf(spanned));
    });
    return `<tr>${cells.join("")}</tr>`;
  });
  addBlock(walk.container, `<table>${html.join("")}</table>`);
}

const listOf = (tag: string, texts: readonly string[]): string =>
  texts.map((text) => `<${tag}>${escapeHtml(text)}</${tag}>`).join("");

/** A table, a diagram or a chart. */
function readFrame(walk: Walk, frame: XmlNode): void {
  const { around, container } = walk;
  addWords(walk, frame);
  for (const node of descendantsOf(frame)) {
    if (node.name === "tbl") readTable(walk, node);
    else if (node.name === "relIds") {
      const items = around.readDiagram(attributeOf(node, "dm") ?? "");
      if (items.length > 0) addBlock(container, `<ul>${listOf("li", items)}</ul>`);
    } else if (node.name === "chart") {
      addBlock(container, listOf("p", around.readChart(attributeOf(node, "id") ?? "")));
    }
  }
}

const hasText = (node: XmlNode): boolean =>
  [...descendantsOf(node)].some((each) => each.name === "t" && textIn(each).trim() !== "");

/** Reads shapes in their order, which is the order in which PowerPoint reads them aloud. */
function readShapes(walk: Walk, tree: XmlNode): void {
  for (const shape of elementsIn(tree)) {
    const name = nameOf(shape);
    if (name && isOn(attributeOf(name, "hidden"))) {
      if (hasText(shape)) walk.hidden++;
    } else if (shape.name === "sp") readShape(walk, shape);
    else if (shape.name === "pic") addWords(walk, shape);
    else if (shape.name === "graphicFrame") readFrame(walk, shape);
    else if (shape.name === "grpSp") readShapes(walk, shape);
    else if (shape.name === "AlternateContent") {
      // What follows is the same for programs that do not know the first.
      const [first] = elementsIn(shape);
      if (first) readShapes(walk, first);
    }
  }
}

function treeOf(root: XmlNode): XmlNode | undefined {
  return propertiesIn(root, "cSld").find(({ name }) => name === "spTree");
}

/** Reads a slide (ECMA-376 part 1, 19.3.1.38). */
export function readSlide(root: XmlNode, around: Around): Slide {
  const walk: Walk = { around, container: createContainer(), title: "", hidden: 0 };
  const tree = treeOf(root);
  if (tree) readShapes(walk, tree);
  return { title: walk.title, html: htmlOf(walk.container), hidden: walk.hidden };
}

/** What the speaker wrote below a slide, as HTML; "" for nothing. */
export function readSpeakerNotes(root: XmlNode, links: TextStyle["links"]): string {
  const container = createContainer();
  for (const shape of elementsIn(treeOf(root) ?? root)) {
    const body = placeholderOf(shape)?.type === "body" ? childOf(shape, "txBody") : undefined;
    if (body) addText(container, body, { levels: [], links });
  }
  return htmlOf(container);
}

import { escapeHtml } from "../../page/tree.ts";
import { addBlock, flush, isBlank, withIgnoreMarks, type Container } from "../office/blocks.ts";
import { joinRuns } from "../office/run-text.ts";
import {
  countItem,
  headingLevel,
  levelOfStyle,
  memberOf,
  type Numbering,
  type Styles,
} from "./docx-styles.ts";

/** What the other parts of a file say about its main part. */
export interface Parts {
  styles: Styles;
  numbering: Numbering;
  /** Addresses of links by their relation. */
  links: ReadonlyMap<string, string>;
  /** The texts of a diagram by its relation. */
  readDiagram: (relation: string) => readonly string[];
  /** The words of a chart by its relation. */
  readChart: (relation: string) => readonly string[];
}

/** A paragraph as it is read. */
export interface Paragraph {
  html: string;
  styleId: string | undefined;
  heading: number | undefined;
  /** The list; "0" for none. */
  numId: string | undefined;
  depth: number | undefined;
  /** Whether it is in a text box within hidden text. */
  isHidden: boolean;
  hasLink: boolean;
}

/** Numbers of the last items by list, and levels of the headings with text. */
export interface Counts {
  counts: Map<string, number[]>;
  levels: number[];
}

/** The list and the level of a paragraph, from its properties or its style. */
function listOf({ styles, numbering }: Parts, { numId, depth, styleId }: Paragraph) {
  const id = numId ?? memberOf(styles, styleId, "numId");
  if (id === undefined || id === "0") return undefined;
  const ofStyle = memberOf(styles, styleId, "depth") ?? levelOfStyle(numbering, id, styleId);
  return { id, depth: depth ?? (numId === undefined ? ofStyle : 0) ?? 0 };
}

const preStyle = /^(?:source code|html preformatted|preformatted text|plain text)$/i;
const quoteStyle = /^(?:quote|intense quote|block text|quotations)$/i;

/** Adds a paragraph as what it is by its style: a heading, an item, code, a quotation. */
export function addParagraph(
  container: Container,
  paragraph: Paragraph,
  parts: Parts,
  { counts, levels }: Counts,
): void {
  const { styleId } = paragraph;
  const html = withIgnoreMarks(joinRuns(paragraph.html));
  if (isBlank(html)) return;
  const style = memberOf(parts.styles, styleId, "name") ?? "";
  if (preStyle.test(style)) {
    if (container.items.length > 0) flush(container);
    container.code.push(html);
    return;
  }
  const level = paragraph.heading ?? headingLevel(parts.styles, styleId);
  const list = listOf(parts, paragraph);
  const label = list ? countItem(parts.numbering, counts, list.id, list.depth) : "";
  if (level) {
    levels.push(level);
    const tag = `h${Math.min(6, level)}`;
    addBlock(container, `<${tag}>${label === "" ? "" : `${escapeHtml(label)} `}${html}</${tag}>`);
  } else if (list) {
    if (container.code.length > 0) flush(container);
    container.items.push({ depth: list.depth, label, html });
  } else if (quoteStyle.test(style)) addBlock(container, `<blockquote>${html}</blockquote>`);
  else addBlock(container, `<p>${html}</p>`);
}

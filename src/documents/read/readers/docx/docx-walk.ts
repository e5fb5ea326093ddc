import { destination } from "../../../page/pieces.ts";
import { raised } from "../../../page/raised.ts";
import { headingLevel, memberOf, type Styles } from "./docx-styles.ts";
import type { Numbering } from "./docx-numbering.ts";
import type { Block } from "./docx-text.ts";

const escapeBrackets = (text: string): string => text.replace(/[[\]]/g, "\\$&");
const mostAddressChars = 16 * 1024 * 1024;

/** What the other parts of a file say about its main part. */
export interface Parts {
  styles: Styles;
  numbering: Numbering;
  /** Addresses of links by their relation. */
  links: ReadonlyMap<string, string>;
  /** The texts of a diagram by its relation. */
  readDiagram: (relation: string) => readonly string[];
}

export interface Paragraph {
  text: string;
  styleId: string | undefined;
  heading: number | undefined;
  /** The list; "0" for none. */
  numId: string | undefined;
  depth: number;
  /** Whether the text of the open run is hidden; undefined outside of runs. */
  isRunHidden: boolean | undefined;
  isRunRaised: boolean;
  /** Whether it is in a text box within hidden text. */
  isHidden: boolean;
  /** The open link, with its text so far. */
  link: { href: string; text: string } | undefined;
}

/** An open field: what it shows, and whether that is a link. */
interface Field {
  instruction: string;
  isLink: boolean;
}

/** The state of reading a document part. Paragraphs can be nested: a text box is within one. */
export interface Walk {
  parts: Parts;
  blocks: Block[];
  paragraphs: Paragraph[];
  /** Number of open elements within a skipped element, which counts too. */
  skipped: number;
  inRunProperties: boolean;
  inText: boolean;
  inInstruction: boolean;
  fields: Field[];
  /** Of all links: one long address can have many of them. */
  addressChars: number;
  /** Number of the last item by list and depth. */
  counts: Map<string, number[]>;
  tables: number;
  rows: string[][];
  cells: string[];
  cell: string[];
  /** Ids of referenced notes, with their numbers: `footnote 3`. */
  notes: Map<string, number>;
  /** Number of hidden texts. */
  unseen: number;
  /** Text of the first heading of level 1. */
  title: string | undefined;
}

export function createWalk(parts: Parts): Walk {
  return {
    parts,
    blocks: [],
    paragraphs: [],
    skipped: 0,
    inRunProperties: false,
    inText: false,
    inInstruction: false,
    fields: [],
    addressChars: 0,
    counts: new Map(),
    tables: 0,
    rows: [],
    cells: [],
    cell: [],
    notes: new Map(),
    unseen: 0,
    title: undefined,
  };
}

export function openParagraph(walk: Walk): void {
  const outer = walk.paragraphs.at(-1);
  walk.paragraphs.push({
    text: "",
    styleId: undefined,
    heading: undefined,
    numId: undefined,
    depth: 0,
    isRunHidden: undefined,
    isRunRaised: false,
    isHidden: outer !== undefined && (outer.isHidden || outer.isRunHidden === true),
    link: undefined,
  });
}

/** A run is hidden if the style of its paragraph is, unless its own properties change this. */
export function openRun({ paragraphs, parts }: Walk): void {
  const paragraph = paragraphs.at(-1);
  if (!paragraph) return;
  paragraph.isRunHidden = memberOf(parts.styles, paragraph.styleId, "isHidden") === true;
  paragraph.isRunRaised = false;
}

function append(paragraph: Paragraph, text: string): void {
  if (paragraph.link) paragraph.link.text += text;
  else paragraph.text += text;
}

/** Level of a heading, from 1; undefined or 0 for none. */
export function levelOf({ parts }: Walk, { heading, styleId }: Paragraph): number | undefined {
  return heading ?? headingLevel(parts.styles, styleId);
}

/** Begins the text of a link. A link within a link is text. */
export function openLink({ paragraphs }: Walk, href: string | undefined): boolean {
  const paragraph = paragraphs.at(-1);
  if (!paragraph || paragraph.link || href === undefined) return false;
  paragraph.link = { href, text: "" };
  return true;
}

/** Ends the open link of a paragraph. Headings keep only the text. */
export function closeLink(walk: Walk): void {
  const paragraph = walk.paragraphs.at(-1);
  const link = paragraph?.link;
  if (!paragraph || !link) return;
  paragraph.link = undefined;
  const { href, text } = link;
  const words = text.trim();
  const to = destination(href);
  const isOwnText = words === href || href === `mailto:${words}`;
  const isLong = (walk.addressChars += to?.length ?? 0) > mostAddressChars;
  if (words === "" || to === undefined || isOwnText || isLong || levelOf(walk, paragraph)) {
    paragraph.text += text;
    return;
  }
  const before = /^\s/.test(text) ? " " : "";
  const after = /\s$/.test(text) ? " " : "";
  paragraph.text += `${before}[${escapeBrackets(words)}](${to})${after}`;
}

/** Handles a mark of a field: what it shows stands between `separate` and `end`. */
export function markField(walk: Walk, type: string | undefined): void {
  const field = walk.fields.at(-1);
  if (type === "begin") walk.fields.push({ instruction: "", isLink: false });
  else if (type === "separate" && field)
    field.isLink = openLink(walk, fieldLink(field.instruction));
  else if (type === "end" && field) {
    walk.fields.pop();
    if (field.isLink) closeLink(walk);
  }
}

/** The address in the instruction of a field; undefined for a field that is no link. */
export function fieldLink(instruction: string): string | undefined {
  const [, href, anchor] =
    /^\s*HYPERLINK\s+"([^"]+)"(?:\s+\\l\s+"([^"]*)")?/i.exec(instruction) ?? [];
  return href === undefined || anchor === undefined ? href : `${href}#${anchor}`;
}

/** Adds text to the open paragraph, unless it is hidden. */
export function addText(walk: Walk, text: string): void {
  const paragraph = walk.paragraphs.at(-1);
  if (paragraph?.isRunHidden !== false || paragraph.isHidden) {
    if (paragraph?.isRunHidden !== undefined && text.trim() !== "") walk.unseen++;
    return;
  }
  append(paragraph, paragraph.isRunRaised ? raised(text) : text);
}

/** Adds the number of a note. Notes are numbered by their first reference. */
export function addReference(walk: Walk, note: string): void {
  const paragraph = walk.paragraphs.at(-1);
  if (paragraph?.isRunHidden !== false || paragraph.isHidden) return;
  const number = walk.notes.get(note) ?? walk.notes.size + 1;
  walk.notes.set(note, number);
  append(paragraph, `[^${number}]`);
}

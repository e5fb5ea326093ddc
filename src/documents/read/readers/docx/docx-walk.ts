import { memberOf, type Styles } from "./docx-styles.ts";
import type { Block } from "./docx-text.ts";

export interface Paragraph {
  text: string;
  styleId: string | undefined;
  heading: number | undefined;
  isList: boolean | undefined;
  depth: number;
  /** Whether the text of the open run is hidden; undefined outside of runs. */
  isRunHidden: boolean | undefined;
  /** Whether it is in a text box within hidden text. */
  isHidden: boolean;
}

/** The state of reading a document part. Paragraphs can be nested: a text box is within one. */
export interface Walk {
  styles: Styles;
  blocks: Block[];
  paragraphs: Paragraph[];
  /** Number of open elements within a skipped element, which counts too. */
  skipped: number;
  inRunProperties: boolean;
  inText: boolean;
  tables: number;
  rows: string[][];
  cells: string[];
  cell: string[];
  /** Ids of referenced notes, with their numbers: `footnote 3`. */
  notes: Map<string, number>;
  /** Text of the first heading of level 1. */
  title: string | undefined;
}

export function createWalk(styles: Styles): Walk {
  return {
    styles,
    blocks: [],
    paragraphs: [],
    skipped: 0,
    inRunProperties: false,
    inText: false,
    tables: 0,
    rows: [],
    cells: [],
    cell: [],
    notes: new Map(),
    title: undefined,
  };
}

export function openParagraph(walk: Walk): void {
  const outer = walk.paragraphs.at(-1);
  walk.paragraphs.push({
    text: "",
    styleId: undefined,
    heading: undefined,
    isList: undefined,
    depth: 0,
    isRunHidden: undefined,
    isHidden: outer !== undefined && (outer.isHidden || outer.isRunHidden === true),
  });
}

/** A run is hidden if the style of its paragraph is, unless its own properties change this. */
export function openRun({ paragraphs, styles }: Walk): void {
  const paragraph = paragraphs.at(-1);
  if (!paragraph) return;
  paragraph.isRunHidden = memberOf(styles, paragraph.styleId, "isHidden") === true;
}

/** Adds text to the open paragraph, unless it is hidden. */
export function addText({ paragraphs }: Walk, text: string): void {
  const paragraph = paragraphs.at(-1);
  if (paragraph?.isRunHidden === false && !paragraph.isHidden) paragraph.text += text;
}

/** Adds the number of a note. Notes are numbered by their first reference. */
export function addReference(walk: Walk, note: string): void {
  const paragraph = walk.paragraphs.at(-1);
  if (paragraph?.isRunHidden !== false || paragraph.isHidden) return;
  const number = walk.notes.get(note) ?? walk.notes.size + 1;
  walk.notes.set(note, number);
  paragraph.text += `[^${number}]`;
}

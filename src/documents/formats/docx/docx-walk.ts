import type { MathNode } from "./docx-math.ts";
import type { Numbering } from "./docx-numbering.ts";
import type { Styles } from "./docx-styles.ts";

/** What the other parts of a file say about its main part. */
export interface Parts {
  styles: Styles;
  numbering: Numbering;
  /** Addresses of links by their relation. */
  links: ReadonlyMap<string, string>;
  /** The texts of a diagram by its relation. */
  readDiagram: (relation: string) => readonly string[];
}

/** How a run looks. */
export interface Run {
  isHidden: boolean;
  isBold: boolean;
  isItalic: boolean;
  isStruck: boolean;
  isCode: boolean;
  vertical: string | undefined;
  font: string | undefined;
}

export interface Paragraph {
  html: string;
  styleId: string | undefined;
  heading: number | undefined;
  /** The list; "0" for none. */
  numId: string | undefined;
  depth: number | undefined;
  /** The open run. */
  run: Run | undefined;
  /** Whether it is in a text box within hidden text. */
  isHidden: boolean;
  hasLink: boolean;
}

/** An open field: what it shows stands between `separate` and `end`. */
interface Field {
  instruction: string;
  isShown: boolean;
  isLink: boolean;
  checkBox: boolean | undefined;
}

export interface Item {
  depth: number;
  label: string;
  html: string;
}

/** What holds paragraphs: the body, a cell, a note. Items and lines of code wait for the next ones. */
export interface Container {
  html: string[];
  items: Item[];
  code: string[];
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
  isDeletedRow: boolean;
  /** Properties of the open cell. */
  columns: number;
  continues: boolean;
}

/** The state of reading a document part. Paragraphs can be nested: a text box is within one. */
export interface Walk {
  parts: Parts;
  containers: Container[];
  paragraphs: Paragraph[];
  tables: Table[];
  fields: Field[];
  /** Number of open elements within a skipped element, which counts too. */
  skipped: number;
  inRunProperties: boolean;
  inText: boolean;
  inInstruction: boolean;
  /** Open elements of a formula. */
  math: MathNode[];
  /** The reading of a base, which stands before it. */
  ruby: { outer: string; reading: string } | undefined;
  /** Of all links: one long address can have many of them. */
  addressChars: number;
  /** Numbers of the last items by list. */
  counts: Map<string, number[]>;
  /** Ids of referenced notes, with their numbers: `footnote 3`. */
  notes: Map<string, number>;
  /** Number of hidden texts. */
  unseen: number;
  /** Levels of the headings with text. */
  levels: number[];
}

export const createContainer = (): Container => ({ html: [], items: [], code: [] });

export function createWalk(parts: Parts): Walk {
  return {
    parts,
    containers: [createContainer()],
    paragraphs: [],
    tables: [],
    fields: [],
    skipped: 0,
    inRunProperties: false,
    inText: false,
    inInstruction: false,
    math: [],
    ruby: undefined,
    addressChars: 0,
    counts: new Map(),
    notes: new Map(),
    unseen: 0,
    levels: [],
  };
}

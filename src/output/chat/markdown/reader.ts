import type { Inline } from "./inline/inline.ts";
import type { InlineLook } from "./inline/scanner.ts";
import type { CodeRow } from "./code-row.ts";
import type { Painter } from "./code.ts";
import type { Leaf } from "./lead.ts";
import type { Block } from "./prefix.ts";
import type { Rows } from "./rows.ts";
import type { Table } from "./table.ts";
import type { Terminal } from "./screen.ts";

/** The open paragraph or heading. */
export interface OpenText {
  inline: Inline;
  isHeading: boolean;
  /** List items whose marker is in the first row of the text. */
  marked: readonly Block[];
  /** The first source line, while it may be the header of a table. */
  source: string;
  /** Number of complete source lines. */
  lines: number;
  /** Keep line breaks of the source: for HTML, and rows that look like a table. */
  keepsLines: boolean;
}

export interface OpenFence {
  mark: string;
  length: number;
  indent: number;
  paint: Painter;
}

/** Parser state of a document at the current position. */
export interface Reader {
  readonly terminal: Terminal;
  readonly rows: Rows;
  readonly look: InlineLook;
  /** Painter of a code block by its language. */
  painters: (language: string) => Painter | undefined;
  /** The part of the document that the next character belongs to. */
  mode: "lead" | "text" | "info" | "code-lead" | "code" | "table";
  /** Start of the current line, until its block is known. */
  lead: string;
  /** Text after the marks of a fence. */
  info: string;
  blocks: Block[];
  /** Number of `blocks` that the current line continues. */
  kept: number;
  /** Number of blocks that were open at the last blank line; undefined without a blank line. */
  gap: number | undefined;
  isStarted: boolean;
  text: OpenText | undefined;
  table: Table | undefined;
  fence: OpenFence | undefined;
  /** A fence whose opening line is not complete yet. */
  opening: Extract<Leaf, { kind: "fence" }> | undefined;
  codeRow: CodeRow | undefined;
}

import type { Inline } from "./inline/inline.ts";
import type { InlineLook } from "./inline/scanner.ts";
import type { CodeRow } from "./code-row.ts";
import type { Cell } from "./cells.ts";
import type { Leaf } from "./lead.ts";
import type { Block } from "./prefix.ts";
import type { Rows } from "./rows.ts";
import type { Table } from "./table.ts";
import type { Terminal } from "./screen.ts";

/** Inline text that is being read. */
export interface OpenText {
  inline: Inline;
  isHeading: boolean;
  /** Items whose marker stands in its first row. */
  marked: readonly Block[];
  /** Its first source line, as long as a table may begin with it. */
  source: string;
  /** Source lines that are complete. */
  lines: number;
  /** Line breaks of the source stay: HTML, and rows of what is no table. */
  keepsLines: boolean;
}

export interface OpenFence {
  mark: string;
  length: number;
  indent: number;
  paint: (line: string) => readonly Cell[] | undefined;
}

/** Everything known of a document at the place that has been read. */
export interface Reader {
  readonly terminal: Terminal;
  readonly rows: Rows;
  readonly look: InlineLook;
  /** Looks of code by language; set when the first fence comes. */
  painters: (language: string) => ((line: string) => readonly Cell[] | undefined) | undefined;
  /** What the next character belongs to. */
  mode: "lead" | "text" | "info" | "code-lead" | "code" | "table";
  lead: string;
  info: string;
  blocks: Block[];
  /** How many of `blocks` the current line goes on with. */
  kept: number;
  /** Blocks that were open at the last blank line; undefined where there was none. */
  gap: number | undefined;
  isBegun: boolean;
  text: OpenText | undefined;
  table: Table | undefined;
  fence: OpenFence | undefined;
  /** A fence whose line is still being read. */
  opening: Extract<Leaf, { kind: "fence" }> | undefined;
  codeRow: CodeRow | undefined;
}

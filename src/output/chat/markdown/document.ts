import { neutralise } from "../../terminal/neutralise.ts";
import type { Text } from "../../terminal/text.ts";
import type { InlineLook } from "./inline/scanner.ts";
import { maxLeadLength } from "./lead.ts";
import { addCode, closeFence, finishText } from "./leaves.ts";
import { addText, decide, decideCode, endInfo, endLine, leadContinues, truncate } from "./lines.ts";
import type { Reader } from "./reader.ts";
import { createRows } from "./rows.ts";
import type { Terminal } from "./screen.ts";
import { addToTable, finishTable, previewTable } from "./table-block.ts";

/** A streamed Markdown document that is drawn while it arrives. */
export interface Document {
  /** Reads a piece of the source. The drawing does not depend on where the pieces are cut. */
  feed(text: string): void;
  /** Leaves the unfinished row, because other output follows the returned text. */
  leave(): Text[];
  /** The end of the source: finishes all open blocks. */
  end(): void;
  /** Returns the text to write to the terminal now. */
  take(): Text[];
  /** An unfinished row is on the terminal. */
  readonly midRow: boolean;
  /**
   * Number of buffered characters, cells, marks and blocks, whose meaning depends on
   * later text. The work for each character is at most proportional to this number,
   * which is bounded for any input.
   */
  readonly held: number;
}

/** Adds a character to the start of a line; false if the start is complete without it. */
function readLeading(reader: Reader, character: string): boolean {
  const { mode, lead, fence } = reader;
  const continues =
    mode === "lead"
      ? leadContinues(lead, character)
      : lead.length < maxLeadLength && (/^[ >]$/.test(character) || character === fence?.mark);
  if (continues) {
    reader.lead += character;
    return true;
  }
  if (mode === "lead") decide(reader, character);
  else decideCode(reader, false);
  return false;
}

/** Adds text of one line to the open block. */
function readPiece(reader: Reader, text: string): void {
  switch (reader.mode) {
    case "text":
      return addText(reader, text);
    case "info":
      reader.info += text;
      if (reader.info.length > maxLeadLength) endInfo(reader, false);
      return;
    case "code":
      return addCode(reader, text);
    case "table":
      return addToTable(reader, text);
    default:
  }
}

function readLine(reader: Reader, text: string): void {
  let at = 0;
  while (at < text.length && (reader.mode === "lead" || reader.mode === "code-lead")) {
    if (readLeading(reader, text[at] ?? "")) at++;
  }
  if (at < text.length) readPiece(reader, at === 0 ? text : text.slice(at));
}

function feed(reader: Reader, text: string): void {
  let at = 0;
  for (;;) {
    const end = text.indexOf("\n", at);
    readLine(reader, text.slice(at, end < 0 ? text.length : end));
    if (end < 0) return;
    endLine(reader);
    at = end + 1;
  }
}

function finish(reader: Reader): void {
  if (reader.mode !== "lead" || reader.lead !== "") {
    if (reader.mode !== "code-lead" || reader.lead !== "") endLine(reader);
  }
  finishText(reader);
  finishTable(reader);
  closeFence(reader);
  truncate(reader, 0);
  reader.rows.end();
  reader.rows.preview([]);
}

function heldBy({ rows, lead, info, blocks, text, table, codeRow }: Reader): number {
  const inTable = table ? table.size + table.line.length + (table.lines[0]?.length ?? 0) : 0;
  const inText = rows.line.cells.length + (text ? text.source.length + text.inline.held : 0);
  return lead.length + info.length + blocks.length + inText + inTable + (codeRow?.held ?? 0);
}

function takeWritten({ rows }: Reader): Text[] {
  const { out } = rows.screen;
  rows.screen.out = [];
  return out;
}

function take(reader: Reader): Text[] {
  const { rows, codeRow, terminal } = reader;
  if (reader.table) previewTable(reader);
  if (!codeRow) {
    rows.adapt();
    rows.draw();
  } else if (terminal.canRedraw) codeRow.draw();
  return takeWritten(reader);
}

/**
 * Starts a document at the start of a terminal row. `painters` returns the painter of
 * a code block by the name of its language.
 */
export function createDocument(
  terminal: Terminal,
  look: InlineLook,
  painters: Reader["painters"],
): Document {
  const reader: Reader = {
    terminal,
    look,
    rows: createRows(terminal),
    painters,
    mode: "lead",
    lead: "",
    info: "",
    blocks: [],
    kept: 0,
    gap: undefined,
    isStarted: false,
    text: undefined,
    table: undefined,
    fence: undefined,
    opening: undefined,
    codeRow: undefined,
  };
  // A stream may cut between the two code units of a character.
  let half = "";
  return {
    feed(text) {
      if (!reader.codeRow) reader.rows.adapt();
      const whole = half + text;
      half = /[\ud800-\udbff]$/.exec(whole)?.[0] ?? "";
      // A single half would be written as U+FFFD, which takes a column.
      const complete = half === "" ? whole : whole.slice(0, -1);
      feed(reader, neutralise(complete.toWellFormed()));
    },
    leave() {
      if (reader.codeRow) reader.codeRow.leave();
      else reader.rows.leave();
      return takeWritten(reader);
    },
    end() {
      if (half !== "") feed(reader, half.toWellFormed());
      half = "";
      finish(reader);
    },
    take: () => take(reader),
    get held() {
      return heldBy(reader);
    },
    get midRow() {
      return reader.rows.screen.shown.length > 0;
    },
  };
}

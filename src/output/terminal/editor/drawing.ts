import { neutraliseLine } from "../neutralise.ts";
import { displayWidth, fit } from "../width.ts";
import type { Picture, Row } from "./area.ts";
import type { Buffer } from "./buffer.ts";
import { createLayouter } from "./layout.ts";

const mark = "> ";
const continuationMark = "  ";
const maxFinalRows = 40;
const maxHintRows = 8;

export interface Drawing {
  /** Picture shown while the text is edited. */
  picture(buffer: Buffer, hints: readonly string[]): Picture;
  /** Rows that stay after a text is entered; `after` is appended. */
  final(buffer: Buffer, after?: string): Row[];
  /** Words in columns, in as few lines as the terminal allows. */
  columnsOf(words: readonly string[]): string[];
}

/** Turns the state of the editor into rows that fit the terminal. */
export function createDrawing(options: {
  columns(): number;
  rows(): number;
  status(): string;
}): Drawing {
  const layOut = createLayouter();
  const width = (): number => Math.max(4, options.columns() - mark.length);
  const marked = (rows: readonly string[], first: number): Row[] =>
    rows.map((text, index) => ({ mark: first + index === 0 ? mark : continuationMark, text }));
  return {
    picture({ text, cursor }, hints) {
      const { rows, cursorRow, cursorColumn } = layOut(text, cursor, width());
      const status = options.status();
      const height = options.rows();
      const below = hints.slice(0, Math.min(maxHintRows, Math.max(0, height - 4)));
      const above = status === "" || height < 4 ? 0 : 1;
      // A long text shows only the part around the cursor: rows above the screen cannot be redrawn.
      const room = Math.max(1, height - 1 - above - below.length);
      const first = Math.max(0, Math.min(cursorRow - (room >> 1), rows.length - room));
      return {
        rows: [
          ...(above === 1
            ? [{ text: fit(neutraliseLine(status), options.columns() - 1), isDim: true }]
            : []),
          ...marked(rows.slice(first, first + room), first),
          ...below.map((hint) => ({
            text: fit(neutraliseLine(hint), options.columns() - 1),
            isDim: true,
          })),
        ],
        cursorRow: cursorRow - first + above,
        cursorColumn: mark.length + cursorColumn,
      };
    },
    final({ text }, after = "") {
      const { rows } = layOut(text, 0, width());
      if (after !== "") rows[rows.length - 1] += after;
      const more = rows.length - maxFinalRows;
      if (more <= 1) return marked(rows, 0);
      const note = { mark: continuationMark, text: `… ${more} more rows`, isDim: true };
      return [...marked(rows.slice(0, maxFinalRows), 0), note];
    },
    columnsOf(words) {
      const inert = words.map(neutraliseLine);
      const widest = Math.max(...inert.map(displayWidth)) + 2;
      const perRow = Math.max(1, Math.floor((options.columns() - 1) / widest));
      const pad = (word: string): string => word + " ".repeat(widest - displayWidth(word));
      const lines: string[] = [];
      for (let at = 0; at < inert.length; at += perRow) {
        lines.push(
          inert
            .slice(at, at + perRow)
            .map(pad)
            .join("")
            .trimEnd(),
        );
      }
      if (lines.length <= maxHintRows) return lines;
      const left = inert.length - perRow * (maxHintRows - 1);
      return [...lines.slice(0, maxHintRows - 1), `… and ${left} more`];
    },
  };
}

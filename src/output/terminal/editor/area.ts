import { displayWidth } from "../width.ts";
/** One row of the area: inert text and its style. */
export interface Row {
  /** Prefix of the text, in bold. */
  mark?: string;
  text: string;
  isDim?: boolean;
}

/** Content of the area, and the position of the cursor in it. */
export interface Picture {
  rows: Row[];
  cursorRow: number;
  cursorColumn: number;
}

export interface AreaOptions {
  /** Writes our own escape sequences and inert text. */
  write(sequence: string): void;
  columns(): number;
  hasColour: boolean;
}

/** The rows at the end of the screen that are redrawn after each key. */
export interface Area {
  show(picture: Picture): void;
  /** Erases the area; the cursor moves to its start. */
  clear(): void;
  /** Replaces the area by rows that stay on the screen. */
  leave(rows: readonly Row[]): void;
  /** Empties the screen. */
  clearScreen(): void;
}

const csi = "\u001b[";

export function createArea({ write, columns, hasColour }: AreaOptions): Area {
  // State of the screen: the width of each row, and the row of the cursor.
  let widths: number[] = [];
  let cursorRow = 0;
  const style = (code: number, text: string): string =>
    hasColour && text !== "" ? `${csi}${code}m${text}${csi}0m` : text;
  const rowText = ({ mark = "", text, isDim }: Row): string =>
    style(1, mark) + (isDim ? style(2, text) : text);
  /** Moves to the start of the area and erases it. A narrowed terminal has wrapped the rows. */
  const eraseSequence = (): string => {
    const now = columns();
    const above = widths
      .slice(0, cursorRow)
      .reduce((sum, width) => sum + Math.max(1, Math.ceil(width / now)), 0);
    return `\r${above > 0 ? `${csi}${above}A` : ""}${csi}J`;
  };
  const forget = (): void => {
    widths = [];
    cursorRow = 0;
  };
  return {
    show(picture) {
      const erase = eraseSequence();
      const { rows } = picture;
      const up = rows.length - 1 - picture.cursorRow;
      const { cursorColumn: right } = picture;
      write(
        [
          erase,
          rows.map(rowText).join("\r\n"),
          up > 0 ? `${csi}${up}A` : "",
          "\r",
          right > 0 ? `${csi}${right}C` : "",
        ].join(""),
      );
      widths = rows.map(({ mark: begin = "", text }) => displayWidth(begin + text));
      cursorRow = picture.cursorRow;
    },
    clear() {
      if (widths.length > 0) write(eraseSequence());
      forget();
    },
    leave(rows) {
      write(`${eraseSequence()}${rows.map((row) => `${rowText(row)}\r\n`).join("")}`);
      forget();
    },
    clearScreen() {
      write(`${csi}2J${csi}H`);
      forget();
    },
  };
}

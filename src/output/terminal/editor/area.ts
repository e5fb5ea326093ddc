import { displayWidth } from "../width.ts";
/** One row of the area: inert text, and how it is styled. */
export interface Row {
  /** Put before the text in bold. */
  mark?: string;
  text: string;
  isDim?: boolean;
}

/** What the area shows, and where the cursor stands in it. */
export interface Picture {
  rows: Row[];
  cursorRow: number;
  cursorColumn: number;
}

export interface AreaOptions {
  /** Takes escape sequences of our own and inert text. */
  write(sequence: string): void;
  columns(): number;
  hasColour: boolean;
}

/** The rows at the end of the screen that are drawn again with each key. */
export interface Area {
  show(picture: Picture): void;
  /** Removes it; the cursor stands where it began. */
  clear(): void;
  /** Writes rows that stay, in the place of the area. */
  leave(rows: readonly Row[]): void;
  /** Empties the screen. */
  clearScreen(): void;
}

const csi = "\u001b[";

export function createArea({ write, columns, hasColour }: AreaOptions): Area {
  // What stands on the screen: the width of each row, and the row of the cursor.
  let widths: number[] = [];
  let cursorRow = 0;
  const style = (code: number, text: string): string =>
    hasColour && text !== "" ? `${csi}${code}m${text}${csi}0m` : text;
  const rowText = ({ mark = "", text, isDim }: Row): string =>
    style(1, mark) + (isDim ? style(2, text) : text);
  /** To the beginning of the area. A terminal that became narrower has broken its rows. */
  const back = (): string => {
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
      const erase = back();
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
      if (widths.length > 0) write(back());
      forget();
    },
    leave(rows) {
      write(`${back()}${rows.map((row) => `${rowText(row)}\r\n`).join("")}`);
      forget();
    },
    clearScreen() {
      write(`${csi}2J${csi}H`);
      forget();
    },
  };
}

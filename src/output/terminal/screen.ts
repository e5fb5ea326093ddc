import type { Output } from "./output.ts";
import { erase, move, plainText, type Text } from "./text.ts";
import { displayWidth } from "./width.ts";

/** The whole terminal, drawn again and again in place: nothing flickers, as nothing is cleared first. */
export interface Screen {
  /** Lines that fit on it, with the last left for the cursor. */
  rows(): number;
  /** Shows these lines and nothing else; those that do not fit are left out. */
  draw(lines: readonly Text[]): Promise<void>;
}

/** Only where the output can redraw (see Output). What the terminal showed can be scrolled back to. */
export function createScreen(output: Output): Screen {
  let begun = false;
  const rows = (): number => Math.max(1, output.rows() - 1);
  return {
    rows,
    async draw(lines) {
      const room = begun ? "" : "\n".repeat(rows());
      begun = true;
      const width = output.columns();
      const shown = lines.slice(0, rows()).flatMap((line): Text[] => {
        // At the right edge the cursor stands on the last character, which must stay.
        const isFull = displayWidth(plainText([line])) >= width;
        return isFull ? [line, "\n"] : [line, erase("right"), "\n"];
      });
      // One write, so that no half of it is ever seen.
      await output.write(room, move("home"), ...shown, erase("below"), move("wrap"));
      await output.flush();
    },
  };
}

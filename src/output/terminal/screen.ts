import type { Output } from "./output.ts";
import { erase, move, plainText, type Text } from "./text.ts";
import { displayWidth } from "./width.ts";

/** The whole terminal, redrawn in place without clearing it first, so that it does not flicker. */
export interface Screen {
  /** Lines that fit; the last row stays free for the cursor. */
  rows(): number;
  /** Shows only these lines; drops lines that do not fit. */
  draw(lines: readonly Text[]): Promise<void>;
}

/** Requires `output.canRedraw`. Earlier content of the terminal stays in its scrollback. */
export function createScreen(output: Output): Screen {
  let isDrawn = false;
  const rows = (): number => Math.max(1, output.rows() - 1);
  return {
    rows,
    async draw(lines) {
      const room = isDrawn ? "" : "\n".repeat(rows());
      isDrawn = true;
      const width = output.columns();
      const shown = lines.slice(0, rows()).flatMap((line): Text[] => {
        // At the right edge the cursor is on the last character; erasing would delete it.
        const isFull = displayWidth(plainText([line])) >= width;
        return isFull ? [line, "\n"] : [line, erase("right"), "\n"];
      });
      // A single write, so that no partial screen is visible.
      await output.write(room, move("home"), ...shown, erase("below"), move("wrap"));
      await output.flush();
    },
  };
}

import type { PdfPiece } from "unpdf/pdfjs";
import { cleanText } from "../properties.ts";

// Lines of a paragraph stand 1.1 to 1.5 times their height apart.
const paragraphGap = 1.8;

/** Text of a page from its pieces in their order, with a blank line where there is a larger gap. */
export function pageText(pieces: readonly PdfPiece[]): string {
  let text = "";
  let lastY: number | undefined;
  let isNewLine = false;
  for (const { str = "", hasEOL, height = 0, transform } of pieces) {
    const y = transform?.[5] ?? 0;
    if (str.trim() !== "") {
      const gap = lastY === undefined ? 0 : Math.abs(lastY - y);
      if (isNewLine && height > 0 && gap > paragraphGap * height) text += "\n";
      lastY = y;
      isNewLine = false;
    }
    text += str;
    if (hasEOL) {
      text += "\n";
      isNewLine = true;
    }
  }
  return cleanText(text)
    .replace(/[ \t]+(?=\n|$)/g, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

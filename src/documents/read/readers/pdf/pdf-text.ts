import type { PdfPiece } from "unpdf/pdfjs";
import { cleanText } from "../properties.ts";

// The distance between lines of a paragraph is 1.1 to 1.5 times their height.
const paragraphGap = 1.8;

/** Joins the pieces of a page in their order, with a blank line at each larger gap. */
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

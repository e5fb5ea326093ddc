import type { PdfPiece } from "unpdf/pdfjs";
import { cleanText } from "../properties.ts";

// The distance between lines of a paragraph is 1.1 to 1.5 times their height.
const paragraphGap = 1.8;

// Both parts are words in small letters: no code, no address, no name with a hyphen.
const divided =
  /(?<=^|[\s("“‘])(\p{L}\p{Ll}{1,40})-\n(\p{Ll}{2,40})(?=[.,;:!?)"”’]{0,3}(?:$|\s))/gmu;

/** Joins words that were divided at a line end, unless the page has them with a hyphen elsewhere. */
function joinDivided(text: string): string {
  if (!text.includes("-\n")) return text;
  const compounds = new Set(text.match(/\p{L}{2,41}-\p{Ll}{2,40}/gu));
  return text.replace(divided, (_, start: string, rest: string) => {
    const compound = `${start}-${rest}`;
    return compounds.has(compound) ? compound : start + rest;
  });
}

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
  return joinDivided(cleanText(text).replace(/[ \t]+(?=\n|$)/g, ""))
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

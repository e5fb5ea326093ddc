import { codePoint } from "dingbat-to-unicode";
import { escapeHtml } from "../../page/tree.ts";
import { cleanText } from "../properties.ts";
import { attributeOf, type XmlNode } from "./archive.ts";

/** How a run looks. */
export interface Run {
  isHidden: boolean;
  isBold: boolean;
  isItalic: boolean;
  isStruck: boolean;
  isCode: boolean;
  vertical: string | undefined;
  font: string | undefined;
}

// Fonts whose characters are signs: their texts stand in the private area, or in ASCII.
const symbolFont = /^(?:symbol|webdings|wingdings(?: [23])?)$/i;

// Check boxes have signs that every font has.
const boxes: Readonly<Record<number, string>> = { 0x6f: "☐", 0xa8: "☐", 0xfd: "☒", 0xfe: "☒" };

/** A character of a font of signs; undefined for one without a sign in Unicode. */
function symbolOf(font: string, code: number): string | undefined {
  const own = code >= 0xf000 && code <= 0xf0ff ? code - 0xf000 : code;
  const box = /^wingdings$/i.test(font) ? boxes[own] : undefined;
  return box ?? codePoint(font, own)?.string;
}

/** A character of a font by its code. */
export const codeOfSymbol = (font: string, code: number): string =>
  symbolOf(font, code) ?? String.fromCharCode(code);

function withSymbols(text: string, font: string | undefined): string {
  const isSymbols = font !== undefined && symbolFont.test(font);
  if (!isSymbols && !/[\uf020-\uf0ff]/.test(text)) return text;
  return text.replace(
    isSymbols ? /[!-~\u00a1-\u00ff\uf020-\uf0ff]/g : /[\uf020-\uf0ff]/g,
    (char) => {
      return symbolOf(isSymbols ? font : "Symbol", char.charCodeAt(0)) ?? char;
    },
  );
}

/** Text as it looks in its run. */
export function runHtml(run: Run, text: string): string {
  let html = escapeHtml(cleanText(withSymbols(text, run.font)));
  if (run.isCode) html = `<code>${html}</code>`;
  if (run.vertical === "superscript") html = `<sup>${html}</sup>`;
  if (run.vertical === "subscript") html = `<sub>${html}</sub>`;
  if (run.isStruck) html = `<s>${html}</s>`;
  if (run.isItalic) html = `<i>${html}</i>`;
  return run.isBold ? `<b>${html}</b>` : html;
}

/** Joins runs that look the same: programs split them at each change of a text. */
export const joinRuns = (html: string): string =>
  html.replaceAll("</b><b>", "").replaceAll("</i><i>", "").replaceAll("</s><s>", "");

/** The alternative text of an image, without the remark of the program that wrote it. */
export const alternativeOf = (node: XmlNode): string =>
  (attributeOf(node, "descr") ?? "")
    .replace(/\s+/g, " ")
    .replace(
      / ?(?:Description automatically generated|AI-generated content may be incorrect).*$/,
      "",
    )
    // Old programs put the name of the file here.
    .replace(/^.*\.(?:png|jpe?g|gif|bmp|emf|wmf|tiff?|svg)$/i, "")
    .trim();

/** A number of columns. */
export const spanOf = (value = "1"): number =>
  /^\d{1,9}$/.test(value) ? Math.min(100, Math.max(1, Number(value))) : 1;

import { codePoint } from "dingbat-to-unicode";
import { cleanText } from "../properties.ts";
import { attributeOf, descendantsOf, valueOf, type XmlNode } from "../office/archive.ts";
import { escapeHtml } from "../../page/tree.ts";
import { isOn, memberOf, type Styles } from "./docx-styles.ts";

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

const codeStyle =
  /^(?:verbatim char|source text|html (?:code|sample|typewriter)|inline code|code)$/i;

/** Takes a property of a run: its own, or the style that it names. */
export function styleRun(styles: Styles, run: Run, property: XmlNode): void {
  const { name } = property;
  const value = valueOf(property);
  if (name === "vanish") run.isHidden = isOn(value);
  else if (name === "b") run.isBold = isOn(value);
  else if (name === "i") run.isItalic = isOn(value);
  else if (name === "strike" || name === "dstrike") run.isStruck = isOn(value);
  else if (name === "vertAlign") run.vertical = value;
  else if (name === "rFonts") {
    run.font = attributeOf(property, "ascii") ?? attributeOf(property, "hAnsi");
  } else if (name === "rStyle") {
    run.isHidden ||= memberOf(styles, value, "isHidden") === true;
    run.isBold ||= memberOf(styles, value, "isBold") === true;
    run.isItalic ||= memberOf(styles, value, "isItalic") === true;
    run.isCode ||= codeStyle.test(memberOf(styles, value, "name") ?? "");
  }
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
  return text.replace(isSymbols ? /[!-~\uf020-\uf0ff]/g : /[\uf020-\uf0ff]/g, (char) => {
    return symbolOf(isSymbols ? font : "Symbol", char.charCodeAt(0)) ?? char;
  });
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

/** The address in the instruction of a field; undefined for a field that is no link. */
export function fieldLink(instruction: string): string | undefined {
  const [, href, anchor] =
    /^\s*HYPERLINK\s+"([^"]+)"(?:\s+\\l\s+"([^"]*)")?/i.exec(instruction) ?? [];
  return href === undefined || anchor === undefined ? href : `${href}#${anchor}`;
}

/** The state of the check box that a field begins with; undefined for other fields. */
export function checkBoxIn(node: XmlNode): boolean | undefined {
  let checkBox: boolean | undefined;
  for (const each of descendantsOf(node)) {
    if (each.name === "checkBox") checkBox = false;
    const isState = each.name === "default" || each.name === "checked";
    if (isState && checkBox !== undefined) checkBox = isOn(valueOf(each));
  }
  return checkBox;
}

/** The alternative text of an image, without the remark of the program that wrote it. */
export const alternativeOf = (node: XmlNode): string =>
  (attributeOf(node, "descr") ?? "")
    .replace(/\s+/g, " ")
    .replace(
      / ?(?:Description automatically generated|AI-generated content may be incorrect).*$/,
      "",
    )
    .trim();

/** A number of columns. */
export const spanOf = (value = "1"): number =>
  /^\d{1,9}$/.test(value) ? Math.min(100, Math.max(1, Number(value))) : 1;

/** ECMA-376 part 1, 17.4.55: 0x20 stands for the first row. */
export function marksFirstRow(look: XmlNode | undefined): boolean {
  const first = look && attributeOf(look, "firstRow");
  if (first !== undefined) return /^(?:1|true|on)$/.test(first);
  return (parseInt((look && valueOf(look)) ?? "0", 16) & 0x20) !== 0;
}

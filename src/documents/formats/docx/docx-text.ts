import { codePoint } from "dingbat-to-unicode";
import { destination } from "../../page/pieces.ts";
import { escapeHtml } from "./docx-math.ts";
import { memberOf } from "./docx-styles.ts";
import type { Parts, Run, Walk } from "./docx-walk.ts";
import { cleanText } from "../properties.ts";

const mostAddressChars = 16 * 1024 * 1024;

export function openParagraph(walk: Walk): void {
  const outer = walk.paragraphs.at(-1);
  walk.paragraphs.push({
    html: "",
    styleId: undefined,
    heading: undefined,
    numId: undefined,
    depth: undefined,
    run: undefined,
    isHidden: outer !== undefined && (outer.isHidden || outer.run?.isHidden === true),
    hasLink: false,
  });
}

/** A run is hidden if the style of its paragraph is, unless its own properties change this. */
export function openRun({ paragraphs, parts }: Walk): void {
  const paragraph = paragraphs.at(-1);
  if (!paragraph) return;
  paragraph.run = {
    isHidden: memberOf(parts.styles, paragraph.styleId, "isHidden") === true,
    isBold: false,
    isItalic: false,
    isStruck: false,
    isCode: false,
    vertical: undefined,
    font: undefined,
  };
}

const codeStyle =
  /^(?:verbatim char|source text|html (?:code|sample|typewriter)|inline code|code)$/i;

/** What a character style means for its run. */
export function styleRun({ styles }: Parts, run: Run, id: string | undefined): void {
  run.isHidden ||= memberOf(styles, id, "isHidden") === true;
  run.isBold ||= memberOf(styles, id, "isBold") === true;
  run.isItalic ||= memberOf(styles, id, "isItalic") === true;
  run.isCode ||= codeStyle.test(memberOf(styles, id, "name") ?? "");
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

function withSymbols(text: string, font: string | undefined): string {
  const isSymbols = font !== undefined && symbolFont.test(font);
  if (!isSymbols && !/[\uf020-\uf0ff]/.test(text)) return text;
  return text.replace(isSymbols ? /[!-~\uf020-\uf0ff]/g : /[\uf020-\uf0ff]/g, (char) => {
    return symbolOf(isSymbols ? font : "Symbol", char.charCodeAt(0)) ?? char;
  });
}

/** Whether a text is shown where the walk is: not in hidden text, nor in the code of a field. */
function isShown(walk: Walk): boolean {
  const paragraph = walk.paragraphs.at(-1);
  return (
    paragraph?.run?.isHidden === false &&
    !paragraph.isHidden &&
    walk.fields.every((field) => field.isShown)
  );
}

/** Adds HTML to the open paragraph, unless it is hidden. */
export function addHtml(walk: Walk, html: string): void {
  const paragraph = walk.paragraphs.at(-1);
  if (paragraph && isShown(walk)) paragraph.html += html;
}

/** Adds text to the open paragraph, unless it is hidden. */
export function addText(walk: Walk, text: string): void {
  const paragraph = walk.paragraphs.at(-1);
  if (!paragraph?.run) return;
  const { run } = paragraph;
  if ((run.isHidden || paragraph.isHidden) && text.trim() !== "") walk.unseen++;
  let html = escapeHtml(cleanText(withSymbols(text, run.font)));
  if (run.isCode) html = `<code>${html}</code>`;
  if (run.vertical === "superscript") html = `<sup>${html}</sup>`;
  if (run.vertical === "subscript") html = `<sub>${html}</sub>`;
  if (run.isStruck) html = `<s>${html}</s>`;
  if (run.isItalic) html = `<i>${html}</i>`;
  if (run.isBold) html = `<b>${html}</b>`;
  addHtml(walk, html);
}

/** Adds the number of a note. Notes are numbered by their first reference. */
export function addReference(walk: Walk, note: string): void {
  if (!isShown(walk)) return;
  const number = walk.notes.get(note) ?? walk.notes.size + 1;
  walk.notes.set(note, number);
  addHtml(walk, `<sup data-note="${number}"></sup>`);
}

/** Begins a link. A link within a link is text. */
export function openLink(walk: Walk, href: string | undefined): boolean {
  const paragraph = walk.paragraphs.at(-1);
  const to = destination(href);
  if (!paragraph || paragraph.hasLink || href === undefined || to === undefined) return false;
  walk.addressChars += to.length;
  if (walk.addressChars > mostAddressChars) return false;
  paragraph.hasLink = true;
  paragraph.html += `<a href="${escapeHtml(href).replaceAll('"', "&quot;")}">`;
  return true;
}

export function closeLink({ paragraphs }: Walk): void {
  const paragraph = paragraphs.at(-1);
  if (!paragraph?.hasLink) return;
  paragraph.hasLink = false;
  paragraph.html += "</a>";
}

/** The address in the instruction of a field; undefined for a field that is no link. */
export function fieldLink(instruction: string): string | undefined {
  const [, href, anchor] =
    /^\s*HYPERLINK\s+"([^"]+)"(?:\s+\\l\s+"([^"]*)")?/i.exec(instruction) ?? [];
  return href === undefined || anchor === undefined ? href : `${href}#${anchor}`;
}

/** Handles a mark of a field. */
export function markField(walk: Walk, type: string | undefined): void {
  const field = walk.fields.at(-1);
  if (type === "begin") {
    const none = { instruction: "", isLink: false, checkBox: undefined };
    walk.fields.push({ ...none, isShown: false });
  } else if (type === "separate" && field) {
    field.isShown = true;
    field.isLink = openLink(walk, fieldLink(field.instruction));
  } else if (type === "end" && field) {
    walk.fields.pop();
    if (field.isLink) closeLink(walk);
    if (field.checkBox === undefined) return;
    addHtml(walk, `<input type="checkbox"${field.checkBox ? " checked" : ""}>`);
  }
}

/** Adds a character of a font of signs, by its code. */
export function addSymbol(walk: Walk, attributeOf: (name: string) => string | undefined): void {
  const code = parseInt(attributeOf("char") ?? "", 16);
  if (Number.isInteger(code) && code <= 0xffff) {
    const font = attributeOf("font") ?? "";
    addText(walk, symbolOf(font, code) ?? String.fromCharCode(code));
  }
}

/** Adds the alternative text of an image, without the remark of the program that wrote it. */
export function addAlternative(walk: Walk, text: string): void {
  const words = text
    .replace(/\s+/g, " ")
    .replace(
      / ?(?:Description automatically generated|AI-generated content may be incorrect).*$/,
      "",
    )
    .trim();
  if (words !== "") addText(walk, ` ${words} `);
}

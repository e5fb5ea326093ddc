import { escapeHtml } from "./docx-math.ts";
import { countItem, levelOfStyle } from "./docx-numbering.ts";
import { headingLevel, memberOf } from "./docx-styles.ts";
import { closeLink } from "./docx-text.ts";
import type { Container, Item, Paragraph, Walk } from "./docx-walk.ts";

/** A label that a list of HTML can show. */
const isNumber = (label: string): boolean => /^\d{1,9}[.)]?$/.test(label);

/** Items as nested lists: labels other than numbers are text. */
function listHtml(items: readonly Item[]): string {
  const open: { depth: number; tag: string }[] = [];
  let html = "";
  const close = (): void => {
    html += `</li></${open.pop()?.tag}>`;
  };
  for (const { depth, label, html: inner } of items) {
    const tag = isNumber(label) ? "ol" : "ul";
    for (let last = open.at(-1); last; last = open.at(-1)) {
      if (last.depth < depth || (last.depth === depth && last.tag === tag)) break;
      close();
    }
    if (open.at(-1)?.depth === depth) html += "</li>";
    else {
      html += `<${tag}>`;
      open.push({ depth, tag });
    }
    const isText = label !== "" && tag === "ul";
    html += tag === "ol" ? `<li value="${parseInt(label, 10)}">` : "<li>";
    html += `${isText ? `${escapeHtml(label)} ` : ""}${inner}`;
  }
  while (open.length > 0) close();
  return html;
}

function flush(container: Container): void {
  if (container.items.length > 0) container.html.push(listHtml(container.items.splice(0)));
  const code = container.code.splice(0);
  if (code.length > 0) container.html.push(`<pre>${code.join("\n")}</pre>`);
}

export function addBlock({ containers }: Walk, html: string): void {
  const container = containers.at(-1);
  if (!container) return;
  flush(container);
  container.html.push(html);
}

export function htmlOf(container: Container | undefined): string {
  if (!container) return "";
  flush(container);
  return container.html.join("");
}

/** Level of a heading, from 1; undefined or 0 for none. */
const levelOf = ({ parts }: Walk, { heading, styleId }: Paragraph): number | undefined =>
  heading ?? headingLevel(parts.styles, styleId);

/** The list and the level of a paragraph, from its properties or its style. */
function listOf({ parts }: Walk, { numId, depth, styleId }: Paragraph) {
  const { styles, numbering } = parts;
  const id = numId ?? memberOf(styles, styleId, "numId");
  if (id === undefined || id === "0") return undefined;
  const ofStyle = memberOf(styles, styleId, "depth") ?? levelOfStyle(numbering, id, styleId);
  return { id, depth: depth ?? (numId === undefined ? ofStyle : 0) ?? 0 };
}

const preStyle = /^(?:source code|html preformatted|preformatted text|plain text)$/i;
const quoteStyle = /^(?:quote|intense quote|block text|quotations)$/i;
// An author who writes a mark of an ignore region in an office program wants one.
const ignoreMark = /&lt;!--[ \t]*(\/?)knowctl:ignore[ \t]*--&gt;/g;
const isBlank = (html: string): boolean =>
  html.replace(/<(?!input|sup data|math|!--)[^>]*>/g, "").trim() === "";

export function closeParagraph(walk: Walk): void {
  closeLink(walk);
  const paragraph = walk.paragraphs.pop();
  const container = walk.containers.at(-1);
  if (!paragraph || !container) return;
  const html = paragraph.html.replace(ignoreMark, "<!-- $1knowctl:ignore -->");
  const style = memberOf(walk.parts.styles, paragraph.styleId, "name") ?? "";
  if (preStyle.test(style) && !isBlank(html)) {
    if (container.items.length > 0) flush(container);
    container.code.push(html);
    return;
  }
  if (isBlank(html)) return;
  const level = levelOf(walk, paragraph);
  const list = listOf(walk, paragraph);
  const label = list ? countItem(walk.parts.numbering, walk.counts, list.id, list.depth) : "";
  if (level) {
    walk.levels.push(level);
    const tag = `h${Math.min(6, level)}`;
    addBlock(walk, `<${tag}>${label === "" ? "" : `${escapeHtml(label)} `}${html}</${tag}>`);
  } else if (list) {
    if (container.code.length > 0) flush(container);
    container.items.push({ depth: list.depth, label, html });
  } else if (quoteStyle.test(style)) addBlock(walk, `<blockquote>${html}</blockquote>`);
  else addBlock(walk, `<p>${html}</p>`);
}

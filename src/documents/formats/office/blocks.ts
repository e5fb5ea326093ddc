import { escapeHtml } from "../../page/tree.ts";

/** An item of a list; a label other than a number is text. */
interface Item {
  depth: number;
  label: string;
  html: string;
}

/** What holds paragraphs: the body, a cell, a note. Items and lines of code wait for the next ones. */
export interface Container {
  html: string[];
  items: Item[];
  code: string[];
}

export const createContainer = (): Container => ({ html: [], items: [], code: [] });

/** A label that a list of HTML can show. */
export const isNumber = (label: string): boolean => /^\d{1,9}[.)]?$/.test(label);

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

/** Ends the open list or code. */
export function flush(container: Container): void {
  if (container.items.length > 0) container.html.push(listHtml(container.items.splice(0)));
  const code = container.code.splice(0);
  if (code.length > 0) container.html.push(`<pre>${code.join("\n")}</pre>`);
}

export function addBlock(container: Container, html: string): void {
  flush(container);
  container.html.push(html);
}

// An author who writes a mark of an ignore region in an office program wants one.
export const withIgnoreMarks = (html: string): string =>
  html.replace(/&lt;!--[ \t]*(\/?)knowctl:ignore[ \t]*--&gt;/g, "<!-- $1knowctl:ignore -->");

/** Whether a paragraph shows nothing. */
export const isBlank = (html: string): boolean =>
  html.replace(/<(?!input|sup data|math|!--)[^>]*>/g, "").trim() === "";

/** A cell of a table over a number of columns and rows. */
export function cellHtml(tag: "td" | "th", html: string, columns = 1, rows = 1): string {
  const spans = `${columns > 1 ? ` colspan="${columns}"` : ""}${rows > 1 ? ` rowspan="${rows}"` : ""}`;
  return `<${tag}${spans}>${html}</${tag}>`;
}

export function htmlOf(container: Container): string {
  flush(container);
  return container.html.join("");
}

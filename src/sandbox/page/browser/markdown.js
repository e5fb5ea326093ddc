// Shows the Markdown of an answer as elements: paragraphs, lists, headings, code, bold, citations.
import { element, outerLink, visible } from "./dom.js";

const inlinePattern =
  /`([^`\n]+)`|\*\*(.+?)\*\*|\[\[(\d+)\]\]\((?:[^()\n]|\([^()\n]*\))*\)|\[([^[\]\n]+)\]\((https?:\/\/[^()\s]+)\)/;

/**
 * @param {string} text
 * @param {(number: number) => Node} cite makes the mark of a citation
 * @returns {Node[]}
 */
function inline(text, cite) {
  /** @type {Node[]} */
  const nodes = [];
  let rest = text;
  for (let match = inlinePattern.exec(rest); match; match = inlinePattern.exec(rest)) {
    const [whole, code, bold, number, label, address] = match;
    if (match.index > 0) nodes.push(new Text(visible(rest.slice(0, match.index))));
    if (code !== undefined) nodes.push(element("code", {}, code));
    else if (bold !== undefined) nodes.push(element("strong", {}, ...inline(bold, cite)));
    else if (number !== undefined) nodes.push(cite(Number(number)));
    else if (address !== undefined) nodes.push(outerLink(address, label));
    rest = rest.slice(match.index + whole.length);
  }
  if (rest !== "") nodes.push(new Text(visible(rest)));
  return nodes;
}

const fence = /^ {0,3}(?:```|~~~)/;
const heading = /^ {0,3}#{1,6}\s+(.*)$/;
const item = /^\s*(?:([-*+])|(\d{1,4})[.)])\s+(.*)$/;

/**
 * Groups lines into blocks. Items of a list join; nested lists become flat.
 * @param {string} text
 */
function blocksOf(text) {
  /** @type {{ kind: "code" | "heading" | "ul" | "ol" | "text", lines: string[], start?: number }[]} */
  const blocks = [];
  let isOpen = false;
  let isCode = false;
  for (const line of text.split("\n")) {
    const last = blocks.at(-1);
    const [, bullet, number, words = ""] = item.exec(line) ?? [];
    if (fence.test(line)) {
      isCode = !isCode;
      if (isCode) blocks.push({ kind: "code", lines: [] });
      isOpen = false;
    } else if (isCode) {
      last?.lines.push(line);
    } else if (line.trim() === "") {
      isOpen = false;
    } else if (heading.test(line)) {
      blocks.push({ kind: "heading", lines: [heading.exec(line)?.[1] ?? ""] });
      isOpen = false;
    } else if (bullet !== undefined || number !== undefined) {
      const kind = bullet === undefined ? "ol" : "ul";
      if (last?.kind === kind) last.lines.push(words);
      else blocks.push({ kind, lines: [words], ...(number ? { start: Number(number) } : {}) });
      isOpen = true;
    } else if (isOpen && last) {
      last.lines[last.lines.length - 1] += `\n${line.trim()}`;
    } else {
      blocks.push({ kind: "text", lines: [line] });
      isOpen = true;
    }
  }
  return blocks;
}

/**
 * @param {string} text
 * @param {(number: number) => Node} cite
 * @returns {HTMLElement[]}
 */
export function markdown(text, cite) {
  return blocksOf(text).map(({ kind, lines, start }) => {
    if (kind === "code")
      return element("pre", { tabindex: 0 }, element("code", {}, lines.join("\n")));
    if (kind === "ul" || kind === "ol") {
      const items = lines.map((line) => element("li", { dir: "auto" }, ...inline(line, cite)));
      return element(kind, { start: kind === "ol" ? start : undefined }, ...items);
    }
    const words = inline(lines.join("\n"), cite);
    if (kind === "heading") return element("p", { dir: "auto" }, element("strong", {}, ...words));
    return element("p", { dir: "auto" }, ...words);
  });
}

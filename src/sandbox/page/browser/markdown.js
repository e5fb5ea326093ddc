// Shows the Markdown of an answer as elements: paragraphs, lists, headings, code, bold, citations.
import { element, outerLink } from "./dom.js";

const inlinePattern =
  /`([^`\n]+)`|\*\*(.+?)\*\*|\[\[(\d+)\]\]\((?:[^()\n]|\([^()\n]*\))*\)|\[([^[\]\n]+)\]\((https?:\/\/[^()\s]+)\)/;

function inline(text, cite) {
  const nodes = [];
  let rest = text;
  for (let match = inlinePattern.exec(rest); match; match = inlinePattern.exec(rest)) {
    const [whole, code, bold, number, label, address] = match;
    nodes.push(rest.slice(0, match.index));
    if (code !== undefined) nodes.push(element("code", {}, code));
    else if (bold !== undefined) nodes.push(element("strong", {}, ...inline(bold, cite)));
    else if (number !== undefined) nodes.push(cite(Number(number)));
    else nodes.push(outerLink(address, label));
    rest = rest.slice(match.index + whole.length);
  }
  return [...nodes, rest];
}

/** The kind of a line, its words, and the number of a list item. */
function lineKind(line) {
  const [, heading] = /^ {0,3}#{1,6}\s+(.*)$/.exec(line) ?? [];
  if (heading !== undefined) return { kind: "heading", words: heading };
  const [, bullet, number, words] = /^\s*(?:([-*+])|(\d{1,4})[.)])\s+(.*)$/.exec(line) ?? [];
  if (words === undefined) return { kind: "p", words: line };
  return { kind: bullet === undefined ? "ol" : "ul", words, start: number };
}

/** Groups lines into blocks. Items of a list join; nested lists become flat. */
function blocksOf(text) {
  const blocks = [];
  let open;
  let code;
  for (const line of text.split("\n")) {
    if (/^ {0,3}(?:```|~~~)/.test(line)) {
      if (!code) blocks.push((code = { kind: "pre", lines: [] }));
      else code = undefined;
      open = undefined;
    } else if (code) code.lines.push(line);
    else if (line.trim() === "") open = undefined;
    else {
      const { kind, words, start } = lineKind(line);
      const last = blocks.at(-1);
      if (kind === "p" && open) open.lines[open.lines.length - 1] += `\n${line.trim()}`;
      else if (kind.endsWith("l") && last?.kind === kind) (open = last).lines.push(words);
      else blocks.push((open = { kind, start, lines: [words] }));
      if (kind === "heading") open = undefined;
    }
  }
  return blocks;
}

/** The elements of a text; `cite` makes the mark of a citation from its number. */
export function markdown(text, cite) {
  return blocksOf(text).map(({ kind, lines, start }) => {
    if (kind === "pre") {
      return element("pre", { tabindex: 0 }, element("code", {}, lines.join("\n")));
    }
    if (kind.endsWith("l")) {
      const items = lines.map((line) => element("li", { dir: "auto" }, ...inline(line, cite)));
      return element(kind, { start }, ...items);
    }
    const words = inline(lines.join("\n"), cite);
    const content = kind === "heading" ? [element("strong", {}, ...words)] : words;
    return element("p", { dir: "auto" }, ...content);
  });
}

// Compares the words of a document with those that other readers found in its file.
import { decodeHTML } from "entities";

/** A document is flagged where more than this share of its words is missing or added. */
export const tolerated = 0.01;

/** How often each word occurs. A word is a run of letters, digits and their marks, in lower case. */
export function countWords(text) {
  const counts = new Map();
  for (const [word] of text
    .normalize("NFKC")
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

export const sumOf = (counts) => [...counts.values()].reduce((sum, count) => sum + count, 0);

/** Adds the words of a text that `counts` has less often. */
function raise(counts, text) {
  for (const [word, count] of countWords(text)) {
    counts.set(word, Math.max(count, counts.get(word) ?? 0));
  }
}

/** Prose of Markdown as a page shows it: without marks, targets of links and numbers of items. */
const shownProse = (prose) =>
  decodeHTML(
    prose
      .replace(/^[ \t]*\[[^\]^\n]+\]:[ \t]+\S+.*$/gm, "")
      .replace(/\]\((?:[^()\\\n]|\\.|\((?:[^()\\\n]|\\.)*\))*\)/g, "")
      .replace(/\[\^[^\]\n]+\]:?/g, " ")
      .replace(/^[ \t>]*(?:[-*+][ \t]+)*\d+[.)](?=[ \t])/gm, " ")
      .replace(/^([ \t>]*[-*+][ \t]+)\[[xX]\]/gm, "$1")
      .replace(/(?<!\\)<\/?[a-z][^<>]{0,2000}>/gi, "")
      .replace(/\\(?=[!-/:-@[-`{-~])/g, ""),
  ).replace(/[[*]|~~/g, "");

const fence = /^([ \t>]*(?:[-*+] |\d+\. )?(`{3,}(?!.*`)|~{3,}).*\n[^]*?^[ \t>]*\2[`~]*[ \t]*)$/m;
// Code ends with its paragraph.
const span = /(?<![\\`])((`+)(?!`)(?:(?!\n[ \t>]*\n)[^])*?[^`]\2(?!`))/;

/** Tables without the cells that repeat the one before or above: a page shows one that spans them. */
function withoutRepeats(markdown) {
  let above = [];
  const shown = markdown.split("\n").map((line) => {
    const cells = /^[ \t>]*\|/.test(line) ? line.split(/(?<!\\)\|/) : [];
    const isRepeated = (cell, at) => cell === cells[at - 1] || cell === above[at];
    const kept = cells.map((cell, at) => (isRepeated(cell, at) ? "" : cell)).join("|");
    if (!/^[ \t>|:-]+$/.test(line)) above = cells;
    return cells.length > 0 ? kept : line;
  });
  return shown.join("\n");
}

/** Markdown as a page shows it; of code its text, without the name of its language. */
function shownText(markdown) {
  // split() gives prose, code, marks, prose, …
  const parts = (text, pattern, ofProse, ofCode) =>
    text.split(pattern).map((part, at) => [ofProse, ofCode, () => ""][at % 3](part));
  const ofProse = (text) =>
    parts(text, span, shownProse, (code) => code.replaceAll("`", "")).join("");
  return parts(withoutRepeats(markdown), fence, ofProse, (code) => code.replace(/^.*/, "")).join(
    "",
  );
}

/**
 * The words that a document of the service's format sends: `least` those that a page shows of it,
 * `most` with all that may be words of the page, e.g. the title and parts that marks divide.
 */
export function sentWords({ title, semantic_identifier: name, sections }) {
  const text = sections.map((section) => section.text ?? "").join("\n\n");
  // A section that has headings of its own begins with them and those above them.
  const own = sections.map(({ text: all = "", link }) =>
    link?.includes("#") || all.startsWith(`${title} > `)
      ? all.replace(/^.+(?:\n.+)*/, (head) => head.replace(/^.* > /gm, ""))
      : all,
  );
  const least = countWords(shownText(own.join("\n\n")));
  const most = new Map(least);
  for (const each of [text, text.replace(/\[|\]\([^()\s]*\)/g, ""), `${title}\n${name}`]) {
    raise(most, each);
  }
  return { least, most };
}

/**
 * `lost`: words that two of the pages have and the document lacks. `added`: words that the document
 * has and no page. Each with how often; the shares are of the words of page and document.
 */
export function judge({ least, most }, pages) {
  const lost = new Map();
  let words = 0;
  for (const word of new Set(pages.flatMap((page) => [...page.keys()]))) {
    const [, agreed] = pages.map((page) => page.get(word) ?? 0).sort((a, b) => b - a);
    words += agreed;
    const missing = agreed - (most.get(word) ?? 0);
    if (missing > 0) lost.set(word, missing);
  }
  const added = new Map();
  for (const [word, count] of least) {
    const more = count - Math.max(...pages.map((page) => page.get(word) ?? 0));
    if (more > 0) added.set(word, more);
  }
  const shares = [sumOf(lost) / Math.max(1, words), sumOf(added) / Math.max(1, sumOf(least))];
  return { words, sent: sumOf(least), lost, added, isFlagged: Math.max(...shares) > tolerated };
}

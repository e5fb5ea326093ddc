/** Texts cut for ranking and quoting. Pure. */

export interface Passage {
  /** The nearest heading above, without its marks; "" for none. */
  heading: string;
  text: string;
}

const aimedLength = 1_200;
const maxLength = 2_400;

/** Words of scripts without spaces would be one token; each character becomes one. */
const spaceless = /[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]/gu;

/** Text as the full-text index takes it. A question may hold NUL, which ends a text in SQLite. */
export function indexText(text: string): string {
  return text.replaceAll("\0", " ").replace(spaceless, " $& ");
}

/**
 * Cuts a section at headings and blank lines into passages of about 1,200
 * characters; a longer paragraph is cut at a space.
 */
export function splitPassages(text: string): Passage[] {
  const passages: Passage[] = [];
  let heading = "";
  let current = "";
  const finish = (): void => {
    if (current.trim() !== "") passages.push({ heading, text: current.trim() });
    current = "";
  };
  for (const block of text.split(/\r?\n[ \t]*\r?\n|(?=^#{1,6}[ \t])/m)) {
    const title = /^#{1,6}[ \t]+(.+?)[ \t#]*(?:\r?\n|$)/.exec(block);
    if (title) {
      finish();
      heading = title[1]!;
    }
    if (current.length + block.length > aimedLength) finish();
    let rest = block;
    while (rest.length > maxLength) {
      const space = rest.lastIndexOf(" ", maxLength);
      const end = space > maxLength / 2 ? space : maxLength;
      current = rest.slice(0, end);
      finish();
      rest = rest.slice(end);
    }
    current += current === "" ? rest : `\n\n${rest}`;
  }
  finish();
  return passages;
}

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });

/** A line of Markdown as plain words: marks off, links as their text. */
function plainLine(line: string): string {
  return line
    .replace(/^\s*(?:#{1,6}\s+|[-*+]\s+(?:\[[ x]\]\s+)?|\d{1,3}[.)]\s+|>\s?)+/i, "")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/(\*\*|__)(.+?)\1/g, "$2")
    .replace(/\s+/g, " ")
    .trim();
}

/** The sentences of a passage, for quoting; at most 400 characters each. */
export function sentencesOf(text: string): string[] {
  const paragraphs: string[] = [];
  let open = false;
  let inCode = false;
  for (const line of text.split("\n")) {
    if (/^\s*(?:```|~~~)/.test(line)) {
      inCode = !inCode;
      open = false;
      continue;
    }
    const plain = inCode ? line.trim() : plainLine(line);
    // Headings, rules, table borders and comments are no sentences.
    const heading = !inCode && /^\s*#{1,6}\s/.test(line);
    const noise = heading || plain === "" || /^(?:[|:\-\s=*_]+$|<!--)/.test(plain);
    const startsNew = /^\s*(?:[-*+]\s|\d{1,3}[.)]\s|\||>)/.test(line);
    if (!noise && open && !startsNew) paragraphs[paragraphs.length - 1] += ` ${plain}`;
    else if (!noise) paragraphs.push(plain);
    // Table rows and lines of code stand for themselves.
    open = !noise && !inCode && !/^\s*\|/.test(line);
  }
  const found: string[] = [];
  for (const paragraph of paragraphs) {
    for (const { segment } of sentences.segment(paragraph)) {
      const sentence = segment.trim();
      if (sentence === "") continue;
      found.push(sentence.length > 400 ? `${sentence.slice(0, 399).trimEnd()}…` : sentence);
    }
  }
  return found;
}

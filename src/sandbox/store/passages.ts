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

interface Block {
  text: string;
  /** Without its marks; undefined where the block does not begin with a heading. */
  heading: string | undefined;
  /** Whether it continues a block of code. */
  inCode: boolean;
}

const fence = /^ {0,3}(?:```|~~~)/;

/** Texts between blank lines; a heading begins one too. A line of code is no heading. */
function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  let inCode = false;
  for (const line of text.split(/\r?\n/)) {
    const heading = inCode ? undefined : /^#{1,6}[ \t]+(.+?)[ \t#]*$/.exec(line)?.[1];
    if (heading !== undefined || line.trim() === "") open = undefined;
    if (line.trim() === "") continue;
    if (open) open.text += `\n${line}`;
    else blocks.push((open = { text: line, heading, inCode }));
    if (fence.test(line)) inCode = !inCode;
  }
  return blocks;
}

/**
 * The title that a section begins with: its first lines, where others follow.
 * Uploaded sections name their place like this: `Holidays > Annual leave`.
 */
function titleOf([first, second]: readonly Block[]): string | undefined {
  if (!first || !second || first.heading !== undefined || first.text.length > 300) return undefined;
  const lines = first.text.split("\n");
  const isTitle = (line: string): boolean => !/^\s*(?:[-*+|>`~<]|\d+[.)])|[.!?:;,]\s*$/.test(line);
  return lines.every(isTitle) ? lines.at(-1)?.trim() : undefined;
}

/**
 * Cuts a section at headings and blank lines into passages of about 1,200
 * characters; a longer paragraph is cut at a space. A passage that begins
 * inside a block of code gets a fence of its own.
 */
export function splitPassages(text: string): Passage[] {
  const passages: Passage[] = [];
  const blocks = blocksOf(text);
  let heading = titleOf(blocks) ?? "";
  let current = "";
  const finish = (): void => {
    if (current.trim() !== "") passages.push({ heading, text: current.trim() });
    current = "";
  };
  for (const block of blocks) {
    if (block.heading !== undefined) {
      finish();
      heading = block.heading;
    }
    if (current.length + block.text.length > aimedLength) finish();
    const opening = block.inCode && current === "" ? "```\n" : "";
    let rest = block.text;
    while (rest.length > maxLength) {
      const space = rest.lastIndexOf(" ", maxLength);
      const end = space > maxLength / 2 ? space : maxLength;
      current = rest.slice(0, end);
      finish();
      rest = rest.slice(end);
    }
    current += current === "" ? `${opening}${rest}` : `\n\n${rest}`;
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

/** The paragraphs, list items and table rows of a passage; no headings and no code. */
function paragraphsOf(text: string): string[] {
  const paragraphs: string[] = [];
  let open = false;
  let inCode = false;
  for (const line of text.split("\n")) {
    const isFence = fence.test(line.trimStart());
    if (isFence) inCode = !inCode;
    if (isFence || inCode) {
      open = false;
      continue;
    }
    const plain = plainLine(line);
    // Headings, rules, table borders and comments are no sentences.
    const noise =
      /^\s*#{1,6}\s/.test(line) || plain === "" || /^(?:[|:\-\s=*_]+$|<!--)/.test(plain);
    const startsNew = /^\s*(?:[-*+]\s|\d{1,3}[.)]\s|\||>)/.test(line);
    if (!noise && open && !startsNew) paragraphs[paragraphs.length - 1] += ` ${plain}`;
    else if (!noise) paragraphs.push(plain);
    // Table rows stand for themselves.
    open = !noise && !/^\s*\|/.test(line);
  }
  return paragraphs;
}

/**
 * The sentences of a passage, for quoting; at most 400 characters each. A title
 * in front of the passage is none: it is named by the source already.
 */
export function sentencesOf({ heading, text }: Passage): string[] {
  const first = text.split("\n\n", 1)[0] ?? "";
  const hasTitle = heading !== "" && first.split("\n").at(-1)?.trim() === heading;
  const found: string[] = [];
  for (const paragraph of paragraphsOf(hasTitle ? text.slice(first.length) : text)) {
    for (const { segment } of sentences.segment(paragraph)) {
      const sentence = segment.trim();
      if (sentence === "") continue;
      found.push(sentence.length > 400 ? `${sentence.slice(0, 399).trimEnd()}…` : sentence);
    }
  }
  return found;
}

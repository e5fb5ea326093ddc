/** Splits texts for ranking and quoting. Pure. */

export interface Passage {
  /** The nearest heading above, without `#` marks; "" without a heading. */
  heading: string;
  text: string;
  /** It begins with a fence of its own, which the section has not. */
  isFenced?: boolean;
  /** It continues a paragraph that was cut within a word. */
  isCut?: boolean;
}

const targetLength = 1_200;
const maxLength = 2_400;

/** Scripts without spaces: a sentence would be one token, so each character becomes a token. */
const spaceless = /[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]/gu;

/** Prepares text for the full-text index. Removes NUL, which ends a text in SQLite. */
export function indexText(text: string): string {
  return text.replaceAll("\0", " ").replace(spaceless, " $& ");
}

interface Block {
  text: string;
  /** The heading without `#` marks; undefined if the block does not begin with a heading. */
  heading: string | undefined;
  /** Whether it continues a code block. */
  inCode: boolean;
}

const fence = /^ {0,3}(?:```|~~~)/;

/** The fence before a passage that begins inside a code block. */
export const opening = "```\n";

/** Splits text at blank lines and before headings. A line of code is no heading. */
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
 * The title at the beginning of a section: its first lines, if other lines follow.
 * Uploaded sections begin with their position: `Holidays > Annual leave`.
 */
function titleOf([first, second]: readonly Block[]): string | undefined {
  if (!first || !second || first.heading !== undefined || first.text.length > 300) return undefined;
  const lines = first.text.split("\n");
  // A position may end in a question: `Bikes > How often?`
  const isTitle = (line: string): boolean =>
    /\S > \S.*\?\s*$/.test(line) || !/^\s*(?:[-*+|>`~<]|\d+[.)])|[.!?:;,]\s*$/.test(line);
  return lines.every(isTitle) ? lines.at(-1)?.trim() : undefined;
}

/**
 * Splits a section at headings and blank lines into passages of about 1,200
 * characters, and a longer paragraph at a space. A passage that begins inside a
 * code block starts with its own fence.
 */
export function splitPassages(text: string): Passage[] {
  const passages: Passage[] = [];
  const blocks = blocksOf(text);
  let heading = titleOf(blocks) ?? "";
  let current = "";
  let marks: Pick<Passage, "isFenced" | "isCut"> = {};
  const finish = (): void => {
    if (current.trim() !== "") passages.push({ heading, text: current.trim(), ...marks });
    current = "";
    marks = {};
  };
  for (const block of blocks) {
    if (block.heading !== undefined) {
      finish();
      heading = block.heading;
    }
    if (current.length + block.text.length > targetLength) finish();
    const isFenced = block.inCode && current === "";
    let rest = block.text;
    while (rest.length > maxLength) {
      const space = rest.lastIndexOf(" ", maxLength);
      const most = /[\ud800-\udbff]/.test(rest[maxLength - 1] ?? "") ? maxLength - 1 : maxLength;
      const end = space > maxLength / 2 ? space : most;
      current = rest.slice(0, end);
      finish();
      rest = rest.slice(end);
      if (!/^\s/.test(rest)) marks = { isCut: true };
    }
    if (isFenced) marks = { ...marks, isFenced };
    current += current === "" ? `${isFenced ? opening : ""}${rest}` : `\n\n${rest}`;
  }
  finish();
  return passages;
}

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });

/** A line of Markdown as plain text: without marks, links replaced by their text. */
function plainLine(line: string): string {
  return line
    .replace(/^\s*(?:#{1,6}\s+|[-*+]\s+(?:\[[ x]\]\s+)?|\d{1,3}[.)]\s+|>\s?)+/i, "")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/(\*\*|__)(.+?)\1/g, "$2")
    .replace(/\s+/g, " ")
    .trim();
}

/** The paragraphs, list items and table rows of a passage, without headings and code. */
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
    // Headings, rules, table borders and comments are not sentences.
    const noise =
      /^\s*#{1,6}\s/.test(line) || plain === "" || /^(?:[|:\-\s=*_]+$|<!--)/.test(plain);
    const startsNew = /^\s*(?:[-*+]\s|\d{1,3}[.)]\s|\||>)/.test(line);
    if (!noise && open && !startsNew) paragraphs[paragraphs.length - 1] += ` ${plain}`;
    else if (!noise) paragraphs.push(plain);
    // Each table row is a paragraph.
    open = !noise && !/^\s*\|/.test(line);
  }
  return paragraphs;
}

/**
 * The sentences of a passage, for quoting; at most 400 characters each. Drops a title at
 * the beginning of the passage: the citation already names it.
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

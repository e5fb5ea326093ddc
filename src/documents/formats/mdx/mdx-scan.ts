import type { LeftOutLog } from "../../text/left-out.ts";
import type { Scope, Fuel } from "./mdx-js.ts";

/** Text written line by line, without the gaps of removed constructs. */
export interface Lines {
  done: string[];
  /** The line that is being written. */
  line: string[];
  hasText: boolean;
  /** Something was removed from this line. */
  isStripped: boolean;
  /** The text ends in a gap: a further blank line would only widen it. */
  isGap: boolean;
  /** Texts from attributes in this line: the anchor of a heading lacks them. */
  fromAttributes: string[];
  /** The anchor that the site makes of the text of a heading. */
  slugOf: (heading: string) => string;
}

export function createLines(slugOf: Lines["slugOf"]): Lines {
  const flags = { hasText: false, isStripped: false, isGap: true };
  return { done: [], line: [], ...flags, fromAttributes: [], slugOf };
}

const isBlank = (text: string): boolean => text.trim() === "";

export function write(lines: Lines, text: string): void {
  lines.line.push(text);
  lines.hasText ||= !isBlank(text);
}

/** A heading whose anchor its text does not show: with the id that the site makes of it. */
function withOwnId(line: string, { fromAttributes, slugOf }: Lines): string {
  if (fromAttributes.length === 0 || !/^ {0,3}#{1,6}[ \t]/.test(line)) return line;
  if (/\{#[^{}\s]+\}[ \t]*$/.test(line)) return line;
  const bare = fromAttributes.reduce((text, each) => text.replace(each, ""), line);
  const id = slugOf(bare.replace(/^[ #]+/, "").trim());
  return id === "" ? line : `${line} {#${id}}`;
}

/** Ends the line. A line with nothing left counts as blank. */
export function endLine(lines: Lines): void {
  const whole = lines.line.join("");
  const text = withOwnId(lines.isStripped ? whole.trimEnd() : whole, lines);
  lines.fromAttributes = [];
  if (!isBlank(text)) {
    lines.done.push(text);
    lines.isGap = false;
  } else {
    const isDouble = lines.isGap || (lines.isStripped && lines.done.at(-1) === "");
    if (!isDouble) lines.done.push("");
    lines.isGap ||= lines.isStripped;
  }
  lines.line = [];
  lines.hasText = false;
  lines.isStripped = false;
}

/** Records that something was removed. `separates` keeps the words on both sides separate. */
export function strip(lines: Lines, separates: boolean): void {
  lines.isStripped = true;
  const last = lines.line.at(-1) ?? "";
  if (separates && lines.hasText && !/\s$/.test(last)) lines.line.push(" ");
}

/** Writes a text of several lines in place of the line, with its indentation. */
export function writeBlock(lines: Lines, text: string): void {
  const indent = lines.line.join("");
  for (const [index, row] of text.split("\n").entries()) {
    if (index > 0) endLine(lines);
    lines.line = row === "" ? [] : [indent, row];
    lines.hasText = row.trim() !== "";
    // A blank line of the block is content.
    lines.isGap = false;
  }
}

/** What a file of MDX needs besides its text. */
export interface Page {
  scope: Scope;
  /** Whether the text is Markdown with components of Vue instead of JSX. */
  isVue: boolean;
  slugOf: Lines["slugOf"];
  log: LeftOutLog;
  /** Attributes of components whose values are text for readers. */
  componentAttributes: readonly string[];
  /** Whether text that nobody sees stays. */
  keepsHidden: boolean;
  /** Whether another element of the page controls the one with an id. */
  isControlled: (id: string) => boolean;
  /** Imported Markdown and code files by the names that the text gives them. */
  imports: Map<string, Import>;
  /** The text of an imported file; "" if it cannot be read. */
  include: (imported: Import, props: ReadonlyMap<string, string>, at: number) => string;
  /** Makes the values of an imported JSON file known, if it can be read. */
  importData: (name: string, imported: Import) => void;
  /** The text of JSX within an attribute. */
  inner: (text: string, at: number) => string;
}

export interface Import {
  target: string;
  /** `code` is shown as it stands, `data` has values for expressions. */
  kind: "text" | "code" | "data";
}

export interface Scan {
  text: string;
  at: number;
  page: Page;
  lines: Lines;
  fuel: Fuel;
  /** The end of each code span by its start; see codeEndsIn(). */
  spans: ReadonlyMap<number, number>;
  /** A statement can begin here: no paragraph is open. */
  isFresh: boolean;
  /** Column where the text of the current list item begins. */
  listIndent: number;
  /** End tags that do not occur again. */
  missing: Set<string>;
  /** Elements with a link whose text is being written. */
  links: { name: string; href: string }[];
  /** Open lists of HTML: the number of the last item; undefined for bullets. */
  lists: (number | undefined)[];
  /** Labels of tabs by their values. */
  tabs: Map<string, string>;
  /** Open `{/* knowctl:ignore *\/}` regions: what they leave out is not counted. */
  ignored: number;
  /** Up to this offset, expressions are text (`v-pre`). */
  rawUntil: number;
  /** Lines that close fences whose content is read as text. */
  unwrapped: string[];
}

import type { LeftOutLog } from "../../text/left-out.ts";
import type { Surroundings } from "../format.ts";

/** A Markdown text whose includes and shortcodes are being replaced. */
export interface Expansion {
  text: string;
  around: Surroundings;
  /** Root-relative paths from the document to the file of this text. */
  chain: readonly string[];
  log: LeftOutLog;
  /** Whether an offset lies in code. Offsets must grow from call to call. */
  isCode: (offset: number) => boolean;
  /**
   * Offset of the next occurrence of an end mark; -1 if there is none. `from` must grow from call
   * to call: a look-ahead names itself as `reader`, and has offsets of its own.
   */
  nextOf: (mark: string, from: number, reader?: string) => number;
  /** Names of shortcodes that have an end tag. */
  closed: ReadonlySet<string>;
  /** Open shortcodes with a link whose text is between the tags. */
  links: { name: string; href: string }[];
  /** Open shortcodes whose content is code in a fence. */
  fences: string[];
  /** Expands the text of an included file. */
  expand: (text: string, path: string) => string;
}

/** What stands in place of a construct that ends at `end`. */
export interface Replacement {
  end: number;
  text: string;
}

/** Returns a search that costs the length of the text once for each mark and reader. */
export function createSearch(text: string): Expansion["nextOf"] {
  const known = new Map<string, number>();
  return (mark, from, reader = "") => {
    const key = `${reader} ${mark}`;
    const last = known.get(key) ?? -2;
    if (last === -1 || last >= from) return last;
    const next = text.indexOf(mark, from);
    known.set(key, next);
    return next;
  };
}

/** The indentation before an offset; undefined if other text precedes it on the line. */
export function indentBefore(text: string, at: number): string | undefined {
  let start = at;
  while (text[start - 1] === " " || text[start - 1] === "\t") start--;
  return start === 0 || text[start - 1] === "\n" ? text.slice(start, at) : undefined;
}

const lineRest = /[ \t]*(?:\n|$)/y;

/** Whether nothing else stands on the lines of a construct. */
export function isAlone(text: string, at: number, end: number): boolean {
  lineRest.lastIndex = end;
  return indentBefore(text, at) !== undefined && lineRest.test(text);
}

/** A block in place of a construct: each line but the first gets its indentation. */
export function indented(block: string, text: string, at: number): string {
  const indent = indentBefore(text, at) ?? "";
  return indent === "" ? block : block.replace(/\n(?=[^\n])/g, `\n${indent}`);
}

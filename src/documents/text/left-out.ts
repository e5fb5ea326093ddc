import { CliError } from "../../errors.ts";
import { createCodeTest } from "./structure.ts";

/** Pattern of the marks of a region; its group is the slash of the end. */
export const ignoreMarker = String.raw`<!--[ \t]*(\/?)knowctl:ignore[ \t]*-->`;
const marker = new RegExp(ignoreMarker, "g");

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

/** The text removed at an offset of the remaining text. */
export interface RemovedLines {
  at: number;
  lines: number;
  /** In characters. */
  length: number;
}

/** Throws CliError `usage` for a region that begins in a line, if known, and is never closed. */
export function refuseOpenRegion(path: string, line: number | undefined): never {
  const place = line === undefined ? path : `${path}:${line}:1`;
  throw new CliError("usage", `${place}: the knowctl:ignore region is never closed`, {
    hints: ["close it with <!-- /knowctl:ignore -->"],
  });
}

/**
 * Returns the text without its `<!-- knowctl:ignore -->…<!-- /knowctl:ignore -->` regions, which
 * may be nested. Markers in code are text. A region that is never closed is an error, because both
 * guesses are bad: lost text, or visible text that was meant to be hidden. Adds an entry to
 * `removed` for each region. Throws CliError `usage`.
 */
export function removeIgnored(
  text: string,
  path: string,
  firstLine: number,
  removed: RemovedLines[] = [],
): string {
  // Few texts contain a comment. A search for a letter would stop at each occurrence of it.
  if (!text.includes("<!--") || !text.includes("knowctl:ignore")) return text;
  // A line that begins with the marker is a separate HTML block of one line.
  const isCode = createCodeTest(text);
  let kept = "";
  let from = 0;
  let start = 0;
  const open: number[] = [];
  for (const found of text.matchAll(marker)) {
    if (isCode(found.index)) continue;
    if (found[1] === "") {
      if (open.length === 0) {
        start = found.index;
        kept += text.slice(from, start);
      }
      open.push(found.index);
    } else if (open.pop() !== undefined && open.length === 0) {
      from = found.index + found[0].length;
      const lines = lineAt(text.slice(start, from), from) - 1;
      removed.push({ at: kept.length, lines, length: from - start });
    }
  }
  const unclosed = open[0];
  if (unclosed === undefined) return kept + text.slice(from);
  return refuseOpenRegion(path, firstLine + lineAt(text, unclosed) - 1);
}

/** Text that nobody sees on the page. */
export type HiddenKind = "comment" | "hidden" | "script";

/**
 * Kinds of text that a body lacks: what a reader cannot take over, and what nobody sees. A run
 * counts each kind in one line.
 */
export type LeftOutKind =
  | "include"
  | "shortcode"
  | "directive"
  | "expression"
  | "attribute"
  | "output"
  | "macro"
  | "undefined"
  | "embedded"
  | HiddenKind;

export interface LeftOut {
  kind: LeftOutKind;
  /** What it is and, if known, why: `youtube`, `../x.md: no such file`. */
  what: string;
  /** Line of the file, from 1; undefined if it is in an included file. */
  line: number | undefined;
}

// Of a hostile text with millions of them, each entry above this number shares the last one.
const mostEntries = 1000;
const mostChars = 60;

const unseen: Readonly<Partial<Record<LeftOutKind, true>>> = {
  comment: true,
  hidden: true,
  script: true,
};

/** Whether nobody sees on the page what was left out. */
export const isUnseen = (kind: LeftOutKind): boolean => unseen[kind] === true;

/** Whether a body lacks text that a reader of the page sees. */
export const lacksVisible = (leftOut: readonly LeftOut[] = []): boolean =>
  leftOut.some(({ kind }) => !isUnseen(kind));

/** Collects what a reader leaves out of one text. */
export interface LeftOutLog {
  readonly entries: LeftOut[];
  /**
   * Adds what begins at an offset of the text. Offsets must not fall from call to call, so that
   * the lines are counted once.
   */
  add(kind: LeftOutKind, what: string, offset: number): void;
}

/**
 * Creates the log of one text. `firstLine` is the line of the file (from 1) on which the text
 * begins; undefined for an included file, whose lines are not those of the document's file.
 * `removed` are the ignore regions that the text no longer has.
 */
export function createLeftOutLog(
  text: string,
  firstLine: number | undefined,
  entries: LeftOut[] = [],
  removed: readonly RemovedLines[] = [],
): LeftOutLog {
  let line = firstLine ?? 0;
  let region = 0;
  // The next line break is kept: a search for each entry would take quadratic time.
  let nextBreak = text.indexOf("\n");
  const lineOf = (offset: number): number => {
    for (let next = removed[region]; next && next.at <= offset; next = removed[++region]) {
      line += next.lines;
    }
    for (; nextBreak !== -1 && nextBreak < offset; nextBreak = text.indexOf("\n", nextBreak + 1)) {
      line++;
    }
    return line;
  };
  return {
    entries,
    add(kind, what, offset) {
      const last = entries.length < mostEntries ? undefined : entries.at(-1);
      const short = what
        .slice(0, 10 * mostChars)
        .replace(/\s+/g, " ")
        .trim();
      const shown = short.length > mostChars ? `${short.slice(0, mostChars)}…` : short;
      const place = firstLine === undefined ? undefined : lineOf(offset);
      entries.push(last?.kind === kind ? last : { kind, what: shown, line: place });
    },
  };
}

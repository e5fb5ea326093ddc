import { leaveOut, type Reading } from "../rst/rst-reading.ts";
import type { MystPage } from "./page.ts";

/** An open `:::`. */
export interface Div {
  /** Whether no reader of the web page sees its content. */
  isDropped: boolean;
  /** What headings in it are: of a callout, the first one is its title; of a tabset, labels of tabs. */
  headings: "sections" | "title" | "tabs";
  /** Label of the callout until its title is known. */
  label: string | undefined;
  /** Level of the headings that are tabs. */
  level: number;
  /** Label of the figure, table or listing that it is. */
  place: string | undefined;
}

/** A Markdown text whose fences with a name in braces are being read. */
export interface Fences {
  page: MystPage;
  /** Collects what is left out; its chain leads to the file that is read now. */
  reading: Reading;
  depth: number;
  /** Reads the lines in a fence; `first` is the line of the file with the first line. */
  readInner: (fences: Fences, lines: readonly string[], first: number | undefined) => string[];
  /** Open `:::` of Quarto, outermost first. */
  divs: Div[];
}

/** Lines between the marks of a fence. */
export interface Fence {
  /** What stands before the marks: blanks and marks of lists. */
  prefix: string;
  marks: string;
  /** What stands behind the marks: `{note} Title`. */
  info: string;
  /** Without the indentation of the fence. */
  body: readonly string[];
  /** Line of the file with the marks, from 1; undefined in an included file. */
  line: number | undefined;
}

/** A directive as written. */
export interface Directive {
  name: string;
  argument: string;
  options: ReadonlyMap<string, string>;
  body: readonly string[];
  /** Line of the file with the directive. */
  line: number | undefined;
  /** Line of the file with the first line of the body. */
  first: number | undefined;
}

const heading = /^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*(?:\{#[^{}]*\})?$/;
const fenceMarks = /^[ \t>]*(`{3,}|~{3,})/;

/** Text as a bold line; with markup it stays as it is: emphasis does not nest. */
export const boldLine = (text: string): string => (/[`*_[\]$\\]/.test(text) ? text : `**${text}**`);

/** Headings in a directive are no sections of the page. */
function withoutHeadings(lines: readonly string[]): string[] {
  let marks = "";
  return lines.map((line) => {
    const [, found = ""] = fenceMarks.exec(line) ?? [];
    const isEnd = marks !== "" && found.startsWith(marks) && line.trim() === found;
    if (found !== "") marks = isEnd ? "" : marks || found;
    const [, title] = (marks === "" && line.includes("#") && heading.exec(line)) || [];
    return title === undefined ? line : boldLine(title);
  });
}

/** What the lines of a directive show. */
export function inner(
  fences: Fences,
  { first }: Directive,
  lines: readonly string[],
  hasHeadings = false,
): string[] {
  const within = { ...fences, depth: fences.depth + 1, divs: [] };
  const shown = fences.readInner(within, lines, first);
  return hasHeadings ? shown : withoutHeadings(shown);
}

/** A fence around code that no fence in it closes. */
export function codeLines(code: readonly string[], language: string): string[] {
  let longest = 2;
  for (const line of code) {
    const marks = /^\s*(`{3,})/.exec(line)?.[1];
    longest = Math.max(longest, marks?.length ?? 0);
  }
  const marks = "`".repeat(longest + 1);
  const name = /^[\w+#.-]{1,30}$/.exec(language)?.[0] ?? "";
  return [marks + name, ...code, marks];
}

/** Counts what the document lacks. */
export const count = (
  { reading }: Fences,
  kind: Parameters<typeof leaveOut>[1],
  what: string,
  line: number | undefined,
): void => leaveOut(reading, kind, what, line);

import { isDirective, showDirective } from "./directives.ts";
import { readMystText } from "./text.ts";
import type { Fence, Fences } from "./fence.ts";
import { isDropped, readQuartoText } from "./quarto-text.ts";
import { showCell } from "./quarto-cells.ts";

type Opening = Pick<Fence, "prefix" | "marks" | "info">;

const opening = /^((?:[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*[ \t]*)(`{3,}|~{3,}|:{3,})[ \t]*(.*)$/;
const longestLine = 10_000;
/** `{name} rest`, with attributes or options in the braces. */
const named = /^\{([A-Za-z][\w:+.-]*)([^{}]*)\}[ \t]*(.*)$/;
const deepest = 24;

function openingOf(line: string): Opening | undefined {
  const mayOpen = line.includes("```") || line.includes("~~~") || line.includes(":::{");
  if (!mayOpen || line.length > longestLine) return undefined;
  const [, prefix = "", marks, info = ""] = opening.exec(line) ?? [];
  if (marks === undefined || (marks.startsWith("`") && info.includes("`"))) return undefined;
  // `::: {.class}` and `:::note` are read elsewhere.
  if (marks.startsWith(":") && !named.test(info.trim())) return undefined;
  return { prefix, marks, info: info.trim() };
}

const widthOf = (prefix: string): number => prefix.replaceAll("\t", "    ").length;
const deepestPrefix = 100;

/**
 * Index of the line that closes a fence; -1 without one. CommonMark 0.31, section 4.5: it has at most three
 * columns more before it than the fence.
 */
function closingOf(lines: readonly string[], from: number, { marks, prefix }: Opening): number {
  const column = Math.min(widthOf(prefix), deepestPrefix) + 4;
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const text = line.trim();
    if (text.length < marks.length || text !== (marks[0] ?? "").repeat(text.length)) continue;
    if (widthOf(/^[ \t]*/.exec(line)?.[0] ?? "") < column) return at;
  }
  return -1;
}

/** Lines without up to `columns` blanks. */
function dedent(lines: readonly string[], columns: number): string[] {
  if (columns === 0) return [...lines];
  return lines.map((line) => {
    const blanks = /^[ \t]*/.exec(line)?.[0] ?? "";
    return " ".repeat(Math.max(0, widthOf(blanks) - columns)) + line.slice(blanks.length);
  });
}

/** The lines in place of a fence: in a list, they stay in its item. */
function placed(shown: readonly string[], { prefix }: Fence): string[] {
  const indent = " ".repeat(widthOf(prefix));
  const lines = shown.map((line) => (line === "" ? "" : indent + line));
  if (prefix.trim() === "") return ["", ...lines, ""];
  const first = lines.findIndex((line) => line !== "");
  return first === -1
    ? [prefix]
    : [prefix + (lines[first] ?? "").slice(indent.length), ...lines.slice(first + 1), ""];
}

/** The lines in place of what a fence shows; undefined for code, which stays. */
function show(fences: Fences, fence: Fence): string[] | undefined {
  const { page } = fences;
  const [, name, options = "", argument = ""] = named.exec(fence.info) ?? [];
  const isWhole = name !== undefined && !page.isQuarto && (page.isMyst || isDirective(name));
  if (isWhole) return showDirective(fences, fence, { name, options, argument });
  return showCell(fences, fence);
}

/**
 * Replaces directives of MyST and cells of Quarto in the lines of a Markdown text by what they show.
 * `first` is the line of the file with the first line; undefined in an included file. The time is
 * linear in the length of the text for each level of nesting.
 */
export function readFences(
  fences: Fences,
  lines: readonly string[],
  first: number | undefined,
): string[] {
  if (fences.depth > deepest) return [...lines];
  const done: string[] = [];
  let textFrom = 0;
  const lineOf = (at: number): number | undefined => (first === undefined ? undefined : first + at);
  const addText = (to: number): void => {
    if (to <= textFrom) return;
    const run = lines.slice(textFrom, to);
    const { isMyst, isQuarto } = fences.page;
    if (isQuarto) add(readQuartoText(fences, run, lineOf(textFrom)));
    else add(isMyst ? readMystText(fences, run, lineOf(textFrom)) : run);
  };
  const add = (shown: readonly string[]): void => {
    for (const line of shown) done.push(line);
  };
  const missing = new Map<string, number>();
  const isMissing = ({ marks, prefix }: Opening): boolean =>
    (missing.get(marks) ?? -1) >= Math.min(widthOf(prefix), deepestPrefix);
  for (let at = 0; at < lines.length;) {
    const open = openingOf(lines[at] ?? "");
    // Marks that nothing closes are searched for once.
    const close = open && !isMissing(open) ? closingOf(lines, at + 1, open) : -1;
    if (open && close === -1) missing.set(open.marks, widthOf(open.prefix));
    if (!open || (close === -1 && open.marks.startsWith(":"))) {
      at++;
      continue;
    }
    addText(at);
    const end = close === -1 ? lines.length : close;
    const next = Math.min(end + 1, lines.length);
    const body = dedent(lines.slice(at + 1, end), widthOf(open.prefix));
    const fence = { ...open, body, line: lineOf(at) };
    if (!isDropped(fences)) {
      const shown = show(fences, fence);
      add(shown ? placed(shown, fence) : lines.slice(at, next));
    }
    at = next;
    textFrom = next;
  }
  addText(lines.length);
  return done;
}

import { itemOf } from "./list-items.ts";

const entryLine = /^:!?\w[\w-]*!?:(?:[ \t]|$)/;
const attributeLine = /^\[(?:|[\p{L}\p{N}_.#"'%{,[].*)\]$/u;
const container = /^(?:={4,}|\*{4,}|_{4,}|--|~{4,})$/;
const verbatim = /^(?:-{4,}|\.{4,}|\+{4,}|\/{4,}|`{3,}[^`\s]*)$/;
const table = /^[|,:!]={3,}$/;
const ignoreMark = /^(?:\/\/[ \t]*)?(<!--[ \t]*\/?knowctl:ignore[ \t]*-->)$/;
const section = /^(={1,6}|#{1,6})[ \t]+(\S.*)$/;
const macro = /^(image|video|audio|toc)::([^[]*)\[(.*)\]$/;
const breakLine = /^(?:'{3,}|<{3,}|-(?: ?-){2}|\*(?: ?\*){2})$/;

export const isAttributes = (line: string): boolean =>
  line.startsWith("[") && attributeLine.test(line);
// Nobody types a longer delimiter: the pattern would not fit into its stack.
const isShort = (line: string): boolean => line.length <= 10_000;
export const isContainer = (line: string): boolean => isShort(line) && container.test(line);
export const isVerbatim = (line: string): boolean => isShort(line) && verbatim.test(line);
export const isTable = (line: string): boolean => isShort(line) && table.test(line);
export const isComment = (line: string): boolean =>
  line.startsWith("//") && !line.startsWith("///");
export const isBreak = (line: string): boolean => isShort(line) && breakLine.test(line);
export const ignoreMarkOf = (line: string): string | undefined => ignoreMark.exec(line)?.[1];
export const titleOf = (line: string): string | undefined => /^\.(\.?[^ \t.].*)$/.exec(line)?.[1];

export function macroOf(line: string): { name: string; target: string; list: string } | undefined {
  const [, name, target = "", list = ""] = (line.includes("::") && macro.exec(line)) || [];
  return name === undefined ? undefined : { name, target: target.trim(), list };
}

/** A section title in one line; its level is from 1. */
export function sectionOf(line: string): { level: number; text: string } | undefined {
  const [, marks = "", text = ""] = section.exec(line) ?? [];
  if (marks === "") return undefined;
  const closing = ` ${marks}`;
  return {
    level: marks.length,
    text: text.endsWith(closing) ? text.slice(0, -closing.length) : text,
  };
}

/** Level, from 1, of a title with a line below it; undefined for another pair of lines. */
export function underlineLevel(line: string, below: string | undefined): number | undefined {
  if (
    below === undefined ||
    below.length < 3 ||
    !isShort(below) ||
    Math.abs(below.length - line.length) > 1
  )
    return undefined;
  if (!/^(?:=+|-+|~+|\^+|\++)$/.test(below) || !/[\p{L}\p{N}]/u.test(line)) return undefined;
  if (isAttributes(line) || titleOf(line) !== undefined || entryLine.test(line)) return undefined;
  return "=-~^+".indexOf(below[0] ?? "") + 1;
}

/** Whether a line ends a paragraph. */
export const endsParagraph = (line: string): boolean =>
  line === "" ||
  line === "+" ||
  isAttributes(line) ||
  isContainer(line) ||
  isVerbatim(line) ||
  isTable(line) ||
  ignoreMarkOf(line) !== undefined;

/** Whether a line ends the text of a list item. */
export const endsItem = (line: string): boolean =>
  endsParagraph(line) || itemOf(line) !== undefined;

/** Whether a line after a blank one is no text of the description list before. */
export const isNoDescription = (line: string): boolean =>
  endsItem(line) ||
  sectionOf(line) !== undefined ||
  titleOf(line) !== undefined ||
  macroOf(line) !== undefined ||
  entryLine.test(line) ||
  isBreak(line);

import { readDirective, readSubstitution } from "../directives/rst-directives.ts";
import { escapeHtml } from "../rst-html.ts";
import { isBlank, takeBody, textOf, type Line } from "./rst-lines.ts";
import { addHtml, addIgnoreMark, leaveOut, nameOf, within, type Block } from "../rst-reading.ts";

const footnote = /^\[(\d+|#[\p{L}\p{N}._-]*|\*|[\p{L}\p{N}][\p{L}\p{N}._:+-]*)\](?: +|$)/u;
const target = /^_(?:`((?:[^`\\]|\\.)+)`|((?:[^:\\]|\\.|:(?! |$))+)):(?: +|$)/;
const substitution = /^\|([^|]+)\| +(?=\S)/;

type Explicit = (block: Block, lines: Line[], rest: string) => boolean;

/** Replaces the text of the first line. */
const withFirst = (lines: readonly Line[], text: string): Line[] =>
  lines.map((line, index) => (index === 0 ? { ...line, text } : line));

const readFootnote: Explicit = (block, lines, rest) => {
  const [marker, label = ""] = footnote.exec(rest) ?? [];
  if (marker === undefined) return false;
  const { reading } = block;
  const isNote = /^(?:\d+$|[#*])/.test(label);
  if (isNote) reading.footnotes.push(label);
  reading.pieces.push({ kind: "target", name: label.replace(/^#/, ""), isPlace: false });
  const body = withFirst(lines, rest.slice(marker.length));
  const [first] = body;
  within(reading, "<div>", "</div>", () => {
    if (isNote) reading.pieces.push({ kind: "note", index: reading.footnotes.length - 1 });
    else addHtml(reading, `[${escapeHtml(label)}] `);
    block.readInner(first && isBlank(first) ? body.slice(1) : body);
  });
  return true;
};

const readTarget: Explicit = ({ reading }, lines, rest) => {
  if (/^__:(?: |$)/.test(rest)) {
    reading.anonymous.push(textOf(withFirst(lines, rest.slice(3))).replace(/\s+/g, ""));
    reading.pieces.push({ kind: "target", name: "", isPlace: false });
    return true;
  }
  const [marker, quoted, plain = ""] = target.exec(rest) ?? [];
  if (marker === undefined) return false;
  const name = nameOf(quoted ?? plain);
  const address = textOf(withFirst(lines, rest.slice(marker.length))).replace(/\s+/g, "");
  reading.targets.set(name, address);
  reading.pieces.push({ kind: "target", name, isPlace: address === "" });
  return true;
};

const readSubstitutionDefinition: Explicit = ({ reading }, lines, rest) => {
  const [marker, name = ""] = substitution.exec(rest) ?? [];
  if (marker === undefined) return false;
  const value = readSubstitution(withFirst(lines, rest.slice(marker.length)));
  if (!value) return false;
  reading.substitutions.set(nameOf(name), value);
  return true;
};

const readComment: Explicit = ({ reading }, lines, rest) => {
  const [line] = lines;
  const isMark = lines.length === 1 && line && addIgnoreMark(reading, { ...line, text: rest });
  if (!isMark && lines.some(({ text }) => text.trim() !== ""))
    leaveOut(reading, "comment", "", line?.number);
  return true;
};

const kinds: readonly Explicit[] = [
  readFootnote,
  readTarget,
  readSubstitutionDefinition,
  readDirective,
  readComment,
];

/** What begins with `..`: targets, footnotes, substitutions, directives; else it is a comment. */
export function readExplicit(block: Block, at: number): number {
  const { lines, reading } = block;
  const text = lines[at]?.text ?? "";
  const anonymous = /^__ +(\S.*)$/.exec(text)?.[1];
  if (anonymous !== undefined) {
    reading.anonymous.push(anonymous.replace(/\s+/g, ""));
    return at + 1;
  }
  if (text !== ".." && !text.startsWith(".. ")) return -1;
  // An empty comment does not take the indented block after a blank line.
  if (text === ".." && isBlank(lines[at + 1])) return at + 1;
  const taken = takeBody(lines, at, 2);
  const rest = taken.lines[0]?.text ?? "";
  for (const read of kinds) if (read(block, taken.lines, rest)) break;
  return taken.next;
}

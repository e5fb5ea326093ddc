import { Lexer, type MarkedToken } from "marked";
import { bits, cellsOf, colours, widthOf, type Prefix } from "./rows.ts";

/** A quote or list item that contains blocks. */
export interface Container {
  /** Marker of an item: `•`, `3.`; undefined for a quote. */
  label: string | undefined;
  /** Number of an item of an ordered list. */
  number: number | undefined;
  /** Its first line in the source. */
  line: number;
  /** Index of its first leaf. */
  leaf: number;
}

/** A block without blocks of its own. */
export interface Leaf {
  token: MarkedToken;
  /** Box of a task, before the text. */
  box: string;
  /** From the outermost to the innermost. */
  containers: readonly Container[];
  /** Its first line in the source. */
  line: number;
}

const bullets = ["•", "◦", "▪"];

const linesIn = (raw: string): number => raw.split("\n").length - 1;

/** Adds the leaves of `tokens`, which begin in `line`. */
function addLeaves(
  leaves: Leaf[],
  tokens: readonly MarkedToken[],
  containers: readonly Container[],
  line: number,
  numbers: (number | undefined)[],
): void {
  let at = line;
  let box = "";
  for (const token of tokens) {
    if (token.type === "checkbox") box = token.raw;
    else if (token.type === "list") addItems(leaves, token, containers, at, numbers);
    else if (token.type === "blockquote") {
      const quote = { label: undefined, number: undefined, line: at, leaf: leaves.length };
      addLeaves(leaves, token.tokens as MarkedToken[], [...containers, quote], at, numbers);
    } else if (token.type !== "space") {
      leaves.push({ token, box, containers, line: at });
      box = "";
    }
    at += linesIn(token.raw);
  }
}

function addItems(
  leaves: Leaf[],
  list: Extract<MarkedToken, { type: "list" }>,
  containers: readonly Container[],
  line: number,
  numbers: (number | undefined)[],
): void {
  let at = line;
  let before: number | undefined;
  let number: number | undefined;
  const depth = containers.filter(({ label }) => label !== undefined && !/\d/.test(label)).length;
  for (const item of list.items) {
    const [, digits, end = ""] = /^ *(\d+)(.)/.exec(item.raw) ?? [];
    const own = digits === undefined ? undefined : Number(digits);
    // All items of a list may have the same number in the source.
    number = own !== undefined && own === before ? number! + 1 : own;
    // The earlier siblings of the first item may be drawn already.
    if (numbers.length > 0) number = numbers.shift();
    before = own;
    const label = number === undefined ? bullets[Math.min(depth, 2)]! : `${number}${end}`;
    const { length } = leaves;
    const inner = [...containers, { label, number, line: at, leaf: length }];
    addLeaves(leaves, item.tokens as MarkedToken[], inner, at, numbers);
    if (leaves.length === length) {
      const token = { type: "text", raw: "", text: "" } as const;
      leaves.push({ token, box: "", containers: inner, line: at });
    }
    at += linesIn(item.raw);
  }
}

/**
 * The leaves of a source in their order. `numbers`: the numbers that its first items have, one
 * nested in the other.
 */
export function readLeaves(source: string, numbers: readonly (number | undefined)[]): Leaf[] {
  const leaves: Leaf[] = [];
  let tokens: MarkedToken[];
  try {
    tokens = new Lexer().blockTokens(source, []) as MarkedToken[];
  } catch {
    // The lexer may throw on hostile text; the answer is shown as it is.
    tokens = [{ type: "html", raw: source, text: source, pre: false, block: true }];
  }
  addLeaves(leaves, tokens, [], 0, [...numbers]);
  return leaves;
}

/**
 * What stands before the rows of blocks in `containers`: at most half of `limit`. An item shows
 * its marker only before its first leaf; `index` is that of the leaf.
 */
export function prefixOf(containers: readonly Container[], limit: number, index?: number): Prefix {
  const prefix: Prefix = { first: [], rest: [] };
  let left = Math.floor(limit / 2);
  // If space is short, the innermost blocks matter most.
  for (const { label, leaf } of containers.toReversed()) {
    const marker = cellsOf(`${label ?? "│"} `, label === undefined ? bits.dim : colours.magenta);
    const blank = label === undefined ? marker : cellsOf(" ".repeat(widthOf(marker)));
    left -= widthOf(marker);
    if (left < 0) break;
    prefix.first.unshift(...(leaf === index ? marker : blank));
    prefix.rest.unshift(...blank);
  }
  return prefix;
}

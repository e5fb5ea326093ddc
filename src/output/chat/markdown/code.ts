import { StringStream, type StreamParser } from "@codemirror/streamparser";
import { bits, colours, createLine, put, type Cell } from "./cells.ts";
import { languages } from "./languages.ts";

/** Gives one line of code after the other its look; what a line leaves open goes on in the next. */
export type Painter = (line: string) => readonly Cell[] | undefined;

const looks: ReadonlyMap<string, number> = new Map([
  ["keyword", colours.magenta],
  ["operator", 0],
  ["atom", colours.yellow],
  ["number", colours.yellow],
  ["string", colours.green],
  ["character", colours.green],
  ["comment", bits.dim],
  ["meta", bits.dim],
  ["def", colours.blue],
  ["variableName.function", colours.blue],
  ["builtin", colours.cyan],
  ["type", colours.cyan],
  ["typeName", colours.cyan],
  ["className", colours.cyan],
  ["tag", colours.blue],
  ["tagName", colours.blue],
  ["attribute", colours.cyan],
  ["attributeName", colours.cyan],
  ["property", colours.cyan],
  ["propertyName", colours.cyan],
  ["inserted", colours.green],
  ["deleted", colours.red],
  ["heading", bits.bold],
]);

function lookOf(token: string | null): number {
  for (const word of token?.split(" ") ?? []) {
    const look = looks.get(word) ?? looks.get(word.split(".")[0] ?? "");
    if (look !== undefined) return look;
  }
  return 0;
}

const tabSize = 8;
const indentUnit = 2;
/** Parsers may return empty tokens; one that never goes on is stopped. */
const mostEmpty = 20;

function paint(parser: StreamParser<unknown>, state: unknown, text: string): Cell[] {
  const line = createLine();
  if (text === "") {
    parser.blankLine?.(state, indentUnit);
    return line.cells;
  }
  const stream = new StringStream(text, tabSize, indentUnit);
  let empty = 0;
  while (!stream.eol()) {
    stream.start = stream.pos;
    const look = lookOf(parser.token(stream, state));
    empty = stream.pos === stream.start ? empty + 1 : 0;
    if (empty > mostEmpty) stream.pos++;
    for (const character of text.slice(stream.start, stream.pos)) put(line, character, look);
  }
  return line.cells;
}

/**
 * Characters of one block that get colours. Some parsers keep a list of what is
 * open and search it at every token: on a text that only opens, their time is
 * quadratic.
 */
const mostPainted = 64 * 1024;

/** The painter of one code block, or undefined for a language that is not known. */
export function createPainter(language: string): Painter | undefined {
  const parser = languages.get(language.toLowerCase());
  if (!parser) return undefined;
  const state: unknown = parser.startState?.(indentUnit) ?? {};
  let isBroken = false;
  let left = mostPainted;
  return (text) => {
    left -= text.length + 1;
    if (isBroken || left < 0) return undefined;
    try {
      return paint(parser, state, text);
    } catch {
      // Colours are not worth an answer: the parsers are not made for hostile text.
      isBroken = true;
      return undefined;
    }
  };
}

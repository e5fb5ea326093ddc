import { StringStream, type StreamParser } from "@codemirror/streamparser";
import { bits, colours, createLine, put, type Cell } from "./cells.ts";
import { languages } from "./languages.ts";

/** Colours one line of code. Lines must be in order: a line may continue a token of the previous one. */
export type Painter = (line: string) => readonly Cell[] | undefined;

const tokenStyles: ReadonlyMap<string, number> = new Map([
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

function styleOf(token: string | null): number {
  for (const word of token?.split(" ") ?? []) {
    const style = tokenStyles.get(word) ?? tokenStyles.get(word.split(".")[0] ?? "");
    if (style !== undefined) return style;
  }
  return 0;
}

const tabSize = 8;
const indentUnit = 2;
/** Parsers may return empty tokens; after this many the parser is stuck. */
const maxEmptyTokens = 20;

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
    const style = styleOf(parser.token(stream, state));
    empty = stream.pos === stream.start ? empty + 1 : 0;
    if (empty > maxEmptyTokens) stream.pos++;
    for (const character of text.slice(stream.start, stream.pos)) put(line, character, style);
  }
  return line.cells;
}

/**
 * Maximum coloured characters of one block. Some parsers search their list of open
 * brackets at each token, which takes quadratic time on text with only open brackets.
 */
const maxPainted = 64 * 1024;

/** The painter of one code block; undefined for an unknown language. */
export function createPainter(language: string): Painter | undefined {
  const parser = languages.get(language.toLowerCase());
  if (!parser) return undefined;
  const state: unknown = parser.startState?.(indentUnit) ?? {};
  let isBroken = false;
  let left = maxPainted;
  return (text) => {
    left -= text.length + 1;
    if (isBroken || left < 0) return undefined;
    try {
      return paint(parser, state, text);
    } catch {
      // The parsers may throw on hostile text; the answer is shown without colours.
      isBroken = true;
      return undefined;
    }
  };
}

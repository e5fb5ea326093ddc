import {
  c,
  cpp,
  csharp,
  dart,
  java,
  kotlin,
  objectiveC,
  scala,
} from "@codemirror/legacy-modes/mode/clike";
import { css, less, sCSS } from "@codemirror/legacy-modes/mode/css";
import { diff } from "@codemirror/legacy-modes/mode/diff";
import { dockerFile } from "@codemirror/legacy-modes/mode/dockerfile";
import { go } from "@codemirror/legacy-modes/mode/go";
import { groovy } from "@codemirror/legacy-modes/mode/groovy";
import { javascript, json, typescript } from "@codemirror/legacy-modes/mode/javascript";
import { lua } from "@codemirror/legacy-modes/mode/lua";
import { nginx } from "@codemirror/legacy-modes/mode/nginx";
import { perl } from "@codemirror/legacy-modes/mode/perl";
import { powerShell } from "@codemirror/legacy-modes/mode/powershell";
import { properties } from "@codemirror/legacy-modes/mode/properties";
import { python } from "@codemirror/legacy-modes/mode/python";
import { r } from "@codemirror/legacy-modes/mode/r";
import { ruby } from "@codemirror/legacy-modes/mode/ruby";
import { rust } from "@codemirror/legacy-modes/mode/rust";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { standardSQL } from "@codemirror/legacy-modes/mode/sql";
import { swift } from "@codemirror/legacy-modes/mode/swift";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { html, xml } from "@codemirror/legacy-modes/mode/xml";
import { yaml } from "@codemirror/legacy-modes/mode/yaml";
import { StringStream, type StreamParser } from "@codemirror/streamparser";
import { bits, cellsOf, colours, type Cell } from "./rows.ts";

const names: readonly [StreamParser<unknown>, string][] = [
  [c, "c h"],
  [cpp, "cpp c++ cc hpp arduino"],
  [csharp, "csharp cs c#"],
  [css, "css"],
  [dart, "dart"],
  [diff, "diff patch"],
  [dockerFile as StreamParser<unknown>, "dockerfile docker containerfile"],
  [go as StreamParser<unknown>, "go golang"],
  [groovy as StreamParser<unknown>, "groovy gradle jenkinsfile"],
  [html, "html xhtml vue svelte"],
  [java, "java"],
  [javascript as StreamParser<unknown>, "javascript js jsx mjs cjs node"],
  [json as StreamParser<unknown>, "json jsonc json5 ndjson jsonl"],
  [kotlin, "kotlin kt kts"],
  [less, "less"],
  [lua as StreamParser<unknown>, "lua"],
  [nginx as StreamParser<unknown>, "nginx"],
  [objectiveC, "objectivec objc objective-c"],
  [perl as StreamParser<unknown>, "perl pl"],
  [powerShell as StreamParser<unknown>, "powershell ps1 pwsh ps"],
  [properties as StreamParser<unknown>, "properties ini conf dotenv env editorconfig"],
  [python as StreamParser<unknown>, "python py python3 pycon"],
  [r as StreamParser<unknown>, "r"],
  [ruby as StreamParser<unknown>, "ruby rb"],
  [rust as StreamParser<unknown>, "rust rs"],
  [sCSS, "scss sass"],
  [scala, "scala"],
  [shell as StreamParser<unknown>, "shell sh bash zsh console shell-session shellsession ksh"],
  [standardSQL, "sql mysql postgresql postgres pgsql sqlite plsql tsql"],
  [swift as StreamParser<unknown>, "swift"],
  [toml as StreamParser<unknown>, "toml"],
  [typescript as StreamParser<unknown>, "typescript ts tsx mts cts"],
  [xml, "xml svg rss xsl xsd plist"],
  [yaml as StreamParser<unknown>, "yaml yml"],
];

/** Parser of a language by its names after a code fence, in lower case. */
const languages: ReadonlyMap<string, StreamParser<unknown>> = new Map(
  names.flatMap(([parser, all]) => all.split(" ").map((name) => [name, parser] as const)),
);

/** Colours one line of code. Lines must be in order: a line may continue a token of the previous one. */
export type Painter = (line: string) => readonly Cell[] | undefined;

const tokenStyles: ReadonlyMap<string, number> = new Map([
  ["keyword", colours.magenta],
  ["operator", 0],
  ["atom", colours.cyan],
  ["number", colours.cyan],
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
  const cells: Cell[] = [];
  if (text === "") parser.blankLine?.(state, indentUnit);
  const stream = new StringStream(text, tabSize, indentUnit);
  let empty = 0;
  while (!stream.eol()) {
    stream.start = stream.pos;
    const style = styleOf(parser.token(stream, state));
    empty = stream.pos === stream.start ? empty + 1 : 0;
    if (empty > maxEmptyTokens) stream.pos++;
    cells.push(...cellsOf(text.slice(stream.start, stream.pos), style));
  }
  return cells;
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

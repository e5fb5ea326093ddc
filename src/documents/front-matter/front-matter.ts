import { CliError } from "../../errors.ts";
import { scanJson } from "../text/json-text.ts";
import { MatterError, parseMatter, type MatterFormat } from "./matter.ts";
import { isMap, toValue, ValueError, type ValueMap } from "./values.ts";
import { closeSync, openSync, readSync } from "node:fs";
import { openFlags } from "../files/bytes/file-bytes.ts";

/** The front matter of one file and its position. */
export interface FrontMatter {
  readonly data: ValueMap;
  readonly format: MatterFormat;
  /** Text between the fences; its first line is line `firstLine` of the file. */
  readonly block: string;
  readonly firstLine: number;
  /** What a key is called in messages, for data that is no front matter: `column`. */
  readonly noun?: string;
}

export interface SplitText {
  frontMatter: FrontMatter | undefined;
  body: string;
  bodyLine: number;
  warnings: string[];
}

const maxBlockChars = 64 * 1024;
const languages: Readonly<Record<string, MatterFormat>> = Object.assign(Object.create(null), {
  "---": "yaml",
  "---yaml": "yaml",
  "---yml": "yaml",
  "---toml": "toml",
  "---json": "json",
  "+++": "toml",
});
// Front matter libraries execute these languages. Refused even when never closed.
const executable =
  /^---[ \t]*(js|javascript|jsx?|mjs|cjs|tsx?|typescript|node|coffee|coffeescript|cson)[ \t]*$/i;
const anyLanguage = /^---[ \t]*[A-Za-z_][\w.+-]*[ \t]*$/;

/** A block between fences. It is front matter if its content is an object. */
interface Fenced {
  format: MatterFormat;
  block: string;
  firstLine: number;
  bodyStart: number;
}

function fail(path: string, line: number, column: number, reason: string, hint: string): never {
  throw new CliError("usage", `${path}:${line}:${column}: ${reason}`, { hints: [hint] });
}

/**
 * Offset of the closing line (the fence alone) from `from`, and of what follows it. `...` also ends
 * YAML (YAML 1.2.2, section 9.1.2): Pandoc writes it. So do more dashes: Hugo and gray-matter, which
 * Docusaurus and VitePress use, look at the first three.
 */
function findClosing(
  text: string,
  fence: string,
  from: number,
  isYaml: boolean,
): [number, number] | undefined {
  const marks = fence === "---" ? "-{3,}" : fence.replace(/\+/g, "\\+");
  const other = isYaml ? "|\\.\\.\\." : "";
  const closing = new RegExp(`(?<=\\n)(?:${marks}${other})[^\\S\\n]*(?:\\n|$)`, "g");
  closing.lastIndex = from;
  const found = closing.exec(text);
  return found ? [found.index, closing.lastIndex] : undefined;
}

function findFences(text: string, path: string, warnings: string[]): Fenced | undefined {
  const lineEnd = text.indexOf("\n");
  const first = (lineEnd === -1 ? text : text.slice(0, lineEnd)).trimEnd();
  const format = languages[first.toLowerCase()];
  const fence = first.slice(0, 3);
  const isOther = format === undefined && anyLanguage.test(first);
  if (format === undefined && !isOther) return undefined;
  const closing =
    lineEnd === -1 ? undefined : findClosing(text, fence, lineEnd + 1, format === "yaml");
  if (isOther && (closing || executable.test(first))) {
    const hint = "write YAML (---), TOML (+++) or JSON (---json); code is never run";
    fail(path, 1, 1, `front matter in this language is refused: ${first}`, hint);
  }
  if (format === undefined) return undefined;
  if (!closing) {
    warnings.push(`${path}:1: ${first} opens front matter that is never closed; sent as text`);
    return undefined;
  }
  const block = text.slice(lineEnd + 1, Math.max(lineEnd + 1, closing[0] - 1));
  return { format, block, firstLine: 2, bodyStart: closing[1] };
}

/** JSON as Hugo writes it: `{` alone on the first line, up to the `}` that closes it. */
function findJson(text: string): Fenced | undefined {
  if (!/^\{[ \t]*\n\s*["}]/.test(text)) return undefined;
  const extent = scanJson(text, 0);
  // Broken JSON with a closing line is an error; without a closing line it is text.
  const closing = /^\}[ \t]*$/m.exec(text);
  const end = "end" in extent ? extent.end : closing ? closing.index + 1 : undefined;
  if (end === undefined) return undefined;
  const lineEnd = text.indexOf("\n", end);
  const rest = lineEnd === -1 ? text.slice(end) : text.slice(end, lineEnd);
  if (rest.trim() !== "") return undefined;
  const bodyStart = lineEnd === -1 ? text.length : lineEnd + 1;
  return { format: "json", block: text.slice(0, end), firstLine: 1, bodyStart };
}

const general = "correct the front matter, or begin with an empty line if it is meant as text";

/** The remedy for broken front matter. js-yaml calls a colon in a plain value "bad indentation". */
function remedyOf({ message, line }: MatterError, block: string): string {
  if (!message.startsWith("bad indentation")) return general;
  const [, key] =
    /^\s*([\w-]+):\s+[^\s"'[{|>&*!].*:\s/.exec(block.split("\n")[line - 1] ?? "") ?? [];
  if (key === undefined) return general;
  return `put the value in quotes, because it contains a colon: ${key}: "…"`;
}

function parseBlock({ format, block, firstLine }: Fenced, path: string): ValueMap | undefined {
  if (block.length > maxBlockChars) {
    fail(path, firstLine, 1, "front matter is larger than 64 KiB", general);
  }
  try {
    if (format === "yaml" && block.trim() === "") return Object.create(null) as ValueMap;
    const data = toValue(parseMatter(block, format));
    if (data === null) return Object.create(null) as ValueMap;
    return isMap(data) ? data : undefined;
  } catch (error) {
    if (error instanceof MatterError) {
      const reason = `front matter: ${error.message}`;
      fail(path, firstLine + error.line - 1, error.column, reason, remedyOf(error, block));
    }
    if (error instanceof ValueError) {
      fail(path, firstLine, 1, `front matter holds ${error.message}`, general);
    }
    if (error instanceof RangeError) {
      fail(path, firstLine, 1, "front matter is nested too deeply", general);
    }
    throw error;
  }
}

/**
 * Splits front matter from the body. Front matter needs a first line that is only a fence, a
 * closing fence (`...` also closes YAML), and an object as content. Otherwise the whole text is
 * the body:
 *
 * | first line            | closed | content   | result                     |
 * |-----------------------|--------|-----------|----------------------------|
 * | `---` `+++` `---json` | yes    | object    | front matter               |
 * | the same              | yes    | no object | all text is body           |
 * | the same              | yes    | broken    | error with line and column |
 * | the same              | no     | –         | all text is body, warning  |
 * | `---js` and its like  | –      | –         | error, never run           |
 * | `---word`             | yes    | –         | error, never parsed        |
 * | `---word`             | no     | –         | all text is body           |
 * | `{`                   | yes    | object    | front matter               |
 *
 * `text` has LF line endings and no byte order mark. Throws CliError `usage`.
 */
export function splitFrontMatter(text: string, path: string): SplitText {
  const warnings: string[] = [];
  const fenced = text.startsWith("{") ? findJson(text) : findFences(text, path, warnings);
  const data = fenced && parseBlock(fenced, path);
  if (!fenced || !data) return { frontMatter: undefined, body: text, bodyLine: 1, warnings };
  const { format, block, firstLine, bodyStart } = fenced;
  let bodyLine = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < bodyStart; at = text.indexOf("\n", at + 1)) {
    bodyLine++;
  }
  const frontMatter = { data, format, block, firstLine };
  return { frontMatter, body: text.slice(bodyStart), bodyLine, warnings };
}

/** The same for a page of Astro, which takes front matter after empty lines: `parseFrontmatter` of its package. */
export function splitAstro(text: string, path: string): SplitText {
  const blank = /^(?:[ \t]*\n)+(?=---[ \t]*\n)/.exec(text)?.[0] ?? "";
  const split = splitFrontMatter(text.slice(blank.length), path);
  const { frontMatter, bodyLine } = split;
  const lines = blank.split("\n").length - 1;
  if (!frontMatter) return { ...split, body: blank + split.body };
  const moved = { ...frontMatter, firstLine: frontMatter.firstLine + lines };
  return { ...split, frontMatter: moved, bodyLine: bodyLine + lines };
}

// The longest front matter, and its fences.
const head = Buffer.allocUnsafeSlow(68 * 1024);
const firstBytes = 4096;

/**
 * The front matter at the beginning of a file; undefined without one. `isSure` is false where only
 * reading the whole file tells: an empty file, UTF-16, a fence without front matter, an error.
 */
export function readFrontMatter(
  absolutePath: string,
  path: string,
): { frontMatter: FrontMatter | undefined; isSure: boolean } {
  const unsure = { frontMatter: undefined, isSure: false };
  let descriptor: number | undefined;
  try {
    descriptor = openSync(absolutePath, openFlags);
    const first = readSync(descriptor, head, 0, firstBytes, 0);
    // An empty line is one in front of front matter for some: the whole file tells.
    const isOpen = /^(?:\uFEFF)?(?:\s|---|\+\+\+|\{)/.test(
      head.toString("utf8", 0, Math.min(first, 8)),
    );
    if (!isOpen) return { ...unsure, isSure: first > 0 && (head[0] ?? 0) < 0xfe };
    const rest = head.length - firstBytes;
    const more = first === firstBytes ? readSync(descriptor, head, first, rest, first) : 0;
    const text = head.toString("utf8", 0, first + more).replace(/^\uFEFF/, "");
    const { frontMatter } = splitFrontMatter(text.replace(/\r\n?/g, "\n"), path);
    return { frontMatter, isSure: frontMatter !== undefined };
  } catch {
    // The run that reads this file reports why.
    return unsure;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

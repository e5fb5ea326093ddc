import type { Parsed, Surroundings } from "../format.ts";
import {
  type LeftOut,
  createLeftOutLog,
  type LeftOutLog,
  removeIgnored,
  type RemovedLines,
} from "../../text/left-out.ts";
import { removeHidden } from "./hidden.ts";
import { splitFrontMatter, type SplitText } from "../../front-matter/front-matter.ts";
import { createCodeTest, scanStructure } from "../../text/structure.ts";
import { toMarkdown } from "../mdx/mdx.ts";
import { readBlocks } from "./blocks.ts";
import {
  createSearch,
  type Expansion,
  type Replacement,
  indented,
  includedText,
  linesIn,
  type Part,
} from "./included.ts";
import {
  replaceBang,
  replaceCodeImport,
  replaceComment,
  replaceSnippet,
  replaceStar,
} from "./snippets.ts";
import { closedNames, readHugo, readLiquid, shortcodeText } from "./shortcode.ts";

// dotnet.github.io/docfx, "Markdown": includes and code snippets.

const fileOf = (name: string): string => name.replace(/^~\//, "/");

/** `[!INCLUDE [title](~/includes/x.md)]`. */
function replaceDocfx(expansion: Expansion, at: number): Replacement | undefined {
  const { text } = expansion;
  const [whole, name] =
    /^\[!include[ \t]*\[[^\]\n]*\]\([ \t]*([^()\n]+?)[ \t]*\)[ \t]*\]/i.exec(
      text.slice(at, at + 1000),
    ) ?? [];
  if (whole === undefined || name === undefined) return undefined;
  const part = { target: fileOf(name), folders: [""] };
  const body = includedText(expansion, part, at, false);
  return { end: at + whole.length, text: indented(body, text, at) };
}

// A comment with nothing but `<name>` or `</name>`.
const tagLine =
  /^\s*(?:\/\/+|#+|'+|--|;+|%+|<!--|\/\*|@\*|\(\*|rem\b)\s*<(\/?)([\w.-]{1,100})>\s*(?:-->|\*[/@)])?\s*$/i;

/** The lines between `// <name>` and `// </name>`, or of a region; without the marks of others. */
function snippetOf(text: string, name: string): string | undefined {
  const marks = text.split("\n").map((row) => ({ row, mark: tagLine.exec(row) }));
  const isMark = (mark: RegExpExecArray | null, slash: string): boolean =>
    mark?.[1] === slash && mark[2]?.toLowerCase() === name.toLowerCase();
  const first = marks.findIndex(({ mark }) => isMark(mark, ""));
  if (first === -1) return linesIn(text, { section: name });
  const last = marks.findIndex(({ mark }, index) => index > first && isMark(mark, "/"));
  return marks
    .slice(first + 1, last === -1 ? undefined : last)
    .filter(({ mark }) => !mark)
    .map(({ row }) => row)
    .join("\n");
}

/** The ranges in a text like `2,5-7,9-`. */
function rangesOf(text: string): NonNullable<Part["lines"]> {
  return [...text.matchAll(/(\d{1,9})(?:[ \t]*(-)[ \t]*L?(\d{1,9})?)?/g)].map(
    ([, from, dash, to]) => ({
      from: Number(from),
      to: Number(to ?? (dash === undefined ? from : Number.MAX_SAFE_INTEGER)),
    }),
  );
}

/** Which part of its file a snippet shows. */
function partOf(file: string, lines: string | undefined, name: string | undefined): Part {
  const target = fileOf(file);
  if (lines !== undefined) return { target, lines: rangesOf(lines), folders: [""] };
  if (name === undefined) return { target, folders: [""] };
  return { target, section: name, choose: (text) => snippetOf(text, name), folders: [""] };
}

const listMarks = /(?:[-*+]|\d{1,9}[.)])(?=[ \t])/g;

/** A block of code in a quotation or a list: what stands before its line, or its width, stands before each. */
function placed(block: string, { text }: Expansion, at: number, end: number): string {
  const before = text.slice(Math.max(0, at - 200), at);
  const prefix = before.slice(before.lastIndexOf("\n") + 1);
  const rest = prefix.replace(listMarks, (mark) => " ".repeat(mark.length));
  const own = /^[ \t>]*$/.test(rest) ? block.replaceAll("\n", `\n${rest}`) : `\n${block}`;
  return /^[ \t]*(?:\n|$)/.test(text.slice(end, end + 200)) ? own : `${own}\n`;
}

function codeText(
  expansion: Expansion,
  part: Part,
  language: string,
  range: [number, number],
): string {
  const body = includedText(expansion, part, range[0], true);
  const info = language || (/\.(\w+)$/.exec(part.target)?.[1] ?? "");
  return body === "" ? "" : placed(`\`\`\`\`${info}\n${body}\n\`\`\`\``, expansion, ...range);
}

const link =
  /^\[!code(?:-([\w+#.-]{1,50}))?[ \t]*\[[^\]\n]*\]\([ \t]*([^()\n?#"]+?)[ \t]*(?:\?([^()\n#"\s]*))?(?:#([^()\n"\s]*))?[ \t]*(?:"[^"\n]*")?[ \t]*\)[ \t]*\]/i;

/** `[!code-csharp[name](x.cs?name=region)]`, also with `?range=2,5-7`, `?start=2&end=5`, `#L2-L5` and `#region`. */
function replaceDocfxCode(expansion: Expansion, at: number): Replacement | undefined {
  const [whole, language = "", file = "", query = "", fragment] =
    link.exec(expansion.text.slice(at, at + 1000)) ?? [];
  if (whole === undefined) return undefined;
  const options = new URLSearchParams(query);
  const option = (key: string): string | undefined => options.get(key) ?? undefined;
  const [start, stop] = [option("start"), option("end")];
  const ends =
    start === undefined && stop === undefined ? undefined : `${start ?? 1}-${stop ?? ""}`;
  const rows = /^L\d+(?:-L?\d+)?$/i.test(fragment ?? "") ? fragment : undefined;
  const part = partOf(file, option("range") ?? ends ?? rows, option("name") ?? fragment);
  const end = at + whole.length;
  return { end, text: codeText(expansion, part, language, [at, end]) };
}

/** `:::code language="csharp" source="x.cs" id="region":::`, also with `range="2,5-7"`. Stays if nobody can read it. */
function replaceCodeDirective(expansion: Expansion, at: number): Replacement | undefined {
  const [whole, list = ""] =
    /^:::[ \t]*code[ \t]([^\n]*?):::/.exec(expansion.text.slice(at, at + 1000)) ?? [];
  const pairs = [...list.matchAll(/([a-z-]{1,50})="([^"]*)"/g)];
  const options = new Map(pairs.map(([, key = "", value = ""]) => [key, value]));
  const file = options.get("source");
  if (whole === undefined || file === undefined) return undefined;
  const part = partOf(file, options.get("range"), options.get("id"));
  const end = at + whole.length;
  const shown = codeText(expansion, part, options.get("language") ?? "", [at, end]);
  return shown === "" ? undefined : { end, text: shown };
}

// help.obsidian.md, "Embed files" and "Accepted file formats": everything else is a note.
const media =
  /\.(?:avif|bmp|gif|jpe?g|png|svg|webp|3gp|flac|m4a|mkv|mov|mp[34]|og[gv]|wav|webm|pdf|base|canvas|excalidraw)$/i;
// Not the text of a link after an exclamation mark: `Done![[1]](#note)`.
const embed =
  /^!\[\[([^[\]|#^\n\\]{1,300})(?:#([^[\]|\n\\]{1,300}))?(\\?\|[^[\]\n]{0,300})?\]\](?![([])/;

/** Names of headings in links lack some marks. */
const comparable = (text: string): string =>
  text
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .toLowerCase();

/** A heading with what is below it; `A#B` names the heading B below A. */
function belowHeading(text: string, name: string): string | undefined {
  const { headings } = scanStructure(text);
  const names = headings.map((heading) => comparable(heading.text));
  let at = -1;
  for (const each of name.split("#")) {
    at = names.indexOf(comparable(each), at + 1);
    if (at === -1) return undefined;
  }
  const first = headings[at];
  const next = headings.find(({ level }, index) => index > at && level <= (first?.level ?? 0));
  return text.slice(first?.start, next?.start);
}

/** The list item or the paragraph that ends with `^id`. */
function blockOf(text: string, id: string): string | undefined {
  const rows = text.split("\n");
  const mark = `^${id}`;
  const last = rows.findIndex(
    (row) => row.trimEnd().endsWith(mark) && !/\S\^/.test(row.slice(-mark.length - 2)),
  );
  if (last === -1) return undefined;
  const own = (rows[last] ?? "").trimEnd().slice(0, -mark.length).trimEnd();
  if (/^\s*(?:[-*+]|\d{1,9}[.)])\s/.test(own)) return own.trim();
  // Below a table or a quotation, the mark has a line of its own.
  let end = last;
  if (own === "") while (end > 0 && rows[end - 1]?.trim() === "") end--;
  let from = end;
  while (from > 0 && rows[from - 1]?.trim() !== "") from--;
  return [...rows.slice(from, end), own].join("\n").trimEnd();
}

/**
 * `![[note]]`, `![[note#Heading]]` and `![[note#^block]]` of Obsidian. What cannot be read stays as
 * written: elsewhere, double brackets are text.
 */
function replaceEmbed(expansion: Expansion, at: number): Replacement | undefined {
  const { text } = expansion;
  const [whole, name = "", section, shown] = embed.exec(text.slice(at, at + 1000)) ?? [];
  if (whole === undefined || media.test(name.trim())) return undefined;
  const target = name.trim().replace(/\.md$/i, "");
  const choose = (note: string): string | undefined => {
    if (section === undefined) return note;
    return section.startsWith("^") ? blockOf(note, section.slice(1)) : belowHeading(note, section);
  };
  const part = { target: `${target}.md`, section, choose, folders: [""], isNote: true };
  const body = includedText(expansion, part, at, false);
  if (body === "") return undefined;
  // In a cell of a table the bar is escaped, and a row is one line.
  const isCell = shown?.startsWith("\\") === true;
  const row = (): string =>
    body
      .trim()
      .replace(/\s*\n\s*/g, " ")
      .replaceAll("|", "\\|");
  return { end: at + whole.length, text: isCell ? row() : indented(body, text, at) };
}

const construct =
  /\{\{[<%]|\{[%!*]|\{::comment\}|%%|;?--8<--|<<<(?=[ \t])|<!--[ \t]*@include:|\[!(?:INCLUDE|include|code)\b|:::[ \t]*code[ \t]|!\[\[/g;

/** `{{</* name *\/>}}`: Hugo shows the shortcode itself. */
function replaceEscaped({ text, nextOf }: Expansion, at: number): Replacement | undefined {
  const mark = text[at + 2] === "<" ? ">}}" : "%}}";
  const close = nextOf(mark, at + 3);
  if (close === -1 || !text.startsWith("*/", close - 2)) return undefined;
  const inner = text.slice(at + 5, close - 2);
  return { end: close + 3, text: `${text.slice(at, at + 3)}${inner}${mark}` };
}

/** A comment of kramdown, or of a note in a vault of Obsidian. */
function removeComment(expansion: Expansion, at: number, mark: string): Replacement | undefined {
  const { around, chain, log, nextOf } = expansion;
  const isNote = mark === "%%";
  if (around.keepsHidden || (isNote && !around.includes.isInVault(chain.at(-1) ?? ""))) {
    return undefined;
  }
  const from = at + mark.length;
  const ends = isNote ? ["%%"] : ["{:/comment}", "{:/}"];
  const closes = ends
    .map((each) => ({ each, close: nextOf(each, from) }))
    .filter(({ close }) => close !== -1)
    .toSorted((one, other) => one.close - other.close);
  const [first] = closes;
  if (!first) return undefined;
  log.add("comment", "", at);
  return { end: first.close + first.each.length, text: "" };
}

function replaceConstruct(expansion: Expansion, at: number, mark: string): Replacement | undefined {
  const { text, isCode } = expansion;
  // PyMdown includes within code, too.
  if (mark.includes("8<")) return replaceSnippet(expansion, at);
  if (mark.startsWith("{{") && text.startsWith("/*", at + 3)) return replaceEscaped(expansion, at);
  if (isCode(at)) return undefined;
  if (mark === "{!") return replaceBang(expansion, at);
  if (mark === "{*") return replaceStar(expansion, at);
  if (mark === "%%" || mark === "{::comment}") return removeComment(expansion, at, mark);
  if (mark === "<<<") return replaceCodeImport(expansion, at);
  if (mark === "![[") return replaceEmbed(expansion, at);
  if (mark === "[!code") return replaceDocfxCode(expansion, at);
  if (mark.startsWith(":")) return replaceCodeDirective(expansion, at);
  if (mark.startsWith("[")) return replaceDocfx(expansion, at);
  if (mark.startsWith("<!--")) return replaceComment(expansion, at);
  const isLiquid = mark === "{%";
  const tag = isLiquid ? readLiquid(expansion, at) : readHugo(expansion, at);
  return tag && shortcodeText(expansion, at, tag, isLiquid);
}

function expandText(expansion: Expansion): string {
  const { text } = expansion;
  const pieces: string[] = [];
  let from = 0;
  construct.lastIndex = 0;
  for (const { 0: mark, index } of text.matchAll(construct)) {
    if (index < from) continue;
    const found = replaceConstruct(expansion, index, mark);
    if (!found) continue;
    pieces.push(text.slice(from, index), found.text);
    from = found.end;
  }
  return pieces.length === 0 ? text : pieces.join("") + text.slice(from);
}

// In a tab or an admonition, a fence is indented like code. Its marks move to the start of the line.
const withoutIndents = (text: string): string =>
  text.replace(/^([ \t]+)((?:```|~~~).*)$/gm, "$2$1");

interface Source {
  text: string;
  /** Root-relative paths from the document to the file of the text. */
  chain: readonly string[];
  around: Surroundings;
  log: LeftOutLog;
}

function expandSource({ text, chain, around, log }: Source): string {
  if (text.search(construct) === -1) return text;
  return expandText({
    text,
    around,
    chain,
    log,
    isCode: createCodeTest(withoutIndents(text)),
    nextOf: createSearch(text),
    closed: closedNames(text),
    links: [],
    fences: [],
    expand(inner, path) {
      const kept = removeIgnored(inner, path, 1);
      const innerLog = createLeftOutLog(kept, undefined, log.entries);
      return expandSource({ text: kept, chain: [...chain, path], around, log: innerLog });
    },
  });
}

/**
 * Replaces includes and shortcodes in the body of a Markdown file: those of MkDocs, Hugo, Jekyll,
 * VitePress and their like. `bodyLine` is the line of the file on which the body begins. The time is
 * linear in the length of the text and of what it includes. Throws CliError `usage` for an ignore
 * region that is never closed.
 */
function expandMarkdown(
  body: string,
  bodyLine: number,
  path: string,
  around: Surroundings,
): { text: string; log: LeftOutLog } {
  const removed: RemovedLines[] = [];
  const text = removeIgnored(body, path, bodyLine, removed);
  const log = createLeftOutLog(text, bodyLine, [], removed);
  return { text: expandSource({ text, chain: [path], around, log }), log };
}

// A search of the whole text would cost something on all pages. Imports stand at the top.
const headChars = 2000;
const importLine = /^import\s[^\n]*?\sfrom\s+["'][^"'\n]+["'];?[ \t]*$/gm;

/** Docusaurus reads its `.md` files as MDX: such a file begins with imports. */
function isMdx(body: string): boolean {
  const head = body.slice(0, headChars);
  // A line break is rare and found by memchr. A search for "import " stops at every "i".
  if (!head.startsWith("import ") && !head.includes("\nimpor")) return false;
  const isCode = createCodeTest(head);
  return [...head.matchAll(importLine)].some(({ index }) => !isCode(index));
}

/** The Markdown of a body, before hidden text is removed. */
function expand(
  { body, bodyLine }: SplitText,
  path: string,
  around: Surroundings,
): { text: string; leftOut: LeftOut[] } {
  if (body.search(construct) === -1) return { text: readBlocks(body), leftOut: [] };
  const { text, log } = expandMarkdown(body, bodyLine, path, around);
  return { text: readBlocks(text), leftOut: log.entries };
}

/**
 * Markdown: front matter and body, with includes, shortcodes and admonitions of site generators as
 * plain Markdown, without what no reader of the page sees. Throws CliError `usage` with
 * `path:line:column`.
 */
export function readMarkdown(text: string, path: string, around: Surroundings): Parsed {
  const split = splitFrontMatter(text, path);
  const { frontMatter, body, bodyLine, warnings } = split;
  if (isMdx(body)) return toMarkdown(split, path, around);
  const { text: expanded, leftOut } = expand(split, path, around);
  const parsed: Parsed = { frontMatter, body: expanded, bodyLine, isMarkdown: true, warnings };
  if (!around.keepsHidden) {
    // The lines of a body that was expanded are not those of the file.
    const isAsWritten = expanded === body;
    const log = createLeftOutLog(expanded, isAsWritten ? bodyLine : undefined, leftOut);
    const visible = removeHidden(expanded, log);
    parsed.body = visible.text;
    if (isAsWritten && visible.removed.length > 0) parsed.removed = visible.removed;
  }
  if (leftOut.length > 0) parsed.leftOut = leftOut;
  return parsed;
}

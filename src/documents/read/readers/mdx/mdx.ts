import type { Parsed } from "../../reader.ts";
import { splitFrontMatter } from "../../../front-matter/front-matter.ts";
import { skipBraces, skipImport, skipStatement, type Fuel } from "./mdx-js.ts";
import { createLines, endLine, strip, write, type Lines } from "./mdx-lines.ts";
import { excessOf, findSpans, lineEndOf, literalEnd } from "./mdx-literal.ts";
import { readTag, type Tag } from "./mdx-tag.ts";

interface Scan {
  text: string;
  at: number;
  lines: Lines;
  fuel: Fuel;
  /** The end of each code span by its start; see findSpans(). */
  spans: ReadonlyMap<number, number>;
  /** A statement can begin here: no paragraph is open. */
  isFresh: boolean;
  /** Column where the text of the current list item begins. */
  listIndent: number;
  /** End tags that do not occur again. */
  missing: Set<string>;
}

const fence = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)$/;
const listItem = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+/;
const exportForm =
  /export\s+(?:(?:default|const|let|var|async|function|class|type|interface|enum)\b|[{*])/y;
const special = /[`<{$\\\n]/g;
// These tags can be within words. All other tags separate words.
const inlineNames = new Set(
  "a abbr b bdi bdo cite code dfn em font i ins kbd mark q s samp small span strong sub sup u var".split(
    " ",
  ),
);

/** Copies a fence up to the line that closes it, or to the end. */
function copyFence(scan: Scan, first: string, marks: string): void {
  const { text, lines } = scan;
  const excess = listItem.test(first) ? 0 : excessOf(first, scan.listIndent);
  const closing = new RegExp(`^[ \\t>]*${marks[0] === "~" ? "~" : "`"}{${marks.length},}[ \\t]*$`);
  for (let isFirst = true; scan.at < text.length; isFirst = false) {
    const end = lineEndOf(text, scan.at);
    const line = text.slice(scan.at, end);
    const indent = /^[ \t]*/.exec(line)?.[0].length ?? 0;
    write(lines, line.slice(Math.min(excess, indent)));
    // Blank lines in a fence are content.
    lines.isGap = false;
    scan.at = end;
    if (!isFirst && closing.test(line)) return;
    if (end === text.length) return;
    endLine(lines);
    scan.at = end + 1;
  }
}

function skipEsm({ text, at, fuel }: Scan): number {
  if (text.startsWith("import", at)) return skipImport(text, at, fuel);
  exportForm.lastIndex = at;
  return text.startsWith("export", at) && exportForm.test(text)
    ? skipStatement(text, at, fuel)
    : -1;
}

/** Handles constructs that can only begin a line: statements, fences, list items. */
function scanLineStart(scan: Scan): void {
  const { text, at, lines } = scan;
  const line = text.slice(at, lineEndOf(text, at));
  const isBlank = line.trim() === "";
  const esm = scan.isFresh ? skipEsm(scan) : -1;
  if (esm !== -1) {
    scan.at = esm;
    strip(lines, false);
    endLine(lines);
    return;
  }
  const wasFresh = scan.isFresh;
  scan.isFresh = isBlank;
  const marks = line.includes("```") || line.includes("~~~") ? fence.exec(line) : undefined;
  const item = listItem.exec(line)?.[0];
  if (marks?.[1] && !(marks[1].startsWith("`") && marks[2]?.includes("`"))) {
    if (item) scan.listIndent = item.replaceAll("\t", "    ").length;
    copyFence(scan, line, marks[1]);
    scan.isFresh = true;
  } else if (item) scan.listIndent = item.replaceAll("\t", "    ").length;
  else if (!isBlank) {
    if (!/^[ \t]/.test(line) && wasFresh) scan.listIndent = 0;
    scan.at += excessOf(line, scan.listIndent);
  }
}

function scanTag(scan: Scan, tag: Tag): void {
  const { lines, text, missing } = scan;
  const { name, kind, attributes } = tag;
  scan.at = tag.end;
  const level = /^h([1-6])$/.exec(name)?.[1];
  const source = attributes.get("src");
  if (level !== undefined && kind === "open" && !lines.hasText) {
    lines.line = [];
    write(lines, `${"#".repeat(Number(level))} `);
    scan.at += /^\s*/.exec(text.slice(tag.end, tag.end + 200))?.[0].length ?? 0;
  } else if (name === "img" && source !== undefined && !/[\s()]/.test(source)) {
    write(lines, `![${(attributes.get("alt") ?? "").replace(/[[\]\n]/g, " ")}](${source})`);
  } else strip(lines, !inlineNames.has(name) && name !== "");
  if ((name !== "script" && name !== "style") || kind !== "open" || missing.has(name)) return;
  const end = text.indexOf(`</${name}>`, tag.end);
  if (end === -1) missing.add(name);
  else scan.at = end + name.length + 3;
}

function scanMarkup(scan: Scan): boolean {
  const { text, at, lines, missing } = scan;
  if (text.startsWith("<!--", at)) {
    const end = missing.has("-->") ? -1 : text.indexOf("-->", at + 4);
    if (end === -1) {
      missing.add("-->");
      return false;
    }
    const comment = text.slice(at, end + 3);
    if (/^<!--[ \t]*\/?knowctl:ignore[ \t]*-->$/.test(comment)) write(lines, comment);
    else strip(lines, false);
    scan.at = end + 3;
    return true;
  }
  const tag = readTag(text, at, scan.fuel);
  if (tag) scanTag(scan, tag);
  return tag !== undefined;
}

function scanExpression(scan: Scan): boolean {
  const { text, at, lines } = scan;
  // A heading id of Docusaurus is no expression.
  const end = /^\{#[^\s{}]+\}/.test(text.slice(at, at + 200))
    ? -1
    : skipBraces(text, at, scan.fuel);
  if (end === -1) return false;
  scan.at = end;
  const inner = text.slice(at + 1, end - 1).trim();
  const region = /^\/\*[ \t]*(\/?knowctl:ignore)[ \t]*\*\/$/.exec(inner)?.[1];
  // MDX writes a blank or a brace as `{" "}` or `{'{'}`.
  const literal = /^(?:"([^"\\\n]*)"|'([^'\\\n]*)'|`([^`\\$]*)`)$/.exec(inner);
  if (region !== undefined) write(lines, `<!-- ${region} -->`);
  else if (literal) write(lines, literal[1] ?? literal[2] ?? literal[3] ?? "");
  else strip(lines, false);
  return true;
}

/**
 * Converts MDX to Markdown: removes imports, exports, comments, expressions and tags. Keeps the
 * text between tags, and code. Parses nothing: a construct that does not close is text. The time
 * is linear in the length of the text.
 */
function stripMdx(text: string): string {
  const fuel = { left: 4 * text.length + 100_000 };
  const lines = createLines();
  const spans = findSpans(text);
  const scan: Scan = {
    text,
    at: 0,
    lines,
    fuel,
    spans,
    isFresh: true,
    listIndent: 0,
    missing: new Set(),
  };
  let isLineStart = true;
  while (scan.at < text.length) {
    if (isLineStart) {
      const before = scan.at;
      scanLineStart(scan);
      isLineStart = lines.line.length === 0 && text[scan.at - 1] === "\n" && scan.at > before;
      if (isLineStart) continue;
    }
    special.lastIndex = scan.at;
    const next = special.exec(text)?.index ?? text.length;
    if (next > scan.at) write(lines, text.slice(scan.at, next));
    scan.at = next;
    const char = text[next];
    if (char === "\n") {
      endLine(lines);
      scan.at++;
      isLineStart = true;
    } else if (!(char === "<" && scanMarkup(scan)) && !(char === "{" && scanExpression(scan))) {
      const end = literalEnd(text, next, spans);
      write(lines, text.slice(next, end));
      scan.at = Math.max(next + 1, end);
    }
  }
  if (lines.line.length > 0) endLine(lines);
  return lines.done.join("\n") + (text.endsWith("\n") ? "\n" : "");
}

/** MDX: front matter, and the body as Markdown. Throws CliError `usage` with `path:line:column`. */
export function readMdx(text: string, path: string): Parsed {
  const split = splitFrontMatter(text, path);
  return { ...split, body: stripMdx(split.body), isMarkdown: true };
}

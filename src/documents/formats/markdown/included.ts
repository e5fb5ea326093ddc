import { posix } from "node:path";
import { fileProblem } from "../../../errors.ts";
import type { Included, Includes, Surroundings } from "../format.ts";
import { type LeftOutLog, removeIgnored } from "../../text/left-out.ts";
import type { ValueMap } from "../../front-matter/values.ts";
import type { GoObject } from "./template/go-values.ts";
import type { Template, TemplateText } from "./template/template.ts";
import { splitFrontMatter } from "../../front-matter/front-matter.ts";
import { createCodeTest } from "../../text/structure.ts";

/** Why a path above the root is not read. */
export const outside = "it lies outside the project root";
const absent = new Set([fileProblem("ENOENT"), outside]);

/**
 * Reads a file that a page names as site generators do: relative to the folder of the page, else to
 * a folder above it, up to the root. `folders` are tried in each of these folders, for example
 * `docs`. `chain` is that of Includes.read(). If no file can be read, the problem is that of the first
 * place with a file, else that of the first place.
 */
export function readProjectFile(
  target: string,
  includes: Includes,
  chain: readonly string[],
  folders: readonly string[],
): Included {
  // vite.dev, "Virtual Modules Convention": a program makes the text.
  if (/^(?:[a-z][a-z\d+.-]*:\/\/|virtual:)/i.test(target))
    return { problem: "it is an address, not a file" };
  const from = posix.dirname(chain.at(-1) ?? "");
  const parts = from === "." ? [] : from.split("/");
  let first: Included | undefined;
  let present: Included | undefined;
  for (let depth = parts.length; depth >= 0; depth--) {
    for (const folder of folders) {
      const base = [...parts.slice(0, depth), folder].filter((part) => part !== "").join("/");
      // Not normalised here: `..` that leads out of the root must not end in it.
      const found = includes.read(`/${base}/${target}`, chain);
      if ("text" in found) return found;
      first ??= found;
      if (!absent.has(found.problem)) present ??= found;
    }
  }
  return present ?? first ?? { problem: "no such file" };
}

/** A Markdown text whose includes and shortcodes are being replaced. */
export interface Expansion {
  text: string;
  around: Surroundings;
  /** Root-relative paths from the document to the file of this text. */
  chain: readonly string[];
  log: LeftOutLog;
  /** Whether an offset lies in code. Offsets must grow from call to call. */
  isCode: (offset: number) => boolean;
  /** Whether a fence begins in the line of an offset. */
  opensFence: (offset: number) => boolean;
  /**
   * Offset of the next occurrence of an end mark; -1 if there is none. `from` must grow from call
   * to call: a look-ahead names itself as `reader`, and has offsets of its own.
   */
  nextOf: (mark: string, from: number, reader?: string) => number;
  /** Names of shortcodes that have an end tag. */
  closed: ReadonlySet<string>;
  /** Open shortcodes with a link whose text is between the tags. */
  links: { name: string; href: string }[];
  /** Open shortcodes whose content is code in a fence. */
  fences: string[];
  /** Offsets of end marks whose begin marks are gone. */
  endMarks: Set<number>;
  /** Expands the text of an included file, with the names of `template` if it has others. */
  expand: (text: string, path: string, template?: Template) => string;
  /** Expands a part of this text on its own: the body of a loop. */
  body: (text: string) => string;
  /**
   * Expands what stands between the tags of a shortcode, whose template reads it; undefined where
   * that is too deep.
   */
  content: (text: string, parent: GoObject) => string | undefined;
  /** The shortcode whose content this text is. */
  parent: GoObject | undefined;
  /** The front matter of the document. */
  frontMatter: ValueMap | undefined;
  /** What stands after the content of open shortcodes, by the templates of the project. */
  ends: { name: string; after: string }[];
  /** Where the page is a template of its site. */
  template: TemplateText | undefined;
}

/** What stands in place of a construct that ends at `end`. */
export interface Replacement {
  end: number;
  text: string;
  /** Whether the blanks before it go. */
  trimsBefore?: boolean;
}

/** Returns a search that costs the length of the text once for each mark and reader. */
export function createSearch(text: string): Expansion["nextOf"] {
  const known = new Map<string, number>();
  return (mark, from, reader = "") => {
    const key = `${reader} ${mark}`;
    const last = known.get(key) ?? -2;
    if (last === -1 || last >= from) return last;
    const next = text.indexOf(mark, from);
    known.set(key, next);
    return next;
  };
}

/** The indentation before an offset; undefined if other text precedes it on the line. */
export function indentBefore(text: string, at: number): string | undefined {
  let start = at;
  while (text[start - 1] === " " || text[start - 1] === "\t") start--;
  return start === 0 || text[start - 1] === "\n" ? text.slice(start, at) : undefined;
}

const lineRest = /[ \t]*(?:\n|$)/y;

/** Whether nothing else stands on the lines of a construct. */
export function isAlone(text: string, at: number, end: number): boolean {
  lineRest.lastIndex = end;
  return indentBefore(text, at) !== undefined && lineRest.test(text);
}

/** A block in place of a construct: each line but the first gets its indentation. */
export function indented(block: string, text: string, at: number): string {
  const indent = indentBefore(text, at) ?? "";
  return indent === "" ? block : block.replace(/\n(?=[^\n])/g, `\n${indent}`);
}

/** Nothing in place of a mark, if a second one ends the marked text in the same paragraph. */
export function withoutPair(
  expansion: Expansion,
  at: number,
  mark: string,
): Replacement | undefined {
  const { text, endMarks, nextOf } = expansion;
  const from = at + mark.length;
  if (endMarks.delete(at)) return { end: from, text: "" };
  const close = /\S/.test(text[from] ?? "") ? nextOf(mark, from, `pair ${mark}`) : -1;
  if (close <= from || close - from > 5000 || /\s/.test(text[close - 1] ?? "")) return undefined;
  if (/\n[ \t]*\n/.test(text.slice(from, close))) return undefined;
  endMarks.add(close);
  return { end: from, text: "" };
}

/** Which part of a file is included. */
export interface Part {
  target: string;
  /** Lines from 1, both included. */
  lines?: { from: number; to: number }[] | undefined;
  /** Name of a section between `[start:NAME]` and `[end:NAME]`, `ANCHOR: NAME` and its end, or of a VS Code `#region`. */
  section?: string | undefined;
  /** Finds the section in another way. */
  choose?: (text: string) => string | undefined;
  /** Texts between which the part lies. */
  start?: string | undefined;
  end?: string | undefined;
  /** Finds the file in another way. */
  find?: () => Included;
  /** Folders that are tried in each folder above the page. */
  folders: readonly string[];
  /** Whether links in it count from its own folder. */
  rebases?: boolean;
}

const fileLink =
  /(?<=\]\(<?|^ {0,3}\[[^\]\n]{1,200}\]:[ \t]{0,9})[^\s():/#?@<>~][^\s():#?<>]{0,1000}\.\w{1,10}(?=[)#?>\s]|$)/gm;

/** The text of a file that a page takes with its links to files as its folder reads them. */
export function rebased(text: string, from: string, chain: readonly string[]): string {
  const folder = posix.dirname(chain.at(-1) ?? "");
  const own = posix.dirname(from);
  if (own === folder || !/\](?:\(|:)/.test(text)) return text;
  const isCode = createCodeTest(text);
  return text.replace(fileLink, (target: string, offset: number) =>
    isCode(offset) ? target : posix.relative(folder, posix.join(own, target)),
  );
}

const sectionMark = /(?:-+8<-+[ \t]*\[|#?(?:end)?region\b|\bANCHOR(?:_END)?:)/;
// Of MkDocs, and of mdBook.
const markLine =
  /-+8<-+[ \t]*\[[ \t]*(?:start|end)[ \t]*:|\bANCHOR(?:_END)?:[ \t]*[\w-]+[ \t]*(?:\*\/|-->)?[ \t]*$/;
const markdownFile = /\.(?:md|markdown|mdx|[qr]md|txt)$/i;

function namedLines(rows: readonly string[], name: string): string[] | undefined {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const opens = new RegExp(
    `(?:8<-+[ \\t]*\\[[ \\t]*start[ \\t]*:[ \\t]*|#?region[ \\t]+|\\bANCHOR:[ \\t]*)${escaped}(?![\\w-])`,
  );
  const closes = new RegExp(
    `(?:8<-+[ \\t]*\\[[ \\t]*end[ \\t]*:|\\bANCHOR_END:)[ \\t]*${escaped}(?![\\w-])|#?endregion`,
  );
  const first = rows.findIndex((row) => opens.test(row) && !row.includes("endregion"));
  if (first === -1) return undefined;
  const last = rows.findIndex((row, index) => index > first && closes.test(row));
  return rows.slice(first + 1, last === -1 ? undefined : last);
}

function between(text: string, { start, end }: Pick<Part, "start" | "end">): string {
  const from = start === undefined ? -1 : text.indexOf(start);
  const rest = from === -1 ? text : text.slice(from + (start ?? "").length);
  const to = end === undefined ? -1 : rest.indexOf(end);
  return to === -1 ? rest : rest.slice(0, to);
}

/** The lines of a part of a text; undefined without its section. */
export function linesIn(
  text: string,
  part: Pick<Part, "lines" | "section" | "start" | "end">,
): string | undefined {
  const whole = between(text, part);
  const rows = whole.split("\n");
  const { lines, section } = part;
  const chosen =
    section === undefined
      ? lines?.flatMap(({ from, to }) => rows.slice(Math.max(0, from - 1), to))
      : namedLines(rows, section);
  if (section !== undefined && !chosen) return undefined;
  if (!chosen && !sectionMark.test(whole)) return whole;
  return (chosen ?? rows).filter((row) => !markLine.test(row)).join("\n");
}

/**
 * The text of an included file, without the line break at its end. Markdown loses its front matter,
 * and its own includes are expanded, but not within code. Counts what cannot be read as left out.
 */
export function includedText(
  expansion: Expansion,
  part: Part,
  at: number,
  isCode: boolean,
): string {
  const { around, chain, log } = expansion;
  const found = part.find?.() ?? readProjectFile(part.target, around.includes, chain, part.folders);
  if ("problem" in found) {
    log.add("include", `${part.target}: ${found.problem}`, at);
    return "";
  }
  const isMarkdown = !isCode && markdownFile.test(found.path);
  const whole =
    isMarkdown && part.lines === undefined
      ? splitFrontMatter(found.text, found.path).body
      : found.text;
  // A section may begin in an ignore region.
  const readable = part.choose && isMarkdown ? removeIgnored(whole, found.path, 1) : whole;
  const text = part.choose ? part.choose(readable) : linesIn(whole, part);
  if (text === undefined) {
    log.add("include", `${part.target}: no section ${part.section ?? ""}`, at);
    return "";
  }
  const trimmed = text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
  if (!isMarkdown) return trimmed;
  const shown = expansion.expand(trimmed, found.path);
  return part.rebases === true ? rebased(shown, found.path, chain) : shown;
}

import { splitFrontMatter } from "../../front-matter/front-matter.ts";
import { removeIgnored } from "../../text/ignore-regions.ts";
import { readProjectFile } from "../project-file.ts";
import type { Expansion } from "./expansion.ts";

/** Which part of a file is included. */
export interface Part {
  target: string;
  /** Lines from 1, both included. */
  lines?: { from: number; to: number }[] | undefined;
  /** Name of a section between `[start:NAME]` and `[end:NAME]`, or of a VS Code `#region`. */
  section?: string | undefined;
  /** Finds the section in another way. */
  choose?: (text: string) => string | undefined;
  /** Texts between which the part lies. */
  start?: string | undefined;
  end?: string | undefined;
  /** Whether the target is a note that may lie anywhere in the vault. */
  isNote?: boolean;
  /** Folders that are tried in each folder above the page. */
  folders: readonly string[];
}

const sectionMark = /(?:-+8<-+[ \t]*\[|#?(?:end)?region\b)/;
const markdownFile = /\.(?:md|markdown|mdx|txt)$/i;

function namedLines(rows: readonly string[], name: string): string[] | undefined {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const opens = new RegExp(
    `(?:8<-+[ \\t]*\\[[ \\t]*start[ \\t]*:[ \\t]*|#?region[ \\t]+)${escaped}(?![\\w-])`,
  );
  const closes = new RegExp(
    `8<-+[ \\t]*\\[[ \\t]*end[ \\t]*:[ \\t]*${escaped}(?![\\w-])|#?endregion`,
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
  return (chosen ?? rows)
    .filter((row) => !/-+8<-+[ \t]*\[[ \t]*(?:start|end)[ \t]*:/.test(row))
    .join("\n");
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
  const { includes } = around;
  let found = readProjectFile(part.target, includes, chain, part.folders);
  if ("problem" in found && part.isNote === true) {
    found = includes.readNote(part.target, chain) ?? found;
  }
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
  return isMarkdown ? expansion.expand(trimmed, found.path) : trimmed;
}

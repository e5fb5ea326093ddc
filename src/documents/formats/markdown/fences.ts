import type { GeneratorName } from "../../site/generators.ts";

const opening = /^([ \t>]*)(`{3,}|~{3,})[ \t]*([^\s`{}[\]]*)[ \t]*(.*)$/;

/** The title that a site shows above a block of code, by what stands behind its language. */
function titleOf(rest: string, generator: GeneratorName): string | undefined {
  // vitepress.dev, "Code Groups": `[config.js]`.
  if (generator === "vitepress") return /(?:^|\s)\[([^\]]+)\]/.exec(rest)?.[1];
  // docusaurus.io, "Code blocks"; expressive-code.com, "Editor & Terminal Frames"; Nextra.
  const [, , title, bare] =
    /(?:^|\s)(?:title|filename)=(?:(["'])(.*?)\1|([^\s"'{}]+))/.exec(rest) ?? [];
  return title ?? bare;
}

/** Sites that read what stands behind the language of a block of code. */
const withTitles: readonly GeneratorName[] = ["docusaurus", "starlight", "vitepress"];

/**
 * The line that opens a block of code, and its title above it. What else stands behind the language
 * is for programs: lines to highlight, for example. `generator` is that of the page.
 */
export function openedFence(row: string, generator: GeneratorName | undefined): string[] {
  if (generator === undefined || !withTitles.includes(generator)) return [row];
  const [, before = "", marks, language = "", rest = ""] = opening.exec(row) ?? [];
  if (marks === undefined || rest === "") return [row];
  const title = titleOf(rest, generator)?.trim();
  const bare = language.replace(/:.*$/, "");
  const line = `${before}${marks}${bare}`;
  return title === undefined || title === ""
    ? [line]
    : [`${before}**${title}**`, before.trimEnd(), line];
}

// docusaurus.io, "Highlighting with comments".
const highlight =
  /^[ \t]*(?:\/\/|#|--|%|;|"|'|\/\*|\{\/\*|<!--)[ \t]*highlight-(?:next-line|start|end)[ \t]*(?:\*\/\}?|-->)?[ \t]*$/;
// vitepress.dev, "Line Highlighting", "Focus" and "Colored Diffs": the comment is no part of the code.
const mark =
  /[ \t]*(?:\/\/|#|--|%|;|\/\*|\{\/\*|<!--)[ \t]*\[!code [^\]\n]{1,100}\][ \t]*(?:\*\/\}?|-->)?[ \t]*$/;

// Shiki, "ANSI highlighting": escape sequences are colours.
// oxlint-disable-next-line no-control-regex
const colour = /\u001B\[[\d;]*m/g;

/** A line of code as the site shows it; undefined for one that is only a mark. */
export function shownCode(
  source: string,
  generator: GeneratorName | undefined,
): string | undefined {
  const row = source.includes("\u001B[") ? source.replace(colour, "") : source;
  if (generator === "docusaurus" && row.includes("highlight-") && highlight.test(row)) {
    return undefined;
  }
  if (generator !== "vitepress" || !row.includes("[!code ")) return row;
  const shown = row.replace(mark, "");
  return shown.trim() === "" ? undefined : shown;
}

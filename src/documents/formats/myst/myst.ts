import type { LeftOut } from "../../text/left-out.ts";
import type { FrontMatter } from "../../front-matter/front-matter.ts";
import type { Surroundings } from "../format.ts";
import { createReading } from "../rst/rst-reading.ts";
import { mystPage, type MystPage } from "./page.ts";
import { isMap } from "../../front-matter/values.ts";
import { quartoValues } from "./quarto-values.ts";
import { isDirective, showDirective } from "./directives.ts";
import { readMystText } from "./text.ts";
import { type Fence, type Fences, codeLines, count } from "./fence.ts";
import { isDropped, readQuartoText, echoes } from "./quarto-text.ts";
import { captionMark } from "./quarto-references.ts";

// quarto.org, "Execution Options"; yihui.org/knitr/options: in the first lines, or behind the language.
const inLine = /^[ \t]*(?:#|\/\/|--|%|%%)\|[ \t]*([\w.-]+)[ \t]*:[ \t]*(.*)$/;
const isOptionLine = /^[ \t]*(?:#|\/\/|--|%|%%)\|/;

interface Options {
  values: Map<string, string>;
  /** Number of lines with options. */
  length: number;
}

const unquoted = (text: string): string => text.trim().replace(/^(["'])(.*)\1$/, "$2");

function optionsOf(head: string, lines: readonly string[]): Options {
  const values = new Map<string, string>();
  const [, name] = /^[\s,]+([\w.:-]+)[ \t]*(?:,|$)/.exec(head) ?? [];
  if (name !== undefined) values.set("label", name);
  for (const [, key = "", value = ""] of head.matchAll(
    /([\w.-]+)[ \t]*=[ \t]*("[^"]*"|'[^']*'|[^\s,{}]+)/g,
  )) {
    values.set(key.replaceAll(".", "-"), unquoted(value));
  }
  let length = 0;
  let last = "";
  for (; isOptionLine.test(lines[length] ?? ""); length++) {
    const line = lines[length] ?? "";
    const [, key, value = ""] = inLine.exec(line) ?? [];
    if (key !== undefined) values.set((last = key.replaceAll(".", "-")), unquoted(value));
    else {
      const more = line.replace(isOptionLine, "").trim();
      values.set(last, unquoted(`${values.get(last)?.replace(/^[|>]-?$/, "") ?? ""} ${more}`));
    }
  }
  return { values, length };
}

const isOff = (value: string | undefined): boolean => /^(?:false|F|FALSE)$/.test(value ?? "");

/** `{.python filename="a.py"}`, `{=html}` and `{{python}}`; undefined for others. */
function showAttributes(fences: Fences, { info, body }: Fence): string[] {
  const [, raw] = /^\{=(\w+)\}$/.exec(info) ?? [];
  if (raw !== undefined) return /^html[45]?$/.test(raw) ? [...body] : [];
  const [, escaped] = /^\{(\{+[\w-]+\}+)\}/.exec(info) ?? [];
  // A cell that is shown as it is written.
  if (escaped !== undefined) {
    return codeLines([`\`\`\`${escaped}`, ...body, "```"], escaped.replace(/[{}]/g, ""));
  }
  const [, language = ""] =
    /^(?:[\w+#.-]+[ \t]*)?\{(?:[^{}]*?\.)?([\w+#-]*)[^{}]*\}$/.exec(info) ?? [];
  const [, name] = /\bfilename="([^"]*)"/.exec(info) ?? [];
  const [, listing] = /\blst-cap="([^"]*)"/.exec(info) ?? [];
  const mark = captionMark(fences, /#([\w.:-]+)/.exec(info)?.[1] ?? "");
  return [
    ...(listing === undefined ? [] : [mark + listing, ""]),
    ...(name === undefined ? [] : [name, ""]),
    ...codeLines(body, language),
  ];
}

/**
 * A cell of Quarto or R Markdown, or a fence with attributes: its code, unless its options hide it,
 * and the captions of what it makes. Undefined for other code.
 */
function showCell(fences: Fences, fence: Fence): string[] | undefined {
  const { info, body, line, marks } = fence;
  if (!info.includes("{") || marks.startsWith(":")) return undefined;
  const [, language, head = ""] = /^\{([A-Za-z][\w+-]*)([\s,][^]*)?\}$/.exec(info) ?? [];
  if (language === undefined)
    return fences.page.isQuarto ? showAttributes(fences, fence) : undefined;
  const { values, length } = optionsOf(head, body);
  const isIncluded = !isOff(values.get("include"));
  const echo = values.get("echo");
  const isShown =
    fences.page.keepsHidden || (isIncluded && (echo === undefined ? echoes(fences) : !isOff(echo)));
  const makes = isIncluded && !isOff(values.get("eval")) && !isOff(values.get("output"));
  const captions = ["lst-cap", ...(makes ? ["fig-cap", "tbl-cap"] : [])]
    .map((name) => [name === "lst-cap" ? "lst-label" : "label", values.get(name)] as const)
    .filter(([, text]) => text !== undefined && text !== "" && !text.startsWith("["))
    .map(([key, text]) => captionMark(fences, values.get(key) ?? "") + text);
  const code = body.slice(length);
  const id = values.get("label");
  if (isIncluded && id !== undefined) fences.page.ids.add(id);
  if (!isShown) count(fences, "hidden", language, line);
  return [
    ...(isShown && code.some((text) => text.trim() !== "") ? codeLines(code, language) : []),
    ...captions.flatMap((text) => ["", text ?? ""]),
  ];
}

type Opening = Pick<Fence, "prefix" | "marks" | "info">;

const opening = /^((?:[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*[ \t]*)(`{3,}|~{3,}|:{3,})[ \t]*(.*)$/;
const longestLine = 10_000;
/** `{name} rest`, with attributes or options in the braces. */
const named = /^\{([A-Za-z][\w:+.-]*)([^{}]*)\}[ \t]*(.*)$/;
const deepest = 24;

function openingOf(line: string): Opening | undefined {
  const mayOpen = line.includes("```") || line.includes("~~~") || line.includes(":::{");
  if (!mayOpen || line.length > longestLine) return undefined;
  const [, prefix = "", marks, info = ""] = opening.exec(line) ?? [];
  if (marks === undefined || (marks.startsWith("`") && info.includes("`"))) return undefined;
  // `::: {.class}` and `:::note` are read elsewhere.
  if (marks.startsWith(":") && !named.test(info.trim())) return undefined;
  return { prefix, marks, info: info.trim() };
}

const widthOf = (prefix: string): number => prefix.replaceAll("\t", "    ").length;
const deepestPrefix = 100;

/**
 * Index of the line that closes a fence; -1 without one. CommonMark 0.31, section 4.5: it has at most three
 * columns more before it than the fence.
 */
function closingOf(lines: readonly string[], from: number, { marks, prefix }: Opening): number {
  const column = Math.min(widthOf(prefix), deepestPrefix) + 4;
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const text = line.trim();
    if (text.length < marks.length || text !== (marks[0] ?? "").repeat(text.length)) continue;
    if (widthOf(/^[ \t]*/.exec(line)?.[0] ?? "") < column) return at;
  }
  return -1;
}

/** Lines without up to `columns` blanks. */
function dedent(lines: readonly string[], columns: number): string[] {
  if (columns === 0) return [...lines];
  return lines.map((line) => {
    const blanks = /^[ \t]*/.exec(line)?.[0] ?? "";
    return " ".repeat(Math.max(0, widthOf(blanks) - columns)) + line.slice(blanks.length);
  });
}

/** The lines in place of a fence: in a list, they stay in its item. */
function placed(shown: readonly string[], { prefix }: Fence): string[] {
  const indent = " ".repeat(widthOf(prefix));
  const lines = shown.map((line) => (line === "" ? "" : indent + line));
  if (prefix.trim() === "") return ["", ...lines, ""];
  const first = lines.findIndex((line) => line !== "");
  return first === -1
    ? [prefix]
    : [prefix + (lines[first] ?? "").slice(indent.length), ...lines.slice(first + 1), ""];
}

/** The lines in place of what a fence shows; undefined for code, which stays. */
function show(fences: Fences, fence: Fence): string[] | undefined {
  const { page } = fences;
  const [, name, options = "", argument = ""] = named.exec(fence.info) ?? [];
  const isWhole = name !== undefined && !page.isQuarto && (page.isMyst || isDirective(name));
  if (isWhole) return showDirective(fences, fence, { name, options, argument });
  return showCell(fences, fence);
}

/**
 * Replaces directives of MyST and cells of Quarto in the lines of a Markdown text by what they show.
 * `first` is the line of the file with the first line; undefined in an included file. The time is
 * linear in the length of the text for each level of nesting.
 */
function readFences(fences: Fences, lines: readonly string[], first: number | undefined): string[] {
  if (fences.depth > deepest) return [...lines];
  const done: string[] = [];
  let textFrom = 0;
  const lineOf = (at: number): number | undefined => (first === undefined ? undefined : first + at);
  const addText = (to: number): void => {
    if (to <= textFrom) return;
    const run = lines.slice(textFrom, to);
    const { isMyst, isQuarto } = fences.page;
    if (isQuarto) add(readQuartoText(fences, run, lineOf(textFrom)));
    else add(isMyst ? readMystText(fences, run, lineOf(textFrom)) : run);
  };
  const add = (shown: readonly string[]): void => {
    for (const line of shown) done.push(line);
  };
  const missing = new Map<string, number>();
  const isMissing = ({ marks, prefix }: Opening): boolean =>
    (missing.get(marks) ?? -1) >= Math.min(widthOf(prefix), deepestPrefix);
  for (let at = 0; at < lines.length;) {
    const open = openingOf(lines[at] ?? "");
    // Marks that nothing closes are searched for once.
    const close = open && !isMissing(open) ? closingOf(lines, at + 1, open) : -1;
    if (open && close === -1) missing.set(open.marks, widthOf(open.prefix));
    if (!open || (close === -1 && open.marks.startsWith(":"))) {
      at++;
      continue;
    }
    addText(at);
    const end = close === -1 ? lines.length : close;
    const next = Math.min(end + 1, lines.length);
    const body = dedent(lines.slice(at + 1, end), widthOf(open.prefix));
    const fence = { ...open, body, line: lineOf(at) };
    if (!isDropped(fences)) {
      const shown = show(fences, fence);
      add(shown ? placed(shown, fence) : lines.slice(at, next));
    }
    at = next;
    textFrom = next;
  }
  addText(lines.length);
  return done;
}

/** Where a Markdown text is from. */
interface Source {
  /** Root-relative, of the document. */
  path: string;
  around: Surroundings;
  frontMatter: FrontMatter | undefined;
  /** Line of the file on which the text begins; undefined if its lines are not those of the file. */
  line: number | undefined;
}

interface Read {
  text: string;
  leftOut: LeftOut[];
  /** Ids that the page gives to what is no heading. */
  ids: readonly string[];
  isSlide?: boolean;
}

const braces = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+){0,10}(?:`{3,}|~{3,}|:{3,})[^\n`{]{0,30}\{/m;
const generators = new Set(["myst", "jupyterbook", "sphinx", "quarto"]);

/**
 * Replaces the syntax of MyST and Quarto in Markdown by what its page shows. Directives are read in
 * every Markdown: elsewhere their fences mean nothing. Roles, comments, targets and substitutions only
 * where the project is known to use MyST, and `:::` with attributes only in Quarto as it reads them.
 */
export function readMyst(text: string, { path, around, frontMatter, line }: Source): Read {
  const mayHave =
    generators.has(around.site?.generator ?? "") ||
    /\.[qr]md$/i.test(path) ||
    (text.includes("{") && braces.test(text));
  if (!mayHave) return { text, leftOut: [], ids: [] };
  const page = mystPage(text, path, around, frontMatter);
  if (!page.isMyst && !page.isQuarto && !braces.test(text)) return { text, leftOut: [], ids: [] };
  const reading = createReading(path, around, text);
  const lines = readFences(
    { page, reading, depth: 0, divs: [], readInner: readFences },
    text.split("\n"),
    line,
  );
  const read = lines.join("\n");
  const shown = page.isQuarto ? quartoValues(read, page, around, path) : read;
  const isSlide = page.isQuarto && frontMatter?.data.title === undefined && isPresentation(page);
  return { text: shown, leftOut: reading.leftOut, ids: [...page.ids], isSlide };
}

/** Whether slides are the only format of a page: quarto.org, "Presentations". */
function isPresentation(page: MystPage): boolean {
  const format = page.valueOf("format");
  if (format === undefined || format === null) return false;
  const names =
    typeof format === "object" && isMap(format) ? Object.keys(format) : [String(format)];
  return names.every((name) => /^(?:revealjs|beamer|pptx)$/.test(name));
}

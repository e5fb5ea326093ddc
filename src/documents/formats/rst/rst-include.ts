import { isBlank, textOf, type Line } from "./rst-lines.ts";
import { type Block, leaveOut, nameOf, type Reading, type LinkedPage } from "./rst-reading.ts";
import { posix } from "node:path";
import type { Included } from "../format.ts";
import { makeId } from "../../text/heading-text.ts";
import { firstTitle } from "./rst-labels.ts";
import { textOf as valueText } from "../../front-matter/values.ts";

/** A directive as written. */
export interface Directive {
  /** In lower case. */
  name: string;
  /** The lines before the options and the first blank line. */
  args: Line[];
  options: ReadonlyMap<string, string>;
  body: Line[];
  /** Everything but the options: the content of a directive without arguments. */
  content: Line[];
  line: number | undefined;
}

export type Handle = (block: Block, directive: Directive) => void;

export const directiveName =
  /^([\p{L}\p{N}](?:[\p{L}\p{N}]|[-._+:](?=[\p{L}\p{N}]))*) ?::(?: +|$)/u;
const optionName = /^:([^:\s`][^:`]*):(?: +|$)/;

/** The arguments, options and content of a directive. */
export function splitDirective(name: string, lines: readonly Line[]): Directive {
  const blank = lines.findIndex((line, index) => index > 0 && isBlank(line));
  const head = lines.slice(0, blank === -1 ? lines.length : blank);
  const body = lines.slice(head.length + 1);
  const firstOption = head.findIndex(({ text }) => optionName.test(text));
  const args = head.slice(0, firstOption === -1 ? head.length : firstOption);
  const options = new Map<string, string>();
  let last = "";
  for (const { text } of head.slice(args.length)) {
    const [marker, option] = optionName.exec(text) ?? [];
    if (marker !== undefined && option !== undefined) {
      last = option;
      options.set(option, text.slice(marker.length).trim());
    } else options.set(last, `${options.get(last) ?? ""}\n${text.trim()}`.trim());
  }
  const isWhole = firstOption === -1 && blank !== -1;
  const content = isWhole ? lines : args.some((line) => !isBlank(line)) ? [...args, ...body] : body;
  return {
    name: name.toLowerCase(),
    args: args.filter((line) => !isBlank(line)),
    options,
    body,
    content: [...content],
    line: lines[0]?.number,
  };
}

/** The arguments as one text. */
export const argumentOf = ({ args }: Directive): string => textOf(args).trim();

/**
 * Reads a file of the project. For Sphinx, a path that begins with `/` begins in the folder with
 * its configuration: one of the folders above the document.
 */
function readTarget({ around, chain }: Reading, target: string): Included {
  const from = chain.at(-1) ?? "";
  let included = around.includes.read(target, chain);
  if (!target.startsWith("/")) return included;
  for (let folder = posix.dirname(from); folder !== "."; folder = posix.dirname(folder)) {
    if ("text" in included || included.problem !== "no such file") break;
    included = around.includes.read(`/${folder}${target}`, chain);
  }
  return included;
}

const partOptions = ["start-line", "end-line", "start-after", "end-before", "lines"];

/** A page can repeat a part of itself, which includes nothing again. */
function ownPart(
  { chain, source }: Reading,
  { options }: Directive,
  target: string,
): Included | undefined {
  const [own = "", ...others] = chain;
  const isOwn = posix.normalize(posix.join(posix.dirname(own), target)) === own;
  const isPart = partOptions.some((name) => options.has(name));
  return isOwn && isPart && others.length === 0 ? { text: source, path: own } : undefined;
}

/** The lines that `lines: 1,3-5,7-` names. */
function chooseLines(lines: readonly string[], choice: string): string[] {
  const chosen = new Set<number>();
  for (const part of choice.split(",").slice(0, 1000)) {
    const [, from = "", dash, to = ""] = /^\s*(\d*)\s*(?:(-)\s*(\d*))?\s*$/.exec(part) ?? [];
    const first = Math.max(Number(from || 1), 1);
    const last = dash === undefined ? first : Math.min(Number(to || lines.length), lines.length);
    for (let line = first; line <= last && chosen.size < lines.length; line++) chosen.add(line);
  }
  return [...chosen].sort((a, b) => a - b).flatMap((line) => lines[line - 1] ?? []);
}

const indentOf = (line: string): number => line.search(/\S|$/);

/** The lines of a function or class of Python, of a class within one: `Lamp.on`. */
function pythonObject(lines: readonly string[], name: string): string[] | undefined {
  let part = lines;
  for (const each of name.split(".")) {
    const found = part.findIndex((line) => {
      const [, own] = /^\s*(?:async\s+)?(?:def|class)\s+(\w+)/.exec(line) ?? [];
      return own === each;
    });
    if (found === -1) return undefined;
    const indent = indentOf(part[found] ?? "");
    const isOf = (line: string | undefined): boolean =>
      line !== undefined && line.startsWith("@", indent) && indentOf(line) === indent;
    let from = found;
    while (isOf(part[from - 1])) from--;
    const next = part.findIndex(
      (line, at) =>
        at > found && line.trim() !== "" && indentOf(line) <= indent && !/^\s*\)/.test(line),
    );
    part = part.slice(from, next === -1 ? undefined : next);
  }
  return [...part];
}

/** The part of the text that the options name; undefined if it has no such part. */
function choosePart(text: string, { options, name }: Directive): string | undefined {
  let lines = text.split(/\r\n|\n|\r/);
  const object = options.get("pyobject");
  if (object !== undefined) return pythonObject(lines, object)?.join("\n").trimEnd();
  const choice = options.get("lines");
  if (choice !== undefined) lines = chooseLines(lines, choice);
  const start = Number(options.get("start-line") ?? 0);
  const end = options.get("end-line");
  if (start || end !== undefined) lines = lines.slice(start, end ? Number(end) : undefined);
  const after = options.get("start-after");
  const at = options.get("start-at");
  const before = options.get("end-before");
  const until = options.get("end-at");
  // Sphinx compares lines, docutils the text.
  if (name === "literalinclude") {
    const find = (part: string): number => lines.findIndex((line) => line.includes(part));
    const from = after === undefined ? at : after;
    if (from !== undefined && find(from) === -1) return undefined;
    if (from !== undefined) lines = lines.slice(find(from) + (after === undefined ? 0 : 1));
    const to = before === undefined ? until : before;
    if (to !== undefined && find(to) === -1) return undefined;
    if (to !== undefined) lines = lines.slice(0, find(to) + (before === undefined ? 1 : 0));
    return lines.join("\n");
  }
  let part = lines.join("\n");
  if (after !== undefined && !part.includes(after)) return undefined;
  if (after !== undefined) part = part.slice(part.indexOf(after) + after.length);
  if (before !== undefined && !part.includes(before)) return undefined;
  return before === undefined ? part : part.slice(0, part.indexOf(before));
}

/** The text that a directive includes. Counts it if it cannot be read. */
export function readIncluded(
  reading: Reading,
  directive: Directive,
): { text: string; path: string } | undefined {
  const target = argumentOf(directive).replace(/\s+/g, " ");
  // Files of docutils: definitions of characters.
  if (/^<.*>$/.test(target)) return undefined;
  const problem = (text: string): undefined =>
    leaveOut(reading, "include", `${target}: ${text}`, directive.line) as undefined;
  const included = ownPart(reading, directive, target) ?? readTarget(reading, target);
  if ("problem" in included) return problem(included.problem);
  const text = choosePart(included.text, directive);
  return text === undefined ? problem("no such part") : { text, path: included.path };
}

// Each page is read for its title.
const mostPages = 100;

/** The name of a page as Sphinx joins it: the root of the site ends what leads above it. */
function fromSource({ around: { site }, chain }: Reading, target: string): string {
  const folder = posix.relative(site?.prefix ?? "", posix.dirname(chain.at(-1) ?? ""));
  const isAbove = site !== undefined && posix.join(folder, target).startsWith("..");
  return isAbove ? posix.join("/", folder, target) : target;
}

/** The page that a document names as Sphinx does: without extension, `/` for its root. */
export function pageOf(reading: Reading, target: string): LinkedPage | undefined {
  const { pages, chain } = reading;
  const known = pages.get(target);
  if (known !== undefined || pages.has(target) || pages.size >= mostPages) return known;
  const found = /^[^\s*?<>:]{1,200}$/.test(target)
    ? readTarget(reading, `${fromSource(reading, target)}.rst`)
    : { problem: "no name" };
  const page =
    "text" in found
      ? {
          address: posix.relative(posix.dirname(chain[0] ?? ""), found.path),
          title: firstTitle(found.text),
        }
      : undefined;
  pages.set(target, page);
  return page;
}

/** Whether sections are labels themselves. */
function hasSectionLabels({ around: { site } }: Reading): boolean {
  const extensions = site?.value("extensions");
  const names = Array.isArray(extensions) ? extensions.map(valueText) : [];
  return names.includes("sphinx.ext.autosectionlabel");
}

const longestLabel = 200;

/** The place in another page that a label names, in a site of Sphinx. */
export function labelOf(reading: Reading, written: string): LinkedPage | undefined {
  const { around, chain } = reading;
  const { site, includes } = around;
  if (site?.generator !== "sphinx" || written.length > longestLabel) return undefined;
  const name = nameOf(written);
  const label = includes.find("label", site.prefix, name);
  const hasSections = !label && hasSectionLabels(reading);
  const entry = hasSections ? includes.find("section", site.prefix, name) : label;
  if (!entry) return undefined;
  const id = makeId(label ? name : (entry.title ?? ""));
  const file = posix.relative(posix.dirname(chain[0] ?? ""), entry.path);
  return { address: `${file}${id === "" ? "" : `#${id}`}`, title: entry.title };
}

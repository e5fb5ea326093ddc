import { posix } from "node:path";
import { argumentOf, type Directive } from "./rst-directive.ts";
import { leaveOut, type Reading } from "../rst-reading.ts";
import type { Included } from "../../format.ts";

/**
 * Reads a file of the project. For Sphinx, a path that begins with `/` begins in the folder with
 * its configuration: one of the folders above the document.
 */
export function readTarget({ around, chain }: Reading, target: string): Included {
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

/** The part of the text that the options name; undefined if it has no such part. */
function choosePart(text: string, { options, name }: Directive): string | undefined {
  let lines = text.split(/\r\n|\n|\r/);
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
  const named = directive.options.get("pyobject");
  if (named !== undefined) return problem(`the object ${named} of a Python file`);
  const included = ownPart(reading, directive, target) ?? readTarget(reading, target);
  if ("problem" in included) return problem(included.problem);
  const text = choosePart(included.text, directive);
  return text === undefined ? problem("no such part") : { text, path: included.path };
}

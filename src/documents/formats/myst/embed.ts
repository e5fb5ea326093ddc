import { splitFrontMatter } from "../../front-matter/front-matter.ts";
import { destination } from "../markdown/blocks.ts";
import { count, type Directive, type Fences, inner } from "./fence.ts";
import { keyOf, type MystPage } from "./page.ts";

/** Parts of pages that others embed by their labels. mystmd.org, "Embed & Include Content". */

const fence = /^[ \t]*(`{3,}|:{3,}|~{3,})[ \t]*\{[\w:+.-]+[^{}]*\}/;
const optionLabel = /^[ \t]*:(?:label|name):[ \t]+(\S.*?)[ \t]*$/;
const target = /^ {0,3}\(([^()\n]{1,200})\)=[ \t]*$/;
const blockBreak = /^\+\+\+(?:\s|$)/;
const breakLabel = /^\+\+\+[ \t]*\{.*"label"[ \t]*:[ \t]*"([^"]+)"/;
const heading = /^ {0,3}#{1,6}[ \t]/;
const longestLine = 1000;

/** Index behind the block that begins at a line: a directive, a section up to the next heading, a part up to the next break, a paragraph. */
function endOf(lines: readonly string[], at: number): number {
  const first = lines[at] ?? "";
  const marks = fence.exec(first)?.[1];
  const next = (is: (line: string) => boolean): number => {
    const found = lines.findIndex((line, index) => index > at && is(line));
    return found === -1 ? lines.length : found;
  };
  if (marks !== undefined) return next((line) => line.trim() === marks) + 1;
  if (blockBreak.test(first)) return next((line) => blockBreak.test(line));
  if (heading.test(first)) return next((line) => heading.test(line));
  return next((line) => line.trim() === "");
}

/** Where blocks with labels begin in the lines of a page. */
function startsOf(lines: readonly string[]): Map<string, number> {
  const starts = new Map<string, number>();
  const add = (label: string, at: number): void => {
    if (!starts.has(keyOf(label))) starts.set(keyOf(label), at);
  };
  let open: string[] = [];
  let opening = -1;
  for (const [at, line] of lines.entries()) {
    if (line.length > longestLine || line.trim() === "") continue;
    const label = target.exec(line)?.[1];
    if (label !== undefined) {
      open.push(label);
      continue;
    }
    for (const each of open) add(each, at);
    open = [];
    const ofBreak = breakLabel.exec(line)?.[1];
    if (ofBreak !== undefined) add(ofBreak, at);
    if (fence.test(line)) opening = at;
    const own = opening === -1 ? undefined : optionLabel.exec(line)?.[1];
    if (own !== undefined) add(own, opening);
  }
  return starts;
}

/** The lines of the block that has a label; undefined without one. */
function blockOf(text: string, label: string): string[] | undefined {
  const lines = text.split("\n");
  const at = startsOf(lines).get(keyOf(label));
  if (at === undefined) return undefined;
  return lines.slice(at, endOf(lines, at));
}

// A page that embeds parts that embed parts.
const mostChars = 1_000_000;
const working = new WeakMap<MystPage, { open: Set<string>; left: number }>();

function found(
  { page, reading }: Fences,
  label: string,
): { lines: string[]; path: string | undefined } | undefined {
  const own = blockOf(page.source, label);
  if (own) return { lines: own, path: undefined };
  const { includes, site } = reading.around;
  const place = site && includes.find("label", site.prefix, keyOf(label));
  const file = place && includes.read(`/${place.path}`, [...reading.chain]);
  if (!file || !("text" in file)) return undefined;
  const lines = blockOf(splitFrontMatter(file.text, file.path).body, label);
  return lines && { lines, path: file.path };
}

/** What a page shows of the part with a label. Counts one that nobody here can show. */
export function embedded(
  fences: Fences,
  written: string,
  directive: Pick<Directive, "line">,
): string[] {
  const label = written.replace(/^#/, "");
  const work = working.get(fences.page) ?? { open: new Set<string>(), left: mostChars };
  working.set(fences.page, work);
  const part = work.open.has(label) || work.left <= 0 ? undefined : found(fences, label);
  // The result of a cell is in no page of text.
  if (!part || /\{code-cell\}/.test(part.lines[0] ?? "")) {
    count(fences, "include", `${label}: no part of a page has this label`, directive.line);
    return [];
  }
  work.left -= part.lines.join("\n").length;
  work.open.add(label);
  if (part.path !== undefined) fences.reading.chain.push(part.path);
  const lines = inner(fences, { ...(directive as Directive), first: undefined }, part.lines);
  if (part.path !== undefined) fences.reading.chain.pop();
  work.open.delete(label);
  return lines;
}

/** `![](#label)` on a line of its own. */
export const embedLine = /^ {0,3}!\[\]\(#([^()\s]{1,200})\)[ \t]*$/;

/** An image with its text, or the part of a page that is in its place. */
export const pictureLines = (fences: Fences, directive: Directive): string[] => {
  const { argument, options } = directive;
  if (argument === "") return [];
  if (argument.startsWith("#")) return embedded(fences, argument, directive);
  return [
    `![${(options.get("alt") ?? "").replace(/[[\]]/g, " ")}](${destination(argument.trim())})`,
  ];
};

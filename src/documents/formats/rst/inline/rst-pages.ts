import { posix } from "node:path";
import { readTarget } from "../directives/rst-include.ts";
import type { LinkedPage, Reading } from "../rst-reading.ts";

// Each page is read for its title.
const mostPages = 100;
const longestLine = 1000;

function isAdornment(text: string): boolean {
  return text.length >= 3 && /^[!-/:-@[-`{-~]/.test(text) && text === text[0]?.repeat(text.length);
}

/** A title without the marks of roles, literals and links. */
const plain = (title: string): string =>
  title
    .replace(/:[\w.+:-]{1,64}:`/g, "`")
    .replace(/ <[^<>]*>`_{1,2}/g, "`")
    .replace(/`+(?:__?)?/g, "");

/** The first title. */
function firstTitle(text: string): string | undefined {
  let before = "";
  for (let start = 0; start < text.length;) {
    const next = text.indexOf("\n", start);
    const end = next === -1 ? text.length : next;
    const line = end - start > longestLine ? "" : text.slice(start, end).trimEnd();
    const isTitle = before !== "" && !isAdornment(before) && !/^\s*\.\.\s/.test(before);
    if (isTitle && isAdornment(line) && line.length >= Math.min(4, before.trim().length)) {
      return plain(before.trim());
    }
    before = line;
    start = end + 1;
  }
  return undefined;
}

/** The page that a document names as Sphinx does: without extension, `/` for its root. */
export function pageOf(reading: Reading, target: string): LinkedPage | undefined {
  const { pages, chain } = reading;
  const known = pages.get(target);
  if (known !== undefined || pages.has(target) || pages.size >= mostPages) return known;
  const found = /^[^\s*?<>:]{1,200}$/.test(target)
    ? readTarget(reading, `${target}.rst`)
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

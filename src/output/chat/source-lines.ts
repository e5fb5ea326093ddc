import { neutraliseLine } from "../terminal/neutralise.ts";
import { bold, dim, link, type Text } from "../terminal/text.ts";
import { displayWidth } from "../terminal/width.ts";
import { listSources, titleText, type Mismatch, type Source } from "./sources.ts";
import type { Turn } from "./turn/answer.ts";

// Apart from sources.ts: what measures texts takes longer to load than anything else before the
// first word of an answer.

const maxLinkLength = 2000;

/** Title, and the link unless the title is the link or the line names its file. Beyond `width` the link has a line of its own. */
function documentText(source: Source, width = Number.POSITIVE_INFINITY): Text[] {
  const title = titleText(source.title);
  if (!source.link) return [title];
  const named = link(source.link, title);
  const isLocal = source.file !== null && source.link.startsWith("file:");
  if (isLocal || source.link === source.title) return [named];
  const shown = neutraliseLine(source.link).slice(0, maxLinkLength);
  const isLong = displayWidth(title) + 2 + displayWidth(shown) > width;
  return [named, dim(isLong ? "\n      " : "  ", shown)];
}

function numbersText(numbers: readonly number[]): string {
  return numbers.map((number) => `[${number}]`).join("");
}

const mismatchNotes: Record<Mismatch, string> = {
  "no-document": "no document of this answer",
  "not-listed": "not among the documents of this answer",
  "not-in-text": "not marked in the text",
};

/** The ids of documents whose lines would look alike: equal titles, and neither link nor file. */
function alikeIds(sources: readonly Source[]): ReadonlySet<string> {
  const byTitle = new Map<string, string[]>();
  for (const { title, link: address, file, documentId } of sources) {
    if (address !== null || file !== null || documentId === null) continue;
    const ids = byTitle.get(title);
    if (ids) ids.push(documentId);
    else byTitle.set(title, [documentId]);
  }
  return new Set([...byTitle.values()].filter((ids) => ids.length > 1).flat());
}

function idText({ documentId }: Source, alike: ReadonlySet<string>): Text[] {
  if (documentId === null || !alike.has(documentId)) return [];
  return [dim("  ", titleText(documentId))];
}

function citedLine(source: Source, width: number, alike: ReadonlySet<string>): Text[] {
  const lead = `  ${numbersText(source.numbers)} `;
  const line: Text[] = [lead, ...documentText(source, width - lead.length)];
  if (source.file !== null) line.push("  ", titleText(source.file));
  line.push(...idText(source, alike));
  const isBare = source.mismatch === "no-document" && source.link === null;
  if (source.mismatch !== null && !isBare) line.push(dim(`  (${mismatchNotes[source.mismatch]})`));
  return line;
}

/** The lines of linesOfSources() for a turn. */
export function sourceLines(turn: Turn, maxRetrieved: number, width?: number): Text[][] {
  return linesOfSources(listSources(turn), maxRetrieved, width);
}

/**
 * Lines below the answer: the cited sources with their numbers, then at most
 * `maxRetrieved` documents that were only retrieved. `width` is the columns of a terminal.
 */
export function linesOfSources(
  { cited, retrieved }: ReturnType<typeof listSources>,
  maxRetrieved: number,
  width = Number.POSITIVE_INFINITY,
): Text[][] {
  const alike = alikeIds([...cited, ...retrieved]);
  const lines: Text[][] = [];
  if (cited.length > 0) lines.push([bold("Sources")]);
  for (const each of cited) lines.push(citedLine(each, width, alike));
  if (maxRetrieved === 0) return lines;
  if (retrieved.length > 0) {
    const heading = cited.length > 0 ? "Also retrieved, not cited" : "Retrieved, not cited";
    lines.push([dim(heading)]);
  }
  for (const each of retrieved.slice(0, maxRetrieved))
    lines.push([dim("  · "), ...documentText(each, width - 4), ...idText(each, alike)]);
  const more = retrieved.length - maxRetrieved;
  if (more > 0) lines.push([dim(`  … and ${more} more (--show all lists them)`)]);
  return lines;
}

import type { SearchDoc } from "../../api/chat-schemas.ts";
import { dim, link, type Text } from "../terminal/text.ts";
import { titleText } from "./sources.ts";

const fewLines = 5;
const manyLines = 200;

/** How many lines of a tool's input or output are shown; many with `--show all`. */
export function previewLength(all: boolean): number {
  return all ? manyLines : fewLines;
}

/** The first lines of a text, each cut; the last one says how many are left out. */
export function previewLines(text: string, most: number): string[] {
  const shown: string[] = [];
  let count = 0;
  // Not split(): an output may have millions of lines.
  for (let at = 0; at <= text.length;) {
    const end = text.indexOf("\n", at);
    const line = text.slice(at, end < 0 ? text.length : end);
    if (line.trim() !== "") {
      count += 1;
      // Indentation belongs to code; titleText() trims it.
      const indent = /^[ \t]{0,40}/.exec(line)?.[0].replaceAll("\t", "  ") ?? "";
      if (shown.length < most) shown.push(indent + titleText(line.slice(0, 4000)));
    }
    if (end < 0) break;
    at = end + 1;
  }
  const left = count - shown.length;
  if (left > 0) shown.push(`… ${left} more ${left === 1 ? "line" : "lines"}`);
  return shown;
}

const mostDocuments = 5;

/** `found 2 documents` and their titles, each once; `found` is the verb. */
export function documentLines(
  documents: readonly SearchDoc[],
  found: string,
  all: boolean,
): Text[][] {
  const byTitle = new Map<string, SearchDoc>();
  for (const each of documents) {
    const title = titleText(each.semantic_identifier || each.link || each.document_id);
    if (!byTitle.has(title)) byTitle.set(title, each);
  }
  const { size } = byTitle;
  if (size === 0) return [[`${found} nothing`]];
  const most = all ? size : mostDocuments;
  const lines: Text[][] = [[`${found} ${size} ${size === 1 ? "document" : "documents"}`]];
  for (const [title, each] of [...byTitle].slice(0, most)) {
    lines.push(["· ", each.link ? link(each.link, title) : title]);
  }
  if (size > most) lines.push([`… and ${size - most} more`]);
  return lines;
}

/** A quiet line on stderr. */
export function quiet(...parts: Text[]): Text[] {
  return [dim(...parts), "\n"];
}

import type { SearchDoc } from "../../api/chat-schemas.ts";
import { dim, link, type Text } from "../terminal/text.ts";
import { titleText } from "./sources.ts";

const defaultLines = 5;
const allLines = 200;

/** Maximum lines of a tool's input or output; `all` is `--show all`. */
export function previewLength(all: boolean): number {
  return all ? allLines : defaultLines;
}

/** The first lines of a text, each cut; a last line counts the hidden lines. */
export function previewLines(text: string, limit: number): string[] {
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
      if (shown.length < limit) shown.push(indent + titleText(line.slice(0, 4000)));
    }
    if (end < 0) break;
    at = end + 1;
  }
  const left = count - shown.length;
  if (left > 0) shown.push(`… ${left} more ${left === 1 ? "line" : "lines"}`);
  return shown;
}

const maxDocuments = 5;

/** `found 2 documents` and their titles; `found` is the verb. A document with several passages is one. */
export function documentLines(
  documents: readonly SearchDoc[],
  found: string,
  all: boolean,
): Text[][] {
  const byId = new Map<string, SearchDoc>();
  for (const each of documents) {
    if (!byId.has(each.document_id)) byId.set(each.document_id, each);
  }
  const { size } = byId;
  if (size === 0) return [[`${found} nothing`]];
  const limit = all ? size : maxDocuments;
  const lines: Text[][] = [[`${found} ${size} ${size === 1 ? "document" : "documents"}`]];
  for (const each of [...byId.values()].slice(0, limit)) {
    const title = titleText(each.semantic_identifier || each.link || each.document_id);
    lines.push(["· ", each.link ? link(each.link, title) : title]);
  }
  if (size > limit) lines.push([`… and ${size - limit} more`]);
  return lines;
}

/** A dim line for stderr. */
export function quiet(...parts: Text[]): Text[] {
  return [dim(...parts), "\n"];
}

import { nothing } from "../terminal/table.ts";
import { neutraliseLine } from "../terminal/neutralise.ts";
import type { Output } from "../terminal/output.ts";
import { bold, dim, link, type Text, magenta } from "../terminal/text.ts";
import { relativeTime } from "../terminal/progress.ts";
import { displayWidth, fit } from "../terminal/width.ts";
import type { Column } from "../formats/select.ts";
import type { SearchResult } from "./schema.ts";

/** A part of a text: from, to. */
export type Span = readonly [from: number, to: number];

const snippetLength = 240;

/** Splits a text with `<hi>` and `</hi>` around hits into the plain text and the hits. */
function readMarks(marked: string): { text: string; hits: Span[] } {
  const hits: Span[] = [];
  let text = "";
  let from: number | undefined;
  for (const part of marked
    .replace(/\s+/g, " ")
    .trim()
    .split(/(<\/?hi>)/)) {
    if (part === "<hi>") from = text.length;
    else if (part === "</hi>") {
      if (from !== undefined) hits.push([from, text.length]);
      from = undefined;
    } else text += part;
  }
  return { text, hits };
}

const letter = /[\p{L}\p{N}]/u;

/** The words of a text that begin with a word of the query. */
function findWords(text: string, query: string): Span[] {
  const words = query.match(/[\p{L}\p{N}]{2,}/gu) ?? [];
  if (words.length === 0) return [];
  const pattern = new RegExp(words.toSorted((a, b) => b.length - a.length).join("|"), "giu");
  return [...text.matchAll(pattern)]
    .filter(({ index }) => index === 0 || !letter.test(text[index - 1] ?? ""))
    .map(({ 0: word, index }): Span => [index, index + word.length]);
}

/** The part of a text around its first hit, at most some lines long, and the hits in it. */
export function snippetOf(marked: string, query: string): { text: string; hits: Span[] } {
  const read = readMarks(marked);
  const hits = read.hits.length > 0 ? read.hits : findWords(read.text, query);
  const { text } = read;
  if (text.length <= snippetLength) return { text, hits };
  const first = hits[0]?.[0] ?? 0;
  const wanted = Math.max(0, Math.min(first - 60, text.length - snippetLength));
  // Cut between words.
  const start = wanted === 0 ? 0 : text.indexOf(" ", wanted) + 1;
  const limit = text.lastIndexOf(" ", start + snippetLength);
  const end = start + snippetLength >= text.length || limit <= start ? undefined : limit;
  const lead = start === 0 ? "" : "… ";
  // No half of a surrogate pair stays at the end.
  const cut = text.slice(start, end ?? start + snippetLength).replace(/[\ud800-\udbff]$/, "");
  const shift = lead.length - start;
  return {
    text: `${lead}${cut}${start + cut.length < text.length ? " …" : ""}`,
    hits: hits
      .filter(([from, to]) => from >= start && to <= start + cut.length)
      .map(([from, to]): Span => [from + shift, to + shift]),
  };
}

/** Columns of the list, one for each member. `shown` turns a path below the project root into one to display. */
export function searchColumns(shown: (path: string) => string): Column<SearchResult>[] {
  return [
    { name: "rank", align: "right" },
    { name: "id" },
    { name: "title" },
    { name: "link" },
    { name: "snippet" },
    { name: "source" },
    { name: "updatedAt", show: relativeTime },
    { name: "score", align: "right" },
    { name: "path", show: (value) => shown(String(value)), cut: "start" },
    { name: "via" },
    { name: "sandbox", shown: false },
  ];
}

/** A snippet in rows of at most `width` columns, with the hits in another style. */
function snippetRows(text: string, hits: readonly Span[], width: number): Text[][] {
  const rows: Text[][] = [];
  let row: Text[] = [];
  let used = 0;
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    const size = displayWidth(word);
    if (used > 0 && used + 1 + size > width) {
      rows.push(row);
      [row, used] = [[], 0];
    }
    if (used > 0) row.push(" ");
    const hit = hits.some(([from, to]) => index < to && from < index + word.length);
    row.push(hit ? bold(magenta(neutraliseLine(word))) : neutraliseLine(word));
    used += size + (used > 0 ? 1 : 0);
  }
  return used > 0 ? [...rows, row] : rows;
}

/**
 * Writes results for a terminal, some rows each: title and file, snippet, facts. `hits` are those in
 * the snippet of each result; `shown` turns a path below the project root into one to display.
 */
export async function drawResults(
  output: Output,
  results: readonly SearchResult[],
  hits: ReadonlyMap<SearchResult, readonly Span[]>,
  shown: (path: string) => string,
): Promise<void> {
  const columns = output.columns();
  const digits = String(results.at(-1)?.rank ?? 1).length;
  const indent = " ".repeat(digits + 2);
  const width = Math.max(20, columns - indent.length);
  for (const result of results) {
    const title = fit(neutraliseLine(result.title ?? result.id ?? result.link ?? nothing), width);
    const named = bold(title);
    await output.line(
      `${String(result.rank).padStart(digits)}  `,
      result.link === null ? named : link(result.link, named),
    );
    for (const row of snippetRows(result.snippet ?? "", hits.get(result) ?? [], width)) {
      await output.line(indent, ...row);
    }
    const updated = result.updatedAt === null ? null : relativeTime(result.updatedAt, output.now());
    const score = result.score === null ? null : `score ${Number(result.score.toPrecision(3))}`;
    const facts = [result.source, updated, score].filter((fact) => fact !== null);
    if (facts.length > 0)
      await output.line(indent, dim(fit(neutraliseLine(facts.join(" · ")), width)));
    if (result.link !== null) {
      await output.line(indent, dim(link(result.link, neutraliseLine(result.link).slice(0, 2000))));
    }
    if (result.path !== null) await output.line(indent, neutraliseLine(shown(result.path)));
  }
}

/** Said with results of the sandbox, which nobody should take for those of an assistant. */
export const sandboxCaveat =
  "the sandbox was asked: this is its word search, not your assistant; results of your service will differ";

import type { SearchDoc } from "../../api/chat-schemas.ts";
import { neutraliseLine } from "../neutralise.ts";
import { bold, dim, link, type Text } from "../text.ts";
import type { Turn } from "./answer.ts";

/** A document behind an answer. Cited ones have the numbers that the text uses for them. */
export interface Source {
  numbers: number[];
  documentId: string | null;
  title: string;
  link: string | null;
  sourceType: string | null;
  updatedAt: string | null;
}

function sourceOf(document: SearchDoc): Source {
  return {
    numbers: [],
    documentId: document.document_id,
    title: document.semantic_identifier?.trim() || document.link || document.document_id,
    link: document.link || null,
    sourceType: document.source_type ?? null,
    updatedAt: document.updated_at ?? null,
  };
}

/** Links of the markers `[[n]](link)` in an answer, by number; an empty link is left out. */
function markerLinks(answer: string): Map<number, string> {
  const links = new Map<number, string>();
  for (const [, number, target] of answer.matchAll(/\[\[(\d{1,6})\]\]\(([^()\s]*)\)/g)) {
    if (!links.has(Number(number))) links.set(Number(number), target ?? "");
  }
  return links;
}

/**
 * The cited documents, numbered as in the text and each once, and those that
 * were only retrieved. A cited document that no packet described (of an
 * earlier turn, or a project's file) has the link of its marker, or only its id.
 */
export function listSources(turn: Turn): { cited: Source[]; retrieved: Source[] } {
  const links = markerLinks(turn.answer);
  const numbers = [...new Set([...turn.citations.keys(), ...links.keys()])].toSorted(
    (a, b) => a - b,
  );
  const cited = new Map<string, Source>();
  const byLink = new Map<string, Source>();
  for (const number of numbers) {
    const target = links.get(number) || null;
    const id = turn.citations.get(number);
    const document = id === undefined ? undefined : turn.documents.get(id);
    const key = id ?? target ?? `marker ${number}`;
    // A second number for a document comes without a citation packet.
    const known = cited.get(key) ?? (id === undefined && target ? byLink.get(target) : undefined);
    if (known) {
      known.numbers.push(number);
      continue;
    }
    const source = document
      ? sourceOf(document)
      : {
          numbers: [],
          documentId: id ?? null,
          title: target ?? id ?? "(no document)",
          link: target,
          sourceType: null,
          updatedAt: null,
        };
    source.numbers.push(number);
    source.link ??= target;
    cited.set(key, source);
    if (source.link) byLink.set(source.link, source);
  }
  const citedIds = new Set([...cited.values()].map((each) => each.documentId));
  const retrieved = [...turn.documents.values()]
    .filter((document) => !citedIds.has(document.document_id))
    .map(sourceOf);
  return { cited: [...cited.values()], retrieved };
}

const longestTitle = 200;
const longestLink = 2000;

/** A title from outside on one line and of bounded length. */
export function titleText(title: string): string {
  const line = neutraliseLine(title).trim();
  return line.length > longestTitle ? `${line.slice(0, longestTitle - 1)}…` : line;
}

/** Title, and the link where the title is not the link itself. */
export function documentText(source: Source): Text[] {
  const title = titleText(source.title);
  if (!source.link) return [title];
  const named = link(source.link, title);
  return source.link === source.title
    ? [named]
    : [named, dim("  ", neutraliseLine(source.link).slice(0, longestLink))];
}

function numbersText(numbers: readonly number[]): string {
  return numbers.map((number) => `[${number}]`).join("");
}

/**
 * Lines that follow the answer: sources as numbered in the text, then what was
 * only retrieved, at most `mostRetrieved` of them; with 0 nothing of it.
 */
export function sourceLines(turn: Turn, mostRetrieved: number): Text[][] {
  const { cited, retrieved } = listSources(turn);
  const lines: Text[][] = [];
  if (cited.length > 0) lines.push([bold("Sources")]);
  for (const each of cited) lines.push([`  ${numbersText(each.numbers)} `, ...documentText(each)]);
  if (mostRetrieved === 0) return lines;
  if (retrieved.length > 0) {
    const heading = cited.length > 0 ? "Also retrieved, not cited" : "Retrieved, not cited";
    lines.push([dim(heading)]);
  }
  for (const each of retrieved.slice(0, mostRetrieved))
    lines.push([dim("  · "), ...documentText(each)]);
  const more = retrieved.length - mostRetrieved;
  if (more > 0) lines.push([dim(`  … and ${more} more (--show all lists them)`)]);
  return lines;
}

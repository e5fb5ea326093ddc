import { link, type Text } from "../terminal/text.ts";
import { neutraliseLine } from "../terminal/neutralise.ts";
import { type Turn, hasAnswer, hasText, turnsOf } from "./turn/answer.ts";

// A link may contain pairs of parentheses, like links to Wikipedia.
const marker = /\[\[(\d{1,6})\]\]\(((?:[^()\s]|\([^()\s]*\))*)\)/g;

/** A possible start of a marker; a marker with a longer link is shown unchanged. */
const partialMarker =
  /\[(?:\[(?:\d{1,6}(?:\](?:\](?:\((?:[^()\s]|\([^()\s]*\)){0,2000}(?:\([^()\s]{0,2000})?)?)?)?)?)?$/;
const maxPartialLength = 2020;

/** Links of the markers in an answer by number; "" for a marker without a link. */
function markerLinks(answer: string): Map<number, string> {
  const links = new Map<number, string>();
  for (const [, number, target] of answer.matchAll(marker)) {
    if (!links.get(Number(number))) links.set(Number(number), target ?? "");
  }
  return links;
}

/**
 * Answer text with its markers `[[1]](link)` shortened to `[1]`, as hyperlinks. The sources
 * below the answer show the details. Without `withLinks`, only markers without a link are
 * shortened. `rest` is a possible start of a marker, to prepend to the next text.
 */
export function shortenMarkers(text: string, withLinks = true): { parts: Text[]; rest: string } {
  const from = Math.max(0, text.length - maxPartialLength);
  const open = from + text.slice(from).search(partialMarker);
  const end = open < from ? text.length : open;
  const parts: Text[] = [];
  let at = 0;
  for (const match of text.slice(0, end).matchAll(marker)) {
    if (!withLinks && match[2] !== "") continue;
    if (match.index > at) parts.push(text.slice(at, match.index));
    parts.push(link(match[2] ?? "", `[${match[1]}]`));
    at = match.index + match[0].length;
  }
  if (at < end) parts.push(text.slice(at, end));
  return { parts, rest: text.slice(end) };
}

/** Inconsistency between the numbers in a text and the documents of its turn. */
export type Mismatch =
  /** The text has the number, but no document is known for it. */
  | "no-document"
  /** The document is not among those of this turn: it is of an earlier turn, or a project's file. */
  | "not-listed"
  /** The service reports the document as cited, but the text does not have its number. */
  | "not-in-text";

/** A document behind an answer. `numbers`: its citation numbers in the text, empty if not cited. */
export interface Source {
  numbers: number[];
  documentId: string | null;
  title: string;
  link: string | null;
  sourceType: string | null;
  updatedAt: string | null;
  /** The local file of the document, if the upload state has it. */
  file: string | null;
  mismatch: Mismatch | null;
}

function sourceOf(turn: Turn, id: string | null, link: string | null, number?: number): Source {
  const document = id === null ? undefined : turn.documents.get(id);
  const title = document?.semantic_identifier?.trim();
  return {
    numbers: number === undefined ? [] : [number],
    documentId: id,
    title: title || document?.link || link || id || "(no document)",
    link: document?.link || link,
    sourceType: document?.source_type ?? null,
    updatedAt: document?.updated_at ?? null,
    file: (id === null ? undefined : turn.localFiles.get(id)) ?? null,
    mismatch: null,
  };
}

/** Key of a source: one page with several ids (found by a search, then opened) is one source. */
function sourceKey({ title, link, documentId }: Source): string {
  return link === null ? `id ${documentId}` : `link ${link} ${title}`;
}

interface Merged {
  byId: Map<string, Source>;
  all: Map<string, Source>;
}

/** Adds a source, or adds its numbers to the same source if already present. */
function merge({ byId, all }: Merged, source: Source): void {
  const key =
    source.documentId === null && !source.link
      ? `marker ${source.numbers.join()}`
      : sourceKey(source);
  const known = (source.documentId && byId.get(source.documentId)) || all.get(key);
  const kept = known || source;
  if (known) {
    known.numbers.push(...source.numbers);
    known.file ??= source.file;
    if (known.mismatch !== source.mismatch) known.mismatch = null;
  } else all.set(key, source);
  if (source.documentId) byId.set(source.documentId, kept);
}

/** First document id of each link. */
function idsByLink(turn: Turn): Map<string, string> {
  const ids = new Map<string, string>();
  const add = (id: string): void => {
    const link = turn.documents.get(id)?.link;
    if (link && !ids.has(link)) ids.set(link, id);
  };
  for (const id of turn.citations.values()) add(id);
  for (const id of turn.documents.keys()) add(id);
  return ids;
}

function mismatchOf(turn: Turn, id: string | undefined, isInText: boolean): Mismatch | null {
  if (id === undefined) return "no-document";
  if (!isInText) return "not-in-text";
  return turn.documents.has(id) ? null : "not-listed";
}

/**
 * The cited documents with their numbers in the text, and the documents that were only
 * retrieved, without duplicates. A cited document without a packet has only the link of
 * its marker, or its id. A second number for a document has no citation packet; the link
 * of its marker identifies the document.
 */
export function listSources(turn: Turn): { cited: Source[]; retrieved: Source[] } {
  const links = markerLinks(turn.answer);
  const numbers = [...new Set([...turn.citations.keys(), ...links.keys()])];
  const ids = idsByLink(turn);
  const cited: Merged = { byId: new Map(), all: new Map() };
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const link = links.get(number) || null;
    const id = turn.citations.get(number) ?? (link === null ? undefined : ids.get(link));
    const source = sourceOf(turn, id ?? null, link, number);
    source.mismatch = mismatchOf(turn, id, links.has(number));
    merge(cited, source);
  }
  const retrieved: Merged = { byId: new Map(), all: new Map() };
  for (const id of turn.documents.keys()) {
    const source = sourceOf(turn, id, null);
    if (!cited.byId.has(id) && !cited.all.has(sourceKey(source))) merge(retrieved, source);
  }
  return { cited: [...cited.all.values()], retrieved: [...retrieved.all.values()] };
}

/** Ids of the cited documents. */
export function citedIds(turn: Turn): string[] {
  const { cited } = listSources(turn);
  return cited.flatMap(({ documentId }) => (documentId === null ? [] : [documentId]));
}

const maxTitleLength = 200;

/** An untrusted title on one line, cut to a maximum length. */
export function titleText(title: string): string {
  const line = neutraliseLine(title).trim();
  return line.length > maxTitleLength ? `${line.slice(0, maxTitleLength - 1)}…` : line;
}

type FileUrl = ((path: string) => string) | undefined;

/** Turns markers without a target into `[1]`: Markdown would show a link to nowhere. */
function withoutEmptyLinks(text: string): string {
  return text.replace(/\[\[(\d{1,6})\]\]\(\)/g, "[$1]");
}

function textOf({ answer, tools }: Turn, fileUrl: FileUrl): string {
  return hasText(answer) ? withoutEmptyLinks(answer) : madeLines({ tools }, fileUrl).join("\n");
}

/** A line for each created image (address) and file (id). */
export function madeLines({ tools }: Pick<Turn, "tools">, fileUrl?: FileUrl): string[] {
  const images = tools.flatMap((call) => call.images).map(({ url, fileId }) => url || fileId || "");
  const address = (path: string): string => (path === "" || !fileUrl ? path : fileUrl(path));
  return [
    ...images.map((path) => `image ${address(path)}`.trim()),
    ...tools.flatMap((call) => call.fileIds).map((id) => `file ${id}`),
  ];
}

/** Name of a model for the heading of its answer, on one line. */
export function modelName({ model, messageId }: Turn): string {
  return titleText(model ?? "") || `message ${messageId}`;
}

/** One of several answers, with its model's name as heading. */
export function answerSection(turn: Turn, fileUrl?: FileUrl): string {
  const text = hasAnswer(turn) ? textOf(turn, fileUrl).trimEnd() : "(no answer)";
  return `${answerHeading(turn)}${text}\n`;
}

/** Markdown heading of one of several answers. */
export function answerHeading(turn: Turn): string {
  return `## ${modelName(turn)}\n\n`;
}

/**
 * The answer as text for people: its text, or without text a line for each created
 * image (address) and file (id). If several models answer, each answer is below its
 * model's name.
 */
export function readerText(turn: Turn, fileUrl?: FileUrl): string {
  const turns = turnsOf(turn);
  if (turns.length === 1) return textOf(turn, fileUrl);
  return turns.map((each) => answerSection(each, fileUrl)).join("\n");
}

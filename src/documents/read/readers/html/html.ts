import { createHiddenSpan, type HiddenSpan } from "../../../hidden/hidden-span.ts";
import { createIsControlled, hidesElement } from "../../../hidden/hides.ts";
import { createLeftOutLog, type LeftOutLog } from "../../left-out.ts";
import type { Parsed, Surroundings } from "../../reader.ts";
import { chooseBlocks, joinBlocks } from "./html-blocks.ts";
import { takeTag, takeTitle, toFrontMatter, type Meta } from "./html-meta.ts";
import * as draft from "./html-draft.ts";
import * as lists from "./html-lists.ts";
import * as tables from "./html-rows.ts";
import { closeCode, closeRaised, closeStruck } from "./html-styled.ts";
import { refuseOpenRegion, trackIgnored } from "./html-ignored.ts";
import { isHiddenElement } from "./html-hidden.ts";
import type { Open, Token } from "./html-tokens.ts";

const blockElements = new Set(
  "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form head header hgroup hr html legend main menu p search section summary table caption".split(
    " ",
  ),
);
const rowGroups: ReadonlySet<string> = new Set(["thead", "tbody", "tfoot"]);
const anchored = new Set(["section", "div", "article", "a", "span"]);

/** An open element; `depth` counts the open elements of its name, itself included. */
interface Span {
  name: string;
  depth: number;
}

// https://html.spec.whatwg.org/multipage/obsolete.html: `tt` was code before HTML 5.
const code: ReadonlySet<string> = new Set(["code", "samp", "tt"]);
const struck: ReadonlySet<string> = new Set(["del", "s", "strike"]);

/** `from` is the number of blocks before it. */
type Part = Span & { from: number };

interface Reading {
  draft: draft.Draft;
  meta: Meta;
  /** A hidden element. Its content goes into a separate draft, needed if it never closes. */
  hidden: (Span & { before: draft.Draft }) | undefined;
  main: Part | undefined;
  article: Part | undefined;
  mains: [number, number][];
  articles: [number, number][];
  /** Offsets where the open ignore regions begin. */
  ignored: number[];
  /** Finds elements that nobody sees; undefined if they stay. */
  span: HiddenSpan | undefined;
  isControlled: (id: string) => boolean;
  log: LeftOutLog;
}

/** Updates the depth of an open element. Returns whether this tag closes it. */
function closes(span: Span, token: Token): boolean {
  if (token.kind !== "open" && token.kind !== "close") return false;
  if (token.name !== span.name) return false;
  span.depth += token.kind === "open" ? 1 : -1;
  return span.depth === 0;
}

function openLeaf({ draft: current, meta }: Reading, { name, attributes }: Open): boolean {
  if (name === "br") current[current.pre ? "pre" : "inline"]?.push(isOneLine(current) ? " " : "\n");
  else if (name === "img") draft.addImage(current, attributes.get("src"), attributes.get("alt"));
  else if (name === "meta" || name === "link" || name === "html") {
    takeTag(meta, name, attributes);
  } else return false;
  return true;
}

const isOneLine = (current: draft.Draft): boolean =>
  current.pre === undefined && (current.isInRow || current.heading !== undefined);

/** A whole number from 0 in an attribute; undefined for anything else. */
function numberIn(attributes: Open["attributes"], name: string): number | undefined {
  const text = /^\s*(\d{1,9})(?!\d)/.exec(attributes.get(name) ?? "")?.[1];
  return text === undefined ? undefined : Number(text);
}

function openElement({ draft: current }: Reading, tag: Open): void {
  const { name, attributes } = tag;
  const id = attributes.get("id") || (name === "a" ? attributes.get("name") : undefined);
  const level = /^h[1-6]$/.test(name) ? Number(name[1]) : 0;
  if (level > 0) draft.openHeading(current, level, id);
  else if (name === "pre") draft.openPre(current);
  else if (lists.listElements.has(name)) lists.openList(current, tag);
  else if (name === "li") lists.openItem(current, tag);
  else if (name === "table") tables.openTable(current);
  else if (name === "tr") tables.openRow(current);
  else if (name === "td" || name === "th") {
    const [rows, columns] = ["rowspan", "colspan"].map((each) => numberIn(attributes, each) ?? 1);
    // HTML Standard, "rowspan": 0 stands for the rest of the row group.
    tables.openCell(current, rows || Infinity, columns || 1);
  } else if (rowGroups.has(name)) tables.divideRows(current);
  else if (blockElements.has(name)) draft.boundary(current);
  if (name === "a") draft.openLink(current, attributes.get("href"));
  if (name === "abbr") current.abbreviation = attributes.get("title");
  if (name === "sup") current.raisedFrom = current.inline.length;
  if (struck.has(name)) current.struckFrom = current.inline.length;
  if (code.has(name)) current.codeFrom = current.inline.length;
  if (level > 0 || !id || !anchored.has(name)) return;
  if (current.heading) current.heading.id ??= id;
  else current.anchor = id;
}

function closeElement({ draft: current }: Reading, name: string): void {
  if (name === "a") draft.closeLink(current);
  if (name === "abbr") draft.closeAbbreviation(current);
  if (name === "sup") closeRaised(current);
  if (struck.has(name)) closeStruck(current);
  if (code.has(name)) closeCode(current);
  if (/^h[1-6]$/.test(name)) draft.closeHeading(current);
  else if (name === "pre") draft.closePre(current);
  else if (lists.listElements.has(name)) {
    draft.boundary(current);
    current.lists.pop();
    current.mark = "";
    if (current.lists.length === 0) current.groups++;
  } else if (name === "table") tables.closeTable(current);
  else if (name === "tr") tables.closeRow(current);
  else if (rowGroups.has(name)) tables.divideRows(current);
  else if (name === "li" || blockElements.has(name)) draft.boundary(current);
}

/** Records where the main text begins and ends: `<main>`, or an `<article>`. */
function trackParts(reading: Reading, token: Token): void {
  const { draft: current } = reading;
  for (const part of ["main", "article"] as const) {
    const span = reading[part];
    if (span && closes(span, token)) {
      draft.endBlock(current);
      reading[`${part}s`].push([span.from, current.blocks.length]);
      reading[part] = undefined;
    } else if (!span && token.kind === "open") {
      const isPart = token.name === part || token.attributes.get("role") === part;
      if (!isPart) continue;
      draft.endBlock(current);
      reading[part] = { name: token.name, depth: 1, from: current.blocks.length };
    }
  }
}

// Scripts show the whole page when they are ready.
const wholePage: ReadonlySet<string> = new Set(["html", "body"]);

/** Whether a token belongs to an element that nobody sees. */
function isUnseen({ span, isControlled, log }: Reading, token: Token): boolean {
  if (!span) return false;
  if (token.kind === "close") return span.close(token.name) === "ends" || span.isOpen();
  if (token.kind !== "open") return span.isOpen();
  const { name, attributes, at } = token;
  const isHidden = !wholePage.has(name) && hidesElement(attributes, isControlled);
  const change = span.open(name, isHidden);
  const begins = change === "begins" || change === "restarts" || change === "alone";
  if (begins) log.add("hidden", `<${name}>`, at);
  return begins || span.isOpen();
}

function handleComment(reading: Reading, { text, at }: Extract<Token, { kind: "comment" }>): void {
  const { hidden, ignored, span, log } = reading;
  if (hidden || span?.isOpen()) return;
  const open = ignored.length;
  trackIgnored(ignored, text, at);
  if (open === 0 && ignored.length === 0) log.add("comment", "", at);
}

function handleToken(reading: Reading, token: Token): void {
  if (token.kind === "comment") return handleComment(reading, token);
  const { hidden } = reading;
  if (reading.ignored.length > 0 || isUnseen(reading, token)) return;
  if (token.kind === "text" && hidden?.name === "title") takeTitle(reading.meta, token.text);
  if (hidden && closes(hidden, token)) {
    reading.draft = hidden.before;
    reading.hidden = undefined;
    return;
  }
  if (!hidden) trackParts(reading, token);
  if (token.kind === "text") draft.addText(reading.draft, token.text);
  else if (token.kind === "close") closeElement(reading, token.name);
  else if (!hidden && isHiddenElement(token)) {
    reading.hidden = { name: token.name, depth: 1, before: reading.draft };
    reading.draft = draft.createDraft();
  } else if (!openLeaf(reading, token)) openElement(reading, token);
}

/** Ends everything that is open. A hidden element that never closed counts as visible. */
function finish(reading: Reading): void {
  draft.endDraft(reading.draft);
  if (reading.hidden) {
    const { before } = reading.hidden;
    draft.endDraft(before);
    for (const block of reading.draft.blocks) before.blocks.push(block);
    reading.draft = before;
  }
  for (const part of ["main", "article"] as const) {
    const open = reading[part];
    if (open) reading[`${part}s`].push([open.from, reading.draft.blocks.length]);
  }
}

/**
 * Reads the text of an HTML page as Markdown: headings, lists, rows of tables and preformatted
 * text. Of a page with `<main>` (or mostly `<article>`), it reads only that part; it never reads
 * navigation and scripts. Metadata in the head becomes front matter. The text of broken HTML is
 * read as far as possible. Throws CliError `usage` for an ignore region that is never closed.
 */
export function readHtml(
  text: string,
  path: string,
  { keepsHidden = false }: Pick<Surroundings, "keepsHidden"> = {},
): Parsed {
  const log = createLeftOutLog(text, 1);
  const reading: Reading = {
    draft: draft.createDraft(),
    meta: new Map(),
    hidden: undefined,
    main: undefined,
    article: undefined,
    mains: [],
    articles: [],
    ignored: [],
    span: keepsHidden ? undefined : createHiddenSpan(),
    isControlled: createIsControlled(text),
    log,
  };
  for (const token of lists.withStarts(text)) handleToken(reading, token);
  refuseOpenRegion(reading.ignored, text, path);
  finish(reading);
  const { body, headings } = joinBlocks(
    chooseBlocks(reading.draft.blocks, reading.mains, reading.articles),
  );
  const title = reading.meta.get("title") ?? headings[0]?.text;
  return {
    frontMatter: toFrontMatter(reading.meta),
    body,
    bodyLine: 1,
    isMarkdown: true,
    headings,
    warnings: [],
    ...(log.entries.length > 0 ? { leftOut: log.entries } : {}),
    ...(title === undefined ? {} : { title }),
  };
}
